#include "sim/packet/channel_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "sim/packet/deadlock_check.h"
#include "sim/packet/deadlock_proof.h"
#include "sim/packet/queues/lanes.h"
#include "sim/routing/paths/dependencies.h"

namespace weft::sim::packet {
namespace {

using routing::ChannelRule;
using Selection = ChannelRule::Selection;

struct OutOfWork {};

// Some links between switches cross groups, and some don't.
bool has_both_links(const topologies::Topology& topology) {
  bool crosses = false, stays = false;
  for (const topologies::Channel& channel : topology.channels()) {
    const topologies::Node &from = topology.node(channel.from), &to = topology.node(channel.to);
    if (from.kind == topologies::NodeKind::kHost || to.kind == topologies::NodeKind::kHost) continue;
    (from.group != to.group ? crosses : stays) = true;
  }
  return crosses && stays;
}

class Search {
 public:
  Search(const LosslessTraffic& traffic, const routing::PlanSetup& setup, const ChannelRule& open,
         std::uint64_t most_work)
      : setup_(setup), traffic_(traffic), open_(open), work_left_(most_work) {}

  // The rule with the fewest channels that has no circle; nothing: none has.
  std::optional<ChannelRule> run() {
    if (!open_.any_count) return fixed_count();
    if (!open_.any_selection) return least(open_.selection, kMostLanes);
    std::optional<ChannelRule> best = least(Selection::kRouted, kMostLanes);
    for (const Selection selection : {Selection::kByHop, Selection::kByGroup}) {
      const std::uint32_t fewer = best ? best->channels - 1 : kMostLanes;
      if (const std::optional<ChannelRule> found = least(selection, fewer)) best = found;
    }
    return best;
  }

 private:
  std::optional<ChannelRule> fixed_count() {
    for (const Selection selection : {Selection::kByHop, Selection::kByGroup, Selection::kRouted}) {
      if (selection == Selection::kByGroup && !has_both_links(setup_.topology)) continue;
      if (is_acyclic(selection, open_.channels)) return rule(selection, open_.channels);
    }
    return std::nullopt;
  }

  // More channels never make a circle: all but the last hold steps in one order.
  std::optional<ChannelRule> least(Selection selection, std::uint32_t most) {
    if (selection == Selection::kRouted) {
      const std::uint32_t channels =
          std::max(traffic_.data().virtual_channels(), open_.any_selection ? 0u : 1u);
      if (channels == 0 || channels > most || !is_acyclic(selection, channels)) return std::nullopt;
      return rule(selection, channels);
    }
    if (selection == Selection::kByGroup && open_.any_selection && !has_both_links(setup_.topology))
      return std::nullopt;
    std::uint32_t below = 0, enough = 1;
    while (enough <= most && !is_acyclic(selection, enough)) {
      below = enough;
      enough = enough == most ? most + 1 : std::min(enough + std::max(enough / 3, 1u), most);
    }
    if (enough > most) return std::nullopt;
    while (enough - below > 1) {
      const std::uint32_t middle = (below + enough) / 2;
      (is_acyclic(selection, middle) ? enough : below) = middle;
    }
    return rule(selection, enough);
  }

  ChannelRule rule(Selection selection, std::uint32_t channels) const {
    ChannelRule rule = open_;
    rule.selection = selection;
    rule.channels = channels;
    rule.any_count = rule.any_selection = false;
    return rule;
  }
  bool is_acyclic(Selection selection, std::uint32_t channels) {
    const std::optional<bool> found = routing::is_acyclic(
        setup_.topology, setup_.table, traffic_.travellers(), rule(selection, channels), work_left_);
    if (!found) throw OutOfWork();
    return *found;
  }

  const routing::PlanSetup& setup_;
  const LosslessTraffic& traffic_;
  const ChannelRule open_;
  std::uint64_t work_left_;
};

const char* name_of(Selection selection) {
  switch (selection) {
    case Selection::kByHop:
      return "by_hop";
    case Selection::kByFlow:
      return "by_flow";
    case Selection::kRouted:
      return "routed";
    case Selection::kByGroup:
      return "by_group";
  }
  return "";
}

std::string reason_of(const ChannelRule& chosen, bool is_fewest, const std::string& proof) {
  return fmt::format("{} virtual channel{}, {}: {}packets can't wait for each other in a circle{}",
                     chosen.channels, chosen.channels == 1 ? "" : "s", name_of(chosen.selection),
                     is_fewest ? "the fewest with which " : "",
                     is_fewest || proof.empty() ? "" : ", as " + proof);
}

// What a rule proves, where nothing can be better, or where to look for better would take long.
std::optional<ChannelChoice> by_rule(DeadlockProof& proof, const routing::PlanSetup& setup,
                                     const ChannelRule& open) {
  const auto rule = proof.least(open, has_both_links(setup.topology));
  if (!rule) return std::nullopt;
  const bool is_best = open.any_count ? rule->channels == 1 : rule->selection == Selection::kByHop;
  if (!is_best && proof.search_is_quick()) return std::nullopt;
  const std::string why = proof.of(*rule);
  return ChannelChoice{*rule, reason_of(*rule, open.any_count && is_best, why), why};
}

// Where nothing is proven: the policy's own channels, or as many as most ways have links, or all.
ChannelRule unproven(const ChannelRule& open, std::uint32_t own, bool is_out_of_work) {
  constexpr std::uint32_t kForMostWays = 16;
  ChannelRule rule = open;
  rule.any_count = rule.any_selection = false;
  if (!open.any_count) return rule;
  rule.channels = is_out_of_work ? kForMostWays : kMostLanes;
  if (own > 0 && own <= kMostLanes && (open.any_selection || open.selection == Selection::kRouted)) {
    rule.channels = own;
    rule.selection = Selection::kRouted;
  }
  return rule;
}

}  // namespace

std::optional<ChannelChoice> choose_channels(const routing::Policy& policy, const routing::PlanSetup& setup,
                                             const Discipline& queue, const Parameters& parameters,
                                             std::uint64_t most_work) {
  if (queue.channels == nullptr || queue.set_channels == nullptr) return std::nullopt;
  const ChannelRule open = queue.channels(parameters);
  if (!open.any_count && !open.any_selection) return std::nullopt;
  if (!open.any_selection && open.selection == Selection::kByFlow) return ChannelChoice{open, ""};
  const LosslessTraffic traffic(policy, setup);
  DeadlockProof proof(traffic, setup, most_work / 4);
  if (auto proven = by_rule(proof, setup, open)) return proven;
  bool is_out_of_work = false;
  try {
    if (const auto found = Search(traffic, setup, open, most_work).run())
      return ChannelChoice{*found, reason_of(*found, open.any_count, ""), proof.of(*found)};
  } catch (const OutOfWork&) {
    is_out_of_work = true;
  }
  const std::uint32_t own = traffic.data().virtual_channels();
  return ChannelChoice{unproven(open, own, is_out_of_work), ""};
}

Parameters with_channels(const Discipline& queue, const Parameters& parameters, const ChannelChoice& choice) {
  std::map<std::string, std::string> given(parameters.values().begin(), parameters.values().end());
  queue.set_channels(choice.rule, given);
  return Parameters(queue.info, given);
}

}  // namespace weft::sim::packet
