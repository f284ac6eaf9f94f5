// Where a job's ranks go: the seam of placement policies. A job and the state of the machine in, a host for
// each rank out. Policies know nothing of the simulation: the same call serves a run, a queue of jobs, and
// `weft place`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/units/module.h"
#include "topologies/graph/topology.h"

namespace weft::placement {

// What one rank sends another over the whole of a job.
struct Exchange {
  std::uint32_t from = 0, to = 0;  // ranks
  double bytes = 0;
};

// A job that wants hosts.
struct Request {
  std::uint32_t ranks = 1;
  // A host takes so many ranks of the job at most. Policies that choose nodes fill them one after the other.
  std::uint32_t ranks_per_node = 1;
  // By sender, then receiver; each pair once, none with itself, bytes above 0. Empty: not known.
  std::span<const Exchange> exchanges = {};
  std::uint64_t seed = 1;  // of all that is drawn

  std::uint32_t nodes() const { return (ranks - 1) / ranks_per_node + 1; }
};

// kTaken: by another job, for now. kFailed: not to be had at all.
enum class HostState : std::uint8_t { kFree, kTaken, kFailed };

using States = std::vector<HostState>;  // by host number

// Nodes are hosts of the topology. Nodes that jobs share are free while they have room for this one.
struct Machine {
  const topologies::Topology& topology;
  States state;

  bool is_free(std::uint32_t host) const { return state[host] == HostState::kFree; }
};
// One where all hosts are free.
Machine idle_machine(const topologies::Topology& topology);
// These count free hosts, and those that have not failed: what there would be were no other job there.
std::uint32_t free_hosts(const Machine& machine);
std::uint32_t sound_hosts(const States& states);
inline std::uint32_t sound_hosts(const Machine& machine) { return sound_hosts(machine.state); }

// Either a free host for each rank, by rank, or why this job can't be placed as the policy says while the
// machine is as it is: a clause for messages ("10 hosts are needed, and 8 are free"). A queue then waits.
struct Outcome {
  std::vector<std::uint32_t> hosts;
  std::string no_room = {};
  std::string remark = {};  // what a user should know of these places; "": nothing
};

// What a policy works with.
struct Setup {
  const Parameters& parameters;
  const Request& request;
  const Machine& machine;
};

// A placement policy.
struct Policy {
  ModuleInfo info;
  // What it goes by, beside free hosts: "groups", "coordinates", for lists. Empty: nothing.
  std::string needs = {};
  // It is asked only about jobs of which it is known who sends how much to whom.
  bool needs_exchanges = false;
  // Why it isn't defined on this network, a clause that ends "packed can't be had on fat_tree: …"; "" if it
  // is. Null: it is defined on every one. Throws InputError for parameters that make no sense.
  std::string (*refusal)(const Parameters& parameters, const topologies::Topology& topology) = nullptr;
  // REQUIRES: refusal() is "". There may be too few free hosts. The same arguments, the same outcome: all
  // that is drawn comes from Request::seed. Throws InputError for what no state of the machine would mend:
  // parameters, files, hosts that don't exist or have failed.
  Outcome (*place)(const Setup& setup) = nullptr;
};

}  // namespace weft::placement
