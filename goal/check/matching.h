// How many sends and receives can be served at best when some receives take any source or any tag.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal::checks {

// Equal messages to one rank within one communicator.
struct MessageClass {
  std::uint32_t source;  // kAny: any (receives)
  std::uint32_t tag;     // kAny: any
  std::uint64_t count;   // in: how many there are; out: how many are left unmatched
  std::uint32_t first;   // for the caller: where they begin
};

// Takes from the counts what a maximum matching serves. Both lists are sorted by (source, tag) and have no
// equal entries. Each class of sends can go to four classes of receives at most, so this is near linear: a
// greedy start from the choosiest receives, then augmenting paths (L. R. Ford, D. R. Fulkerson, 1956) for
// what is left.
void match_classes(std::vector<MessageClass>& sends, std::vector<MessageClass>& receives);

}  // namespace weft::goal::checks
