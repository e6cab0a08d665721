#include "tests/testing/decoder_target.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "host/wire/bridge_messages.h"
#include "host/wire/channel_messages.h"
#include "host/wire/copy_messages.h"
#include "host/wire/keeper_messages.h"
#include "host/wire/template_messages.h"

namespace cellar {
namespace {

// What decodes is encoded, and then comes back the same. (The payload may differ from it: any byte
// but 0 is true.)
template <typename Message>
void RoundTrip(std::string_view payload) {
  const std::optional<Message> message = wire::Decode<Message>(payload);
  if (!message) return;
  const std::string bytes = wire::Encode(*message);
  const std::optional<Message> again = wire::Decode<Message>(bytes);
  if (!again || wire::Encode(*again) != bytes) std::abort();
}

template <typename... Messages>
void RoundTripEach(std::string_view payload) {
  (RoundTrip<Messages>(payload), ...);
}

}  // namespace

void DecodeAnything(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  RoundTripEach<wire::Display, wire::Setup, wire::Start>(bytes);
  wire::FrameDecoder decoder;
  // The first byte says in what pieces the rest arrives.
  size_t piece = bytes.empty() ? 1 : 1 + static_cast<uint8_t>(bytes[0]);
  for (size_t at = 1; at < bytes.size(); at += piece) {
    decoder.Feed(bytes.substr(at, piece));
    while (true) {
      auto frame = decoder.Next();
      if (!frame.ok()) return;
      if (!*frame) break;
      // All that a host may be sent.
      RoundTripEach<wire::Hello, wire::Display, wire::Error, wire::Done, wire::Notice, wire::Value,
                    wire::QueryAnswer, wire::OpenLine, wire::BridgeCall, wire::BridgeWithdraw,
                    wire::Copied, wire::Measured, wire::KeeperHello, wire::WorkerExited,
                    wire::Cleared, wire::Ready, wire::Failed, wire::ForkFailed>((*frame)->payload);
    }
  }
}

}  // namespace cellar
