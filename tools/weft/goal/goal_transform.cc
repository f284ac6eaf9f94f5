#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "goal/noted_number.h"
#include "goal/read_graph.h"
#include "goal/transform/extrapolate.h"
#include "goal/transform/merge.h"
#include "goal/transform/noise.h"
#include "goal/transform/perturb.h"
#include "goal/transform/regroup.h"
#include "goal/transform/scale.h"
#include "goal/transform/slice.h"
#include "sim/units/brackets.h"
#include "sim/units/input_error.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/goal/goal_commands.h"
#include "tools/weft/goal/goal_expand.h"
#include "tools/weft/goal/goal_output.h"

namespace weft::cli {
namespace {

using goal::Graph;
using goal::RankList;

void add_input(Command& command, std::string& file) {
  command.add_option("FILE", file, "A GOAL graph: packed, text or binary").required();
}

std::optional<RankList> ranks_option(const std::string& text, const Graph& graph) {
  if (text.empty()) return std::nullopt;
  RankList list(text, graph.ranks(), "--ranks");
  if (list.has_repeats()) log::warn("--ranks '" + text + "' names a rank more than once; it counts once");
  return list;
}

// "0.5", "0.5@cpu=1", "2@ranks=0-3@cpu=0"
goal::ScaleRule scale_rule(const std::string& text, const Graph& graph) {
  const auto fail = [&](const std::string& why) -> void {
    throw InputError("--calc '" + text + "': " + why +
                     "; expected FACTOR[@cpu=N][@ranks=LIST]: 0.5@ranks=0-3");
  };
  const auto number = [&](std::string_view word, auto& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || end != word.data() + word.size()) {
      fail("'" + std::string(word) + "' is not a number that fits");
    }
  };
  goal::ScaleRule rule;
  std::string_view rest = text;
  for (bool first = true;; first = false) {
    const std::string_view part = rest.substr(0, rest.find('@'));
    if (first) {
      number(part, rule.factor);
    } else if (part.substr(0, 4) == "cpu=") {
      std::uint16_t cpu = 0;
      number(part.substr(4), cpu);
      rule.cpu = cpu;
    } else if (part.substr(0, 6) == "ranks=") {
      rule.ranks = RankList(part.substr(6), graph.ranks(), "--calc '" + text + "'");
    } else {
      fail("'" + std::string(part) + "' is neither cpu=… nor ranks=…");
    }
    if (part.size() == rest.size()) return rule;
    rest.remove_prefix(part.size() + 1);
  }
}

std::string noise_help() {
  std::string text = "Noise, NAME:key=value,…:\n";
  for (const goal::NoiseModel& model : goal::noise_models()) {
    text += fmt::format("  {:<12} {}\n", model.info.name, model.info.summary);
    for (const ParameterSpec& parameter : model.info.parameters) {
      text +=
          fmt::format("    {:<10} {} [{}]\n", parameter.name, describe(parameter), parameter.default_value);
    }
  }
  return text +
         "\nExample:\n  weft goal perturb lj.weft --noise periodic:period=4ms,length=20us --noise "
         "stragglers:count=2 "
         "-o noisy.weft";
}

// What a run goes by: graphs of jobs that differ in one of them go by none.
constexpr const char* kActing[] = {"mpi_library", "nccl_library", "overlap_slowdown"};

// Null where jobs differ.
const std::string* noted_by_all(const std::vector<goal::PackInfo>& jobs, const std::string& key) {
  const auto first = jobs[0].metadata.find(key);
  for (const goal::PackInfo& job : jobs) {
    const auto found = job.metadata.find(key);
    if (found == job.metadata.end() || found->second != first->second) return nullptr;
  }
  return &first->second;
}

void warn_of_differing(const std::vector<goal::PackInfo>& infos) {
  for (const char* key : kActing) {
    std::vector<std::string> values;
    for (const goal::PackInfo& info : infos) {
      const auto found = info.metadata.find(key);
      values.push_back(found == info.metadata.end() ? "none" : found->second);
    }
    if (std::ranges::all_of(values, [&](const std::string& value) { return value == values[0]; })) continue;
    log::warn(
        fmt::format("jobs differ in {} ({}), and the merged graph has none; as jobs of one run (weft sim "
                    "--job) each keeps its own",
                    key, fmt::join(values, ", ")));
  }
}

// What one run of the merged graph does of is what its jobs do together.
constexpr const char* kSums[] = {"tokens", "model_flops"};

bool is_sum(const std::string& key) { return std::ranges::find(kSums, key) != std::end(kSums); }

// What was changed since doesn't hold.
void add_sum(const std::vector<goal::PackInfo>& infos, const char* key, goal::PackInfo& merged) {
  double sum = 0;
  for (const goal::PackInfo& info : infos) {
    const auto found = info.metadata.find(key);
    const auto number = found == info.metadata.end() ? std::nullopt : goal::noted_number(found->second);
    if (!number || info.metadata.contains("transform 1")) return;
    sum += *number;
  }
  merged.metadata[key] = fmt::format("{}", sum);
}

// What is known of all jobs alike stays known of the graph; the rest stands under the name of its job.
goal::PackInfo merged_info(const std::vector<goal::PackInfo>& infos,
                           const std::vector<goal::MergeJob>& jobs) {
  goal::PackInfo merged;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    for (const auto& [key, value] : infos[i].metadata) {
      const bool is_own = key.starts_with("transform ") || is_sum(key);
      const std::string* const common = is_own ? nullptr : noted_by_all(infos, key);
      if (common != nullptr) {
        merged.metadata.emplace(key, *common);
      } else {
        merged.metadata.emplace(fmt::format("job {} ({}): {}", i + 1, jobs[i].name, key), value);
      }
    }
    merged.not_replayed.add(infos[i].not_replayed);
  }
  for (const char* key : kSums) add_sum(infos, key, merged);
  warn_of_differing(infos);
  return merged;
}

// Selectors are told that choose nothing.
void warn_if_none(const Graph& graph, const std::string& what, const std::optional<RankList>& ranks,
                  std::optional<std::uint16_t> cpu) {
  if (goal::count_calcs(graph, ranks, cpu) > 0) return;
  log::warn(fmt::format("{} fits no calc, and changes nothing; the graph's highest cpu is {}", what,
                        graph.max_cpu()));
}

}  // namespace

void add_merge(Command& parent) {
  struct Options {
    std::vector<std::string> files;
    GraphOutput output;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand(
      "merge", "Several jobs in one graph: ranks one job after the other, communicators kept apart");
  command.add_option("FILES", options->files, "GOAL graphs; the same may be named twice").required();
  options->output.add_options(command);
  command.footer("Example: weft goal merge lj.weft hpcc.weft -o both.weft");
  command.callback([options, command] {
    options->output.format();
    std::vector<Graph> graphs;
    std::vector<goal::MergeJob> jobs;
    std::vector<goal::PackInfo> infos;
    graphs.reserve(options->files.size());
    for (const std::string& file : options->files) {
      graphs.push_back(goal::read_graph(file, &infos.emplace_back()));
      jobs.push_back({&graphs.back(), std::filesystem::path(file).stem().string()});
    }
    if (jobs.size() == 1) return options->output.write(goal::merge(jobs), infos[0]);
    std::vector<goal::Anomaly> anomalies;
    for (const goal::PackInfo& one : infos) {
      anomalies.insert(anomalies.end(), one.anomalies.begin(), one.anomalies.end());
    }
    goal::PackInfo info = merged_info(infos, jobs);
    record(info, command, anomalies);
    options->output.write(goal::merge(jobs), info);
  });
}

void add_scale(Command& parent) {
  struct Options {
    std::string file;
    std::vector<std::string> rules;
    GraphOutput output;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand("scale", "Make compute faster or slower");
  add_input(command, options->file);
  command
      .add_option("--calc", options->rules,
                  "FACTOR[@cpu=N][@ranks=LIST]: multiply the times of these calcs; may be repeated")
      .required()
      .repeated();
  options->output.add_options(command);
  command.footer(
      "Factors multiply times: 0.5 is twice as fast. Rules that fit the same calc act one after the other.\n"
      "Example: weft goal scale lj.weft --calc 0.5 --calc 3@ranks=0-1 -o faster.weft");
  command.callback([options, command] {
    options->output.format();
    goal::PackInfo info;
    const Graph graph = goal::read_graph(options->file, &info);
    std::vector<goal::ScaleRule> rules;
    for (const std::string& text : options->rules) {
      rules.push_back(scale_rule(text, graph));
      warn_if_none(graph, "--calc '" + text + "'", rules.back().ranks, rules.back().cpu);
    }
    record(info, command);
    options->output.write(goal::scale(graph, rules), info);
  });
}

void add_perturb(Command& parent) {
  struct Options {
    std::string file, ranks;
    std::vector<std::string> noises;
    goal::PerturbOptions perturb;
    GraphOutput output;
  };
  const auto options = std::make_shared<Options>();
  Command command =
      parent.add_subcommand("perturb", "Add noise to compute times: systems, stragglers, chance");
  add_input(command, options->file);
  command.add_option("--noise", options->noises, "NAME:key=value,…, as below; may be repeated")
      .required()
      .repeated();
  command.add_option("--seed", options->perturb.seed, "Another seed, other noise").with_default();
  command.add_option("--ranks", options->ranks, "Only these: 0-3,8");
  command.add_option("--cpu", options->perturb.cpu, "Only calcs on this compute stream");
  options->output.add_options(command);
  command.footer(noise_help());
  command.callback([options, command] {
    options->output.format();
    goal::PackInfo info;
    const Graph graph = goal::read_graph(options->file, &info);
    goal::PerturbOptions perturb = options->perturb;
    perturb.ranks = ranks_option(options->ranks, graph);
    warn_if_none(graph, "what --ranks and --cpu choose", perturb.ranks, perturb.cpu);
    std::vector<ModuleChoice> noises;
    for (const std::string& text : options->noises) noises.push_back(parse_module_choice(text));
    record(info, command);
    options->output.write(goal::perturb(graph, noises, perturb), info);
  });
}

void add_slice(Command& parent) {
  struct Options {
    std::string file, ranks, from, to;
    GraphOutput output;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand("slice", "Cut out some ranks, or a stretch of time");
  add_input(command, options->file);
  command.add_option("--ranks", options->ranks,
                     "Only these, renumbered in this order: 0-3,8; the rest is left out");
  command.add_option("--from", options->from, "Begin, in the run that compute times alone allow: 10ms");
  command.add_option("--until", options->to, "End of the stretch, not in it");
  options->output.add_options(command);
  command.footer(
      "Messages to and from what is left out are dropped and counted.\n"
      "Example:\n  weft goal slice lj.weft --ranks 0-3 --from 10ms --until 20ms -o part.weft");
  command.callback([options, command] {
    options->output.format();
    if (options->ranks.empty() && options->from.empty() && options->to.empty()) {
      throw InputError("slice: what is to be cut out? Give --ranks, --from or --until");
    }
    goal::PackInfo info;
    const Graph graph = goal::read_graph(options->file, &info);
    goal::SliceOptions slice{.ranks = ranks_option(options->ranks, graph)};
    if (!options->from.empty()) slice.from_ns = option_ns("--from", options->from);
    if (!options->to.empty()) slice.to_ns = option_ns("--until", options->to);
    std::vector<goal::Anomaly> anomalies;
    const Graph part = goal::slice(graph, slice, &anomalies);
    record(info, command, anomalies);
    options->output.write(part, info);
  });
}

void add_regroup(Command& parent) {
  struct Options {
    std::string file, latency = "500ns", bandwidth = "150GB/s";
    std::uint32_t ranks_per_node = 0;
    bool share_nics = false;
    ExpandOption expand;
    GraphOutput output;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand(
      "regroup", "Put several ranks on a node: one rank each, with copies in the place of messages within");
  add_input(command, options->file);
  command.add_option("--ranks-per-node", options->ranks_per_node, "Consecutive ranks that become one")
      .required();
  command.add_option("--copy-latency", options->latency, "What a copy takes, however small").with_default();
  command.add_option("--copy-bandwidth", options->bandwidth, "How fast it goes from there").with_default();
  command.add_flag("--share-nics", options->share_nics,
                   "The ranks of a node use the same NICs; else each has its own");
  options->expand.add_options(command);
  options->output.add_options(command);
  command.footer(
      "Example:\n  weft goal regroup llm.weft --ranks-per-node 8 --copy-bandwidth 450GB/s -o nodes.weft");
  command.callback([options, command] {
    options->output.format();
    goal::RegroupOptions regroup{.ranks_per_node = options->ranks_per_node,
                                 .share_nics = options->share_nics};
    regroup.copy_latency = Time::ns(static_cast<std::int64_t>(option_ns("--copy-latency", options->latency)));
    regroup.copy_bandwidth = option_bandwidth("--copy-bandwidth", options->bandwidth);
    goal::PackInfo info;
    const Graph graph = options->expand.apply(goal::read_graph(options->file, &info), info);
    std::vector<goal::Anomaly> anomalies;
    const Graph nodes = goal::regroup(graph, regroup, &anomalies);
    record(info, command, anomalies);
    options->output.write(nodes, info);
  });
}

// "8x8x4" or "[8,8,4]", whose product is the number of ranks, unless that is given too.
void read_grid(const std::string& given, goal::ExtrapolateOptions& options) {
  const std::string_view text = without_brackets(given);
  const char separator = text.size() == given.size() ? 'x' : ',';
  std::uint64_t product = 1;
  const auto fail = [&] {
    throw InputError("--grid '" + given +
                     "': expected sizes of at least 1, as in 8x8x4, of less than 2^31 ranks in all");
  };
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    std::uint32_t dim = 0;
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + end, dim);
    if (error != std::errc() || rest != text.data() + end || dim == 0) fail();
    product *= dim;
    if (product >= 1ULL << 31) fail();
    options.dims.push_back(dim);
    at = end + 1;
  }
  if (options.ranks == 0) options.ranks = static_cast<goal::Rank>(product);
}

void add_extrapolate(Command& parent) {
  struct Options {
    std::string file, grid, alltoall = "keep";
    goal::ExtrapolateOptions extrapolate;
    GraphOutput output;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand(
      "extrapolate",
      "The same program on more ranks: lines, rings, grids, tori, their rows and planes, trees, collectives");
  add_input(command, options->file);
  command.add_option("--ranks", options->extrapolate.ranks, "How many; the product of --grid, unless given");
  command.add_option(
      "--grid", options->grid,
      "Sizes of the new grid, the last coordinate fastest: 8x8; as like the old shape as can be, "
      "unless given");
  command.add_option("--dims", options->extrapolate.dims, "The same, as 8,8").list();
  command.add_option(
      "--alltoall", options->alltoall,
      "keep: blocks of alltoalls stay as large; share: what a rank gives to one stays as much, "
      "in smaller blocks");
  options->output.add_options(command);
  command.footer(
      "Sizes and compute times stay those of a rank that lies alike (weak scaling).\n"
      "Example: weft goal extrapolate halo27.weft --grid 8x8x8 -o halo512.weft");
  command.callback([options, command] {
    options->output.format();
    if (!options->grid.empty() && !options->extrapolate.dims.empty()) {
      throw InputError("--grid and --dims are two ways to say the same: give one");
    }
    if (!options->grid.empty()) read_grid(options->grid, options->extrapolate);
    if (options->extrapolate.ranks == 0) throw InputError("--ranks or --grid must be given");
    if (options->alltoall != "keep" && options->alltoall != "share") {
      throw InputError("--alltoall '" + options->alltoall + "': expected keep or share");
    }
    options->extrapolate.share_alltoalls = options->alltoall == "share";
    goal::PackInfo info;
    const Graph graph = goal::read_graph(options->file, &info);
    std::vector<goal::Anomaly> anomalies;
    std::string pattern;
    const std::unique_ptr<goal::RankSource> larger =
        goal::extrapolated_ranks(graph, options->extrapolate, &pattern, &anomalies);
    record(info, command, anomalies);
    print(pattern + "\n");
    options->output.write(*larger, info);
  });
}

}  // namespace weft::cli
