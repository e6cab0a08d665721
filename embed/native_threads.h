// The threads of this process, and which of those that Python did not start a fork can do without.
#pragma once

namespace cellar::embed {

int CountThreads();

// Has every OpenMP runtime of GCC end its threads; it starts new ones when it needs them. A copy
// would otherwise wait for threads that it does not have.
void PauseOpenMp();

// Threads of this process beyond `python_threads` and those of libraries that are known to look
// after themselves when forked.
int CountUnknownThreads(int python_threads);

}  // namespace cellar::embed
