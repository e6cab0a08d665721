// What Tab does: asks the session what could stand at the cursor, completes what is common to all
// answers, and shows them with their signatures. What can stand in a command the prompt knows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cellar/queries.h"
#include "host/repl/editor.h"
#include "host/repl/prompt_session.h"

namespace cellar::host {

class Completer {
 public:
  // The editor outlives it.
  explicit Completer(Editor& editor) : editor_(editor) {}

  // The answer comes later, and is dropped if the text has changed meanwhile.
  void Complete(PromptSession& session, std::string text, size_t cursor);
  // Matches that are known already, for the bytes from `start` to `end` of what is typed.
  void Offer(const std::vector<Completion>& matches, size_t start, size_t end);

 private:
  void OnAnswer(const std::string& text, const std::string& answer);

  Editor& editor_;
};

}  // namespace cellar::host
