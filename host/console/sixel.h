// Pictures as DEC's terminals take them, and many of today's.
#pragma once

#include <string>

#include "host/console/raster.h"

namespace cellar::host {

// The bytes that show the picture where the cursor is.
std::string Sixel(const IndexedRaster& raster);

}  // namespace cellar::host
