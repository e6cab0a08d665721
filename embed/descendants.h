// Ending every process below this one, whatever it did to get away: new sessions, stopped
// processes, fork bombs. Works only in a process that is a subreaper, since orphans must come back
// to it.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

namespace cellar::embed {

// Becomes the parent of every orphan below.
void BecomeSubreaper();
// Whoever is to end others goes on when its parent dies, should it have been stopped: it would not
// see the end of the host otherwise.
void ContinueWhenParentDies();
// The same when `socket` to the host closes, and whenever something arrives on it: the parent may
// have died before this process was stopped. For a socket that no other process holds.
void ContinueWhenSocketStirs(int socket);
// So that descendants are found also when no more files can be opened; once, in the process itself.
void KeepProcOpen();

// Kills and reaps all descendants except `kept` children and what is below them. Returns when
// none is left but those that this process may not signal. Resource trackers of multiprocessing end
// by themselves when nobody is left that knows them, and remove what those that were killed have
// left. They are given a moment for it; where some are kept, which may know them, they live on.
void KillDescendants(const std::set<pid_t>& kept = {});

// Whether there is such a tracker. Reads all of /proc.
bool ResourceTrackerLives(const std::set<pid_t>& kept);

// Kills what lives of them now but for such trackers, once; reaps nothing and does not wait.
void KillLivingDescendants(const std::set<pid_t>& kept);

// Kills every process of the session (setsid(2)) that `leader` has led, and what is below them;
// reaps nothing. The leader must not have been reaped: its number is not another's then.
void KillSession(pid_t leader);

// Whether it is a child of this process and lives; one that is dead and not reaped does not.
bool IsLivingChild(pid_t pid);

// The living children of a process. Reads all of /proc.
std::vector<pid_t> ChildrenOf(pid_t parent);

}  // namespace cellar::embed
