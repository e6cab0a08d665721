// What a terminal answers when it is asked what it can do. The answer comes among the keys; who
// reads those has them pass through here.
#pragma once

#include <string>
#include <string_view>

namespace cellar::host {

class DeviceAttributes {
 public:
  // To be written to the terminal, once: "primary device attributes", which every terminal knows.
  static constexpr std::string_view kQuestion = "\x1b[c";

  // The keys without the answer. What may be its beginning is kept until the rest of it is there,
  // or StopWaiting.
  std::string Take(std::string_view keys);
  // The answer is late or never comes: keys are not held up for it any more. Returns those that
  // were.
  std::string StopWaiting();

  bool is_known() const { return is_known_; }
  bool shows_sixel() const { return shows_sixel_; }

 private:
  void Read(std::string_view parameters);

  std::string kept_;
  bool waits_ = true;
  bool is_known_ = false;
  bool shows_sixel_ = false;
};

}  // namespace cellar::host
