// A C++ program that edits a notebook: usage: notebook FILE. What it does not edit stays byte for
// byte as it was.
#include <iostream>
#include <string>

#include "notebook/file_actions.h"

namespace {

namespace notebook = cellar::notebook;

absl::Status Edit(const std::string& path) {
  // A notebook that is not there is started.
  absl::StatusOr<notebook::ActionDetails> inserted =
      notebook::InsertIntoFile(path, {"0"}, notebook::CellType::kCode, "x = 6\nx * 7", {});
  if (!inserted.ok()) return inserted.status();
  std::cout << notebook::Summary(*inserted) << "\n";

  absl::StatusOr<notebook::Shown> shown = notebook::ShowFile(path, {});
  if (!shown.ok()) return shown.status();
  std::cout << shown->text;

  // The text with a cell more; refused, had the file changed since it was shown.
  absl::StatusOr<notebook::FileApplied> applied =
      notebook::ApplyToFile(path, shown->text + "# %% [markdown]\nThe answer.\n", "the text",
                            {.save = {.base = shown->hash}});
  if (!applied.ok()) return applied.status();
  std::cout << notebook::Summary(applied->applied) << "\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Edit(argc > 1 ? argv[1] : "answer.ipynb");
  if (status.ok()) return 0;
  std::cerr << status.message() << "\n";
  return 1;
}
