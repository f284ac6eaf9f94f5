#include "tools/weft/route/place_jobs.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "goal/program.h"
#include "goal/workload/workload.h"
#include "sim/placement/exchanges.h"
#include "sim/units/brackets.h"
#include "sim/units/input_error.h"
#include "topologies/analysis/demands.h"

namespace weft::cli {
namespace {

constexpr const char* kJobForm =
    "FILE,placement=NAME:…,ranks_per_node=4,ranks=64 (or traffic=PATTERN in place of FILE)";
constexpr std::uint32_t kMostRanks = 1 << 24;

std::uint32_t read_count(const std::string& name, std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > kMostRanks)
    throw InputError(fmt::format("--job: {} is '{}', but it must be from 1 to {}", name, text, kMostRanks));
  return value;
}

void read_program(const goal::Program& program, PlacedJob& job) {
  if (job.ranks != 0 && job.ranks != program.ranks())
    throw InputError(
        fmt::format("{} has {} ranks, and {} were asked for", job.name, program.ranks(), job.ranks));
  job.ranks = program.ranks();
  job.exchanges = placement::exchanges_of(program, goal::CollectiveSelection(goal::CollectiveChoices{}));
}

goal::Graph generate(const std::string& text, std::uint32_t ranks, std::uint64_t seed) {
  ModuleChoice choice = parse_module_choice(text);
  const goal::Workload& workload = find_module(goal::workloads(), choice, "traffic pattern");
  if (ranks > 0 && !choice.given.contains("ranks")) choice.given["ranks"] = fmt::format("{}", ranks);
  const Parameters parameters(workload.info, choice);
  const std::int64_t count = parameters.integer("ranks");
  if (count < 1 || count > kMostRanks) throw InputError("the number of ranks is needed: --ranks N");
  return workload.generate(parameters, static_cast<goal::Rank>(count), seed);
}

void read_matrix(const std::string& path, PlacedJob& job) {
  std::uint32_t highest = 0;
  std::vector<topologies::MatrixEntry> entries = topologies::read_matrix(path);
  if (entries.empty()) throw InputError(path + ": it has no entry");
  for (const topologies::MatrixEntry& each : entries) highest = std::max({highest, each.from, each.to});
  if (highest >= kMostRanks) throw InputError(fmt::format("{}: rank {} is too high", path, highest));
  if (job.ranks == 0) job.ranks = highest + 1;
  if (highest >= job.ranks)
    throw InputError(fmt::format("{}: rank {}, and the job has {}", path, highest, job.ranks));
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  for (const topologies::MatrixEntry& each : entries) {
    if (each.from == each.to || each.weight <= 0) continue;
    const bool again = !job.exchanges.empty() && job.exchanges.back().from == each.from &&
                       job.exchanges.back().to == each.to;
    if (again) {
      job.exchanges.back().bytes += each.weight;
    } else {
      job.exchanges.push_back({each.from, each.to, each.weight});
    }
  }
}

}  // namespace

JobSource parse_job(const std::string& text, std::uint32_t ranks_per_node) {
  JobSource source;
  source.ranks_per_node = ranks_per_node;
  for (const std::string_view part : split_outside_brackets(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string key(part.substr(0, equals));
    const std::string value(equals == std::string_view::npos ? ""
                                                             : without_brackets(part.substr(equals + 1)));
    if (equals == std::string_view::npos && source.graph.empty() && !part.empty()) {
      source.graph = std::string(part);
    } else if (key == "placement" && !value.empty()) {
      source.placement = parse_module_choice(value);
    } else if (key == "traffic" && !value.empty()) {
      source.traffic = value;
    } else if (key == "matrix" && !value.empty()) {
      source.matrix = value;
    } else if (key == "ranks") {
      source.ranks = read_count(key, value);
    } else if (key == "ranks_per_node") {
      source.ranks_per_node = read_count(key, value);
    } else {
      throw InputError(fmt::format("--job '{}': '{}' is not understood; expected {}", text, part, kJobForm));
    }
  }
  return source;
}

PlacedJob read_job(const JobSource& source, std::uint64_t seed) {
  const int given = !source.graph.empty() + !source.traffic.empty() + !source.matrix.empty();
  if (given > 1)
    throw InputError("a graph, a traffic pattern and a matrix can't all say what a job sends: give one");
  PlacedJob job{.name = "",
                .placement = source.placement,
                .ranks = source.ranks,
                .ranks_per_node = source.ranks_per_node,
                .exchanges = {}};
  if (!source.graph.empty()) {
    job.name = std::filesystem::path(source.graph).filename().string();
    read_program(goal::open_program(source.graph), job);
  } else if (!source.traffic.empty()) {
    job.name = parse_module_choice(source.traffic).name;
    read_program(generate(source.traffic, source.ranks, seed), job);
  } else if (!source.matrix.empty()) {
    job.name = std::filesystem::path(source.matrix).filename().string();
    read_matrix(source.matrix, job);
  } else {
    job.name = "job";
  }
  if (job.ranks == 0)
    throw InputError("what is to be placed? Give a graph, --traffic or --matrix, or --ranks N");
  return job;
}

}  // namespace weft::cli
