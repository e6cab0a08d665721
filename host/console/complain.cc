#include "host/console/complain.h"

#include <cstdio>
#include <string>

#include "host/output/printable.h"

namespace cellar::host {

void Complain(const absl::Status& status) {
  std::fprintf(stderr, "cellar: %s\n", Printable(std::string(status.message())).c_str());
}

}  // namespace cellar::host
