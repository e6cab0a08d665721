// The commands of the prompt: lines that begin with a colon.
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "host/base/fds.h"
#include "host/console/exit_codes.h"
#include "host/console/terminal.h"
#include "host/output/printable.h"
#include "host/repl/highlight.h"
#include "host/repl/path_completion.h"
#include "host/repl/prompt.h"
#include "host/runtime/environment.h"
#include "host/serve/standing.h"

namespace cellar::host {
namespace {

constexpr std::string_view kBlank = " \t\n";
constexpr std::string_view kFile = "FILE";  // the argument that is a path

std::string Cells(size_t count) {
  return std::to_string(count) + (count == 1 ? " cell" : " cells");
}

// "2 cells that were not run at this prompt"
std::string CellsOfOthers(size_t count) {
  return Cells(count) + (count == 1 ? " that was" : " that were") + " not run at this prompt";
}

// What something is called, and beside it what it does, broken between words.
std::string HelpLine(std::string name, std::string_view help, size_t width) {
  constexpr size_t kMargin = 14;
  constexpr size_t kNarrowest = 10;
  const size_t room = std::max(width, kMargin + kNarrowest) - kMargin;
  std::string text;
  while (!help.empty()) {
    size_t end = help.size() <= room ? help.size() : help.rfind(' ', room);
    if (end == std::string_view::npos) end = std::min(help.find(' '), help.size());
    name.resize(std::max(name.size(), kMargin), ' ');
    text += std::exchange(name, "") + std::string(help.substr(0, end)) + "\n";
    help.remove_prefix(std::min(end + 1, help.size()));
  }
  return text;
}

}  // namespace

struct Prompt::Command {
  std::string_view name;
  std::string_view argument;  // how it is shown in the help; empty: it takes none
  std::string_view help;
  void (Prompt::*run)(const std::string& argument);
};

const std::vector<Prompt::Command>& Prompt::Commands() {
  static const auto& commands = *new std::vector<Command>{
      {"help", "", "this list, and the keys", &Prompt::Help},
      {"reset", "", "a fresh namespace", &Prompt::Reset},
      {"save", kFile,
       "the cells so far, as .ipynb with outputs or as .py; asks before it replaces another file",
       &Prompt::Save},
      {"load", kFile, "run the cells of a notebook or script, one after the other", &Prompt::Load},
      {"expand", "", "all of the last cell's output", &Prompt::Expand},
      {"undo", "", "the state of before the last cell", &Prompt::Undo},
      {"rewind", "N", "the state of before cell N", &Prompt::Rewind},
      {"branch", "NAME", "a second session that goes on from here", &Prompt::Branch},
      {"switch", "NAME", "go to another session", &Prompt::Switch},
      {"sessions", "", "the sessions one can go to", &Prompt::Sessions},
      {"quit", "", "leave, as Ctrl-D does", &Prompt::Quit},
  };
  return commands;
}

void Prompt::RunCommand(std::string_view line) {
  line.remove_prefix(1);
  const size_t space = std::min(line.find_first_of(kBlank), line.size());
  const std::string_view name = line.substr(0, space);
  std::string_view argument = line.substr(space);
  argument.remove_prefix(std::min(argument.find_first_not_of(kBlank), argument.size()));
  argument = argument.substr(0, argument.find_last_not_of(kBlank) + 1);
  for (const Command& command : Commands()) {
    if (command.name != name) continue;
    if (argument.empty() == command.argument.empty()) {
      return (this->*command.run)(std::string(argument));
    }
    Say("usage: :" + std::string(name) +
        (command.argument.empty() ? "" : " " + std::string(command.argument)));
    return Show();
  }
  Say("no command :" + std::string(name) + "; :help lists them");
  Show();
}

void Prompt::CompleteCommand(std::string_view before) {
  const std::string_view name = before.substr(1, before.find_first_of(kBlank) - 1);
  const bool is_name = name.size() + 1 == before.size();
  std::vector<Completion> matches;
  size_t start = 1;
  for (const Command& command : Commands()) {
    if (is_name && command.name.starts_with(name)) {
      matches.push_back({.text = std::string(command.name)});
    } else if (!is_name && command.name == name && command.argument == kFile) {
      start = std::min(before.find_first_not_of(kBlank, name.size() + 1), before.size());
      matches = CompletePath(before.substr(start), CurrentEnvironment());
      start += before.substr(start).rfind('/') + 1;
    }
  }
  completer_.Offer(matches, start, before.size());
}

void Prompt::Help(const std::string&) {
  const auto width = static_cast<size_t>(SizeOfScreen(STDOUT_FILENO).columns);
  std::string text;
  for (const Command& command : Commands()) {
    std::string usage = ":" + std::string(command.name);
    if (!command.argument.empty()) usage += " " + std::string(command.argument);
    text += HelpLine(usage, command.help, width);
  }
  for (const auto& [key, help] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Enter",
            "run the cell when it is whole, else a new line; Alt-Enter: always a new line"},
           {"Tab", "complete; NAME? and NAME?? say what something is"},
           {"Up, Down",
            "through the cell, and at its edges through the history; Ctrl-R searches it"},
           {"Ctrl-C", "interrupt the cell, or drop what is typed"},
           {"%lsmagic", "the magics; !COMMAND runs a shell command"}}) {
    text += HelpLine(key, help, width);
  }
  WriteAll(STDOUT_FILENO, text);
  Show();
}

void Prompt::Reset(const std::string&) {
  const auto question = [this]() -> std::string {
    const std::string by = session_.running_by();
    if (!by.empty()) return "drop the state of the cell of " + Printable(by) + "? [y/N] ";
    const size_t others = session_.others_since(1);
    return others == 0 ? "" : "drop the state of " + CellsOfOthers(others) + "? [y/N] ";
  };
  Confirm(question, [this] {
    SayWhatItWaitsFor();
    session_.Reset([this](const absl::Status& status) {
      if (status.ok()) log().Reset();
      Say(status.ok() ? "a fresh namespace" : std::string(status.message()));
      Show();
    });
  });
}

void Prompt::SayWhatItWaitsFor() {
  const std::string by = session_.running_by();
  if (!by.empty()) Say("waits for the cell of " + by + "; Ctrl-C can interrupt it");
}

// A file is replaced without a question as long as it is as this prompt has written it.
void Prompt::Save(const std::string& file) {
  const std::string path = WithHome(file, CurrentEnvironment());
  const auto question = [this, path]() -> std::string {
    const absl::StatusOr<FileStamp> stamp = FileStamp::Of(path);
    if (!stamp.ok() || !IsCellFile(path)) return "";
    const auto saved = saved_.find(path);
    if (saved != saved_.end() && saved->second == *stamp) return "";
    return Printable(path) + " exists; replace it? [y/N] ";
  };
  Confirm(question, [this, path] { WriteTo(path); });
}

void Prompt::WriteTo(const std::string& path) {
  const absl::StatusOr<FileStamp> stamp = SaveCells(log().cells(), path);
  if (stamp.ok()) saved_[path] = *stamp;
  Say(stamp.ok() ? Cells(log().cells().size()) + " saved in " + path
                 : std::string(stamp.status().message()));
  Show();
}

void Prompt::Load(const std::string& file) {
  const std::string path = WithHome(file, CurrentEnvironment());
  absl::StatusOr<std::vector<std::string>> cells = LoadCells(path);
  if (!cells.ok()) {
    Say(std::string(cells.status().message()));
    return Show();
  }
  if (cells->empty()) Say(path + " has no code cells");
  for (std::string& cell : *cells) {
    editor_.AddHistory(cell);
    sources_.push_back(std::move(cell));
  }
  is_loading_ = true;
  RunNext();
}

// What is loaded was not typed: it is shown before it runs.
void Prompt::ShowSource(std::string_view source) {
  WriteAll(STDOUT_FILENO, prompt() + ShownSource(source) + "\n");
}

void Prompt::Expand(const std::string&) {
  if (!log().empty()) {
    printer_.ShowAll();
    for (const RecordedOutput& output : log().cells().back().outputs) {
      if (output.kind == RecordedOutput::Kind::kStream) {
        printer_.OnText(output.stream, output.text);
      } else {
        constexpr int kUnfolded = 100;
        printer_.PrintBundle(output.data, kUnfolded);
      }
    }
  }
  printer_.EndLine();
  Show();
}

void Prompt::Quit(const std::string&) { Leave(kExitFine); }

void Prompt::Undo(const std::string&) {
  session_.List([this](absl::StatusOr<std::vector<PromptSession::Listed>> sessions) {
    if (!sessions.ok()) {
      Say(std::string(sessions.status().message()));
      return Show();
    }
    // The last cell is the one that runs, or the one that has ended last.
    const bool runs = !session_.running_by().empty();
    const uint32_t last = session_.next_cell() - (runs ? 0 : 1);
    std::optional<uint32_t> newest;
    for (const PromptSession::Listed& listed : *sessions) {
      if (listed.name != session_.name()) continue;
      for (uint32_t cell : listed.snapshots) {
        if (cell <= last) newest = cell;
      }
    }
    if (newest) return RewindTo(*newest);
    if (last == 1 && !runs) return UndoFirstCell();
    Say(last == 0 ? "no cell was run yet"
                  : "no snapshot stands before the last cell; :reset starts afresh");
    Show();
  });
}

void Prompt::Rewind(const std::string& cell) {
  uint32_t number = 0;
  if (absl::SimpleAtoi(cell, &number) && number > 0) return RewindTo(number);
  Say("usage: :rewind N, where N is the number of a cell");
  Show();
}

void Prompt::RewindTo(uint32_t cell) {
  const auto rewind = [this, cell] {
    session_.Rewind(cell, [this](absl::StatusOr<Standing> standing) {
      if (standing.ok()) log().Rewind(standing->before_cell);
      Say(standing.ok() ? Describe(*standing) : std::string(standing.status().message()));
      Show();
    });
  };
  Confirm([this, cell] { return QuestionOfRewind(cell); }, rewind);
}

// No snapshot stands before it: what was there is what a fresh session has.
void Prompt::UndoFirstCell() {
  const auto reset = [this] {
    if (!session_.running_by().empty()) return Undo({});  // a second one has begun meanwhile
    session_.Reset([this](const absl::Status& status) {
      if (status.ok()) log().Rewind(1);
      Say(status.ok() ? Describe({.before_cell = 1}) + ": a fresh namespace"
                      : std::string(status.message()));
      Show();
    });
  };
  Confirm([this] { return QuestionOfRewind(1); }, reset);
}

std::string Prompt::QuestionOfRewind(uint32_t cell) const {
  const std::string by = session_.running_by();
  if (!by.empty()) return "end the cell of " + Printable(by) + "? [y/N] ";
  const size_t others = session_.others_since(cell);
  return others == 0 ? "" : "take back " + CellsOfOthers(others) + "? [y/N] ";
}

void Prompt::Branch(const std::string& name) {
  SayWhatItWaitsFor();
  session_.Branch(name, [this, name](absl::StatusOr<Standing> standing) {
    if (standing.ok()) logs_[name] = log();
    Say(standing.ok() ? "branched: " + Describe(*standing) + "; :switch " + name + " goes there"
                      : std::string(standing.status().message()));
    Show();
  });
}

void Prompt::Switch(const std::string& name) {
  session_.Switch(name, [this](const absl::Status& status) {
    if (status.ok()) {
      background_.End();  // of the session that was left
      LoadHistory();
    } else {
      Say(std::string(status.message()));
    }
    Show();
  });
}

void Prompt::Sessions(const std::string&) {
  session_.List([this](absl::StatusOr<std::vector<PromptSession::Listed>> sessions) {
    if (!sessions.ok()) {
      Say(std::string(sessions.status().message()));
      return Show();
    }
    std::string text;
    for (const PromptSession::Listed& listed : *sessions) {
      text += (listed.name == session_.name() ? "* " : "  ") + Printable(listed.name) + ", " +
              Cells(listed.cells_run) + " run" + (listed.busy ? ", busy" : "") + "\n";
    }
    WriteAll(STDOUT_FILENO, text);
    Show();
  });
}

}  // namespace cellar::host
