#include <map>
#include <utility>

#include "sim/placement/policies/built_in.h"
#include "sim/placement/policies/nodes.h"
#include "sim/placement/policies/units.h"
#include "sim/units/random.h"

namespace weft::placement {
namespace {

// One host of each unit in turn; units that are used up are passed over.
std::vector<std::uint32_t> deal(const FreeUnits& units, std::size_t most) {
  std::vector<std::uint32_t> nodes;
  for (std::size_t round = 0; nodes.size() < most; ++round) {
    const std::size_t before = nodes.size();
    for (const std::vector<std::uint32_t>& unit : units) {
      if (round < unit.size() && nodes.size() < most) nodes.push_back(unit[round]);
    }
    if (nodes.size() == before) break;
  }
  return nodes;
}

Outcome place_round_robin(const Setup& setup) {
  const topologies::HostUnit over = read_unit(setup.parameters, "over");
  const std::size_t within = choose_word(setup.parameters, "within", {"packed", "spread", "random"});
  const std::uint32_t needed = setup.request.nodes(), free = free_hosts(setup.machine);
  if (free < needed) return too_few(needed, free);
  FreeUnits units = free_units(setup.machine, over);
  if (within == 1) {
    const std::vector<std::uint32_t> on =
        topologies::host_units(setup.machine.topology, topologies::HostUnit::kSwitch).of;
    for (std::vector<std::uint32_t>& unit : units) {
      std::map<std::uint32_t, std::vector<std::uint32_t>> by_switch;
      for (const std::uint32_t h : unit) by_switch[on[h]].push_back(h);
      FreeUnits switches;
      for (auto& [number, members] : by_switch) switches.push_back(std::move(members));
      unit = deal(switches, unit.size());
    }
  } else if (within == 2) {
    RandomStream stream(setup.request.seed, over == topologies::HostUnit::kSwitch, kRoundRobinPurpose);
    for (std::vector<std::uint32_t>& unit : units) shuffle(unit, stream);
  }
  return deal_ranks(setup, deal(units, needed));
}

std::string round_robin_refusal(const Parameters& parameters, const topologies::Topology& topology) {
  return unit_refusal(parameters, "over", topology);
}

constexpr const char* kSource =
    "N. Jain, A. Bhatele, X. Ni, N. J. Wright, L. V. Kale, Maximizing throughput on a dragonfly network, SC "
    "2014";

std::vector<ParameterSpec> round_robin_parameters(const std::string& over) {
  return with_distribution({unit_parameter("over", over, "What takes turns"),
                            {"within", ParameterType::kText, "packed",
                             "Which host of a unit is next: packed: the lowest number; spread: of its "
                             "switches in turn; random.",
                             one_of({"packed", "spread", "random"})}});
}

}  // namespace

Policy round_robin() {
  return {.info = {.name = "round_robin",
                   .summary = "A host of each switch in turn.",
                   .source = kSource,
                   .parameters = round_robin_parameters("switch"),
                   .about =
                       "Ranks next to each other are on different switches, so that a job has the uplinks of "
                       "as many switches as can be, and shares each with others."},
          .needs = "several hosts on a switch",
          .refusal = round_robin_refusal,
          .place = place_round_robin};
}

Policy group_round_robin() {
  return {.info = {.name = "group_round_robin",
                   .summary = "A host of each group (pod, board, rail unit, cabinet …) in turn.",
                   .source = kSource,
                   .parameters = round_robin_parameters("group"),
                   .about =
                       "Spreads a job evenly over all groups, so that it has all links between them, and the "
                       "most even share of each."},
          .needs = "groups",
          .refusal = round_robin_refusal,
          .place = place_round_robin};
}

}  // namespace weft::placement
