// Communication of all ranks held against each other, and collective calls as the graph has them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/kineto/comm_call.h"
#include "goal/import/kineto/notes.h"

namespace weft::goal {

inline constexpr std::uint32_t kUnknownGroup = 0xFFFFFFFFu;

// An operation of a rank's plan that communicates.
struct CommOp {
  std::uint32_t op = 0;
  std::uint32_t group = 0;
  const CommCall* call = nullptr;
  Rank peer = 0;         // of messages, in the world
  bool cut_off = false;  // others have nothing of it
  // Bytes of each member of a collective whose shares differ, by its place in the group.
  std::shared_ptr<const std::vector<std::uint64_t>> counts = nullptr;
};

struct RankOps {
  std::string path;
  Rank donor = 0;           // whose plan it is
  bool lost_front = false;  // were calls before these recorded, and dropped?
  std::vector<CommOp> comms;
};

// Profiles of a run may begin and end at different calls. Marks as cut off what stands at the begin or at the
// end of some ranks' calls on a group (empty: all ranks) and not on others', and messages without a partner:
// at the end, or where calls were dropped before, or only so sizes fit, at the begin.
// Finds the lists of shares that differ. Throws InputError where calls differ otherwise.
void hold_against(std::vector<RankOps>& ranks, const std::vector<std::vector<Rank>>& groups,
                  KinetoNotes& notes);

// The collective on a communicator of `size` ranks, as its rank `place` calls it.
Collective collective_of(const CommCall& call, std::uint32_t communicator, std::uint32_t size,
                         std::uint32_t place, KinetoNotes& notes);

}  // namespace weft::goal
