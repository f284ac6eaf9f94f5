#include "goal/import/flight_recorder/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "goal/import/kineto/assembly.h"
#include "sim/units/input_error.h"
#include "sim/units/printable.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostRanks = std::int64_t{1} << 24;

bool is_dump(const fs::path& path) { return looks_like_dump(path.string()); }

// What was left out or assumed, beside what assemble() counts.
struct Counts {
  std::uint64_t incomplete = 0, without_partner = 0, kept_last = 0, waits = 0, untimed = 0, unsized = 0,
                unknown = 0, other_versions = 0;
  std::set<std::string> unknown_names, versions;
  Unread unread;
};

// "2.4", of a kind that was read before.
bool is_known(std::string_view version) {
  return version.starts_with("1.") || version.starts_with("2.") || version == "1" || version == "2";
}

// A collective as all ranks of its group know it: group, sequence, operation and kind. In a job that hangs
// ranks may have called different kinds in one place.
using CallKey = std::tuple<std::string, std::uint64_t, std::uint64_t, CollectiveKind>;

// A recorder keeps the last calls only, and a hung job's ranks have come to different ones: only collectives
// that all dumps of a group's ranks have are replayed.
class CommonCalls {
 public:
  explicit CommonCalls(const std::vector<RankDump>& dumps) {
    std::map<std::string, std::set<std::int64_t>> users;
    std::map<CallKey, std::set<std::int64_t>> callers;
    for (const RankDump& dump : dumps) {
      for (const RecordedCall& call : dump.calls) {
        if (call.message || call.call.kind != CommKind::kCollective) continue;
        users[call.call.group.name].insert(dump.rank);
        callers[key_of(call)].insert(dump.rank);
      }
      for (const GroupName& group : dump.groups) {
        if (std::find(group.ranks.begin(), group.ranks.end(), static_cast<Rank>(dump.rank)) !=
            group.ranks.end()) {
          users[group.name].insert(dump.rank);
        }
      }
    }
    for (const auto& [key, ranks] : callers) {
      if (ranks == users.at(std::get<0>(key))) common_.insert(key);
    }
  }

  bool has(const RecordedCall& call) const { return call.message || common_.contains(key_of(call)); }

 private:
  static CallKey key_of(const RecordedCall& call) {
    return {call.call.group.name, call.sequence, call.operation, call.call.collective};
  }

  std::set<CallKey> common_;
};

// One rank's calls in the order in which they were asked for. The host computes between them, each group has
// a stream of its own, and what was asked for after a call was seen to be over waits for it (README.md).
class Planner {
 public:
  Planner(const RankDump& dump, const CommonCalls& common, bool blocking, Counts& counts)
      : dump_(dump), common_(common), blocking_(blocking), counts_(counts) {}

  RankPlan plan() {
    for (const RecordedCall& call : dump_.calls) {
      if (call.call.kind == CommKind::kNone) {  // a bracket around others
        if (const auto within = within_.extract(call.record + 1)) add(call, within.mapped());
        continue;
      }
      if (call.call.kind == CommKind::kUnknown) {
        counts_.unknown += 1;
        counts_.unknown_names.insert(call.call.name);
        continue;
      }
      if (!common_.has(call)) {
        counts_.without_partner += 1;
        continue;
      }
      counts_.incomplete += call.state != RecordState::kCompleted;
      if (call.bracket != 0) {
        within_[call.bracket].push_back(&call);
      } else {
        add(call, {&call});
      }
    }
    if (!dump_.calls.empty()) {
      counts_.kept_last += dump_.calls.front().record > 0;
      plan_.span_ns = last_ > dump_.calls.front().created ? last_ - dump_.calls.front().created : 0;
    }
    return std::move(plan_);
  }

 private:
  struct Stream {
    std::uint16_t cpu = 0;
    std::vector<std::uint32_t> last;  // operations, several of a bracket
    std::uint64_t end = 0;            // of that, if it is known
    bool busy = false;                // the host has not waited for it
  };

  std::uint32_t add_op(const PlannedOp& op) {
    plan_.ops.push_back(op);
    return static_cast<std::uint32_t>(plan_.ops.size() - 1);
  }

  // PyTorch has a communicator of its own, and so a stream, for messages between two ranks outside of
  // brackets.
  static std::string stream_of(const RecordedCall& call) {
    const bool pair = call.message && call.call.kind != CommKind::kNone && call.bracket == 0;
    return pair ? fmt::format("{}\n{}", call.call.group.name, call.call.peer) : call.call.group.name;
  }

  // The host asks for all that `call` carries out, itself or what is in its bracket, which runs side by side.
  void add(const RecordedCall& call, const std::vector<const RecordedCall*>& carried_out) {
    // The host's own time: from the call before, or from when it saw the last of those it waited for over.
    std::uint64_t from = host_time_ == 0 ? carried_out[0]->created : host_time_;
    std::vector<std::uint32_t> waits;
    for (auto& [name, stream] : streams_) {
      if (!stream.busy || (!blocking_ && (stream.end == 0 || stream.end > call.created))) continue;
      waits.insert(waits.end(), stream.last.begin(), stream.last.end());
      if (stream.end <= call.created) from = std::max(from, stream.end);
      stream.busy = false;
      counts_.waits += !blocking_;
    }
    const std::uint64_t ns = call.created > from ? call.created - from : 0;
    const std::uint32_t compute = add_op({.ns = ns, .call = kNoCall, .cpu = 0});
    if (host_op_) plan_.edges.emplace_back(*host_op_, compute);
    for (const std::uint32_t wait : waits) plan_.edges.emplace_back(wait, compute);
    host_op_ = compute;
    host_time_ = std::max(host_time_, call.created);

    const auto [at, first] = streams_.try_emplace(stream_of(call));
    Stream& stream = at->second;
    if (first) stream.cpu = static_cast<std::uint16_t>(streams_.size());
    const std::uint64_t begin = std::max(call.created, stream.end);
    const std::uint64_t end =
        call.duration >= 0 ? begin + static_cast<std::uint64_t>(call.duration) : call.completed;
    counts_.untimed += call.duration < 0;
    std::vector<std::uint32_t> ops;
    for (const RecordedCall* each : carried_out) {
      plan_.calls.push_back(each->call);
      counts_.unsized += !each->call.sized && each->call.collective != CollectiveKind::kBarrier;
      ops.push_back(add_op({.ns = end > begin ? end - begin : 0,
                            .call = static_cast<std::uint32_t>(plan_.calls.size() - 1),
                            .cpu = stream.cpu}));
      plan_.edges.emplace_back(compute, ops.back());
      for (const std::uint32_t last : stream.last) plan_.edges.emplace_back(last, ops.back());
    }
    stream.last = std::move(ops);
    stream.end = end;
    stream.busy = true;
    last_ = std::max({last_, end, call.created});
  }

  const RankDump& dump_;
  const CommonCalls& common_;
  const bool blocking_;
  Counts& counts_;
  RankPlan plan_;
  std::map<std::string, Stream> streams_;
  std::map<std::uint64_t, std::vector<const RecordedCall*>> within_;  // by bracket
  std::optional<std::uint32_t> host_op_;
  std::uint64_t host_time_ = 0, last_ = 0;
};

// Ranks of messages' other ends, from those in the group to those in the world.
void name_peers(RankPlan& plan, const std::vector<GroupName>& groups) {
  for (CommCall& call : plan.calls) {
    if (call.peer < 0) continue;
    for (const GroupName& group : groups) {
      if (group.name != call.group.name) continue;
      const auto place = static_cast<std::size_t>(call.peer);
      call.peer = place < group.ranks.size() ? std::int64_t{group.ranks[place]} : -1;
      break;
    }
  }
}

// "'nccl:bar', 'nccl:foo' and 3 more"
std::string first_names(const std::set<std::string>& names) {
  constexpr std::size_t kMost = 4;
  std::string text;
  std::size_t told = 0;
  for (const std::string& name : names) {
    if (told == kMost) return text + fmt::format(" and {} more", names.size() - kMost);
    text += fmt::format("{}'{}'", told++ == 0 ? "" : ", ", printable(name));
  }
  return text;
}

void report(const Counts& counts, PackInfo& info) {
  const auto note = [&](const char* name, Severity severity, const std::string& sentence,
                        std::uint64_t count) {
    if (count > 0) info.anomalies.push_back({name, severity, sentence, count});
  };
  note("unknown_calls", Severity::kWarning,
       fmt::format("Calls whose names say nothing to weft ({}); they are left out.",
                   first_names(counts.unknown_names)),
       counts.unknown);
  note("other_versions", Severity::kWarning,
       fmt::format(
           "Dumps of a version that weft does not know ({}); they are read as those of versions 1 and 2.",
           first_names(counts.versions)),
       counts.other_versions);
  note("calls_under_way", Severity::kWarning,
       "Calls that were not over when the recorder was dumped; they are replayed as if they had been (weft "
       "trace "
       "info tells who waits).",
       counts.incomplete);
  note("calls_without_partner", Severity::kWarning,
       "Collectives that some ranks' dumps lack, as a recorder keeps the last calls only, a rank never "
       "came to them, or it called another in their place (weft trace info tells which); they are left out.",
       counts.without_partner);
  note("kept_last_calls", Severity::kWarning,
       "Ranks whose recorder had dropped earlier calls (TORCH_NCCL_TRACE_BUFFER_SIZE); what is there is "
       "replayed.",
       counts.kept_last);
  note("assumed_waits", Severity::kInfo,
       "Calls that were asked for after another was over, and are taken to have waited for it.",
       counts.waits);
  note("untimed_calls", Severity::kInfo,
       "Calls without a duration (TORCH_NCCL_ENABLE_TIMING); when they were over is when the host saw it, "
       "which "
       "is later.",
       counts.untimed);
  note("communication_of_unknown_size", Severity::kWarning,
       "Collectives and messages whose sizes the dump does not tell; they are replayed without bytes.",
       counts.unsized);
  if (!counts.unread.empty()) info.anomalies.push_back(unread_anomaly(counts.unread));
}

}  // namespace

bool has_dumps(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) ? !TracePaths(path).files(is_dump).empty() : is_dump(path);
}

std::vector<RankDump> read_dumps(const TracePaths& paths) {
  const std::vector<fs::path> files = paths.files(is_dump);
  if (files.empty()) throw InputError({paths.text()}, "no dumps of a flight recorder here");
  std::map<std::int64_t, RankDump> dumps;
  for (const fs::path& file : files) {
    RankDump dump = read_dump(file.string());
    if (dump.rank < 0 && files.size() == 1) dump.rank = 0;
    if (dump.rank < 0 || dump.rank >= kMostRanks) {
      throw InputError({dump.path},
                       "neither the dump nor its name (like nccl_trace_rank_3) says of which rank it is");
    }
    if (const auto other = dumps.find(dump.rank); other != dumps.end()) {
      throw InputError({dump.path}, fmt::format("is of rank {}, as {} is", dump.rank, other->second.path));
    }
    dumps.emplace(dump.rank, std::move(dump));
  }
  std::vector<RankDump> made;
  for (auto& [rank, dump] : dumps) made.push_back(std::move(dump));
  return made;
}

Graph import_flight_recorder(const TracePaths& paths, bool blocking, PackInfo* info) {
  const std::vector<RankDump> dumps = read_dumps(paths);
  if (std::ranges::all_of(dumps, [](const RankDump& dump) { return dump.calls.empty(); })) {
    throw InputError({paths.text()},
                     "the recorder kept no calls; it keeps some where TORCH_NCCL_TRACE_BUFFER_SIZE is set");
  }
  std::int64_t world = dumps.back().rank + 1;
  for (const RankDump& dump : dumps) {
    for (const GroupName& group : dump.groups) {
      for (const Rank rank : group.ranks) world = std::max(world, std::int64_t{rank} + 1);
    }
  }
  if (world > kMostRanks) throw InputError({paths.text()}, fmt::format("more than {} ranks", kMostRanks));
  if (static_cast<std::int64_t>(dumps.size()) < world) {
    std::int64_t missing = 0;
    while (static_cast<std::size_t>(missing) < dumps.size() &&
           dumps[static_cast<std::size_t>(missing)].rank == missing) {
      ++missing;
    }
    throw InputError({paths.text()}, fmt::format("the dump of rank {} is missing ({} of {} ranks have one)",
                                                 missing, dumps.size(), world));
  }
  const CommonCalls common(dumps);
  Counts counts;
  KinetoNotes notes;
  std::map<Rank, PlannedRank> ranks;
  std::uint64_t elapsed = 0;
  for (const RankDump& dump : dumps) {
    PlannedRank planned{
        .path = dump.path, .plan = Planner(dump, common, blocking, counts).plan(), .groups = dump.groups};
    for (const auto& [name, count] : dump.unread) count_unread(counts.unread, name, count);
    if (!is_known(dump.version)) {
      counts.other_versions += 1;
      counts.versions.insert(dump.version);
    }
    planned.lost_front = !dump.calls.empty() && dump.calls.front().record > 0;
    name_peers(planned.plan, dump.groups);
    elapsed = std::max(elapsed, planned.plan.span_ns);
    ranks.emplace(static_cast<Rank>(dump.rank), std::move(planned));
  }
  Graph graph = assemble(ranks, static_cast<Rank>(world), notes);
  if (info != nullptr) {
    info->metadata["source"] = "PyTorch flight recorder, version " + dumps[0].version;
    info->metadata["nccl_library"] = "NCCL";
    info->metadata["traced_elapsed_ns"] = std::to_string(elapsed);
    report(counts, *info);
    notes.report(*info);
  }
  return graph;
}

namespace {

Graph import_all(const TracePaths& paths, const Parameters& parameters, PackInfo& info) {
  return import_flight_recorder(paths, parameters.boolean("blocking"), &info);
}

}  // namespace

Importer flight_recorder_importer() {
  return {.info = {.name = "flight_recorder",
                   .summary = "Dumps of PyTorch's flight recorder (pickles or JSON), one file per rank.",
                   .source = "torch/csrc/distributed/c10d/FlightRecorderDetail.hpp, versions 1 to 2",
                   .parameters = {{"blocking", ParameterType::kBoolean, "false",
                                   "The program waits for each call before it goes on."}}},
          .looks_like = "pickles or JSON with pg_config and record_id, or a folder of such files",
          .span = "from the first call that was kept to the last that ended",
          .sniff = has_dumps,
          .import = [](const fs::path& path, const Parameters& parameters,
                       PackInfo& info) { return import_all(path, parameters, info); },
          .import_several = import_all};
}

}  // namespace weft::goal
