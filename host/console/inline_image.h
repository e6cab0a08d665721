// Images on terminals that can show them.
#pragma once

#include <string>
#include <string_view>

#include "host/runtime/environment.h"

namespace cellar::host {

enum class ImageProtocol { kNone, kKitty, kITerm };

// By the variables that terminals set. None inside tmux and screen, which pass images on to nobody.
ImageProtocol ImageProtocolOf(const Environment& env);

// The bytes that show the image; empty when the terminal does not take this type.
std::string InlineImage(ImageProtocol protocol, std::string_view mime, std::string_view data);

}  // namespace cellar::host
