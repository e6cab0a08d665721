// Tells ThreadSanitizer what Abseil's locks do. Debian's Abseil is not built for it, so it would
// see the host's threads touch the same memory with nothing between them. Part of builds with
// -fsanitize=thread only, in which the linker leads the host's calls through here (--wrap, see
// cmake/tsan.cmake). Inside of a lock nothing is looked at, conditions included: Abseil evaluates
// those while it holds the lock, perhaps on another thread.
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

using absl::Condition;
using absl::Duration;
using absl::Mutex;
using absl::Notification;

namespace {

struct Locking {
  explicit Locking(Mutex* locked) : mutex(locked) {
    __tsan_mutex_pre_lock(mutex, __tsan_mutex_not_static);
  }
  ~Locking() { __tsan_mutex_post_lock(mutex, __tsan_mutex_not_static, 0); }
  Mutex* mutex;
};

struct Unlocking {
  explicit Unlocking(Mutex* unlocked) : mutex(unlocked) { __tsan_mutex_pre_unlock(mutex, 0); }
  ~Unlocking() { __tsan_mutex_post_unlock(mutex, 0); }
  Mutex* mutex;
};

// A wait gives the lock away and has it again at its end.
Mutex* GiveAway(Mutex* mutex) {
  Unlocking unlocking(mutex);
  return mutex;
}

// What HasBeenNotified() reads, which is inline: the member behind the mutex.
void* FlagOf(const Notification* notification) {
  return const_cast<char*>(reinterpret_cast<const char*>(notification)) + sizeof(Mutex);
}

}  // namespace

// Each stands in the place of Abseil's own function, which the linker calls __real_.
#define CELLAR_WRAP(result, symbol, ...)          \
  extern "C" result __real_##symbol(__VA_ARGS__); \
  extern "C" result __wrap_##symbol(__VA_ARGS__)

CELLAR_WRAP(void, _ZN4absl7debian35MutexD1Ev, Mutex* mutex) {
  __tsan_mutex_destroy(mutex, __tsan_mutex_not_static);
  __real__ZN4absl7debian35MutexD1Ev(mutex);
}

CELLAR_WRAP(void, _ZN4absl7debian35Mutex4LockEv, Mutex* mutex) {
  Locking locking(mutex);
  __real__ZN4absl7debian35Mutex4LockEv(mutex);
}

CELLAR_WRAP(void, _ZN4absl7debian35Mutex6UnlockEv, Mutex* mutex) {
  Unlocking unlocking(mutex);
  __real__ZN4absl7debian35Mutex6UnlockEv(mutex);
}

CELLAR_WRAP(void, _ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE, Mutex* mutex,
            const Condition& condition) {
  Locking locking(mutex);
  __real__ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE(mutex, condition);
}

CELLAR_WRAP(bool, _ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE,
            Mutex* mutex, const Condition& condition, Duration limit) {
  Locking locking(mutex);
  return __real__ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE(
      mutex, condition, limit);
}

CELLAR_WRAP(void, _ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE, Mutex* mutex,
            const Condition& condition) {
  Locking locking(GiveAway(mutex));
  __real__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(mutex, condition);
}

CELLAR_WRAP(bool, _ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE,
            Mutex* mutex, const Condition& condition, Duration limit) {
  Locking locking(GiveAway(mutex));
  return __real__ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE(
      mutex, condition, limit);
}

CELLAR_WRAP(void, _ZN4absl7debian312Notification6NotifyEv, Notification* notification) {
  __tsan_release(FlagOf(notification));
  __real__ZN4absl7debian312Notification6NotifyEv(notification);
}

CELLAR_WRAP(void, _ZNK4absl7debian312Notification19WaitForNotificationEv,
            const Notification* notification) {
  __real__ZNK4absl7debian312Notification19WaitForNotificationEv(notification);
  __tsan_acquire(FlagOf(notification));
}

CELLAR_WRAP(bool, _ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE,
            const Notification* notification, Duration limit) {
  const bool notified =
      __real__ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE(
          notification, limit);
  __tsan_acquire(FlagOf(notification));
  return notified;
}
