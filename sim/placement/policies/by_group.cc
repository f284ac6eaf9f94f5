#include "sim/placement/policies/built_in.h"
#include "sim/placement/policies/nodes.h"
#include "sim/placement/policies/units.h"
#include "sim/units/random.h"

namespace weft::placement {
namespace {

// The units that the job goes to, with more hosts than it needs at most in the last.
FreeUnits choose_units(const Setup& setup, const std::vector<std::string>& words) {
  FreeUnits units = free_units(setup.machine, read_unit(setup.parameters, "by"));
  const std::string& rule = words[choose_word(setup.parameters, "fit", words)];
  if (rule == "best") return best_fit(std::move(units), setup.request.nodes());
  if (rule == "random") {
    RandomStream stream(setup.request.seed, 0, kUnitsPurpose);
    shuffle(units, stream);
  }
  return units;
}

Outcome place_by_group(const Setup& setup) {
  const std::uint32_t needed = setup.request.nodes(), free = free_hosts(setup.machine);
  if (free < needed) return too_few(needed, free);
  return deal_ranks(setup, take(choose_units(setup, {"best", "first", "random"}), needed));
}

Outcome place_hybrid(const Setup& setup) {
  const std::uint32_t needed = setup.request.nodes(), free = free_hosts(setup.machine);
  if (free < needed) return too_few(needed, free);
  FreeUnits units = choose_units(setup, {"best", "first", "random"});
  RandomStream stream(setup.request.seed, 1, kUnitsPurpose);
  for (std::vector<std::uint32_t>& unit : units) shuffle(unit, stream);
  return deal_ranks(setup, take(units, needed));
}

std::string by_group_refusal(const Parameters& parameters, const topologies::Topology& topology) {
  return unit_refusal(parameters, "by", topology);
}

std::vector<ParameterSpec> parameters(const std::string& fit) {
  return with_distribution({unit_parameter("by", "group", "What is filled one after the other"),
                            {"fit", ParameterType::kText, fit,
                             "Which comes next: best: the fullest that has room for all that is left, else "
                             "the emptiest; first: the "
                             "lowest number; random.",
                             one_of({"best", "first", "random"})}});
}

}  // namespace

Policy by_group() {
  return {
      .info = {.name = "by_group",
               .summary = "One group after the other, as few as can be.",
               .source = "",
               .parameters = parameters("best"),
               .about = "A job that fits a group stays in it, and disturbs none outside; where none has room "
                        "the emptiest is filled first. Links between groups are used by few ranks of a job."},
      .needs = "groups",
      .refusal = by_group_refusal,
      .place = place_by_group};
}

Policy hybrid() {
  return {
      .info = {.name = "hybrid",
               .summary = "One group after the other, and within each its free hosts at random.",
               .source = "N. Jain, A. Bhatele, X. Ni, N. J. Wright, L. V. Kale, Maximizing throughput on a "
                         "dragonfly network, SC 2014",
               .parameters = parameters("best"),
               .about = "Contiguous for others, random inside: few groups share a job's traffic, and within "
                        "them it is spread over all switches. fit=random chooses the groups by lot too."},
      .needs = "groups",
      .refusal = by_group_refusal,
      .place = place_hybrid};
}

}  // namespace weft::placement
