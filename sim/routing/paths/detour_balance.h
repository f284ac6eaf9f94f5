// How much traffic goes by detours when a policy weighs these against direct ways by load, as UGAL does: the
// steady state that packets come to, worked out without any.
//
// Sources: J. G. Wardrop, "Some theoretical aspects of road traffic research", Proc. ICE 1(3), 1952 (nobody
// gains by changing ways); A. Singh, "Load-balanced routing in interconnection networks", PhD thesis,
// Stanford, 2005 (UGAL).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/paths/detour_areas.h"
#include "sim/routing/paths/detour_legs.h"
#include "sim/routing/paths/detour_ways.h"
#include "sim/routing/paths/host_groups.h"
#include "sim/routing/paths/pair_table.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// The share of detours in what one group of hosts sends to another.
class DetourShares {
 public:
  double of(std::uint32_t from, std::uint32_t to) const {
    if (suspended_) return 0;
    const double* const known = share_.find(PairTable<double>::key(from, to));
    return known == nullptr ? others_ : *known;
  }
  void set(std::uint32_t from, std::uint32_t to, double share) {
    share_.add(PairTable<double>::key(from, to)).value = share;
  }
  // Sets the share of all pairs that set() was not called for.
  void set_others(double share) { others_ = share; }
  // All are 0 again.
  void clear() {
    share_.clear();
    others_ = 0;
  }
  // All are 0 as long as they are: in an idle network.
  void suspend(bool suspended) { suspended_ = suspended; }

 private:
  PairTable<double> share_;
  double others_ = 0;
  bool suspended_ = false;
};

// A model's paths, with these shares instead of its own.
class SharedPaths final : public PathModel {
 public:
  // `shares` may change, but not while it is asked. Both must outlive it.
  SharedPaths(std::unique_ptr<PathModel> base, const HostGroups& groups, const DetourShares& shares)
      : base_(std::move(base)), groups_(groups), shares_(shares) {}
  void starts(std::uint32_t source, std::uint32_t destination, std::vector<PathStart>& starts) const override;
  void steps(topologies::Vertex at, PathState state, std::uint32_t host,
             std::vector<PathStep>& steps) const override {
    base_->steps(at, state, host, steps);
  }
  PathState behind_detour(PathState state) const override { return base_->behind_detour(state); }
  bool detours_within_groups() const override { return base_->detours_within_groups(); }
  std::uint32_t states() const override { return base_->states(); }
  std::uint32_t virtual_channels() const override { return base_->virtual_channels(); }
  bool tells_hosts_apart() const override { return base_->tells_hosts_apart(); }

 private:
  const std::unique_ptr<PathModel> base_;
  const HostGroups& groups_;
  const DetourShares& shares_;
};

// A link costs nothing while what is offered to it fits, as nothing waits there; beyond that a high power of
// its load, so that ways compare by their fullest links. Shares begin at what direct ways alone don't take. A
// pair's grows while its direct ways are fuller than its detours, else it shrinks, and where nothing waits
// until its direct ways are full; steps are halved when this turns round. So shares end where both cost the
// same, or all goes one way. Of all rounds the best counts, by the sum of what links cost. Deterministic.
// Each round takes time in proportion to groups × channels; where few groups send, to these, as what their
// ways put on channels is kept.
class DetourBalance {
 public:
  // `model`: of one start without a detour and one with, as for its hosts all. `capacity`: of every channel,
  // in any unit; 0: it is down. Only `groups` must outlive it. Throws NotEnoughMemory for networks that take
  // more than there is: some 300 bytes for each switch and group of hosts. Ways that are kept come on top, up
  // to 256 MiB and those of one call.
  DetourBalance(const topologies::Topology& topology, const PathModel& model, const HostGroups& groups,
                std::vector<double> capacity);
  DetourBalance(const DetourBalance&) = delete;
  DetourBalance& operator=(const DetourBalance&) = delete;

  using Pair = DetourPair;
  // Finds `detoured`, whatever it was, in at most so many rounds: with 8 the fullest link is mostly within 1%
  // of what 100 come to.
  void balance(std::span<Pair> pairs, std::uint32_t rounds);
  // What these put on each channel between switches.
  struct Loads {
    std::vector<double> direct, detoured;
  };
  // Valid until the next call.
  const Loads& loads(std::span<const Pair> pairs);
  // The part of a pair's detours that are none, as they would lead by a switch of its hosts' own.
  double near(std::uint32_t from, std::uint32_t to) const { return areas_.near(from, to); }

 private:
  bool carry_all(std::span<const Pair> pairs);
  bool carry_detours(std::span<const Pair> pairs);
  void begin(std::span<const Pair> pairs);
  bool guess_shares(std::span<Pair> pairs);
  void find_shares(std::span<Pair> pairs, std::uint32_t rounds);
  double level(double costs) const;
  double gap(std::size_t pair) const;
  void carry_direct(std::span<const Pair> pairs);
  void carry_direct(std::span<const Pair> pairs, std::uint32_t to);
  void carry_last(std::span<const Pair> pairs, std::uint32_t to);
  void carry_first(std::span<const Pair> pairs, std::uint32_t via);
  double price_channels(int squarings);
  void price_pairs(std::span<const Pair> pairs);
  // Channels whose loads are to be known.
  std::span<const std::uint32_t> counted() const { return kept_ ? ways_.counted() : legs_.between(); }

  const HostGroups& groups_;
  const DetourAreas areas_;
  const std::vector<double> capacity_;
  DetourLegs legs_;
  DetourWays ways_;
  // These are for the pairs at hand only.
  bool kept_ = false;                                 // do ways_ have theirs?
  std::vector<std::vector<std::uint32_t>> pairs_to_;  // their numbers, by group, if ways_ haven't
  std::vector<double> near_;                          // odds of detours that are none
  std::vector<double> sent_, minus_;                  // by key: by detours; less those that are none
  Carried load_;
  Loads loads_;
  std::vector<Pair> moving_;
  int squarings_ = 0;               // of prices: their power's logarithm
  double log_most_ = 0;             // of the fullest link's load
  std::vector<double> price_;       // by channel
  std::vector<double> filled_;      // as price_, where nothing waits too
  std::vector<double> first_cost_;  // by key: of the first legs of the mean detour
  DetourCosts costs_;
};

}  // namespace weft::routing
