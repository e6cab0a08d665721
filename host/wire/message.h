// What all messages have in common beside their types: the frame that carries them. The messages
// themselves stand in a file for each conversation, as PROTOCOL.md describes them:
//   channel_messages.h   host <-> worker, frames on the channel
//   bridge_messages.h    host <-> worker, frames on lines
//   copy_messages.h      host <-> worker or snapshot, frames on the channel
//   template_messages.h  host <-> template, control messages
//   keeper_messages.h    host <-> keeper, control messages
#pragma once

#include <cstdint>
#include <string>

#include "host/wire/codec.h"
#include "host/wire/frame.h"
#include "host/wire/message_type.h"

namespace cellar::wire {

template <typename Message>
std::string MessageFrame(const Message& message) {
  return EncodeFrame(static_cast<uint16_t>(Message::kType), Encode(message));
}

}  // namespace cellar::wire
