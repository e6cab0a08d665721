// One answer, given on a loop, for a thread that waits for it.
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

  const absl::Notification& given() const { return given_; }

  // When it has been given.
  T Take() { return *std::move(value_); }

 private:
  std::optional<T> value_;
  absl::Notification given_;
};

}  // namespace cellar
