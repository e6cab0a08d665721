// Recorded outputs as the JSON of a notebook file, in the format the file has (nbformat 4, or 3 and
// older). Compact; notebook::InStyle gives it the file's whitespace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/execute/cell_recorder.h"
#include "notebook/cell.h"
#include "notebook/style.h"

namespace cellar::host {

// The value of a cell's `outputs`. Text is UTF-8 there: other bytes become U+FFFD.
std::string OutputsJson(const std::vector<RecordedOutput>& outputs, uint32_t execution_count,
                        notebook::Layout layout, const notebook::Style& style);

// null for 0, that is, for a cell that has not ended.
std::string CountJson(uint32_t execution_count);

}  // namespace cellar::host
