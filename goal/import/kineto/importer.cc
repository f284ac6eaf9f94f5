#include "goal/import/kineto/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <vector>

#include "goal/import/kineto/assembly.h"
#include "goal/import/kineto/execution_trace.h"
#include "goal/import/kineto/timeline.h"
#include "goal/import/kineto/trace_reader.h"
#include "goal/import/sniff.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

bool has_json_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

bool is_profile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && may_be_json(path) && looks_like_kineto(path.string());
}

// What a file is that is no profile, in a few words.
std::string kind_of_file(const fs::path& path) {
  const std::string head = first_bytes(path);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos) return "empty";
  if (head[first] == '[') return "a JSON list without events";
  if (head[first] != '{') return "no JSON";
  const std::size_t quote = head.find('"', first);
  const std::size_t end = quote == head.npos ? quote : head.find('"', quote + 1);
  if (end == head.npos) return "JSON";
  return fmt::format("JSON that begins with {}", head.substr(quote, end + 1 - quote).substr(0, 40));
}

// The profiles of a folder, or the files given.
std::vector<fs::path> profiles(const TracePaths& paths) {
  std::vector<fs::path> found = paths.files(is_profile);
  if (!found.empty()) return found;
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> others;
  for (const fs::path& file : paths.files([](const fs::path&) { return true; })) {
    if (others.size() == kMostNamed) {
      others.emplace_back("…");
      break;
    }
    others.push_back(fmt::format("{} ({})", file.filename().string(), kind_of_file(file)));
  }
  std::error_code error;
  if (others.empty() && !paths.several() && fs::is_directory(paths.first(), error)) {
    for (const fs::path& entry : folder_entries(paths.first())) {
      if (!fs::is_directory(entry, error) || TracePaths(entry).files(is_profile).empty()) continue;
      throw InputError({paths.text()}, fmt::format("no profiles here, but in its folder '{}'; give that",
                                                   entry.filename().string()));
    }
  }
  throw InputError(
      fmt::format("{}: no file here is a profile with traceEvents, one for each rank; {}", paths.text(),
                  others.empty() ? "it holds no files" : fmt::format("found {}", fmt::join(others, ", "))));
}

bool sniff(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) ? !TracePaths(path).files(is_profile).empty() : is_profile(path);
}

// The rank that a file's name tells: the last number behind "rank" or "worker"; -1 if there is none.
std::int64_t rank_of_name(const std::string& name) {
  for (const std::string_view word : {"rank", "worker"}) {
    const auto at = name.rfind(word);
    if (at == name.npos) continue;
    std::size_t digit = at + word.size();
    if (digit < name.size() && (name[digit] == '_' || name[digit] == '-')) ++digit;
    std::int64_t rank = -1;
    const auto [end, problem] = std::from_chars(name.data() + digit, name.data() + name.size(), rank);
    if (problem == std::errc() && rank >= 0) return rank;
  }
  return -1;
}

// The execution trace of a rank: the file given, or that of the folder whose name tells the rank.
std::string execution_trace_of(const std::string& given, std::int64_t rank, std::size_t profiles) {
  std::error_code error;
  if (!fs::is_directory(given, error)) {
    if (profiles == 1) return given;
    throw InputError({given},
                     fmt::format("one execution trace for {} profiles; give a folder with one for each, "
                                 "whose names end in rank0.json, rank1.json …",
                                 profiles));
  }
  std::string found;
  for (const fs::path& path : folder_entries(given)) {
    if (!has_json_name(path) || rank_of_name(path.filename().string()) != rank) continue;
    if (!found.empty()) {
      throw InputError({path.string()}, fmt::format("a second execution trace of rank {}", rank));
    }
    found = path.string();
  }
  if (found.empty()) throw InputError({given}, fmt::format("no execution trace of rank {} here", rank));
  return found;
}

// What the execution trace says of a call holds, if both mean the same one.
void join(const std::string& path, RankTrace& trace, KinetoNotes& notes) {
  ExecutionTrace other = read_execution_trace(path);
  for (auto& [function, index] : std::map(trace.call_of_function.begin(), trace.call_of_function.end())) {
    CommCall& call = trace.calls[index];
    const auto found = other.calls.find(function);
    const bool same = found != other.calls.end() &&
                      (call.name.empty() || call.kind == CommKind::kUnknown ||
                       (found->second.kind == call.kind && found->second.collective == call.collective));
    if (!same) {
      if (call.kind != CommKind::kNone) notes.add(KinetoNote::kCallsNotJoined);
      continue;
    }
    CommCall joined = std::move(found->second);
    joined.joined = true;
    if (joined.peer < 0) joined.peer = call.peer;
    if (joined.group.ranks.empty()) joined.group.ranks = call.group.ranks;
    if (joined.group.name.empty()) joined.group.name = call.group.name;
    if (joined.kind != CommKind::kNone) notes.add(KinetoNote::kJoinedCalls);
    call = std::move(joined);
  }
  for (GroupName& group : other.groups) trace.groups.push_back(std::move(group));
}

// What is known of the run as a whole.
struct Run {
  std::int64_t world = -1;
  Rank highest = 0;  // of any rank that is named
  std::uint64_t elapsed_ns = 0;
  std::set<std::string> backends;
  std::set<std::int64_t> steps;
  std::vector<std::string> assumed_ranks;  // "a.json: rank 0", where the order of files says it
  bool has_messages = false;
  Unread unread;
};

void take_profile(const fs::path& path, std::size_t place, std::size_t profiles, const KinetoOptions& options,
                  std::map<Rank, PlannedRank>& ranks, KinetoNotes& notes, Run& run) {
  RankTrace trace = read_kineto(path.string());
  if (options.first_step >= 0) keep_steps(trace, options.first_step, options.last_step);
  std::int64_t rank = trace.rank >= 0 ? trace.rank : rank_of_name(path.filename().string());
  if (rank >= 0 && trace.names_no_rank) notes.add(KinetoNote::kRanksOfNames);
  if (!trace.other_schema.empty()) {
    notes.add(KinetoNote::kOtherSchemas);
    notes.name(KinetoNote::kOtherSchemas, trace.other_schema);
  }
  if (rank < 0) {
    rank = static_cast<std::int64_t>(place);
    if (profiles > 1) {
      run.assumed_ranks.push_back(fmt::format("{}: rank {}", path.filename().string(), rank));
    }
  }
  if (rank >= std::int64_t{1} << 24) {
    throw InputError({path.string()}, fmt::format("says it is rank {}; ranks go to {}", rank, (1 << 24) - 1));
  }
  if (trace.world > 0 && run.world > 0 && trace.world != run.world) {
    throw InputError({path.string()},
                     fmt::format("is of a run of {} ranks, but others here are of one of {}; a "
                                 "folder may hold the profiles of one run only",
                                 trace.world, run.world));
  }
  if (trace.world > 0) run.world = trace.world;
  if (!trace.backend.empty()) run.backends.insert(trace.backend);
  for (const StepRange& step : trace.steps) run.steps.insert(step.number);
  notes.add(KinetoNote::kBrokenEvents, trace.broken_events);
  for (const auto& [name, count] : trace.unread) count_unread(run.unread, name, count);
  for (const auto& [category, count] : trace.other_events) notes.add(KinetoNote::kOtherEvents, count);
  for (const auto& [name, count] : trace.other_communication) {
    notes.add(KinetoNote::kOtherCommunication, count);
    notes.name(KinetoNote::kOtherCommunication, name);
  }
  if (!options.execution_traces.empty()) {
    join(execution_trace_of(options.execution_traces, rank, profiles), trace, notes);
  }
  PlannedRank planned{.path = path.string(), .groups = std::move(trace.groups)};
  planned.plan = plan_rank(trace, options.planner, notes);
  for (const CommCall& call : planned.plan.calls) {
    run.has_messages |= call.kind == CommKind::kSend || call.kind == CommKind::kRecv;
    const auto named = static_cast<std::int64_t>(call.group.ranks.size());
    if (call.group.size >= 0 && named > 0 && call.group.size != named) notes.add(KinetoNote::kUnfitGroups);
    for (const Rank member : call.group.ranks) run.highest = std::max(run.highest, member);
    if (call.group.size > 0 && call.group.size < (1 << 24)) {
      run.highest = std::max(run.highest, static_cast<Rank>(call.group.size - 1));
    }
  }
  run.highest = std::max(run.highest, static_cast<Rank>(rank));
  run.elapsed_ns = std::max(run.elapsed_ns, planned.plan.span_ns);
  if (!ranks.emplace(static_cast<Rank>(rank), std::move(planned)).second) {
    throw InputError({path.string()}, fmt::format("is of rank {}, as another one here is", rank));
  }
}

// How many ranks there are; refuses those without a profile unless the user wants copies.
Rank world_of(const std::map<Rank, PlannedRank>& ranks, const Run& run, bool alike) {
  const std::int64_t world = run.world > 0 ? run.world : std::int64_t{run.highest} + 1;
  if (world > 1 << 24 || ranks.rbegin()->first >= world) {
    throw InputError({ranks.rbegin()->second.path},
                     fmt::format("rank {} of {} ranks: one of them can't be right (at most {} ranks)",
                                 ranks.rbegin()->first, world, 1 << 24));
  }
  if (static_cast<std::int64_t>(ranks.size()) < world && !alike) {
    Rank missing = 0;
    while (ranks.contains(missing)) ++missing;
    throw InputError(
        {ranks.begin()->second.path},
        fmt::format(
            "the profile of rank {} is missing ({} of {} ranks have one); --alike takes ranks without "
            "a profile to do what those with one do",
            missing, ranks.size(), world));
  }
  return static_cast<Rank>(world);
}

void parse_steps(const Parameters& parameters, KinetoOptions& options) {
  const std::string& text = parameters.text("steps");
  if (text == "all") return;
  const char* const end = text.data() + text.size();
  std::from_chars_result read = std::from_chars(text.data(), end, options.first_step);
  options.last_step = options.first_step;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') {
    read = std::from_chars(read.ptr + 1, end, options.last_step);
  }
  const bool good = read.ec == std::errc() && read.ptr == end && options.first_step >= 0 &&
                    options.first_step <= options.last_step && options.last_step < 1'000'000'000;
  if (!good) parameters.fail("steps", "it must be 'all', a step like '4', or a range like '4-6'");
}

Graph import_profiles(const TracePaths& paths, const Parameters& parameters, PackInfo& info) {
  KinetoOptions options;
  options.alike = parameters.boolean("alike");
  options.planner.min_wait_ns = parameters.time("min_wait").ps() / 1000;
  options.execution_traces = parameters.file("execution_traces");
  parse_steps(parameters, options);
  return import_kineto(paths, options, &info);
}

}  // namespace

Graph import_kineto(const TracePaths& paths, const KinetoOptions& options, PackInfo* info) {
  const std::vector<fs::path> files = profiles(paths);
  std::map<Rank, PlannedRank> ranks;
  KinetoNotes notes;
  Run run;
  for (std::size_t i = 0; i < files.size(); ++i) {
    take_profile(files[i], i, files.size(), options, ranks, notes, run);
  }
  for (const std::string& assumed : run.assumed_ranks) {
    const KinetoNote note =
        run.has_messages ? KinetoNote::kAssumedRanksOfMessages : KinetoNote::kAssumedRanks;
    notes.add(note);
    notes.name(note, assumed);
  }
  const Rank world = world_of(ranks, run, options.alike);
  Graph graph = assemble(ranks, world, notes);
  if (info != nullptr) {
    info->metadata["source"] = "PyTorch profiler (Kineto)";
    const auto is_nccl = [](const std::string& each) { return each.find("nccl") != std::string::npos; };
    if (std::ranges::any_of(run.backends, is_nccl)) info->metadata["nccl_library"] = "NCCL";
    if (!run.backends.empty()) info->metadata["backend"] = fmt::format("{}", fmt::join(run.backends, ", "));
    if (!run.steps.empty()) {
      info->metadata["profiler_steps"] = fmt::format("{}-{}", *run.steps.begin(), *run.steps.rbegin());
    }
    info->metadata["traced_elapsed_ns"] = std::to_string(run.elapsed_ns);
    notes.report(*info);
    if (!run.unread.empty()) info->anomalies.push_back(unread_anomaly(run.unread));
  }
  return graph;
}

Importer kineto_importer() {
  return {
      .info = {.name = "kineto",
               .summary = "Profiles of PyTorch's profiler (Kineto JSON, plain or gzip), one file per rank.",
               .source = "Chrome trace event format; PyTorch's record_param_comms arguments",
               .parameters =
                   {{"alike", ParameterType::kBoolean, "false",
                     "Ranks without a profile do what a rank with one does."},
                    {"steps", ParameterType::kText, "all", "Only these ProfilerStep ranges: 4, or 4-6."},
                    {"execution_traces", ParameterType::kFile, "",
                     "PyTorch execution traces of the same ranks: a file, or a folder with one per rank."},
                    {"min_wait", ParameterType::kTime, "20us",
                     "Shortest pause of a host thread that may be a wait for another thread."}}},
      .looks_like = "JSON with traceEvents or a list of events, or a folder of such files",
      .span = "from the first event of a rank to its last",
      .sniff = sniff,
      .import = [](const fs::path& path, const Parameters& parameters,
                   PackInfo& info) { return import_profiles(path, parameters, info); },
      .import_several = import_profiles};
}

}  // namespace weft::goal
