// Fluids that share resources: which rate each has, and how much of it is through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/flow/flow_pool.h"
#include "sim/flow/max_min.h"
#include "sim/flow/progress.h"
#include "sim/units/quantity.h"

namespace weft::sim::flow {

// What a byte is of a fluid.
inline constexpr Amount kBytePs = static_cast<Amount>(8) * 1'000'000'000'000 << kRateBits;

// How a fluid takes part.
struct Terms {
  std::uint32_t weight = 1;
  Rate cap = 0;
};

// A fluid is a message, or a connection with what is at its head; numbers are the caller's, as of MaxMin and
// Progress. Rates are as of the last solve(). `now` never gets less.
class Fluids {
 public:
  // `tolerance`: by which part the level of a resource's fluids may be off.
  explicit Fluids(double tolerance) : tolerance_(tolerance) {}

  // In place of what was there. `has_pool`: the last is an estimate. REQUIRES: there are no fluids.
  void set_resources(std::span<const Rate> capacities, bool has_pool);
  // Keeps the resources and gives some of them another capacity.
  void set_capacities(std::span<const Rate> capacities);
  Rate capacity(std::uint32_t resource) const { return capacities_[resource]; }

  // From the next solve() on the fluid has a rate.
  void enter(std::uint32_t fluid, std::span<const Use> uses, const Terms& terms) {
    max_min_.add(fluid, uses, terms.weight, terms.cap);
    progress_.enter(fluid, terms.weight);
    ++count_;
  }
  void leave(std::uint32_t fluid, Time now) {
    max_min_.remove(fluid);
    progress_.leave(fluid, now);
    --count_;
  }
  std::size_t count() const { return count_; }

  bool changed() const { return max_min_.changed(); }
  void solve(Time now);
  std::uint64_t solves() const { return solves_; }
  std::uint64_t work() const { return max_min_.work(); }

  Amount through(std::uint32_t fluid, Time now) const { return progress_.through(fluid, now); }
  // Brings `left` and `through` of the flow that the fluid carries up to date.
  void settle(Flow& flow, std::uint32_t fluid, Time now) const;
  std::uint64_t sent_bytes(const Flow& flow, std::uint32_t fluid, Time now) const;
  // The fluid is due when something happens to its flow: its end, or what it aims at.
  void aim(const Flow& flow, std::uint32_t fluid, Time now);
  Time next_due() const { return progress_.next(); }
  void take_due(Time now, std::vector<std::uint32_t>& fluids) { progress_.take_due(now, fluids); }

 private:
  const double tolerance_;
  MaxMin max_min_;
  std::vector<Rate> capacities_;  // by resource, close together
  Progress progress_;
  std::size_t count_ = 0;
  std::uint64_t solves_ = 0;
};

}  // namespace weft::sim::flow
