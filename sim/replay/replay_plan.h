// What all shares of a replay read, and none changes.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/communicator_places.h"
#include "goal/graph/graph.h"
#include "goal/program.h"
#include "sim/core/network.h"
#include "sim/replay/replay.h"

namespace weft::sim {

// The host of a rank, and its number among the program's ranks there.
struct PlacedRank {
  std::uint32_t host = 0, slot = 0;
};

struct ReplayPlan {
  // REQUIRES: the place has its first entity.
  ReplayPlan(const goal::Program& what, const HostConfig& config, ReplayPlace where);
  ReplayPlan(const ReplayPlan&) = delete;
  ReplayPlan& operator=(const ReplayPlan&) = delete;
  // Place of a rank among the members of a communicator with collectives. Throws GraphError if it is none;
  // `op` is the rank's operation that asks.
  std::uint32_t position_in(std::uint32_t comm, std::uint32_t rank, goal::OpIndex op) const;

  goal::Program program;
  std::uint32_t shares = 1;
  HostConfig hosts;
  ReplayPlace place;
  // Empty: rank r is alone on host r, and nothing is beside the program.
  std::vector<PlacedRank> placed;
  std::uint32_t most_ranks_on_host = 1;
  // Null: messages take the NICs that the program names.
  const NicRule* nics = nullptr;
  std::vector<std::uint32_t> ranks_of_host;  // as many as there are; empty without a rule
  // HostConfig::rails; `most` is 1, and no channels take turns, where each rank has one NIC of its own.
  RailUse rails;
  void settle_rails();
  // REQUIRES for both: there is a rule. `channel`: of a collective, if that says which of the rank's own.
  static constexpr std::uint32_t kNoChannel = 0xFFFFFFFFu;
  void put_nics(const PlacedRank& from, const PlacedRank& to, std::uint32_t channel, Message& message) const;
  NicPair nics_of(const PlacedRank& from, const PlacedRank& to, std::uint32_t rail) const {
    return nics->nics({from.host, from.slot, ranks_of_host[from.host]},
                      {to.host, to.slot, ranks_of_host[to.host]}, rail);
  }
  std::uint32_t host_of(std::uint32_t rank) const { return placed.empty() ? rank : placed[rank].host; }
  EntityId first_entity;  // rank r is entity first_entity + r
  std::vector<const goal::ChosenAlgorithm*>
      choices;                            // per collective of the program; null for one rank alone
  std::vector<std::uint64_t> signatures;  // call_signature(), likewise
  std::vector<TimePerByte> reductions;    // cpu time to combine what is received, likewise
  std::vector<TimePerByte> copies;        // cpu time to copy, likewise
  std::vector<std::uint32_t> local;       // of each rank: its number among those of its share, from 0 on
  goal::CommunicatorPlaces places;
};

}  // namespace weft::sim
