// What the file layer takes for notebooks that are in memory already, so that neither the disk nor
// the start of a program counts.
//
//   notebook_bench FILE...    prints "name value unit", the sum over the files; those that are no
//                             notebooks are passed over
#include <ctime>
#include <string>
#include <utility>
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

// Of processor time: what is in memory waits for nothing but other programs. The bytes are the
// document's to keep, as those of a file that was just read.
template <typename Work>
double CpuSecondsOf(std::string bytes, Work work) {
  const std::clock_t start = std::clock();
  work(*Document::Parse(std::move(bytes)));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// From bytes to bytes, each time.
struct Sums {
  double edit = 0;
  double show = 0;
  double apply = 0;
  double convert = 0;
};

void Measure(const std::string& bytes, Sums* sums) {
  sums->edit += CpuSecondsOf(
      bytes, [](const Document& document) { (void)EditCell(document, 0, "changed = 1"); });
  std::string text;
  sums->show += CpuSecondsOf(bytes, [&](const Document& document) { text = RenderText(document); });
  text += "# %% [code]\nnew = 1\n";
  sums->apply += CpuSecondsOf(bytes, [&](const Document& document) {
    (void)Apply(document, *notebook::EditedText::Parse(text), {});
  });
  sums->convert +=
      CpuSecondsOf(bytes, [](const Document& document) { (void)notebook::ToPercent(document); });
}

int Main(const std::vector<std::string>& files) {
  std::vector<std::string> notebooks;
  for (const std::string& file : files) {
    const auto bytes = ReadWholeFile(file, notebook::kMaxNotebookBytes);
    if (!bytes.ok()) continue;
    const auto document = Document::Parse(*bytes);
    if (document.ok() && document->cell_count() > 0) notebooks.push_back(*bytes);
  }
  // Once for nothing, as the peer has read every file before it is measured.
  Sums warming;
  for (const std::string& bytes : notebooks) Measure(bytes, &warming);
  Sums sums;
  for (const std::string& bytes : notebooks) Measure(bytes, &sums);
  PrintValue("corpus_edit", sums.edit, "s");
  PrintValue("corpus_show", sums.show, "s");
  PrintValue("corpus_apply", sums.apply, "s");
  PrintValue("corpus_convert", sums.convert, "s");
  return 0;
}

}  // namespace
}  // namespace cellar::bench

int main(int argc, char** argv) { return cellar::bench::Main({argv + 1, argv + argc}); }
