// A run as configured: read from a scenario file and the command line, checked, completed, written back.
//
// The file's schema is scenario.proto. Module parameters come from the modules' own descriptions, so this
// folder depends on no module.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/scenario/registries.h"
#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::sim {

struct Job {
  std::string goal;      // path of the graph, or "" where it is generated
  ModuleChoice traffic;  // what generates it; empty where it is read
  std::string name;
  SourceLocation location;
  Time at = {};  // when it starts; with a scheduler, when it begins to wait
  // Where its ranks go. Empty: in order on the first hosts, or as Scenario::placement says.
  ModuleChoice placement = {};
  // Beside Scenario::hosts and collectives. After resolve(): with several jobs all that counts for this one,
  // and nothing is outside; with one job empty.
  ModuleChoice hosts = {}, collectives = {};
  double compute_scale = 1;
  // One of these at most is set.
  std::uint64_t repeat = 1;
  Time repeat_for = {};
  bool repeat_until_others_end = false;
  Time estimate = {};  // what a scheduler expects it to take; 0: not known
};

// What jobs of a list do.
struct JobModel {
  Job job;                                        // its name, and what counts for it; the list has the rest
  std::uint32_t least_ranks = 0, most_ranks = 0;  // 0: any
};

struct JobListChoice {
  std::string file;  // "": there is no list
  SourceLocation location;
  double time_scale = 1;
  std::uint64_t jobs = 0;  // the first so many; 0: all
  double estimate_factor = 1;
  std::vector<JobModel> models;
};

struct Output {
  std::string directory;  // "": no files
  bool flows = true, sqlite = true;
  std::string timeline = "auto";  // or "on", or "off"
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

// All of a scenario but its jobs.
struct RunSettings {
  std::vector<std::string> plugins;  // files that modules come from
  // Empty: not chosen. After resolve(): chosen, with every parameter given, or without effect in this run.
  ModuleChoice network, topology, routing, congestion, recovery, queue;
  // A fabric's name, or fabrics::kNone; "": not chosen. After resolve(): "" only where there is no topology.
  std::string fabric;
  SourceLocation fabric_location;
  // Why this fabric, where none was named; and what is set otherwise than in it: "routing ecmp instead of
  // reps". Filled by resolve().
  std::string fabric_reason;
  std::vector<std::string> fabric_changes;
  ModuleChoice placement;   // of jobs that have none of their own; after resolve() empty
  ModuleChoice scheduler;   // empty: jobs have their hosts for the whole run
  std::uint32_t nodes = 0;  // that a scheduler has, where there is no topology
  SourceLocation nodes_location;
  std::string failed;  // hosts that no job gets, as placement::fail_hosts() takes them; "": none
  SourceLocation failed_location;
  ModuleChoice hosts;                // parameters of hosts_section()
  ModuleChoice collectives;          // parameters of collectives_section()
  std::vector<ModuleChoice> faults;  // parameters of fault_section()
  // "per_message", "4 per_pair" (see connections.h), or "auto"; after resolve() not that, and "" where it has
  // no effect.
  std::string connections = std::string(kByRules);
  Time connection_idle;
  SourceLocation connections_location, connection_idle_location;
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;
  Output output;
  Limits limits;
  // Settings that don't act in this run, one sentence each; filled by resolve().
  std::vector<std::string> warnings;
  // Why this routing policy, where none was chosen: "recommended for torus"; filled by resolve().
  std::string routing_reason;
  // Why this queue discipline, where none was chosen: "made for nscc"; filled by resolve().
  std::string queue_choice;
  // Why these virtual channels, where the queue's parameters left that open: then packets can't wait for each
  // other in a circle. Filled by whoever knows the network.
  std::string queue_reason;
};

struct Scenario : RunSettings {
  std::vector<Job> jobs;
  JobListChoice job_list;  // in the place of jobs; resolve_with_list() (sim/run/listed_jobs.h)
                           // makes jobs of it
};

// One place where a kind of module is chosen.
struct Seam {
  const char* field;  // in the scenario file, and of the flag: "topology", "--topology"
  const char* word;   // in messages: "routing policy"
  std::vector<const ModuleInfo*> (*modules)(const Registries& registries);
  ModuleChoice Scenario::*choice;
};
// The description of what is chosen there. Throws InputError, at the choice, if it is not in the list.
const ModuleInfo& find_info(const Seam& seam, const Registries& registries, const ModuleChoice& choice);
// network, topology, routing, congestion, recovery, queue.
std::span<const Seam> seams();
// traffic, which each job chooses for itself: its `choice` is null.
const Seam& traffic_seam();
// placement, which each job may choose, and the run for all of them.
const Seam& placement_seam();
// scheduler, one for all jobs.
const Seam& scheduler_seam();

// What hosts cost and how they send, as parameters: o, O, S, the protocol in short form, and more.
const ModuleInfo& hosts_section();
// One fault of links: which, from when until when, what is left of them.
const ModuleInfo& fault_section();
// How collective operations choose their algorithm: `profile` and `table` (where there are profiles), and one
// parameter for each kind of operation, in the order of `registries`.
ModuleInfo collectives_section(const Registries& registries);
// A setting from the command line.
struct Setting {
  std::string flag;  // for messages: "--seed", "--set limits.time=1ms"
  std::string path;  // of the field: "seed", "topology.fat_tree.k", "job.goal"
  // For "topology" and the other seams the short form: "fat_tree:k=8". For "fault", "job" and
  // "job_list.model", which add one, "link=core 0 / *,at=1ms" and "lj.weft,placement=packed,at=1ms".
  std::string value;
};
// Reads "topology.fat_tree.k=16" as given to --set. Throws InputError.
Setting parse_setting(std::string_view text);

// Reads a scenario and then applies settings in their order; later ones win. A short form that names the
// module already chosen keeps its other parameters, else it replaces the choice. Nothing is filled in.
// Throws InputError with file, line and column, or the flag. `file` is for messages; "" with empty text if
// there is no file.
Scenario read_scenario(const Registries& registries, std::string_view text, const std::string& file,
                       std::span<const Setting> settings = {});

// Fills in every default and checks that all settings fit together. A setting that can't act is an InputError
// if it comes from the command line, and a warning if it comes from a file, so that one file serves for
// several network models; it is then dropped. Resolving twice changes nothing. REQUIRES: no job list.
Scenario resolve(const Scenario& scenario, const Registries& registries);

// The plug-ins that a scenario file names (path "" for none), to be loaded before the registries are made
// that it is read with. Throws InputError if it can't be read; what is wrong in it is left to
// load_scenario().
std::vector<std::string> plugins_named_in(const std::string& path);

// A resolved scenario with the one job only, and what counts for it.
Scenario scenario_of_job(const Scenario& resolved, std::size_t job);

// As read_scenario(), from a file (path "" for none).
Scenario read_scenario_file(const Registries& registries, const std::string& path,
                            std::span<const Setting> settings);
// And resolved.
Scenario load_scenario(const Registries& registries, const std::string& path,
                       std::span<const Setting> settings);

// Tells the run so that it can be repeated from any working directory and with results elsewhere: paths of
// files are absolute, and it has no folder for results.
Scenario repeatable(const Scenario& scenario, const Registries& registries);

// Gives the scenario with other paths of the files that it reads.
Scenario with_paths(const Scenario& scenario, const Registries& registries,
                    const std::function<std::string(const std::string& path)>& change);

// Every path of a file that the scenario reads: graphs, plug-ins, parameters of modules. Each once, as given.
std::vector<std::string> input_files(const Scenario& scenario, const Registries& registries);

// A scenario file that gives this scenario when read: for a resolved one, all that decides the run.
std::string to_text(const Scenario& scenario, const Registries& registries);

}  // namespace weft::sim
