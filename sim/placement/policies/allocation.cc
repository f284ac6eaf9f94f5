#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "sim/placement/policies/built_in.h"
#include "sim/placement/policies/named_places.h"
#include "sim/placement/policies/nodes.h"
#include "sim/placement/policies/rank_list.h"
#include "sim/units/input_error.h"
#include "sim/units/printable.h"

namespace weft::placement {
namespace {

constexpr std::uint32_t kMostPlaces = 1 << 20;  // of a run that are looked at
constexpr std::string_view kHeader = "machine,timestamp,nodes,hosts";

// One real run: a line of the file.
struct Run {
  std::string_view machine, timestamp, hosts;
  std::int64_t line = 0;
};

std::vector<Run> read_runs(std::string_view text, const std::string& path) {
  std::vector<Run> runs;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string start = printable(std::string(line.substr(0, 60)));
    if (number == 1) {
      if (line != kHeader) throw InputError({path, 1}, fmt::format("'{}', but expected {}", start, kHeader));
      continue;
    }
    if (line.empty()) continue;
    const std::size_t one = line.find(','), two = one == line.npos ? one : line.find(',', one + 1);
    const std::size_t three = two == line.npos ? two : line.find(',', two + 1);
    if (three == line.npos)
      throw InputError({path, number}, fmt::format("'{}…', but expected {}", start, kHeader));
    runs.push_back(
        {line.substr(0, one), line.substr(one + 1, two - one - 1), line.substr(three + 1), number});
  }
  return runs;
}

Run choose_run(const Setup& setup, const std::string& path, std::string_view text) {
  std::vector<Run> runs = read_runs(text, path);
  const std::string &machine = setup.parameters.text("machine"), &run = setup.parameters.text("run");
  const std::int64_t line = setup.parameters.integer("line");
  std::erase_if(runs, [&](const Run& each) {
    return (line != 0 && each.line != line) || (!machine.empty() && each.machine != machine) ||
           (!run.empty() && each.timestamp != run);
  });
  if (runs.size() == 1) return runs[0];
  std::string what;
  if (!machine.empty()) what += " of " + machine;
  if (!run.empty()) what += " with timestamp " + run;
  if (line != 0) what += fmt::format(" in line {}", line);
  if (runs.empty()) throw InputError(fmt::format("{}: it has no run{}", path, what));
  throw InputError(fmt::format("{}: it has {} runs{}; choose one with run=TIMESTAMP or line=N, like line={}",
                               path, runs.size(), what, runs[0].line));
}

Outcome place_allocated(const Setup& setup) {
  const std::string path = setup.parameters.file("file");
  if (path.empty()) setup.parameters.fail("file", "a file is needed: allocation:file=PATH");
  const bool as_job = choose_word(setup.parameters, "tasks", {"as_run", "as_job"}) == 1;
  const std::string text = read_small_file(path);
  const Run run = choose_run(setup, path, text);
  std::vector<RankPlace> places;
  if (as_job) {
    std::vector<RankPlace> nodes;
    read_hosts(run.hosts, path, run.line, kMostPlaces, nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end(),
                            [](const RankPlace& a, const RankPlace& b) { return a.host == b.host; }),
                nodes.end());
    for (std::uint32_t r = 0; r < setup.request.ranks; ++r) {
      if (r / setup.request.ranks_per_node >= nodes.size()) break;
      places.push_back(nodes[r / setup.request.ranks_per_node]);
    }
  } else {
    read_hosts(run.hosts, path, run.line, setup.request.ranks, places);
  }
  if (places.size() < setup.request.ranks) {
    throw InputError({path, run.line}, fmt::format("the run has room for {} ranks, and the job has {}",
                                                   places.size(), setup.request.ranks));
  }
  return place_by_names(setup, path, places);
}

}  // namespace

Policy allocation() {
  return {
      .info =
          {.name = "allocation",
           .summary = "The hosts that a real run was given, from a table of runs.",
           .source = "",
           .parameters =
               {{"file", ParameterType::kFile, "",
                 "CSV machine,timestamp,nodes,hosts; hosts are NAME:TASKS with blanks between, in the order "
                 "of ranks; what stands behind an @ is left out."},
                {"machine", ParameterType::kText, "", "Only runs of this machine."},
                {"run", ParameterType::kText, "", "The run's timestamp; needed where there are several."},
                {"line", ParameterType::kInteger, "0",
                 "The run's line in the file, where several have the same timestamp; 0: any."},
                {"tasks", ParameterType::kText, "as_run",
                 "Ranks on each host: as_run: as many as the run had; as_job: as the job's ranks per "
                 "node.",
                 one_of({"as_run", "as_job"})}},
           .about = "How a scheduler really spreads jobs on a busy machine. The network must name its hosts "
                    "as the table does. A job with fewer ranks takes the first."},
      .place = place_allocated};
}

}  // namespace weft::placement
