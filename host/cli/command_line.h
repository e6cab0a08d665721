// What several commands have in common on the command line.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cellar::host {

// -s NAME. An empty name is refused: a shell makes one of a variable that is not set, and the cells
// would run where nobody finds what they leave.
CLI::Option* AddSessionOption(CLI::App& command, std::string& name, const std::string& help);

// What --timeout was given: InvalidArgument unless it is a number of seconds. Which of them are
// allowed is for ClampTimeout to say.
absl::Status CheckTimeout(double seconds);

// For CLI::Option::transform: a word for each value of an enumeration.
template <typename Value>
CLI::Validator OneOf(std::map<std::string, Value> words) {
  return CLI::Validator(
      [words = std::move(words)](std::string& given) -> std::string {
        const auto found = words.find(given);
        if (found == words.end()) {
          return absl::StrCat("expected ", absl::StrJoin(words, " or ", [](auto* text, auto& word) {
                                return text->append(word.first);
                              }));
        }
        given = std::to_string(static_cast<int>(found->second));
        return "";
      },
      /*description=*/"");
}

// What is said about a mistake on the command line.
std::string UsageMessage(const CLI::App* app, const CLI::Error& error);

}  // namespace cellar::host
