#include "host/cli/notebook_command.h"

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "host/cli/notebook_run.h"
#include "host/cli/notebook_subcommands.h"
#include "host/cli/notebook_terminal.h"
#include "host/console/exit_codes.h"
#include "host/console/terminal.h"

namespace cellar::host {
namespace {

// Declares the subcommands.
class NotebookCommand {
 public:
  NotebookCommand(CLI::App& app, int* exit_code)
      : command_(app.add_subcommand("notebook", "Show, edit, convert and run .ipynb files")),
        exit_code_(exit_code) {
    command_->require_subcommand(1);
  }

  void AddAll() {
    AddShow();
    AddApply();
    AddEdit();
    AddInsert();
    AddDelete();
    AddNew();
    AddClear();
    AddConvert();
    AddNotebookRunCommand(*command_, exit_code_);
  }

 private:
  // The arguments live as long as the command.
  template <typename Arguments>
  struct Subcommand {
    CLI::App& command;
    Arguments& arguments;
  };

  template <typename Arguments>
  Subcommand<Arguments> Add(const std::string& name, const std::string& description,
                            absl::Status (*run)(const Arguments&)) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = command_->add_subcommand(name, description);
    command->add_option("file", arguments->file, "The notebook")->required()->option_text("FILE");
    command->footer(
        "Exit code: 0 fine, 2 usage or a refused request (no such notebook or cell, what is no\n"
        "notebook, a file that changed), 3 it could not be done.");
    command->callback([run, arguments, exit_code = exit_code_] {
      const absl::Status status = run(*arguments);
      *exit_code = ExitCodeFor(status);
      if (status.ok()) return;
      const NotebookTerminal terminal(IsTerminal(STDERR_FILENO), /*has_colour=*/false);
      const std::string message = terminal.Plain(std::string(status.message()));
      std::fprintf(stderr, "cellar: notebook: %s\n", message.c_str());
    });
    return {*command, *arguments};
  }

  void AddShow() {
    auto [show, arguments] = Add("show", "Print a notebook as cell-marked text", ShowNotebook);
    show.add_option("--lines", arguments.lines,
                    "Only these lines of the text: A, A-B or A-, several with commas")
        ->option_text("LINES");
    show.add_flag("--raw", arguments.raw, "Print the JSON of the file");
    show.add_flag("--outputs", arguments.outputs, "Show what cells printed, as comments");
    show.add_flag("--diff", arguments.diff,
                  "For git's diff.*.textconv: no cell numbers, what is no notebook as it is");
    show.add_flag("--hash", arguments.hash, "Print only the hash that --base takes");
    show.add_flag("--page", arguments.page, "On a terminal, through $PAGER");
  }

  void AddApply() {
    auto [apply, arguments] =
        Add("apply", "Put edited text (stdin) into a notebook", ApplyNotebook);
    apply.add_option("--from", arguments.text_file, "Read the text from this file")
        ->option_text("FILE");
    apply.add_flag("--dry-run", arguments.options.dry_run, "Show what would change, write nothing");
    AddKeepOutputs(apply, arguments.options.keep_outputs);
    AddSaving(apply, arguments.options.save);
  }

  void AddEdit() {
    auto [edit, arguments] = Add("edit", "Replace the source of a cell", EditNotebook);
    AddCell(edit, arguments.cell, "Index (from 0) or id of the cell");
    AddContent(edit, arguments.content);
    AddKeepOutputs(edit, arguments.keep_outputs);
    AddJson(edit, arguments.json);
    AddSaving(edit, arguments.save);
  }

  void AddInsert() {
    auto [insert, arguments] = Add("insert", "Insert a cell", InsertIntoNotebook);
    AddCell(insert, arguments.cell,
            "Index the new cell will have, or id of the cell to insert it before");
    AddContent(insert, arguments.content);
    AddJson(insert, arguments.json);
    AddSaving(insert, arguments.save);
  }

  void AddDelete() {
    auto [remove, arguments] = Add("delete", "Delete a cell", DeleteFromNotebook);
    AddCell(remove, arguments.cell, "Index (from 0) or id of the cell");
    AddJson(remove, arguments.json);
    AddSaving(remove, arguments.save);
  }

  void AddNew() { Add("new", "Create an empty notebook", NewNotebook); }

  void AddClear() {
    auto [clear, arguments] =
        Add("clear", "Remove all outputs and execution counts", ClearNotebook);
    AddSaving(clear, arguments.save);
  }

  void AddConvert() {
    auto [convert, arguments] =
        Add("convert", "Convert a notebook to a py:percent script, or back", ConvertNotebook);
    convert.add_option("to", arguments.to, "The file to write; - is stdout")
        ->required()
        ->option_text("TO");
    convert.add_flag("--force", arguments.options.force, "Replace what is there");
    AddKeepOutputs(convert, arguments.options.keep_outputs);
  }

  static void AddCell(CLI::App& command, std::string& cell, const std::string& description) {
    command.add_option("cell", cell, description)->required()->option_text("CELL");
  }

  static void AddContent(CLI::App& command, CellContent& content) {
    CLI::Option* source =
        command
            .add_option("--source", content.source,
                        "The source; default: stdin, without the newline at its end")
            ->option_text("TEXT");
    command.add_option("--from", content.source_file, "Read the source from this file")
        ->excludes(source)
        ->option_text("FILE");
    command.add_option("--type", content.type, "Type of the cell")
        ->check(CLI::IsMember({"code", "markdown", "raw"}))
        ->option_text("code|markdown|raw");
  }

  static void AddKeepOutputs(CLI::App& command, bool& keep_outputs) {
    command.add_flag("--keep-outputs", keep_outputs,
                     "Keep the outputs of cells whose source changed");
  }

  static void AddJson(CLI::App& command, bool& json) {
    command.add_flag("--json", json, "Print what was done as JSON");
  }

  static void AddSaving(CLI::App& command, notebook::SaveOptions& save) {
    command
        .add_option("--base", save.base, "Refuse unless the file has this hash (from show --hash)")
        ->option_text("HASH");
    command.add_flag("--force", save.force, "Write even if the file changed while the command ran");
  }

  CLI::App* command_;
  int* exit_code_;
};

}  // namespace

void AddNotebookCommand(CLI::App& app, int* exit_code) { NotebookCommand(app, exit_code).AddAll(); }

}  // namespace cellar::host
