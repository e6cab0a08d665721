#include "host/bridge/reply.h"

#include "host/bridge/reply_desk.h"

namespace cellar::host {

void BridgeReply::operator()(BridgeAnswer answer) const {
  ReplyDesk::HandIn(desk_, call_, std::move(answer));
}

}  // namespace cellar::host
