#include "tests/fuzz/decoder_target.h"

#include <cstdlib>
#include <string_view>

#include "host/wire/bridge_messages.h"
#include "host/wire/channel_messages.h"
#include "host/wire/template_messages.h"

namespace cellar {
namespace {

// What decodes must encode to the same bytes again.
template <typename Message>
void RoundTrip(std::string_view payload) {
  std::optional<Message> message = wire::Decode<Message>(payload);
  if (message && wire::Decode<Message>(wire::Encode(*message)) == std::nullopt) std::abort();
}

}  // namespace

void DecodeAnything(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  RoundTrip<wire::Display>(bytes);
  RoundTrip<wire::Setup>(bytes);
  RoundTrip<wire::Start>(bytes);
  wire::FrameDecoder decoder;
  // The first byte says in what pieces the rest arrives.
  size_t piece = bytes.empty() ? 1 : 1 + static_cast<uint8_t>(bytes[0]);
  for (size_t at = 1; at < bytes.size(); at += piece) {
    decoder.Feed(bytes.substr(at, piece));
    while (true) {
      auto frame = decoder.Next();
      if (!frame.ok()) return;
      if (!*frame) break;
      RoundTrip<wire::Hello>((*frame)->payload);
      RoundTrip<wire::Display>((*frame)->payload);
      RoundTrip<wire::Error>((*frame)->payload);
      RoundTrip<wire::Done>((*frame)->payload);
      RoundTrip<wire::Notice>((*frame)->payload);
      RoundTrip<wire::Value>((*frame)->payload);
      RoundTrip<wire::OpenLine>((*frame)->payload);
      RoundTrip<wire::BridgeCall>((*frame)->payload);
      RoundTrip<wire::BridgeWithdraw>((*frame)->payload);
    }
  }
}

}  // namespace cellar
