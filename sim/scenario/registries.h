// What a scenario may name: modules by kind, and what the resolver must know of each beside its description.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/fabrics/fabric.h"
#include "sim/units/capabilities.h"
#include "sim/units/module.h"

namespace weft::sim {

// A module of which the description is all: schedulers, placements.
struct RegisteredModule {
  ModuleInfo info;
};

struct RegisteredNetwork {
  ModuleInfo info;
  bool has_fabric = false;       // made of a topology, with routing
  bool has_packets = false;      // which have queues and congestion control
  bool has_partitions = false;   // it runs on several threads
  bool has_connections = false;  // messages may share connections
  // What of its parameters breaks the order of a connection's packets, as users write it; "": nothing. Null:
  // nothing.
  std::function<std::string(const Parameters&)> breaks_order = {};
  // What it needs of queues, with such parameters. Null: nothing.
  std::function<CapabilityNeeds(const Parameters&)> needs_of = {};
};

struct RegisteredTopology {
  ModuleInfo info;
  std::string routing = {};         // the policy that is recommended; "": any
  std::string routing_reason = {};  // "recommended for torus"
  std::string fabric = {};          // what it has where none is named; "": none
  std::string fabric_reason = {};   // "by default for torus"
  // Puts what it takes for at least the parameter kEndpoints in its place. Throws InputError for a family
  // without sizes, and where one of these parameters is given too. Null: no such parameter.
  ModuleChoice (*sized)(const ModuleChoice& choice) = nullptr;
  // The name of that whose routing and fabric this choice has by default. Null: its own.
  std::string (*routed_as)(const ModuleChoice& choice) = nullptr;
};

// The number that may stand for the sizes of a topology: "fat_tree:endpoints=1024". It is in no module's list
// of parameters, and never in a Draft: sizes take its place as soon as it is read.
inline constexpr const char* kEndpoints = "endpoints";

struct RegisteredRouting {
  ModuleInfo info;
  CapabilityNeeds needs = {};  // of queues
  bool has_fluid = true;       // it means something where there are no packets
  // Do the packets of a connection stay in order? Null: yes.
  std::function<bool(const Parameters&)> keeps_order = {};
};

struct RegisteredControl {
  ModuleInfo info;
  CapabilityNeeds needs = {};  // of queues
  std::string queue = {};      // the discipline it is made for; "": any that suits
  // Parameters of queue disciplines that have them, and their values where none is given.
  std::vector<std::pair<std::string, std::string>> queue_settings = {};
  std::string caveat = {};  // what every run with it is to warn of
  // Does it compare what packets of a connection met on one way? Null: no.
  std::function<bool(const Parameters&)> wants_one_path = {};
};

struct RegisteredRecovery {
  ModuleInfo info;
  CapabilityNeeds needs = {};  // of queues
  bool wants_order = false;    // it takes what comes early for a sign of loss
};

struct RegisteredQueue {
  ModuleInfo info;
  CapabilityOffers offers = {};
};

struct RegisteredTraffic {
  ModuleInfo info;
  bool independent_flows = false;  // its messages have nothing to do with each other
};

// An algorithm for one kind of collective operation ("allreduce").
struct RegisteredAlgorithm {
  std::string collective;
  ModuleInfo info;
};

// The value that leaves a choice to others: of a collective's algorithm to the graph, the table and the
// profile; of profile and protocol to the MPI library that the graph is of.
inline constexpr std::string_view kByRules = "auto";

// Everything that can be chosen. The first of each list is the default of its kind.
struct Registries {
  std::vector<RegisteredNetwork> networks;
  std::vector<RegisteredTopology> topologies;
  std::vector<RegisteredRouting> routing;
  std::vector<RegisteredControl> congestion;
  std::vector<RegisteredRecovery> recoveries;
  std::vector<RegisteredQueue> queues;
  std::vector<RegisteredTraffic> traffic;
  std::vector<RegisteredModule> placements, schedulers;
  std::vector<RegisteredAlgorithm> algorithms;
  std::vector<ModuleInfo> profiles;      // rules that choose among the algorithms by size; may be none
  std::vector<ModuleInfo> protocols;     // of MPI libraries: how messages are sent; may be none
  std::vector<fabrics::Fabric> fabrics;  // settings that belong together; may be none
};

// Null where there is none of that name.
template <typename Registered>
const Registered* find_registered(const std::vector<Registered>& modules, std::string_view name) {
  for (const Registered& module : modules) {
    if (module.info.name == name) return &module;
  }
  return nullptr;
}

}  // namespace weft::sim
