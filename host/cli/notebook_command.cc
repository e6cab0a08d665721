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

// Declares the subcommands. The arguments are shared by the callbacks, which CLI11 copies and
// keeps.
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
    AddActions();
    AddWholeFileCommands();
    AddNotebookRunCommand(*command_, exit_code_);
  }

 private:
  using Run = absl::Status (*)(const NotebookArguments&);

  CLI::App* Add(const std::string& name, const std::string& description, Run run) {
    CLI::App* command = command_->add_subcommand(name, description);
    command->add_option("file", arguments_->file, "The notebook")->required()->option_text("FILE");
    command->footer(
        "Exit code: 0 fine, 2 usage or a refused request (no such notebook or cell, what is no\n"
        "notebook, a file that changed), 3 it could not be done.");
    command->callback([run, arguments = arguments_, exit_code = exit_code_] {
      const absl::Status status = run(*arguments);
      *exit_code = ExitCodeFor(status);
      if (status.ok()) return;
      const NotebookTerminal terminal(IsTerminal(STDERR_FILENO), /*has_colour=*/false);
      const std::string message = terminal.Plain(std::string(status.message()));
      std::fprintf(stderr, "cellar: notebook: %s\n", message.c_str());
    });
    return command;
  }

  void AddShow() {
    CLI::App* show = Add("show", "Print a notebook as cell-marked text", ShowNotebook);
    show->add_option("--lines", arguments_->lines,
                     "Only these lines of the text: A, A-B or A-, several with commas")
        ->option_text("LINES");
    show->add_flag("--raw", arguments_->raw, "Print the JSON of the file");
    show->add_flag("--outputs", arguments_->outputs, "Show what cells printed, as comments");
    show->add_flag("--hash", arguments_->hash, "Print only the hash that --base takes");
    show->add_flag("--page", arguments_->page, "On a terminal, through $PAGER");
  }

  void AddApply() {
    CLI::App* apply = Add("apply", "Put edited text (stdin) into a notebook", ApplyNotebook);
    apply->add_option("--from", arguments_->source_file, "Read the text from this file")
        ->option_text("FILE");
    apply->add_flag("--dry-run", arguments_->dry_run, "Show what would change, write nothing");
    AddKeepOutputs(apply);
    AddSaving(apply);
  }

  void AddActions() {
    CLI::App* edit = Add("edit", "Replace the source of a cell", EditNotebook);
    AddCell(edit, "Index (from 0) or id of the cell");
    AddSource(edit);
    AddKeepOutputs(edit);
    CLI::App* insert = Add("insert", "Insert a cell", InsertIntoNotebook);
    AddCell(insert, "Index the new cell will have, or id of the cell to insert it before");
    AddSource(insert);
    CLI::App* remove = Add("delete", "Delete a cell", DeleteFromNotebook);
    AddCell(remove, "Index (from 0) or id of the cell");
    for (CLI::App* action : {edit, insert, remove}) {
      action->add_flag("--json", arguments_->json, "Print what was done as JSON");
      AddSaving(action);
    }
  }

  void AddWholeFileCommands() {
    Add("new", "Create an empty notebook", NewNotebook);
    CLI::App* clear = Add("clear", "Remove all outputs and execution counts", ClearNotebook);
    AddSaving(clear);
    CLI::App* convert =
        Add("convert", "Convert a notebook to a py:percent script, or back", ConvertNotebook);
    convert->add_option("to", arguments_->other_file, "The file to write; - is stdout")
        ->required()
        ->option_text("TO");
    convert->add_flag("--force", arguments_->force, "Replace what is there");
    AddKeepOutputs(convert);
  }

  void AddCell(CLI::App* command, const std::string& description) {
    command->add_option("cell", arguments_->cell, description)->required()->option_text("CELL");
  }

  void AddSource(CLI::App* command) {
    CLI::Option* source =
        command
            ->add_option("--source", arguments_->source,
                         "The source; default: stdin, without the newline at its end")
            ->option_text("TEXT");
    command->add_option("--from", arguments_->source_file, "Read the source from this file")
        ->excludes(source)
        ->option_text("FILE");
    command->add_option("--type", arguments_->type, "Type of the cell")
        ->check(CLI::IsMember({"code", "markdown", "raw"}))
        ->option_text("code|markdown|raw");
  }

  void AddKeepOutputs(CLI::App* command) {
    command->add_flag("--keep-outputs", arguments_->keep_outputs,
                      "Keep the outputs of cells whose source changed");
  }

  void AddSaving(CLI::App* command) {
    command
        ->add_option("--base", arguments_->base,
                     "Refuse unless the file has this hash (from show --hash)")
        ->option_text("HASH");
    command->add_flag("--force", arguments_->force,
                      "Write even if the file changed while the command ran");
  }

  CLI::App* command_;
  int* exit_code_;
  std::shared_ptr<NotebookArguments> arguments_ = std::make_shared<NotebookArguments>();
};

}  // namespace

void AddNotebookCommand(CLI::App& app, int* exit_code) { NotebookCommand(app, exit_code).AddAll(); }

}  // namespace cellar::host
