// Knowing whether this process is the worker or a child that a cell forked. Such a child writes to
// fd 1 and 2 only, never to the ring or the channel, and ends when it returns from the cell.
#pragma once

namespace cellar::embed {

// From now on, a fork of this process makes a forked child.
void ArmForkGuard();
bool IsForkedChild();
// In a copy of a worker that is to run cells: it is no forked child, but a worker itself.
void MarkAsWorker();

}  // namespace cellar::embed
