// What cells display: MIME bundles, updates, figures.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/testing/worker_test.h"
#include "tests/worker/shown_outputs.h"

namespace cellar::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Type = CellOutput::Type;

std::vector<std::string> MimesOf(const CellOutput& output) {
  std::vector<std::string> mimes;
  for (const wire::MimeEntry& entry : output.data) mimes.push_back(entry.mime);
  return mimes;
}

class DisplayTest : public WorkerTest {};

TEST_F(DisplayTest, PlainContainersAreDisplayedAsJsonAndText) {
  CellOutcome outcome = Run("display({'a': [1, 2.5, None, 'ü']}, (1, 2))");
  ASSERT_THAT(outcome.outputs, SizeIs(2));
  EXPECT_THAT(MimesOf(outcome.outputs[0]), UnorderedElementsAre("text/plain", "application/json"));
  EXPECT_EQ(nlohmann::json::parse(DataOf(outcome.outputs[0], "application/json")),
            nlohmann::json::parse(R"({"a": [1, 2.5, null, "ü"]})"));
  EXPECT_EQ(DataOf(outcome.outputs[0], "text/plain"), "{'a': [1, 2.5, None, 'ü']}");
  EXPECT_EQ(nlohmann::json::parse(DataOf(outcome.outputs[1], "application/json")),
            nlohmann::json::parse("[1, 2]"));
}

TEST_F(DisplayTest, ReprMethodsMakeABundle) {
  CellOutcome outcome = Run(R"(
class Rich:
    def _repr_html_(self): return '<b>hi</b>'
    def _repr_markdown_(self): return '**hi**'
    def _repr_png_(self): return b'\x89PNG\r\n\x1a\n'
    def _repr_latex_(self): raise RuntimeError('skipped')
    def _repr_json_(self): return {'a': 1}
    def __repr__(self): return 'plain'
Rich()
)");
  EXPECT_THAT(outcome, ResultIs("plain"));
  ASSERT_THAT(outcome.outputs, SizeIs(1));
  const CellOutput& result = outcome.outputs[0];
  EXPECT_EQ(result.type, Type::kResult);
  EXPECT_THAT(MimesOf(result), UnorderedElementsAre("text/plain", "text/html", "text/markdown",
                                                    "image/png", "application/json"));
  EXPECT_EQ(DataOf(result, "text/html"), "<b>hi</b>");
  EXPECT_EQ(DataOf(result, "image/png"), "\x89PNG\r\n\x1a\n") << "raw bytes, not base64";
}

TEST_F(DisplayTest, AMimeBundleComesFirst) {
  CellOutcome outcome = Run(R"(
class Bundle:
    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {'text/plain': 'from the bundle', 'application/x-own+json': {'k': [1]}}
        return data, {'application/x-own+json': {'m': 1}}
    def __repr__(self): return 'not this'
display(Bundle())
)");
  ASSERT_THAT(outcome.outputs, SizeIs(1));
  EXPECT_EQ(DataOf(outcome.outputs[0], "text/plain"), "from the bundle");
  EXPECT_EQ(nlohmann::json::parse(DataOf(outcome.outputs[0], "application/x-own+json")),
            nlohmann::json::parse(R"({"k": [1]})"));
  EXPECT_EQ(nlohmann::json::parse(outcome.outputs[0].metadata)["application/x-own+json"]["m"], 1);
}

TEST_F(DisplayTest, AnUpdateReplacesTheDisplayOfItsId) {
  CellOutcome outcome =
      Run("handle = display('old', display_id='it')\ndisplay('other')\nupdate_display('new', "
          "display_id='it')");
  EXPECT_THAT(Shown(outcome.outputs), ElementsAre("display:'new'", "display:'other'"));
  EXPECT_EQ(outcome.outputs[0].display_id, "it");
  EXPECT_FALSE(outcome.outputs[0].update);
  CellOutcome later = Run("handle.update('newest')");
  ASSERT_THAT(Shown(later.outputs), ElementsAre("display:'newest'"));
  EXPECT_EQ(later.outputs[0].display_id, "it");
  EXPECT_TRUE(later.outputs[0].update) << "of a display that an earlier cell showed";
}

TEST_F(DisplayTest, ClearOutputRemovesWhatCameBefore) {
  EXPECT_THAT(Shown(Run("print('a')\ndisplay('b')\nclear_output()\nprint('c')").outputs),
              ElementsAre("out:c\n"));
  EXPECT_THAT(Shown(Run("print('a')\nclear_output(wait=True)").outputs), ElementsAre("out:a\n"));
  EXPECT_THAT(Shown(Run("print('a')\nclear_output(wait=True)\nprint('b')").outputs),
              ElementsAre("out:b\n"));
}

TEST_F(DisplayTest, ValuesThatJsonCannotHoldNeverBreakAFrame) {
  for (const char* code : {
           "display({'nan': float('nan'), 'inf': [float('inf'), float('-inf')]})",
           "display({'bytes': b'\\xff\\x00', 1: 2, (1, 2): 3, None: 4})",
           "a = []; a.append(a); display(a)",
           "a = {}; a['a'] = a; display({'application/json': a, 'text/plain': 'x'}, raw=True)",
           "d = []\nfor i in range(100000): d = [d]\ndisplay(d)",
           "display({'big': 10 ** 400, 's': 'a\\ud800b'})",
       }) {
    CellOutcome outcome = Run(code);
    EXPECT_TRUE(outcome.ok()) << code << ::testing::PrintToString(outcome);
    ASSERT_THAT(outcome.outputs, SizeIs(1)) << code;
    for (const wire::MimeEntry& entry : outcome.outputs[0].data) {
      if (entry.kind == wire::MimeKind::kJson) {
        EXPECT_TRUE(nlohmann::json::accept(entry.data)) << code << "\n"
                                                        << entry.data.substr(0, 200);
      }
    }
  }
  EXPECT_THAT(Run("d = []\nfor i in range(100000): d = [d]\nd"), Succeeds()) << "as a result, too";
  EXPECT_THAT(Run("1"), ResultIs("1"));
}

TEST_F(DisplayTest, IPythonDisplayObjectsAreDisplayed) {
  if (Evaluate("import importlib.util\nimportlib.util.find_spec('IPython') is not None") !=
      "True") {
    GTEST_SKIP() << "IPython is not installed";
  }
  CellOutcome outcome =
      Run("from IPython.display import HTML, Markdown, display as show, clear_output\n"
          "show(HTML('<i>x</i>'))\ndisplay(Markdown('**x**'))\nHTML('<b>y</b>')");
  ASSERT_THAT(outcome.outputs, SizeIs(3)) << ::testing::PrintToString(outcome);
  EXPECT_EQ(DataOf(outcome.outputs[0], "text/html"), "<i>x</i>");
  EXPECT_EQ(DataOf(outcome.outputs[1], "text/markdown"), "**x**");
  EXPECT_EQ(DataOf(outcome.outputs[2], "text/html"), "<b>y</b>");
  EXPECT_THAT(Shown(Run("print('a')\nclear_output()\nprint('b')").outputs), ElementsAre("out:b\n"));
}

class FigureTest : public DisplayTest {
 protected:
  SessionOptions Options() override { return {.sys_path = {CELLAR_TEST_MODULES}}; }
};

TEST_F(FigureTest, AnOpenFigureIsShownOnceAtTheEndOfTheCellAndClosed) {
  CellOutcome outcome =
      Run("import matplotlib\nimport matplotlib.pyplot as "
          "plt\nplt.figure()\nplt.figure()\nprint('drawn')");
  ASSERT_THAT(outcome.outputs, SizeIs(3)) << ::testing::PrintToString(outcome);
  EXPECT_EQ(outcome.outputs[0].text, "drawn\n");
  EXPECT_EQ(DataOf(outcome.outputs[1], "image/png"), "\x89PNG\r\n\x1a\nfigure 1");
  EXPECT_EQ(DataOf(outcome.outputs[2], "image/png"), "\x89PNG\r\n\x1a\nfigure 2");
  EXPECT_THAT(Run("plt.get_fignums()").outputs, SizeIs(1)) << "only the result";
}

TEST_F(FigureTest, AFigureThatTheCellShowedIsNotShownAgain) {
  Run("import matplotlib.pyplot as plt");
  EXPECT_THAT(Run("display(plt.figure())").outputs, SizeIs(1));
  EXPECT_THAT(Run("plt.figure()\nplt.show()").outputs, SizeIs(1));
  CellOutcome result = Run("plt.figure()");
  ASSERT_THAT(result.outputs, SizeIs(1));
  EXPECT_EQ(result.outputs[0].type, Type::kResult);
}

TEST_F(FigureTest, AnInterruptWhileTheFiguresOfACapturedCellAreDrawnDoesNotMuteTheNext) {
  StartedCell cell(session(),
                   "%%capture\nimport os, time, matplotlib.pyplot as plt\n"
                   "def draw(*_, **options):\n    os.write(1, b'drawing')\n    time.sleep(60)\n"
                   "plt.figure().savefig = draw");
  cell.WaitFor("drawing");
  session().Interrupt();
  EXPECT_EQ(cell.Join().status, CellStatus::kCancelled);
  CellOutcome next = Run("print('a')\ndisplay(1)\n2");
  EXPECT_THAT(Shown(next.outputs), ElementsAre("out:a\n", "display:1", "result:2"));
  EXPECT_THAT(next.notices, IsEmpty());
}

TEST_F(FigureTest, FiguresOfACellThatFailsAreShown) {
  CellOutcome outcome = Run("import matplotlib.pyplot as plt\nplt.figure()\n1 / 0");
  EXPECT_THAT(outcome, Fails("ZeroDivisionError"));
  ASSERT_THAT(outcome.outputs, SizeIs(1));
  EXPECT_EQ(DataOf(outcome.outputs[0], "image/png"), "\x89PNG\r\n\x1a\nfigure 1");
}

}  // namespace
}  // namespace cellar::testing
