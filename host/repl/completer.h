// What Tab does: asks the session what could stand at the cursor, completes what is common to all
// answers, and shows them with their signatures.
#pragma once

#include <cstddef>
#include <string>

#include "host/repl/editor.h"
#include "host/repl/prompt_session.h"

namespace cellar::host {

class Completer {
 public:
  // The editor outlives it.
  explicit Completer(Editor& editor) : editor_(editor) {}

  // The answer comes later, and is dropped if the text has changed meanwhile.
  void Complete(PromptSession& session, std::string text, size_t cursor);

 private:
  void OnAnswer(const std::string& text, const std::string& answer);

  Editor& editor_;
};

}  // namespace cellar::host
