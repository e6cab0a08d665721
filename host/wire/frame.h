// Frames on a worker's channel: an 8-byte header (payload size, type, zero), then the payload. This
// file knows sizes and borders only; what a payload means is in message.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace cellar::wire {

// Both sides must agree exactly: host and worker program are built together.
inline constexpr uint32_t kProtocolVersion = 1;

inline constexpr size_t kFrameHeaderSize = 8;
// Above the largest MIME bundle a worker sends (64 MiB), so that a frame past this is garbage.
inline constexpr size_t kMaxFramePayload = 80u << 20;

struct Frame {
  uint16_t type;
  std::string_view payload;  // valid until the decoder is used again
};

// Header and payload, ready to be written.
std::string EncodeFrame(uint16_t type, std::string_view payload);

// Cuts a byte stream into frames. Takes any bytes in any pieces; memory is bounded by
// kMaxFramePayload.
class FrameDecoder {
 public:
  void Feed(std::string_view bytes);
  // The next whole frame, nothing when more bytes are needed, or an error when the stream is not
  // frames; after an error the decoder stays in error.
  absl::StatusOr<std::optional<Frame>> Next();

 private:
  // What a large frame needed is not kept for the next.
  void Shrink();

  std::string buffer_;
  size_t consumed_ = 0;
};

}  // namespace cellar::wire
