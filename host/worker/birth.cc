#include "host/worker/birth.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "host/base/fds.h"
#include "host/base/process.h"

namespace cellar::host {

std::vector<int> Birth::Fds(size_t count) const {
  std::vector<int> fds;
  for (size_t i = 0; i < count; ++i) fds.push_back(worker_fds[i].get());
  fds[wire::kDoorbellFd] = ends.doorbell.get();
  fds[wire::kFaultsFd] = ends.faults.get();
  return fds;
}

absl::StatusOr<std::vector<UniqueFd>> Birth::TakeFds(size_t count) {
  std::vector<UniqueFd> fds(count);
  for (size_t i = 0; i < count; ++i) fds[i] = std::move(worker_fds[i]);
  for (auto [place, end] :
       {std::pair(wire::kDoorbellFd, &ends.doorbell), std::pair(wire::kFaultsFd, &ends.faults)}) {
    UniqueFd copy(fcntl(end->get(), F_DUPFD_CLOEXEC, 0));
    if (!copy) return ErrnoStatus(errno, "keeping a worker's descriptors");
    CELLAR_ASSIGN_OR_RETURN(fds[place], MoveHigh(std::move(copy)));
  }
  return fds;
}

absl::StatusOr<Birth> MakeBirth() {
  Birth birth;
  birth.worker_fds.resize(wire::kBirthFdCount);
  CELLAR_ASSIGN_OR_RETURN(auto channel, MakeSocketPair(SOCK_STREAM));
  birth.ends.channel = std::move(channel.first);
  birth.worker_fds[wire::kChannelFd] = std::move(channel.second);
  CELLAR_ASSIGN_OR_RETURN(birth.worker_fds[wire::kRingFd],
                          MakeSealedMemory("cellar-ring", wire::kRingMemorySize));
  CELLAR_ASSIGN_OR_RETURN(birth.ring, wire::RingMemory::Map(birth.worker_fds[wire::kRingFd].get()));
  UniqueFd doorbell(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!doorbell) return ErrnoStatus(errno, "creating a doorbell");
  CELLAR_ASSIGN_OR_RETURN(birth.ends.doorbell, MoveHigh(std::move(doorbell)));
  CELLAR_ASSIGN_OR_RETURN(Pipe out, MakePipe());
  CELLAR_ASSIGN_OR_RETURN(Pipe err, MakePipe());
  birth.ends.out = std::move(out.read);
  birth.ends.err = std::move(err.read);
  birth.worker_fds[wire::kStdoutFd] = std::move(out.write);
  birth.worker_fds[wire::kStderrFd] = std::move(err.write);
  CELLAR_ASSIGN_OR_RETURN(birth.ends.faults, MakeMemoryFile("cellar-faults"));
  return birth;
}

absl::StatusOr<std::unique_ptr<Keeper>> AddKeeper(EventLoop& loop, Birth& birth) {
  CELLAR_ASSIGN_OR_RETURN(auto socket, MakeSocketPair(SOCK_SEQPACKET));
  CELLAR_RETURN_IF_ERROR(SetNonBlocking(socket.first.get(), true));
  birth.worker_fds[wire::kKeeperFd] = std::move(socket.second);
  CELLAR_ASSIGN_OR_RETURN(birth.worker_fds[wire::kKeeperHostAliveFd], OpenPidfd(getpid()));
  return std::make_unique<Keeper>(loop, std::move(socket.first));
}

}  // namespace cellar::host
