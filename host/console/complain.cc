#include "host/console/complain.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "host/console/exit_codes.h"
#include "host/output/printable.h"

namespace cellar::host {

void Complain(std::string_view words) {
  const std::string text = Printable(std::string(words));
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    std::fprintf(stderr, "cellar: %.*s\n", static_cast<int>(line.size()), line.data());
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
}

void Complain(const absl::Status& status) { Complain(std::string(status.message())); }

int ComplainOf(const absl::Status& status) {
  Complain(status);
  return ExitCodeFor(status);
}

}  // namespace cellar::host
