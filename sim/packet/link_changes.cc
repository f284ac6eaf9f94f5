#include "sim/packet/link_changes.h"

#include <algorithm>

#include "sim/packet/channels.h"
#include "sim/packet/switch_policies.h"

namespace weft::sim::packet {

LinkSchedule::LinkSchedule(std::span<const LinkChange> changes, Time reconvergence)
    : changes_(changes.begin(), changes.end()), reconvergence_(reconvergence) {}

Time LinkSchedule::next() const {
  const Time change = next_change_ < changes_.size() ? changes_[next_change_].at : Time::max();
  return std::min(change, reroutes_.next());
}

bool LinkSchedule::advance(Time now, Channels& channels, SwitchPolicies& policies) {
  bool changed = false;
  for (Time due = next(); due <= now && due != Time::max(); due = next()) {
    changed = true;
    // Known at once: after all that happens now.
    const bool more = next_change_ < changes_.size() && changes_[next_change_].at == due &&
                      (reconvergence_ == Time() || changes_[next_change_].known);
    if (!more && reroutes_.take(due)) {
      channels.reroute();
      policies.reconverge(channels.down_links(), channels.rate_shares());
      continue;
    }
    const LinkChange& change = changes_[next_change_++];
    const bool was_down = channels.down_links()[change.link];
    const bool new_rate = channels.apply(change);
    if (was_down == (change.rate_share == 0) && !(policies.hears_rates() && new_rate)) continue;
    reroutes_.add(change.known ? change.at : after(change.at, reconvergence_));
  }
  return changed;
}

}  // namespace weft::sim::packet
