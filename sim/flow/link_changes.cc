#include "sim/flow/link_changes.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace weft::sim::flow {

LinkChanges::LinkChanges(const FlowSetup& setup)
    : topology_(setup.topology),
      changes_(setup.changes),
      share_(setup.topology.channels().size(), 1.0),
      down_(setup.topology.channels().size() / 2),
      routed_(setup.routed()),
      original_table_(setup.routes()),
      reconvergence_(setup.config.reconvergence),
      hears_rates_(setup.policy.rate_news == routing::RateNews::kWithRoutes) {}

Time LinkChanges::next() const {
  const Time change = next_change_ < changes_.size() ? changes_[next_change_].at : Time::max();
  return std::min(change, reroutes_.next());
}

Bandwidth LinkChanges::rate(std::uint32_t channel) const {
  const auto built = static_cast<double>(topology_.channels()[channel].rate.bps());
  return Bandwidth::bps(static_cast<std::int64_t>(built * share_[channel]));
}

Time LinkChanges::busy(std::uint32_t channel, std::uint64_t bytes) const {
  return busy_times_.busy(channel, rate(channel), bytes);
}

Bandwidth LinkChanges::highest_rate(std::uint32_t channel) const {
  return busy_times_.highest(channel, rate(channel));
}

// What has been carried so far, was so at the rates so far.
void LinkChanges::settle(Time now, const Paths& paths) {
  std::vector<std::uint64_t> bytes;
  for (std::size_t i = next_change_; i < changes_.size() && changes_[i].at == now; ++i) {
    if (bytes.empty()) bytes = paths.carried();
    for (const std::uint32_t channel : {2 * changes_[i].link, 2 * changes_[i].link + 1}) {
      busy_times_.settle(share_.size(), channel, now, rate(channel), bytes[channel]);
    }
  }
}

void LinkChanges::apply(Time now, Paths& paths) {
  settle(now, paths);
  for (; next_change_ < changes_.size() && changes_[next_change_].at == now; ++next_change_) {
    const LinkShare& change = changes_[next_change_];
    paths.set_share(change.link, change.share, change.directions);
    bool new_rate = false;
    for (std::uint32_t d = 0; d < 2; ++d) {
      if (!(change.directions >> d & 1)) continue;
      new_rate |= std::exchange(share_[2 * change.link + d], change.share) != change.share;
    }
    const bool was_down = down_[change.link];
    down_[change.link] = change.share == 0;
    if (was_down == (change.share == 0) && !(hears_rates_ && new_rate)) continue;
    reroutes_.add(change.known ? now : after(now, reconvergence_));
  }
  if (reroutes_.take(now)) {
    if (table_ == nullptr) table_ = std::make_unique<routing::RoutingTable>(original_table_);
    table_->repair(routed_, down_);
    paths.set_table(*table_);
    paths.tell_rates();
  }
  paths.refresh();
}

}  // namespace weft::sim::flow
