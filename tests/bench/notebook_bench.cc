// What the file layer takes for notebooks that are in memory already, so that neither the disk nor
// the start of a program counts.
//
//   notebook_bench FILE...    prints "name value unit", the sum over the files; those that are no
//                             notebooks are passed over
#include <string>
#include <vector>

#include "host/base/atomic_file.h"
#include "notebook/action.h"
#include "notebook/apply.h"
#include "notebook/percent.h"
#include "notebook/text_view.h"
#include "tests/bench/samples.h"

namespace cellar::bench {
namespace {

using notebook::Document;

// From bytes to bytes, each time.
struct Sums {
  double edit = 0;
  double show = 0;
  double apply = 0;
  double convert = 0;
};

void Measure(const std::string& bytes, Sums* sums) {
  sums->edit += SecondsOf([&] { (void)EditCell(*Document::Parse(bytes), 0, "changed = 1"); });
  std::string text;
  sums->show += SecondsOf([&] { text = RenderText(*Document::Parse(bytes)); });
  text += "# %% [code]\nnew = 1\n";
  sums->apply += SecondsOf(
      [&] { (void)Apply(*Document::Parse(bytes), *notebook::EditedText::Parse(text), {}); });
  sums->convert += SecondsOf([&] { (void)notebook::ToPercent(*Document::Parse(bytes)); });
}

int Main(const std::vector<std::string>& files) {
  Sums sums;
  for (const std::string& file : files) {
    const auto bytes = ReadWholeFile(file, notebook::kMaxNotebookBytes);
    if (!bytes.ok()) continue;
    const auto document = Document::Parse(*bytes);
    if (document.ok() && document->cell_count() > 0) Measure(*bytes, &sums);
  }
  PrintValue("corpus_edit", sums.edit, "s");
  PrintValue("corpus_show", sums.show, "s");
  PrintValue("corpus_apply", sums.apply, "s");
  PrintValue("corpus_convert", sums.convert, "s");
  return 0;
}

}  // namespace
}  // namespace cellar::bench

int main(int argc, char** argv) { return cellar::bench::Main({argv + 1, argv + argc}); }
