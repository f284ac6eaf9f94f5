// Max-min fair rates of flows over shared resources, kept up to date as flows come and go.
//
// Sources: D. Bertsekas, R. Gallager, "Data networks", 2nd ed. 1992, §6.5.2 (max-min fairness, the bottleneck
// property, progressive filling); weights and caps as in L. Massoulié, J. Roberts, "Bandwidth sharing:
// objectives and algorithms", IEEE/ACM ToN 10(3), 2002.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

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

// A flow's level is its rate over its weight. Rates are max-min fair: every flow is at its cap, or crosses a
// resource that is full and where no other flow has a higher level (its bottleneck). solve() looks only at
// flows whose rates may change: it starts with those that came and those that what left had held back, gives
// them max-min fair rates in what the others leave, and takes in others for as long as the property above is
// violated somewhere. So the result is that of progressive filling over all flows, to within 10^-8 of the
// fastest resource. It depends on the set of flows that came and went since the last solve(), not on their
// order.
class MaxMin {
 public:
  static constexpr std::uint32_t kMostWeight = 1u << 16;

  struct Change {
    std::uint32_t flow = 0;
    Rate before = 0;
  };

  // Returns its number; they count from 0.
  std::uint32_t add_resource(Rate capacity);
  // Flows there get their new rates in the next solve().
  void set_capacity(std::uint32_t resource, Rate capacity);
  Rate capacity(std::uint32_t resource) const { return resources_[resource].capacity; }
  // Removes all resources. REQUIRES: there are no flows.
  void clear_resources();

  // A flow with rate 0 until the next solve(). `flow`: a number of the caller's, not in use; memory is in
  // proportion to the highest. `weight`: 1 to kMostWeight. `cap`: its most rate, cut to a
  // multiple of the weight. REQUIRES: there is a use,
  // and no resource twice.
  void add(std::uint32_t flow, std::span<const Use> uses, std::uint32_t weight, Rate cap);
  void remove(std::uint32_t flow);
  Rate rate(std::uint32_t flow) const { return flows_[flow].rate; }

  // Has anything changed since the last solve()?
  bool changed() const { return !added_.empty() || !touched_.empty(); }
  // The flows whose rates it has changed, new ones too if theirs isn't 0. Valid until the next call.
  std::span<const Change> solve();

  // Rates given out at a resource, in all.
  Rate load(std::uint32_t resource) const { return resources_[resource].load; }
  // Flows that solve() has given rates to, over all calls: what it cost.
  std::uint64_t work() const { return work_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::uint32_t kOwnCap = UINT32_MAX - 1;  // the bottleneck of a flow at its cap

  struct Member {
    std::uint32_t flow = 0, entry = 0;  // entry: in entries_
  };
  struct Resource {
    Rate capacity = 0, load = 0;
    Rate level = 0;               // of the flows whose bottleneck it is
    std::uint32_t held_back = 0;  // their number
    std::uint32_t scratch = 0;    // in scratch_, while stamp is that of this solve()
    std::uint64_t stamp = 0;
    Rate most_level = 0;          // no flow here has a higher level
    std::vector<Member> members;  // in any order
  };
  struct Entry {
    std::uint32_t resource = 0, share = 0;
    std::uint32_t place = 0;  // among the resource's members
  };
  struct Flow {
    Rate rate = 0, level = 0, cap = 0;
    std::uint32_t first = 0, count = 0;  // in entries_
    std::uint32_t weight = 1;
    std::uint32_t bottleneck = kNone;
    std::uint64_t stamp = 0;  // of the solve() it takes part in
    Rate next_level = 0;      // what that has found so far
    std::uint32_t next_bottleneck = kNone;
  };
  // A resource of the flows that take part.
  struct Scratch {
    std::uint32_t resource = 0;
    std::uint32_t first = kNone;  // in links_
    Rate left = 0;
    unsigned __int128 demand = 0;  // of flows without a new rate: the sum of share × weight
    Rate most_level = 0;           // among those with one
    Rate level = 0;                // of those whose bottleneck it is
    bool full = false;
  };
  struct Link {
    std::uint32_t flow = 0, share = 0, next = kNone;
  };

  static Rate tolerance(Rate value) { return (value >> 30) + 1; }
  static Rate rate_at(Rate level, std::uint32_t weight) {
    if (weight == 1) [[likely]]
      return level;
    const auto rate = static_cast<unsigned __int128>(level) * weight;
    return rate > static_cast<unsigned __int128>(kMostRate) ? kMostRate : static_cast<Rate>(rate);
  }
  static Rate level_of(Rate left, unsigned __int128 demand);
  // What is left of a resource beyond rounding: each flow may be given a little less than its share.
  Rate slack(const Resource& resource, Rate left) const {
    return left - tolerance(resource.capacity) - static_cast<Rate>(resource.members.size() * most_weight_);
  }
  std::span<Entry> entries(const Flow& flow) { return {entries_.data() + flow.first, flow.count}; }
  std::uint32_t new_entries(std::uint32_t count);
  void touch(std::uint32_t resource);
  void take_part(std::uint32_t flow);
  void take_in_members(const Resource& resource, std::uint32_t bottleneck);
  void fill();
  void fix(std::uint32_t flow, Rate level, std::uint32_t bottleneck);
  bool widen();
  void take_in_faster(Resource& resource, Rate level);
  void commit();

  std::vector<Resource> resources_;
  std::vector<Flow> flows_;
  std::vector<Entry> entries_;
  std::vector<std::vector<std::uint32_t>> unused_entries_;  // by count: where such a block begins
  std::vector<std::uint32_t> added_, touched_;
  std::vector<bool> is_touched_;
  std::uint64_t most_weight_ = 1;  // so far

  // Of one solve().
  std::uint64_t stamp_ = 0;
  std::vector<std::uint32_t> part_;  // the flows that take part
  std::vector<Scratch> scratch_;
  std::vector<Link> links_;
  std::vector<std::pair<Rate, std::uint32_t>> heap_, caps_;
  std::vector<Change> changes_;
  std::uint64_t work_ = 0;
};

}  // namespace weft::sim::flow
