#include "host/base/status.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace cellar {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EAGAIN:
      return absl::StatusCode::kResourceExhausted;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case EISDIR:
      return absl::StatusCode::kInvalidArgument;
    case EPIPE:
    case ECONNRESET:
    case ECONNREFUSED:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kUnknown;
  }
}

}  // namespace

absl::Status ErrnoStatus(int error, std::string_view what) {
  std::string message(what);
  message += ": ";
  message += std::generic_category().message(error);
  return absl::Status(CodeOf(error), message);
}

}  // namespace cellar
