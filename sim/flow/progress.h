// How much of each fluid is through, and which reach their aim when.
//
// Fluids that have their bottleneck at one resource share a level (MaxMin), so what they have sent, over
// their weights, grows alike: by the group's virtual time. Where in it each reaches its aim is known when it
// joins, and a new level is noted once for all of them. Source: A. Parekh, R. Gallager, "A generalized
// processor sharing approach to flow control in integrated services networks: the single-node case", IEEE/ACM
// ToN 1(3), 1993 (virtual time).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/flow/completions.h"
#include "sim/flow/max_min.h"
#include "sim/flow/placed_heap.h"
#include "sim/units/quantity.h"

namespace weft::sim::flow {

using Amount = unsigned __int128;  // of data: Rate × ps

// Until so much is through, rounded up to a picosecond. REQUIRES: rate > 0.
inline Time time_for(Amount amount, Rate rate) {
  const auto divisor = static_cast<std::uint64_t>(rate);
  const Amount ps = (amount + (divisor - 1)) / divisor;
  return ps > static_cast<Amount>(Time::max().ps()) ? Time::max() : Time::ps(static_cast<std::int64_t>(ps));
}

// Amounts are exact. Fluids and groups go by MaxMin's numbers. `now` never gets less.
class Progress {
 public:
  // Forgets all groups; then there are this many. REQUIRES: there are no fluids.
  void set_groups(std::uint32_t count) { groups_.assign(count, {}); }

  // A fluid of which nothing is through, without a rate and without an aim. Memory is in proportion to the
  // highest number.
  void enter(std::uint32_t fluid, std::uint32_t weight);
  void leave(std::uint32_t fluid, Time now);
  // It is due when so much of it is through; replaces what was said before.
  void aim(std::uint32_t fluid, Amount amount, Time now);
  Amount through(std::uint32_t fluid, Time now) const;

  // From now on: the group has this level; the fluid is in this group, or has a level of its own.
  void set_level(std::uint32_t group, Rate level, Time now);
  void move(std::uint32_t fluid, std::uint32_t group, Time now);
  void move_out(std::uint32_t fluid, Rate level, Time now);

  // When the next fluid is due, rounded up to a picosecond; Time::max(): none is, at these levels.
  Time next() const { return due_.empty() ? Time::max() : due_.first(); }
  // Adds those that are due, in any order. They have no aim then.
  void take_due(Time now, std::vector<std::uint32_t>& fluids);

 private:
  using Heap = PlacedHeap<Amount>;
  static constexpr std::uint32_t kOwn = UINT32_MAX;  // in place of a group
  struct Group {
    Amount virtual_time = 0;  // at `since`
    Time since;
    Rate level = 0;
    Heap heap;  // of its fluids that have an aim, by where they reach it in virtual time
  };
  struct Fluid {
    Amount through = 0;  // when it joined its group
    Amount joined = 0;   // in the group's virtual time; by itself: in time × level
    Amount aim = 0;
    Rate level = 0;  // by itself
    std::uint32_t group = kOwn;
    std::uint32_t place = Heap::kOut;
    std::uint32_t weight = 1;
    bool has_aim = false;
  };

  // What due_ calls them.
  static std::uint32_t group_name(std::uint32_t group) { return 2 * group; }
  static std::uint32_t fluid_name(std::uint32_t fluid) { return 2 * fluid + 1; }

  static Amount moved(Rate level, Time time) {
    return static_cast<Amount>(level) * static_cast<std::uint64_t>(time.ps());
  }
  Amount virtual_time(const Fluid& fluid, Time now) const;
  auto place() {
    return [this](std::uint32_t fluid) -> std::uint32_t& { return fluids_[fluid].place; };
  }
  void start(std::uint32_t fluid, Time now);
  void stop(std::uint32_t fluid, Time now);
  void schedule(std::uint32_t group, Time now);
  void set_due(std::uint32_t name, Time time);

  std::vector<Group> groups_;
  std::vector<Fluid> fluids_;
  Completions due_;  // groups, for their first fluids, and fluids by themselves
};

}  // namespace weft::sim::flow
