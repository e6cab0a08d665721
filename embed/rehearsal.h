// Cells that the template runs in the worker it has built, before others are forked from it. What
// CPython writes when code runs for the first few times (inline caches, counts of references,
// memory out of half-filled pages, modules imported late) is then shared by all sessions, and no
// longer done by each.
#pragma once

namespace cellar::embed {

// Leaves no trace that a cell could see. To be called when the template has nothing else to do.
void Rehearse();

}  // namespace cellar::embed
