#include "sim/flow/fluids.h"

#include <algorithm>

namespace weft::sim::flow {

// The pool is an estimate: that each detour moved all others costs too much.
void Fluids::set_resources(std::span<const Rate> capacities, bool has_pool) {
  constexpr double kPoolSlack = 1.0 / 128;
  max_min_.clear_resources();
  capacities_.assign(capacities.begin(), capacities.end());
  for (std::uint32_t i = 0; i < capacities.size(); ++i) {
    const bool is_pool = has_pool && i + 1 == capacities.size();
    max_min_.add_resource(capacities[i]);
    max_min_.set_slack(i, is_pool ? std::max(kPoolSlack, tolerance_) : tolerance_);
  }
  progress_.set_groups(max_min_.resources());
}

void Fluids::set_capacities(std::span<const Rate> capacities) {
  for (std::uint32_t i = 0; i < capacities.size(); ++i) {
    if (capacities_[i] == capacities[i]) continue;
    capacities_[i] = capacities[i];
    max_min_.set_capacity(i, capacities[i]);
  }
}

void Fluids::solve(Time now) {
  ++solves_;
  const MaxMin::Changes changes = max_min_.solve();
  for (const std::uint32_t group : changes.groups) {
    progress_.set_level(group, max_min_.group_level(group), now);
  }
  for (const auto [fluid, bottleneck] : changes.moves) {
    if (bottleneck == MaxMin::kOwnCap) {
      progress_.move_out(fluid, max_min_.level(fluid), now);
    } else {
      progress_.move(fluid, bottleneck, now);
    }
  }
}

void Fluids::settle(Flow& flow, std::uint32_t fluid, Time now) const {
  const Amount through = progress_.through(fluid, now);
  // In the last picosecond there may be room for more.
  flow.left -= std::min(flow.left, through - flow.through);
  flow.through = through;
}

std::uint64_t Fluids::sent_bytes(const Flow& flow, std::uint32_t fluid, Time now) const {
  const Amount since = progress_.through(fluid, now) - flow.through;
  const Amount left = flow.left > since ? flow.left - since : 0;
  return flow.wire_bytes - static_cast<std::uint64_t>((left + (kBytePs - 1)) / kBytePs);
}

void Fluids::aim(const Flow& flow, std::uint32_t fluid, Time now) {
  const Amount rest = flow.left > flow.target ? flow.left - flow.target : 0;
  progress_.aim(fluid, flow.through + rest, now);
}

}  // namespace weft::sim::flow
