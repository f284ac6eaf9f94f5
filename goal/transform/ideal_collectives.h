// Collectives in the ideal schedule: on whose call a member's part is over.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "goal/graph/communicator_places.h"
#include "goal/transform/ideal_schedule.h"

namespace weft::goal {

class IdealCollectives {
 public:
  explicit IdealCollectives(const Graph& graph) : graph_(graph), places_(graph) {}

  // An operation that has finished by this call, and the call that it waited for (itself, if for none).
  using Finish = std::function<void(GlobalOp op, GlobalOp last)>;
  // A rank calls its collective operation i. Throws InputError if the rank is no member or another member
  // called another kind or root.
  void call(Rank rank, OpIndex i, GlobalOp op, const Finish& finish);

 private:
  struct Instance {
    CollectiveKind kind;
    std::uint32_t root = 0;
    std::uint32_t called = 0;
    std::uint32_t before = 0;            // scans: members in a row that have called
    std::vector<GlobalOp> ops;           // by position; kNoOp: not called yet
    std::vector<std::uint32_t> waiting;  // positions that have called and not finished
    std::vector<std::uint32_t> missing;  // neighbor kinds, by position: sources that have not called yet
  };
  // A call of a neighbor kind: the member waits for its sources, and its destinations may have waited for it.
  void call_neighbors(Instance& instance, const Collective& collective, std::uint32_t position,
                      const Finish& finish);
  // Is the part of the member at `position` over?
  bool over(const Instance& instance, std::uint32_t position) const;
  // Can the call of the member at `position` end the part of others?
  bool frees_others(const Instance& instance, std::uint32_t position) const;

  const Graph& graph_;
  CommunicatorPlaces places_;
  std::unordered_map<std::uint64_t, Instance> open_;  // by communicator and number; only asked, never walked
};

}  // namespace weft::goal
