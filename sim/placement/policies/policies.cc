#include "sim/placement/policies/policies.h"

#include <fmt/core.h>

#include <map>
#include <utility>

#include "sim/placement/policies/built_in.h"
#include "sim/units/input_error.h"
#include "sim/units/module_list.h"
#include "sim/units/plugin_modules.h"

namespace weft::placement {
namespace {

std::vector<Policy> built_in() {
  return {
      packed(),
      random(),
      // By switches, groups and other units.
      round_robin(),
      group_round_robin(),
      by_group(),
      hybrid(),
      // By coordinates.
      submesh(),
      // By who talks to whom.
      matrix(),
      // As files say.
      rank_file(),
      allocation(),
  };
}

ModuleList<Policy>& list() {
  static ModuleList<Policy> list("placement", built_in());
  return list;
}

[[noreturn]] void fail(const ModuleChoice& choice, const std::string& reason) {
  throw InputError(choice.location, reason);
}

// What a policy gives back is used as an index and shared by jobs, so none is taken on trust.
void check(const ModuleChoice& choice, const Request& request, const Machine& machine,
           const Outcome& outcome) {
  if (!outcome.no_room.empty()) return;
  if (outcome.hosts.size() != request.ranks) {
    fail(choice,
         fmt::format("{} gave {} hosts for {} ranks", choice.name, outcome.hosts.size(), request.ranks));
  }
  std::vector<std::uint32_t> ranks(machine.state.size(), 0);
  for (std::uint32_t r = 0; r < request.ranks; ++r) {
    const std::uint32_t host = outcome.hosts[r];
    if (host >= ranks.size() || !machine.is_free(host)) {
      fail(choice, fmt::format("{} put rank {} on host {}, which {}", choice.name, r, host,
                               host >= ranks.size() ? "there is none of" : "is not free"));
    }
    if (++ranks[host] > request.ranks_per_node) {
      fail(choice, fmt::format("{} put more than {} rank{} on host {}", choice.name, request.ranks_per_node,
                               request.ranks_per_node == 1 ? "" : "s", host));
    }
  }
}

}  // namespace

std::span<const Policy> policies() { return list().all(); }
void add_policy(Policy policy) { list().add(std::move(policy)); }

const Policy& policy_of(const ModuleChoice& chosen) {
  return chosen.empty() ? policies().front() : find_module(policies(), chosen, "placement");
}

Outcome place(const ModuleChoice& chosen, const Request& request, const Machine& machine) {
  const Policy& policy = policy_of(chosen);
  const ModuleChoice choice = chosen.empty() ? ModuleChoice{.name = policy.info.name} : chosen;
  const Parameters parameters(policy.info, choice);
  if (policy.refusal != nullptr) {
    const std::string reason = policy.refusal(parameters, machine.topology);
    if (!reason.empty()) {
      fail(choice, fmt::format("{} can't be had on {}: {}", choice.name, machine.topology.name(), reason));
    }
  }
  if (policy.needs_exchanges && request.exchanges.empty()) {
    fail(choice,
         fmt::format("{} goes by what ranks send each other, and of this job nothing is known", choice.name));
  }
  const std::uint32_t needed = request.nodes(), sound = sound_hosts(machine);
  if (needed > sound) {
    fail(choice,
         fmt::format("{} rank{} with {} on each host take {} hosts, but {} has {}{}", request.ranks,
                     request.ranks == 1 ? "" : "s", request.ranks_per_node, needed, machine.topology.name(),
                     sound, sound < machine.state.size() ? " that have not failed" : ""));
  }
  Outcome outcome = made_by("placement", policy.info.name, "place", [&] {
    return policy.place({parameters, request, machine});
  });
  check(choice, request, machine, outcome);
  return outcome;
}

}  // namespace weft::placement
