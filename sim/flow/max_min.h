// Max-min fair rates of flows over shared resources, kept up to date as flows come and go.
//
// Sources: D. Bertsekas, R. Gallager, "Data networks", 2nd ed. 1992, §6.5.2 (max-min fairness, the bottleneck
// property, progressive filling); weights and caps as in L. Massoulié, J. Roberts, "Bandwidth sharing:
// objectives and algorithms", IEEE/ACM ToN 10(3), 2002; that a change concerns only bottlenecks of higher
// levels that share flows with it: J. Ros-Giralt et al., "On the bottleneck structure of
// congestion-controlled networks", POMACS 3(3), 2019.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/flow/placed_heap.h"

namespace weft::sim::flow {

// Rates are whole numbers of 2^-16 bits per second, so that what is given out of a resource adds up exactly
// and in any order. 2^62 of them are 70 Tb/s.
using Rate = std::int64_t;
inline constexpr int kRateBits = 16;
inline constexpr Rate kMostRate = Rate{1} << 62;

// How much of a flow's rate goes through a resource: `share` / kWhole, above 0 and at most 1.
inline constexpr std::uint32_t kWhole = 1u << 30;
struct Use {
  std::uint32_t resource = 0;
  std::uint32_t share = kWhole;

  bool operator==(const Use&) const = default;
};
// What a flow of this rate takes of such a resource, rounded down.
inline Rate part_of(Rate rate, std::uint32_t share) {
  if (share == kWhole) [[likely]]
    return rate;
  return static_cast<Rate>(static_cast<unsigned __int128>(rate) * share >> 30);
}

// What MaxMin keeps of each resource and flow.
struct MaxMinParts {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  using Demand = unsigned __int128;  // the sum of share × weight of some flows
  // The order in which flows get their rates. `next`: 1 + the bottleneck; 0: a cap.
  struct Key {
    Rate level = 0;
    std::uint32_t next = 0;
    auto operator<=>(const Key&) const = default;
  };
  using Queue = PlacedHeap<Key>;
  struct Member {
    std::uint32_t flow = 0, entry = 0;  // entry: in entries_
  };
  // What every flow that is opened or fixed touches comes first, in one line of the cache.
  struct alignas(64) Resource {
    Rate capacity = 0;
    Rate load = 0;  // of flows that aren't open
    Demand open_demand = 0;
    Key most;  // no flow here that isn't in the group has a higher one
    std::uint64_t batch = 0;
    std::uint32_t first_open = kNone;  // in open_, while `stamp` is that of this solve()
    std::uint32_t group = 0;
    // The next three are of its group, which is the first `group` of its members.
    Demand group_demand = 0;
    Rate level = 0, group_load = 0;
    Rate told = 0;  // the level that was last told
    std::uint64_t stamp = 0;
    std::uint32_t first_covered = kNone;  // in covered_, while `stamp` is that of this solve()
    bool regrouped = false;               // is it in regrouped_?
    // In this solve(): it waits to rise as a whole; has its exact level; was to get others so often.
    bool waits = false, exact = false;
    std::uint8_t tries = 0;
    float slack = 0;  // of its level
  };
  struct Entry {
    std::uint32_t resource = 0, share = 0;
    std::uint32_t place = 0;  // among the resource's members
  };
  struct Flow {
    Rate cap_level = 0;
    std::uint32_t first = 0;  // in entries_
    std::uint32_t count = 0;
    std::uint32_t weight = 1;
    std::uint32_t bottleneck = kNone;
    bool capped = false, open = false;
  };
  struct Open {
    std::uint32_t flow = 0, entry = 0, next = kNone;
  };
  struct Covered {
    std::uint32_t resource = 0, next = kNone;
  };
};

// A flow's level is its rate over its weight. Rates are max-min fair: every flow is at its cap, or crosses a
// resource that is full and where no other flow has a higher level (its bottleneck). All flows that have
// their bottleneck at one resource, its group, share one level, which is kept once. Levels are whole numbers
// of which all but the first kLevelBits binary digits are 0.
//
// solve() looks only at flows whose level may change. Its result is that of progressive filling over all
// flows, but for what rounding leaves: 10^-10 of the rate where flows have weight 1 and take all of a
// resource, else 10^-9 of the fastest resource. It depends on which flows came and went before each solve(),
// not on their order. What is given out is never more than a resource has, if that has
// no slack.
class MaxMin : private MaxMinParts {
 public:
  static constexpr std::uint32_t kMostWeight = 1u << 16;
  static constexpr int kLevelBits = 40;
  // In place of a resource: a flow before its first solve(); one at its own cap.
  using MaxMinParts::kNone;
  static constexpr std::uint32_t kOwnCap = UINT32_MAX - 1;

  struct Move {
    std::uint32_t flow = 0;
    std::uint32_t bottleneck = 0;  // now: a resource, or kOwnCap
  };
  struct Changes {
    std::span<const std::uint32_t> groups;  // resources whose groups have another level
    std::span<const Move> moves;            // flows that have another bottleneck, new ones too
  };

  // Returns its number; they count from 0.
  std::uint32_t add_resource(Rate capacity);
  // Flows there get their new rates in the next solve().
  void set_capacity(std::uint32_t resource, Rate capacity);
  // The level of its group may be off by this part of it, up or down, before anything changes there: for a
  // capacity that is an estimate and is used by nearly all flows, each of which would move all others.
  void set_slack(std::uint32_t resource, double part) { resources_[resource].slack = part; }
  std::uint32_t resources() const { return static_cast<std::uint32_t>(resources_.size()); }
  // Removes all resources. REQUIRES: there are no flows.
  void clear_resources();

  // A flow with rate 0 until the next solve(). `flow`: a number of the caller's, not in use; memory is in
  // proportion to the highest. `weight`: 1 to kMostWeight. `cap`: its most rate, cut to a multiple of the
  // weight. REQUIRES: there is a use, and no resource twice.
  void add(std::uint32_t flow, std::span<const Use> uses, std::uint32_t weight, Rate cap);
  void remove(std::uint32_t flow);
  // Its level times its weight.
  Rate rate(std::uint32_t flow) const { return level(flows_[flow]) * flows_[flow].weight; }
  Rate level(std::uint32_t flow) const { return level(flows_[flow]); }
  std::uint32_t bottleneck(std::uint32_t flow) const { return flows_[flow].bottleneck; }
  // Gives the level of the flows that have their bottleneck there. REQUIRES: there are such.
  Rate group_level(std::uint32_t resource) const { return resources_[resource].level; }

  // Has anything changed since the last solve()?
  bool changed() const { return !added_.empty() || !touched_.empty() || !resized_.empty(); }
  // What it returns is valid until the next call.
  Changes solve();

  // Rates given out at a resource, in all.
  Rate load(std::uint32_t resource) const { return resources_[resource].load; }
  // Flows that solve() has given rates to, over all calls: what it cost.
  std::uint64_t work() const { return work_; }

 private:
  static Rate level_of(Rate left, Demand demand);
  static Demand demand_of(const Flow& flow, const Entry& entry) {
    return std::uint64_t{entry.share} * flow.weight;
  }
  Rate level(const Flow& flow) const {
    if (flow.bottleneck < kOwnCap) return resources_[flow.bottleneck].level;
    return flow.bottleneck == kOwnCap ? flow.cap_level : 0;
  }
  Key key_of(const Flow& flow) const {
    return {level(flow), flow.bottleneck == kOwnCap ? 0 : flow.bottleneck + 1};
  }
  std::span<Entry> entries(const Flow& flow) { return {entries_.data() + flow.first, flow.count}; }
  std::uint32_t new_entries(std::uint32_t count);
  void touch(std::uint32_t resource);
  void swap_members(std::uint32_t resource, std::uint32_t a, std::uint32_t b);
  void join_group(std::uint32_t resource, std::uint32_t entry, const Flow& flow);
  void leave_group(std::uint32_t resource, std::uint32_t entry, const Flow& flow);
  // These are the steps of one solve() (max_min_solve.cc).
  void begin();
  bool is_alone(const Flow& flow) const;
  void settle_alone(std::uint32_t flow);
  void meet(std::uint32_t resource);
  void open(std::uint32_t flow);
  void open_group(std::uint32_t resource);
  bool shift_group(std::uint32_t resource, Rate level);
  Rate move_loads(std::uint32_t resource, Rate from, Rate to);
  void find_held_up(std::uint32_t resource, Rate level);
  void change_level(std::uint32_t resource, Rate level);
  void queue_batch();
  // The only flow that is open there, where there is no group; kNone: it's not so.
  std::uint32_t only_open(const Resource& resource) const;
  void enqueue(std::uint32_t resource, Rate level);
  void cover(std::uint32_t resource, std::uint32_t by);
  void uncover(std::uint32_t resource);
  static Rate full_level(const Resource& resource);
  // When something happens to it. That never gets earlier while flows are given lower levels.
  static Rate next_level(const Resource& resource, Rate full) {
    return resource.group > 0 && resource.level < full && !resource.waits ? resource.level : full;
  }
  auto place() {
    return [this](std::uint32_t resource) -> std::uint32_t& { return places_[resource]; };
  }
  void visit(Key key);
  bool open_faster(std::uint32_t resource, Key than);
  void set_level(std::uint32_t resource, Rate level);
  void freeze(std::uint32_t resource, Rate level);
  void fix(Flow& flow, Key key);
  void fix_capped(Rate up_to);
  Changes changes();

  std::vector<Resource> resources_;
  std::vector<std::vector<Member>> members_;  // by resource
  std::vector<std::uint32_t> places_;         // in queue_, by resource
  std::vector<Flow> flows_;
  std::vector<Key> tightest_;  // by flow: of the links where it alone is open
  std::vector<Entry> entries_;
  std::vector<std::vector<std::uint32_t>> unused_entries_;  // by count: where such a block begins
  std::vector<std::uint32_t> added_;                        // flows
  std::vector<std::uint32_t> touched_, resized_;  // resources: where flows have left; with another capacity
  std::vector<bool> is_touched_;

  // solve() works with these.
  std::uint64_t stamp_ = 0, batch_number_ = 0;
  std::vector<Move> part_;  // the flows that take part, with what their bottlenecks were
  std::vector<Open> open_;
  std::vector<std::uint32_t> held_up_;  // flows of a group that can't rise with it
  std::vector<std::uint32_t> batch_;    // resources that flows were opened at since the last queue_batch()
  std::vector<Key> singles_;            // of these, those of only_open()
  std::vector<Key> leading_;            // of these, the tightest of each flow
  std::vector<Covered> covered_;
  Queue queue_;            // of resources; keys are no higher than what they stand for
  std::vector<Key> caps_;  // a heap of flows, by their caps, the least first; `next` is the flow
  std::vector<std::uint32_t> regrouped_, groups_;
  std::vector<Move> moves_;
  std::uint64_t work_ = 0;
};

}  // namespace weft::sim::flow
