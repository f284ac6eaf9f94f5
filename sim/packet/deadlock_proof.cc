#include "sim/packet/deadlock_proof.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "sim/packet/queues/lanes.h"

namespace weft::sim::packet {
namespace {

using routing::ChannelRule;
using Selection = ChannelRule::Selection;

// Steps of a walk after which several searches take a second in all.
constexpr std::uint64_t kQuickWalk = 4'000'000;

std::string ascends(std::uint32_t links) {
  return fmt::format("channels ascend with every link, of which ways have {} at most", links);
}

// ACKs have to keep to the policy's paths, too.
std::string own_proof(const LosslessTraffic& traffic) {
  const bool all = std::ranges::all_of(traffic.travellers(), [&](const routing::Travellers& who) {
    return who.paths == &traffic.data() && !who.reversed;
  });
  return all ? traffic.data().own_proof() : "";
}

}  // namespace

DeadlockProof::DeadlockProof(const LosslessTraffic& traffic, const routing::PlanSetup& setup,
                             std::uint64_t most_work)
    : traffic_(traffic), setup_(setup), most_work_(most_work), own_(own_proof(traffic)) {}

bool DeadlockProof::is_routed(const ChannelRule& rule) const {
  return rule.selection == Selection::kRouted && !rule.control_apart && !own_.empty() &&
         rule.channels >= traffic_.data().virtual_channels();
}

std::string DeadlockProof::of(const ChannelRule& rule) {
  if (is_routed(rule)) return own_;
  if (!ascent()) {
    const bool suffices = most_links_ > 0 && !rule.control_apart && rule.selection == Selection::kByHop;
    return suffices && rule.channels >= most_links_ ? ascends(most_links_) : "";
  }
  if (ascent_->up_then_down) return "all ways lead up, then down";
  if (rule.control_apart) return "";
  if (rule.selection == Selection::kByHop && rule.channels >= ascent_->hops) return ascends(ascent_->hops);
  if (rule.selection == Selection::kByGroup && rule.channels >= ascent_->by_group) {
    return fmt::format(
        "channels ascend with every link, or from one within a group to one that leaves it, up to {}",
        ascent_->by_group);
  }
  return "";
}

std::optional<ChannelRule> DeadlockProof::least(const ChannelRule& open, bool has_both_links) {
  std::optional<ChannelRule> best;
  const auto propose = [&](Selection selection, std::uint32_t channels) {
    if (!open.any_selection && selection != open.selection) return;
    if (!open.any_count) channels = open.channels;
    ChannelRule rule = open;
    rule.selection = selection;
    rule.channels = std::max(channels, 1u);
    rule.any_count = rule.any_selection = false;
    if (rule.channels > kMostLanes || (best && best->channels <= rule.channels) || of(rule).empty()) return;
    best = rule;
  };
  const std::uint32_t own = traffic_.data().virtual_channels();
  const auto routed = [&] {
    if (own > 0 || !open.any_selection) propose(Selection::kRouted, own);
  };
  if (open.any_count) routed();
  if (ascent()) {
    propose(Selection::kByHop, ascent_->up_then_down ? 1 : ascent_->hops);
    if (has_both_links || !open.any_selection) propose(Selection::kByGroup, ascent_->by_group);
  } else if (most_links_ > 0) {
    propose(Selection::kByHop, most_links_);
  }
  if (!open.any_count) routed();
  return best;
}

bool DeadlockProof::search_is_quick() { return ascent() && ascent_->work <= kQuickWalk; }

const std::optional<routing::Ascent>& DeadlockProof::ascent() {
  if (has_walked_) return ascent_;
  has_walked_ = true;
  // With a proof of its own at hand a long walk is hardly worth while.
  const std::uint64_t most = own_.empty() ? most_work_ : std::min(most_work_, kQuickWalk);
  ascent_ = routing::find_ascent(setup_.topology, setup_.table, traffic_.travellers(), most);
  if (!ascent_) most_links_ = most_links();
  return ascent_;
}

std::uint32_t DeadlockProof::most_links() const {
  const std::uint32_t most = traffic_.data().most_links();
  // Shortest ways have no more than the data's.
  const bool all = std::ranges::all_of(traffic_.travellers(), [&](const routing::Travellers& who) {
    return who.paths->all_minimal() || who.paths == &traffic_.data();
  });
  return all ? most : 0;
}

std::string deadlock_proof(const routing::Policy& policy, const routing::PlanSetup& setup,
                           const Discipline& queue, const Parameters& parameters, std::uint64_t most_work) {
  if (queue.channels == nullptr) return "";
  const LosslessTraffic traffic(policy, setup);
  return DeadlockProof(traffic, setup, most_work).of(queue.channels(parameters));
}

}  // namespace weft::sim::packet
