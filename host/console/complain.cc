#include "host/console/complain.h"

#include <cstdio>
#include <string>

#include "host/console/exit_codes.h"
#include "host/output/printable.h"

namespace cellar::host {

void Complain(std::string_view words) {
  std::fprintf(stderr, "cellar: %s\n", Printable(std::string(words)).c_str());
}

void Complain(const absl::Status& status) { Complain(std::string(status.message())); }

int ComplainOf(const absl::Status& status) {
  Complain(status);
  return ExitCodeFor(status);
}

}  // namespace cellar::host
