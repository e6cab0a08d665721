// Outputs in a form that tests can compare.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cellar/cellar.h"

namespace cellar::testing {

// What a display or result has of that type, or nothing.
inline std::string DataOf(const CellOutput& output, std::string_view mime) {
  for (const wire::MimeEntry& entry : output.data) {
    if (entry.mime == mime) return entry.data;
  }
  return "";
}

// "out:…" and "err:…" for text, "display:…" and "result:…" with the plain text.
inline std::vector<std::string> Shown(const std::vector<CellOutput>& outputs) {
  std::vector<std::string> shown;
  for (const CellOutput& output : outputs) {
    switch (output.type) {
      case CellOutput::Type::kStdout:
        shown.push_back("out:" + output.text);
        break;
      case CellOutput::Type::kStderr:
        shown.push_back("err:" + output.text);
        break;
      case CellOutput::Type::kDisplay:
        shown.push_back("display:" + DataOf(output, "text/plain"));
        break;
      case CellOutput::Type::kResult:
        shown.push_back("result:" + DataOf(output, "text/plain"));
        break;
      case CellOutput::Type::kStatus:
        shown.push_back("status");
        break;
    }
  }
  return shown;
}

}  // namespace cellar::testing
