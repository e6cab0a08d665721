// One frame to a client: a JSON object on a line, of a type, about the request of an id.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "host/eval/json_writer.h"
#include "host/eval/result.h"
#include "host/serve/request.h"

namespace cellar::host {

class Frame {
 public:
  Frame(std::string_view type, const RequestId& id);

  JsonWriter& json() { return json_; }
  JsonWriter& Key(std::string_view name) { return json_.Key(name); }
  // With its newline.
  std::string Take();

 private:
  JsonWriter json_{/*pretty=*/false};
};

// A word for the kind of refusal: "InvalidRequest", "NotFound", "SessionRefused", ...
std::string_view RefusalName(const absl::Status& status);

// The last frame of a request, to which more is to be added.
Frame BeginDone(const RequestId& id, std::string_view status);
// The whole last frame of a request that was refused.
std::string RefusedFrame(const RequestId& id, const absl::Status& status);
// The same for one that was done and has no more to say.
std::string OkFrame(const RequestId& id);
// The same for a call, with its result.
std::string ResultFrame(const RequestId& id, const CallResult& result);
// For a line that is no request.
std::string ProtocolErrorFrame(const absl::Status& status);

}  // namespace cellar::host
