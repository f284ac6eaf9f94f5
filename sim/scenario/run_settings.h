// What is said of a run, as it was read and as it was resolved.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::sim {

struct Job {
  std::string goal;      // path of the graph, or "" where it is generated
  ModuleChoice traffic;  // what generates it; empty where it is read
  std::string name;      // "" in a draft: the resolver finds one
  SourceLocation location;
  Time at = {};  // when it starts; with a scheduler, when it begins to wait
  // Where its ranks go. Empty: in order on the first hosts; in a draft, as Draft::placement says.
  ModuleChoice placement = {};
  // In a draft what counts before RunSettings::hosts and collectives. In a scenario of several jobs it is all
  // that counts for this one, and the run has none; in a scenario of one job it is empty.
  ModuleChoice hosts = {}, collectives = {};
  double compute_scale = 1;
  // One of these at most is set.
  std::uint64_t repeat = 1;
  Time repeat_for = {};
  bool repeat_until_others_end = false;
  Time estimate = {};  // what a scheduler expects it to take; 0: not known
};

// Is it recorded what ranks do when? kAuto: where that costs little.
enum class TimelineChoice : std::uint8_t { kAuto, kOn, kOff };

struct Output {
  std::string directory;  // "": no files
  bool flows = true, sqlite = true;
  TimelineChoice timeline = TimelineChoice::kAuto;
  // Networks with links or with packets have these, in the forms of scenario.proto; 0 and "": not wanted.
  Time sample_interval;
  std::string sample_links = "switches";
  std::string packet_log, pcapng;
  bool baseline = false, interference = false;      // runs of jobs alone; and in pairs
  std::map<std::string, SourceLocation> locations;  // of the fields that were given

  SourceLocation location(const std::string& field) const {
    const auto found = locations.find(field);
    return found == locations.end() ? SourceLocation() : found->second;
  }
};

// 0: no limit.
struct Limits {
  Time time;
  std::uint64_t events = 0;
  std::uint64_t memory_bytes = 0;
};

// What drafts and scenarios have in common, but for the jobs, of which there may be very many. A module that
// is empty in a draft is not chosen. One that is empty in a scenario has no effect in this run; of the others
// every parameter is given.
struct RunSettings {
  std::vector<std::string> plugins;  // files that modules come from
  ModuleChoice network, topology, routing, congestion, recovery, queue;
  // A fabric's name, or fabrics::kNone. "" in a draft: not chosen; in a scenario: there is no topology.
  std::string fabric;
  SourceLocation fabric_location;
  ModuleChoice scheduler;   // empty: jobs have their hosts for the whole run
  std::uint32_t nodes = 0;  // that a scheduler has, where there is no topology
  SourceLocation nodes_location;
  std::string failed;  // hosts that no job gets, as placement::fail_hosts() takes them; "": none
  SourceLocation failed_location;
  ModuleChoice hosts;                // parameters of hosts_section()
  ModuleChoice collectives;          // parameters of collectives_section()
  std::vector<ModuleChoice> faults;  // parameters of fault_section()
  Time connection_idle;
  SourceLocation connections_location, connection_idle_location;
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;
  Output output;
  Limits limits;
};

}  // namespace weft::sim
