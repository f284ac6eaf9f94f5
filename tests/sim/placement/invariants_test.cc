// What every placement keeps to, on every family: a free host for each rank, no more ranks on it than asked
// for, the same for the same seed; and refusals with a reason.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/placement/policies/policies.h"
#include "sim/units/input_error.h"
#include "sim/units/random.h"
#include "tests/sim/placement/small_networks.h"
#include "topologies/families.h"

namespace weft::placement {
namespace {

// Those that need nothing but the job and the machine.
bool needs_no_file(const Policy& policy) {
  for (const ParameterSpec& spec : policy.info.parameters) {
    if (spec.type == ParameterType::kFile) return false;
  }
  return true;
}

// A ring, so that policies by communication have something to go by.
std::vector<Exchange> ring(std::uint32_t ranks) {
  std::vector<Exchange> list;
  for (std::uint32_t r = 0; r < ranks && ranks > 1; ++r) list.push_back({r, (r + 1) % ranks, 1000.0 + r});
  return list;
}

// Every fifth host has failed, every seventh is another's.
Machine worn_machine(const topologies::Topology& topology, std::uint64_t seed) {
  Machine machine = idle_machine(topology);
  RandomStream draw(seed, 7);
  for (HostState& state : machine.state) {
    if (draw.below(5) == 0) state = HostState::kFailed;
    if (draw.below(7) == 0) state = HostState::kTaken;
  }
  return machine;
}

void check_placed(const Outcome& outcome, const Request& request, const Machine& machine) {
  REQUIRE(outcome.hosts.size() == request.ranks);
  std::map<std::uint32_t, std::uint32_t> ranks;
  for (const std::uint32_t host : outcome.hosts) {
    REQUIRE(host < machine.state.size());
    REQUIRE(machine.state[host] == HostState::kFree);
    REQUIRE(++ranks[host] <= request.ranks_per_node);
  }
}

}  // namespace

TEST_CASE("placement: the small networks have every family that needs no file") {
  std::set<std::string> seen;
  for (const std::string& network : small_networks()) seen.insert(parse_module_choice(network).name);
  for (const topologies::Family& family : topologies::families()) {
    const bool needs_file = family.info.name == "graph_file" || family.info.name == "slurm";
    if (!needs_file) CHECK(seen.count(family.info.name) == 1);
  }
}

TEST_CASE("placement: every policy on every family gives each rank a free host, the same for the same seed") {
  std::map<std::string, int> placed;
  for (const std::string& network : small_networks()) {
    const topologies::Topology topology = topologies::build(parse_module_choice(network));
    for (const Policy& policy : policies()) {
      if (!needs_no_file(policy)) continue;
      // Annealing to the end would take seconds.
      const bool by_matrix = policy.info.name == "matrix";
      const ModuleChoice choice = parse_module_choice(policy.info.name + (by_matrix ? ":steps=2000" : ""));
      for (const std::uint64_t seed : {1, 2, 3}) {
        const Machine machine = seed == 1 ? idle_machine(topology) : worn_machine(topology, seed);
        for (const std::uint32_t per_node : {1U, 3U}) {
          const std::uint32_t nodes = 1 + free_hosts(machine) / 2;
          Request request{
              .ranks = nodes * per_node - (per_node > 1), .ranks_per_node = per_node, .seed = seed};
          const std::vector<Exchange> exchanges = ring(request.ranks);
          request.exchanges = exchanges;
          INFO(policy.info.name << " on " << network << ", seed " << seed << ", " << request.ranks
                                << " ranks");
          Outcome outcome;
          try {
            outcome = place(choice, request, machine);
          } catch (const InputError& error) {
            // Refused for this network, not for this job.
            const std::string what = error.what();
            const bool refused = what.find("can't be had on " + network.substr(0, 5)) != std::string::npos;
            const bool no_box = what.find("even if no other job is there") != std::string::npos;
            REQUIRE((refused || (no_box && policy.info.name == "submesh" && seed != 1)));
            continue;
          }
          CHECK(place(choice, request, machine).hosts == outcome.hosts);
          if (!outcome.no_room.empty()) {
            // Contiguous ones may find no room among hosts that are taken.
            REQUIRE(policy.info.name == "submesh");
            continue;
          }
          check_placed(outcome, request, machine);
          ++placed[policy.info.name];
        }
      }
    }
  }
  for (const Policy& policy : policies()) {
    INFO(policy.info.name);
    if (needs_no_file(policy)) CHECK(placed[policy.info.name] >= 6);
  }
}

TEST_CASE("placement: a job without room waits, and one too large is refused") {
  const topologies::Topology topology = topologies::build(parse_module_choice("dragonfly:p=2"));  // 72 hosts
  Machine machine = idle_machine(topology);
  for (std::uint32_t h = 0; h < 70; ++h) machine.state[h] = HostState::kTaken;
  machine.state[70] = HostState::kFailed;
  for (const Policy& policy : policies()) {
    if (!needs_no_file(policy) || policy.info.name == "submesh") continue;
    INFO(policy.info.name);
    const ModuleChoice choice = parse_module_choice(policy.info.name);
    Request request{.ranks = 6, .ranks_per_node = 3};
    const std::vector<Exchange> exchanges = ring(6);
    request.exchanges = exchanges;
    CHECK(place(choice, request, machine).no_room == "2 hosts are needed, and 1 are free");
    request.ranks_per_node = 6;
    CHECK(place(choice, request, machine).hosts == std::vector<std::uint32_t>(6, 71));
    request = {.ranks = 72};
    request.exchanges = exchanges;
    CHECK_THROWS_WITH(place(choice, request, machine),
                      Catch::Contains("72 ranks with 1 on each host take 72 hosts, but dragonfly") &&
                          Catch::Contains("has 71 that have not failed"));
  }
}

TEST_CASE("placement: unknown names and values") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=4"));
  const Machine machine = idle_machine(topology);
  const auto attempt = [&](const char* text) {
    return place(parse_module_choice(text), {.ranks = 4}, machine);
  };
  CHECK_THROWS_WITH(attempt("pakced"), Catch::Contains("did you mean 'packed'"));
  CHECK_THROWS_WITH(attempt("packed:fit=worst"), Catch::Contains("it must be first, best or any"));
  CHECK_THROWS_WITH(attempt("random:distribution=plane"), Catch::Contains("it must be block or cyclic"));
}

}  // namespace weft::placement
