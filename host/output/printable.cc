#include "host/output/printable.h"

#include <algorithm>

#include "host/output/sanitiser.h"

namespace cellar::host {

std::string Printable(std::string_view text) {
  std::string still;
  still.reserve(text.size());
  std::copy_if(text.begin(), text.end(), std::back_inserter(still),
               [](char byte) { return byte != '\r' && byte != '\b'; });
  std::string printable;
  printable.reserve(still.size());
  Sanitiser sanitiser;
  sanitiser.Write(still, &printable);
  sanitiser.Finish(&printable);
  return printable;
}

}  // namespace cellar::host
