// Parameters of a notebook, by papermill's rule: a cell tagged `injected-parameters` that assigns
// them, put behind the cell tagged `parameters` (or at the top), in the place of one that an
// earlier run has put there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "notebook/document.h"

namespace cellar::host {

struct Parameter {
  std::string name;
  std::string literal;  // Python source

  // "name=value". The value is a number, True, False or None if it reads like one, else text.
  static absl::StatusOr<Parameter> Parse(std::string_view text);
};

struct Parameterised {
  notebook::Document document;
  size_t cell = 0;      // the one that assigns the parameters
  bool is_new = false;  // it was not there before: the cells below it have moved down
};

absl::StatusOr<Parameterised> WithParameters(const notebook::Document& document,
                                             const std::vector<Parameter>& parameters);

}  // namespace cellar::host
