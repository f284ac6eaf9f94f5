// A run as its user describes it: read from a scenario file and the command line, changed, and written back.
// What it leaves open, and whether it fits together, resolve() (scenario.h) finds out.
//
// The file's schema is scenario.proto. Module parameters come from the modules' own descriptions, so this
// folder depends on no module.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/registries.h"
#include "sim/scenario/run_settings.h"

namespace weft::sim {

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

struct Draft : RunSettings {
  std::vector<Job> jobs;
  JobListChoice job_list;  // in the place of jobs; resolve_with_list() (sim/run/listed_jobs.h)
                           // makes jobs of it
  ModuleChoice placement;  // of jobs that have none of their own
  // As parse_connections() (connection_choice.h) reads it; "auto" or "": as the traffic wants it.
  std::string connections = std::string(kByRules);
};

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
Draft read_scenario(const Registries& registries, std::string_view text, const std::string& file,
                    std::span<const Setting> settings = {});
// As read_scenario(), from a file (path "" for none).
Draft read_scenario_file(const Registries& registries, const std::string& path,
                         std::span<const Setting> settings);

// The plug-ins that a scenario file names (path "" for none), to be loaded before the registries are made
// that it is read with. Throws InputError if it can't be read; what is wrong in it is left to
// read_scenario_file().
std::vector<std::string> plugins_named_in(const std::string& path);

// Tells the run so that it can be repeated from any working directory and with results elsewhere: paths of
// files are absolute, and it has no folder for results.
Draft repeatable(const Draft& draft, const Registries& registries);

// Gives the draft with other paths of the files that it reads.
Draft with_paths(const Draft& draft, const Registries& registries,
                 const std::function<std::string(const std::string& path)>& change);

// Every path of a file that the draft reads: graphs, plug-ins, parameters of modules. Each once, as given.
std::vector<std::string> input_files(const Draft& draft, const Registries& registries);

// A scenario file that gives this draft when read.
std::string to_text(const Draft& draft, const Registries& registries);

}  // namespace weft::sim
