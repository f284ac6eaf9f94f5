#include "sim/run/mpi_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "goal/collectives/selection.h"
#include "goal/collectives/selection_profiles.h"
#include "goal/workload/workload.h"
#include "sim/fabrics/machine_hosts.h"
#include "sim/replay/protocols.h"
#include "sim/run/nccl_nodes.h"
#include "sim/scenario/connections.h"
#include "topologies/composed.h"

namespace weft::sim {
namespace {

// Which transport a library used its trace doesn't tell, and it was that of the machine where it was traced:
// a replay has the one that the library takes on the network at hand.
struct Transport {
  std::string_view profile;  // of the library's collectives
  std::string_view rdma, sockets;
};
constexpr Transport kTransports[] = {
    {"openmpi", "openmpi_ucx", "openmpi_tcp"},
    {"mpich", "mpich_ofi", "mpich_ofi"},
};

// Do messages go through the operating system? On networks of TCP, and on those too slow for NICs of RDMA.
bool has_sockets(const Scenario& scenario) {
  constexpr Bandwidth kLeastOfRdma = Bandwidth::gbps(10);
  if (scenario.topology.empty()) return false;
  if (scenario.fabric == "tcp") return true;
  const std::vector<ModuleChoice> networks = topologies::host_networks(scenario.topology);
  return std::ranges::any_of(networks, [&](const ModuleChoice& network) {
    for (const char* parameter : {"host_link", "link"}) {
      const auto given = network.given.find(parameter);
      if (given == network.given.end()) continue;
      try {
        return parse_bandwidth(given->second) < kLeastOfRdma;
      } catch (const InputError&) {  // "auto"; else building the network says why
        continue;
      }
    }
    return false;
  });
}

// NCCL's choices are those for GPUs of nodes, which only a topology has.
void follow_nccl(const Scenario& scenario, const std::string& library, std::string& profile,
                 std::vector<std::string>& remarks) {
  const bool has_nodes = !scenario.topology.empty();
  profile = has_nodes ? goal::kNcclProfile : goal::kUsualProfile;
  remarks.push_back(
      has_nodes
          ? fmt::format("collectives profile nccl, as the graph's collectives are those of {}; "
                        "collectives.profile=default has the first algorithm of each kind",
                        library)
          : fmt::format("collectives profile {}, though the graph's collectives are those of {}: without a "
                        "topology nothing is known of nodes; collectives.profile=nccl:node=... has its own",
                        profile, library));
}

// A graph that says nothing of a library has NCCL's profile on accelerators.
void follow_nodes(std::string& profile, std::vector<std::string>& remarks) {
  profile = goal::kNcclProfile;
  remarks.push_back(
      "collectives profile nccl, as hosts are GPUs and the graph names no library; "
      "collectives.profile=default has the first algorithm of each kind");
}

// Would a collective that is left to the profile go another way than the first of its kind?
bool usual_profile_acts(const Scenario& scenario, const goal::ProgramFacts& facts) {
  const goal::CollectiveSelection first, usual({.profile = std::string(goal::kUsualProfile)});
  return std::ranges::any_of(facts.collectives, [&](const goal::Collective& collective) {
    const auto named = scenario.collectives.given.find(std::string(goal::name(collective.kind)));
    if (named != scenario.collectives.given.end() && named->second != kByRules) return false;
    const std::uint32_t ranks = facts.communicator_size(collective.comm);
    return usual.choose(collective, ranks).algorithm != first.choose(collective, ranks).algorithm;
  });
}

// A graph that says nothing of a library has the usual profile on hosts that aren't accelerators.
void follow_size(std::string& profile, std::vector<std::string>& remarks) {
  profile = goal::kUsualProfile;
  remarks.push_back(fmt::format(
      "collectives profile {}, as the graph names no library: algorithms by kind, ranks and size; "
      "collectives.profile=default has the first of each kind",
      profile));
}

// Gives a parameter this value unless the user gave one, and tells whether that is another than it had.
bool fill(ModuleChoice& choice, const char* parameter, std::string_view value) {
  const auto found = choice.given.find(parameter);
  if (found == choice.given.end() || choice.locations.contains(parameter)) return false;
  return std::exchange(found->second, value) != value;
}

// GPUs send by themselves, into room that is there: what that takes, NCCL's profile says. Nothing that was
// given is changed.
void spare_hosts(Scenario& scenario, std::vector<std::string>& remarks) {
  const auto profile = scenario.collectives.given.find("profile");
  if (profile == scenario.collectives.given.end() || !is_nccl(profile->second)) return;
  std::vector<std::string> set;
  const auto spare = [&](const char* parameter, const char* value) {
    if (fill(scenario.hosts, parameter, value)) set.push_back(fmt::format("{}={}", parameter, value));
  };
  spare("o", "0ns");
  spare("S", "1000TB");
  if (set.empty()) return;
  remarks.push_back(
      fmt::format("hosts have {}, as GPUs with NCCL send by themselves, into buffers that are "
                  "there; hosts.o and hosts.S set others",
                  fmt::join(set, " and ")));
}

std::string completed(const ModuleInfo& info, const ModuleChoice& choice = {}) {
  return to_short_form(info.name, Parameters(info, choice));
}

// The protocol of this name, or where it is empty nobody's, as it is over the scenario's network.
std::string protocol_there(const Scenario& scenario, std::string_view name) {
  const auto info =
      name.empty() ? protocols().begin() : std::ranges::find(protocols(), name, &ModuleInfo::name);
  ModuleChoice choice;
  if (sends_by_one_nic(scenario)) choice.given["rails"] = "1";
  return completed(*info, choice);
}

// Do ranks add up so much that it would take their hosts time?
bool adds_up(const goal::Program& program) {
  constexpr std::uint64_t kMany = 64 << 10;  // bytes: from here on it is more than a message's latency
  return std::ranges::any_of(program.facts().collectives, [](const goal::Collective& each) {
    const bool reduces = each.kind == goal::CollectiveKind::kAllreduce ||
                         each.kind == goal::CollectiveKind::kReduce ||
                         each.kind == goal::CollectiveKind::kReduceScatter;
    const bool has_many =
        each.bytes >= kMany || std::ranges::any_of(each.counts, [](auto count) { return count >= kMany; });
    return reduces && has_many;
  });
}

// What ranks add up costs their hosts time, of which nothing is said here. Processors take 0.06 (A64FX) to
// 0.5 ns a byte: sim/fabrics/machine_hosts.cc.
bool has_free_reductions(const Scenario& scenario) {
  const auto profile = scenario.collectives.given.find("profile");
  if (profile != scenario.collectives.given.end() && is_nccl(profile->second)) return false;
  if (has_gpu_nodes(scenario) || scenario.hosts.locations.contains("reduction_per_byte")) return false;
  const auto given = scenario.hosts.given.find("reduction_per_byte");
  return given == scenario.hosts.given.end() || given->second == "0";
}

std::string* left_to_graph(ModuleChoice& choice, const char* parameter) {
  const auto found = choice.given.find(parameter);
  return found != choice.given.end() && found->second == kByRules ? &found->second : nullptr;
}

// Messages that have nothing to do with each other ask what the network does, whoever sends them.
bool asks_for_network_alone(const Scenario& scenario) {
  const std::string& traffic = scenario.jobs.at(0).traffic.name;
  const auto found =
      std::ranges::find_if(goal::workloads(), [&](const auto& w) { return w.info.name == traffic; });
  return found != goal::workloads().end() && found->independent_flows;
}

// Null where hosts are no machine's, or nothing of MPI acts on them.
const fabrics::HostCosts* costs_of_hosts(const Scenario& scenario, const goal::Program& program) {
  if (scenario.topology.empty() || asks_for_network_alone(scenario)) return nullptr;
  const auto profile = scenario.collectives.given.find("profile");
  if (profile != scenario.collectives.given.end() && is_nccl(profile->second)) return nullptr;
  const bool is_nccls = !program.metadata("nccl_library").empty() && program.metadata("mpi_library").empty();
  const std::vector<ModuleChoice> networks = topologies::host_networks(scenario.topology);
  const fabrics::HostCosts* const costs = is_nccls ? nullptr : fabrics::host_costs(networks.front().name);
  const bool alike = std::ranges::all_of(
      networks, [&](const ModuleChoice& each) { return fabrics::host_costs(each.name) == costs; });
  return alike ? costs : nullptr;
}

void cost(Scenario& scenario, const char* parameter, std::string_view value,
          std::vector<std::string>& taken) {
  if (fill(scenario.hosts, parameter, value)) taken.push_back(fmt::format("hosts.{}={}", parameter, value));
}

void cost_of_reductions(Scenario& scenario, const fabrics::HostCosts& costs,
                        std::vector<std::string>& taken) {
  cost(scenario, "reduction_per_byte", costs.reduction_per_byte, taken);
  // Who gives the first means all work on memory.
  if (scenario.hosts.locations.contains("reduction_per_byte")) return;
  cost(scenario, "reduction_from_memory", costs.reduction_from_memory, taken);
  if (scenario.hosts.locations.contains("copy_per_byte")) return;
  cost(scenario, "copy_per_byte", costs.copy_per_byte, taken);
  cost(scenario, "copy_from_memory", costs.copy_from_memory, taken);
}

// The machine's own library goes over its network, and counts where the graph names none. What the user gave
// stays.
void follow_machine(Scenario& scenario, const goal::Program& program, std::vector<std::string>& remarks) {
  const fabrics::HostCosts* const costs = costs_of_hosts(scenario, program);
  if (costs == nullptr) return;
  std::vector<std::string> taken;
  cost(scenario, "o", costs->o, taken);
  cost(scenario, "O", costs->O, taken);
  cost_of_reductions(scenario, *costs, taken);
  const goal::SelectionProfile* const library = goal::profile_of_library(program.metadata("mpi_library"));
  const bool is_other = !program.metadata("mpi_library").empty() &&
                        (library == nullptr || library->info.name != costs->profile);
  if (!is_other) {
    const ModuleChoice choice = parse_module_choice(std::string(costs->protocol));
    const auto info = std::ranges::find(protocols(), choice.name, &ModuleInfo::name);
    if (fill(scenario.hosts, "protocol", completed(*info, choice))) {
      taken.push_back(fmt::format("protocol {}", choice.name));
      // Generated traffic is eager only as long as nothing is known of a library.
      fill(scenario.hosts, "S", kByRules);
      fill(scenario.hosts, "collective_S", kByRules);
    }
    if (std::string* const profile = left_to_graph(scenario.collectives, "profile");
        profile != nullptr && !program.facts().collectives.empty()) {
      *profile = costs->profile;
      taken.push_back(fmt::format("collectives profile {}", *profile));
    }
  }
  if (taken.empty()) return;
  remarks.push_back(fmt::format(
      "{0}: those of {1}'s hosts with {2}, fitted to measured runs; `weft describe {1}` tells source and "
      "doubt",
      fmt::join(taken, ", "), topologies::host_networks(scenario.topology).front().name, costs->library));
}

// Programs that were traced ran on processors.
void follow_processors(Scenario& scenario, const goal::Program& program, std::vector<std::string>& remarks) {
  if (program.metadata("mpi_library").empty() || !adds_up(program) || !has_free_reductions(scenario)) return;
  std::vector<std::string> taken;
  cost_of_reductions(scenario, fabrics::processor_costs(), taken);
  remarks.push_back(fmt::format("{}, as processors of InfiniBand machines took to add up; 0 is for free",
                                fmt::join(taken, ", ")));
}

void follow(Scenario& scenario, const goal::Program& program, std::vector<std::string>& remarks) {
  std::string* const protocol = left_to_graph(scenario.hosts, "protocol");
  std::string* profile = left_to_graph(scenario.collectives, "profile");
  if (protocol == nullptr && profile == nullptr) return;
  const std::string text = program.metadata("mpi_library"), nccl = program.metadata("nccl_library");
  if (text.empty() && !nccl.empty() && profile != nullptr) {
    follow_nccl(scenario, nccl, *profile, remarks);
    profile = nullptr;
  } else if (text.empty() && profile != nullptr && !program.facts().collectives.empty()) {
    if (has_gpu_nodes(scenario)) {
      follow_nodes(*profile, remarks);
    } else if (usual_profile_acts(scenario, program.facts())) {
      follow_size(*profile, remarks);
    }
    profile = nullptr;
  }
  const goal::SelectionProfile* const library = goal::profile_of_library(text);
  const auto* const transport = std::ranges::find_if(kTransports, [&](const Transport& each) {
    return library != nullptr && each.profile == library->info.name;
  });
  const bool known = transport != std::end(kTransports);
  std::vector<std::string> taken;
  if (protocol != nullptr) {
    const std::string_view name = !known                  ? std::string_view()
                                  : has_sockets(scenario) ? transport->sockets
                                                          : transport->rdma;
    *protocol = protocol_there(scenario, name);
    if (!text.empty()) taken.push_back("protocol " + parse_module_choice(*protocol).name);
  }
  if (profile != nullptr) {
    // Without a library and without collectives it stays as it is: it is nobody's.
    if (text.empty()) return;
    *profile = goal::profile_name_of_library(text);
    taken.push_back("collectives profile " + *profile);
  }
  if (text.empty()) return;
  remarks.push_back(
      known
          ? fmt::format("{}, from the trace's MPI library {}", fmt::join(taken, " and "), text)
          : fmt::format("{}: none is known for the trace's MPI library {}", fmt::join(taken, " and "), text));
}

}  // namespace

void follow_library(Scenario& scenario, const goal::Program& program, std::vector<std::string>& remarks) {
  follow_machine(scenario, program, remarks);
  follow(scenario, program, remarks);
  follow_processors(scenario, program, remarks);
  if (program.metadata("mpi_library").empty()) spare_hosts(scenario, remarks);
}

void tell_free_reductions(const Scenario& scenario, std::span<const goal::Program> programs,
                          std::vector<std::string>& remarks) {
  bool are_free = false;
  for (std::size_t i = 0; i < programs.size() && !are_free; ++i) {
    are_free = adds_up(programs[i]) &&
               has_free_reductions(programs.size() == 1 ? scenario : scenario_of_job(scenario, i));
  }
  if (!are_free) return;
  remarks.push_back(
      "reductions take hosts no time, as hosts.reduction_per_byte isn't given; processors take 0.1 to 0.5 ns "
      "a byte (allreduces of 512 MiB end at 2 to 3.5 GB/s on machines whose allgathers reach 23)");
}

void set_protocol(const Scenario& scenario, HostConfig& hosts) {
  ModuleChoice choice;
  const auto found = scenario.hosts.given.find("protocol");
  const bool is_given = found != scenario.hosts.given.end() && found->second != kByRules;
  choice = parse_module_choice(is_given ? found->second : protocols()[0].name);
  const auto place = scenario.hosts.locations.find("protocol");
  if (place != scenario.hosts.locations.end()) choice.location = place->second;
  const auto info = std::ranges::find(protocols(), choice.name, &ModuleInfo::name);
  apply_protocol(Parameters(*info, choice), hosts);
  const Parameters parameters(hosts_section(), scenario.hosts);
  if (!parameters.automatic("S")) {
    hosts.eager_limit_bytes = parameters.bytes("S");
  }
  if (!parameters.automatic("collective_S")) hosts.collective_limit_bytes = parameters.bytes("collective_S");
  hosts.first_fragment_bytes =
      std::min({hosts.first_fragment_bytes, hosts.eager_limit_bytes, hosts.collective_limit_bytes});
  hosts.connections_per_pair = connections_per_pair(scenario);
}

}  // namespace weft::sim
