// Generated workloads: GOAL graphs from a few parameters, for runs without a traced application.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/units/module.h"

namespace weft::goal {

// The parameter `ranks` that every workload has.
inline ParameterSpec ranks_parameter() {
  return {"ranks", ParameterType::kInteger, "0", "Number of ranks; 0: as many as the topology has room for.",
          from_to("0", "2147483647")};
}

// What is known of a generated graph that it doesn't show, by name: it goes into a packed file's metadata.
using WorkloadFacts = std::vector<std::pair<std::string, std::string>>;

// A workload as users name it: `--traffic permutation:size=2MB`.
struct Workload {
  ModuleInfo info;
  // The graph for so many ranks; the same arguments give the same graph. Throws InputError for parameters
  // that make no sense, or too few ranks.
  Graph (*generate)(const Parameters& parameters, std::uint32_t ranks, std::uint64_t seed) = nullptr;
  // Sentences for the user on where that graph is not quite what was asked for. Null: it always is.
  std::vector<std::string> (*remarks)(const Parameters& parameters, std::uint32_t ranks) = nullptr;
  // Are its messages flows that have nothing to do with each other, rather than those of a program?
  bool independent_flows = false;
  // How many ranks the parameters ask for where `ranks` is 0; 0: they leave it open. Null: they always do.
  std::uint32_t (*own_ranks)(const Parameters& parameters) = nullptr;
  // Null: nothing.
  WorkloadFacts (*facts)(const Parameters& parameters, std::uint32_t ranks) = nullptr;
  // Are its collectives those of NCCL? Then runs choose their algorithms as NCCL does, by default.
  bool calls_nccl = false;
  // The parameter that is the rate of a host, where it is "auto" and the network is known; null: there is
  // none.
  const char* host_rate = nullptr;
  // The parameter that is what computes, where it is "auto" and the network's nodes say which GPUs they have;
  // null: there is none.
  const char* device = nullptr;
  // The parameter that is how many ranks a node has, where it is "auto" and the network's nodes say; null:
  // there is none.
  const char* node_ranks = nullptr;
};

// Puts what is known of a workload's graph into the metadata of its file. Throws InputError as `facts`.
void add_facts(const Workload& workload, const Parameters& parameters, std::uint32_t ranks,
               std::map<std::string, std::string>& metadata);

// Every built-in workload. Adding one: a file pair, its test, a line in BUILD.bazel and one in workloads.cc.
std::span<const Workload> workloads();

}  // namespace weft::goal
