// Images on terminals that can show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "host/runtime/environment.h"

namespace cellar::host {

enum class ImageProtocol { kNone, kKitty, kITerm, kSixel };

// By the variables that terminals set. None inside tmux and screen, which pass images on to nobody.
// Terminals that show sixels mostly have no variable for it, and must be asked.
ImageProtocol ImageProtocolOf(const Environment& env);

// Of the terminal; a guess where it does not say.
size_t TerminalPixelWidth(int fd);

// The bytes that show the image; empty when the terminal does not take this type. Sixels are drawn
// at most `max_width` pixels wide; other terminals scale images themselves.
std::string InlineImage(ImageProtocol protocol, std::string_view mime, std::string_view data,
                        size_t max_width);

}  // namespace cellar::host
