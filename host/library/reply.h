// One answer, handed from the loop's thread to a thread that waits for it.
#pragma once

#include <optional>
#include <utility>

#include "absl/synchronization/notification.h"

namespace cellar {

template <typename T>
class Reply {
 public:
  // Once.
  void Give(T value) {
    value_ = std::move(value);
    given_.Notify();
  }

  T Wait() {
    given_.WaitForNotification();
    return *std::move(value_);
  }

 private:
  std::optional<T> value_;
  absl::Notification given_;
};

}  // namespace cellar
