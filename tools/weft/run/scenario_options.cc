#include "tools/weft/run/scenario_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "sim/plugins/load.h"
#include "sim/units/input_error.h"
#include "tools/weft/cli/plugins.h"

namespace weft::cli {
namespace {

struct Flag {
  const char* names;
  const char* path;  // of the field in the scenario
  const char* help;
};

constexpr Flag kFlags[] = {
    {"--goal", "job.goal",
     "GOAL graph to replay (.weft, .goal or .bin); a .weft is read on the way, in little memory"},
    {"--traffic", "job.traffic", "generated traffic instead of a graph: permutation:size=2MB"},
    {"--placement", "placement",
     "where ranks of jobs go that don't say it themselves: packed, random …: weft list placement"},
    {"--failed", "failed", "hosts that have failed, which no job gets: names, numbers, or a share: 3,h7,1%"},
    {"--job-list", "job_list.file",
     "the jobs of a batch system's log (SWF) or a table (CSV), which wait for hosts"},
    {"--scheduler", "scheduler",
     "which of the jobs that wait for hosts is next: fcfs, easy, conservative; they give hosts back"},
    {"--time-scale", "job_list.time_scale",
     "times of the list are divided by this: with 1e6 its seconds are microseconds"},
    {"--network", "network",
     "network model: loggops[:L=…,o=…,g=…,G=…,O=…,S=…,semantics=…], packet[:mtu=…] or "
     "flow[:mtu=…,max_rate=…]; by default packet where a topology is given, else loggops"},
    {"--topology", "topology",
     "topology of a packet or flow network: fat_tree:k=8, or fat_tree:endpoints=100 for at least so many"},
    {"--fabric", "fabric",
     "settings that belong together, for what isn't given: uet, roce, infiniband …, or none: weft list "
     "fabrics"},
    {"--routing", "routing", "routing policy: ecmp, spray, ugal, flowcut …: weft list routing"},
    {"--congestion", "congestion", "congestion control: nscc, dctcp, hpcc …: weft list congestion"},
    {"--recovery", "recovery",
     "loss recovery: rack, go_back_n, erasure_coding:data=32,redundant=8 …: weft list recovery"},
    {"--queue", "queue", "queue discipline: ecn:kmin=…,kmax=… or droptail:capacity=…"},
    {"--connections", "connections",
     "how messages share connections: per_pair, per_message, or a number of them like '4 per_pair'"},
    {"--protocol", "hosts.protocol",
     "how hosts send messages: ideal, openmpi_tcp:eager_limit=64KiB; by default that of the trace's MPI "
     "library"},
    {"--seed", "seed", "whole number that every random draw follows from; 1 by default"},
    {"--threads", "threads", "worker threads, 1 or more; results never depend on it"},
    {"-o,--output", "output.directory", "folder for the result files; created"},
    {"--sample", "output.sample_interval",
     "interval, 10us: load and queues of links over time, in series.csv and network_series.csv"},
    {"--sample-links", "output.sample_links",
     "links to sample: switches (the ports of all; by default), all, or names like 'edge 0.0 -> *'"},
    {"--packet-log", "output.packet_log",
     "all that happens to the packets from host 3 to host 7 (3-7) or of the first message (3-7#0), in "
     "packets.csv"},
    {"--pcapng", "output.pcapng", "hosts (3 or 3,7) whose packets go to capture.pcapng, for Wireshark"},
};

std::string long_name(const Flag& flag) {
  const std::string names = flag.names;
  return names.substr(names.find("--"));
}

// Each of these adds one.
bool is_list(const std::string& path) {
  return path == "job" || path == "job_list.model" || path == "fault" || path == "plugins";
}

bool is_output(const Flag& flag) { return long_name(flag) == "--output"; }

}  // namespace

std::string path_of_field(const std::string& name) {
  for (const Flag& flag : kFlags) {
    if (!is_output(flag) && long_name(flag) == "--" + name) return flag.path;
  }
  return name;
}

std::vector<std::string> ScenarioOptions::plugins() const {
  std::vector<std::string> plugins = sim::plugins_named_in(file_);
  for (const std::string& given : plugins_) {
    if (std::find(plugins.begin(), plugins.end(), given) == plugins.end()) plugins.push_back(given);
  }
  return plugins;
}

std::vector<sim::Setting> ScenarioOptions::settings() const {
  std::vector<sim::Setting> settings;
  for (std::size_t i = 0; i < std::size(kFlags); ++i) {
    if (i >= values_.size() || !values_[i]) continue;
    // Most often a script's variable that was never set: better told than left out.
    if (values_[i]->empty()) {
      throw InputError(
          fmt::format("{}: the value is empty; expected: {}", long_name(kFlags[i]), kFlags[i].help));
    }
    settings.push_back({long_name(kFlags[i]), kFlags[i].path, *values_[i]});
  }
  for (const std::string& job : jobs_) settings.push_back({"--job " + job, "job", job});
  for (const std::string& model : models_) {
    settings.push_back({"--job-model " + model, "job_list.model", model});
  }
  for (const std::string& fault : faults_) settings.push_back({"--fault " + fault, "fault", fault});
  std::vector<sim::Setting> sets;
  for (const std::string& set : sets_) {
    const sim::Setting setting = sim::parse_setting(set);
    // Which of the two counts would be a matter of taste.
    const auto twice = std::ranges::find(settings, setting.path, &sim::Setting::path);
    if (twice != settings.end() && !is_list(setting.path)) {
      throw InputError(fmt::format("--set {} and {}: one field, so give one of the two", set, twice->flag));
    }
    sets.push_back(setting);
  }
  settings.insert(settings.end(), sets.begin(), sets.end());
  if (baseline_) settings.push_back({"--baseline", "output.baseline", "true"});
  if (interference_) settings.push_back({"--interference", "output.interference", "true"});
  if (no_flows_) settings.push_back({"--no-flows", "output.flows", "false"});
  return settings;
}

void ScenarioOptions::add_to(Command& command, bool with_output) {
  values_.resize(std::size(kFlags));
  command.add_option("scenario", file_, "scenario file (Protocol Buffers text format); may be left out");
  for (std::size_t i = 0; i < std::size(kFlags); ++i) {
    if (!with_output && is_output(kFlags[i])) continue;
    command.add_option(kFlags[i].names, values_[i], kFlags[i].help);
  }
  command
      .add_option(
          "--job", jobs_,
          "one more job, side by side with the others: a GOAL graph and fields of a job, "
          "'lj.weft,placement=packed,at=1ms', or 'traffic=[shift:size=1MB,ranks=8],repeat=10'; may be "
          "given again")
      .repeated();
  command
      .add_option(
          "--job-model", models_,
          "what jobs of the list do, the first that fits: "
          "'name=halo,most_ranks=64,traffic=[stencil:iterations=100]' or a GOAL graph for jobs of its "
          "size; may be given again; without one, they compute for the time that they took")
      .repeated();
  command
      .add_option("--fault", faults_,
                  "links that fail or run badly, 'link=edge 0.0 / *,at=10us,until=50us': see weft describe "
                  "fault; may "
                  "be given again")
      .repeated();
  command.add_option("--plugin", plugins_, kPluginHelp).repeated();
  command.add_option("--set", sets_, "FIELD=VALUE: any field of the scenario, e.g. topology.fat_tree.k=16")
      .repeated();
  command.add_flag("--baseline", baseline_,
                   "run each job again alone, on the same hosts: its slowdown beside the others");
  command.add_flag("--interference", interference_,
                   "and beside each other one: interference.csv, who slows whom");
  command.add_flag("--no-flows", no_flows_, "don't write flows.csv (a row for each message)");
}

}  // namespace weft::cli
