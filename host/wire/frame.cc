#include "host/wire/frame.h"

#include <cstring>

#include "host/base/free_text.h"

namespace cellar::wire {

namespace {

struct Header {
  uint32_t size;
  uint16_t type;
  uint16_t zero;
};
static_assert(sizeof(Header) == kFrameHeaderSize);

// Of the buffer, when it is empty: a frame that was larger is a rare one.
constexpr size_t kKeptBytes = 1u << 20;

}  // namespace

std::string EncodeFrame(uint16_t type, std::string_view payload) {
  Header header = {.size = static_cast<uint32_t>(payload.size()), .type = type, .zero = 0};
  std::string frame;
  frame.reserve(sizeof(header) + payload.size());
  frame.append(reinterpret_cast<const char*>(&header), sizeof(header));
  frame.append(payload);
  return frame;
}

void FrameDecoder::Feed(std::string_view bytes) {
  buffer_.erase(0, consumed_);
  consumed_ = 0;
  Shrink();
  buffer_.append(bytes);
}

void FrameDecoder::Shrink() {
  if (consumed_ < buffer_.size() || buffer_.capacity() <= kKeptBytes) return;
  FreeText(buffer_);
  consumed_ = 0;
}

absl::StatusOr<std::optional<Frame>> FrameDecoder::Next() {
  Shrink();
  std::string_view rest = std::string_view(buffer_).substr(consumed_);
  if (rest.size() < sizeof(Header)) return std::nullopt;
  Header header;
  std::memcpy(&header, rest.data(), sizeof(header));
  if (header.size > kMaxFramePayload || header.zero != 0) {
    return absl::DataLossError("the channel carries something that is not frames");
  }
  if (rest.size() - sizeof(header) < header.size) return std::nullopt;
  consumed_ += sizeof(header) + header.size;
  return Frame{header.type, rest.substr(sizeof(header), header.size)};
}

}  // namespace cellar::wire
