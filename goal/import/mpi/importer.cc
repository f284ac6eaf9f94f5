#include "goal/import/mpi/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "goal/import/mpi/communicators.h"
#include "goal/import/mpi/host_clocks.h"
#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/partners.h"
#include "goal/import/mpi/time_account.h"
#include "goal/import/mpi/trace_files.h"
#include "goal/import/mpi/trace_reader.h"
#include "goal/transform/ideal_schedule.h"
#include "sim/units/input_error.h"
#include "sim/units/printable.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

struct NoteText {
  Note note;
  const char* name;
  Severity severity;
  const char* sentence;
};

constexpr std::array<NoteText, kNotes> kNoteTexts = {{
    {Note::kPolls, "polls", Severity::kInfo,
     "Tests and probes that found nothing; the operation waited for stands for them."},
    {Note::kPollingNs, "polling_ns", Severity::kInfo,
     "Nanoseconds between such calls that count as waiting, not compute."},
    {Note::kComputeBetweenPollsNs, "compute_between_polls_ns", Severity::kInfo,
     "Nanoseconds between such calls that count as compute, as the gap was longer than the poll gap."},
    {Note::kProbes, "probes", Severity::kInfo,
     "Successful probes; the receive of the message waits in their place."},
    {Note::kSynchronousSends, "synchronous_sends", Severity::kInfo,
     "Synchronous sends, which shake hands whatever their size."},
    {Note::kCommunicatorCreations, "communicator_creations", Severity::kInfo,
     "Communicator creations, replayed as an allreduce of 8 bytes."},
    {Note::kCancelled, "cancelled", Severity::kInfo,
     "Operations cancelled, or receives given up after MPI_Cancel, and so left out."},
    {Note::kUnresolvedWildcards, "unresolved_wildcards", Severity::kWarning,
     "Receives from any source or with any tag of which the trace does not say what came; they stay "
     "wildcards."},
    {Note::kUnknownCompletions, "unknown_requests", Severity::kWarning,
     "Requests started or completed that no decoded call made."},
    {Note::kFailedCalls, "failed_calls", Severity::kWarning,
     "Calls that returned an error and were left out."},
    {Note::kTruncatedMessages, "truncated_messages", Severity::kWarning,
     "Receives whose message was too long for them, which MPI calls an error; the message came, and is "
     "replayed."},
    {Note::kRanksWithoutFinalize, "ranks_without_finalize", Severity::kWarning,
     "Ranks that ended without MPI_Finalize; some of their messages may have no partner."},
    {Note::kTruncatedRanks, "truncated_ranks", Severity::kWarning,
     "Ranks whose trace was cut: what they did after that is not in the graph."},
    {Note::kSendsWithoutPartner, "sends_without_partner", Severity::kWarning,
     "Sends whose receive is not in what is taken of its rank: left out."},
    {Note::kReceivesWithoutPartner, "receives_without_partner", Severity::kWarning,
     "Receives whose send is not in what is taken of its rank, or that never got a message: left out."},
    {Note::kCollectivesWithoutPartner, "collectives_without_partner", Severity::kWarning,
     "Collective operations that are not in what is taken of all ranks: left out."},
    {Note::kOutsideRegion, "outside_region", Severity::kInfo,
     "Calls outside of the region asked for, left out."},
    {Note::kStrangeRanks, "strange_ranks", Severity::kWarning,
     "Ranks of another program than rank 0, or started more than a minute apart from it; unless mpirun was "
     "given several programs, the traces of different runs were mixed."},
    {Note::kOutsideWorld, "outside_world", Severity::kWarning,
     "Messages and collectives with processes of another MPI_COMM_WORLD, which are not in the graph."},
    {Note::kIntercommunicatorCollectives, "intercommunicator_collectives", Severity::kInfo,
     "Calls of collectives between two groups, replayed as collectives of each and messages between them."},
    {Note::kOneSided, "one_sided", Severity::kInfo,
     "One-sided operations, replayed as messages that the target takes on a stream of its own."},
    {Note::kWindows, "windows", Severity::kInfo,
     "Parts of windows made, replayed as an allreduce of 8 bytes."},
    {Note::kSharedWindows, "shared_windows", Severity::kWarning,
     "Parts of windows in shared memory; what is read and written there directly shows in no call."},
    {Note::kLostArrivals, "lost_arrivals", Severity::kWarning,
     "One-sided operations to a rank whose trace lacks that window; their messages have no partner."},
    {Note::kUngatedArrivals, "ungated_arrivals", Severity::kWarning,
     "One-sided operations of an epoch that the target's trace lacks; they are taken from the start on."},
    {Note::kPartitions, "partitions", Severity::kInfo,
     "Partitions given by MPI_Pready, each replayed as a message of its own from then on."},
    {Note::kLostPartitions, "lost_partitions", Severity::kWarning,
     "Partitioned requests without one on the other side; what is started of a receive is left out."},
    {Note::kSpawnedRanks, "spawned_ranks", Severity::kWarning,
     "Ranks of programs that this one started with MPI_Comm_spawn; they are not in the graph."},
    {Note::kThreadWaits, "thread_waits", Severity::kInfo,
     "Times that a thread slept through calls of others of its rank, and goes on after the last of them."},
    {Note::kThreadWaitsNs, "thread_waits_ns", Severity::kInfo,
     "Nanoseconds of those calls, which count as waiting and not as compute."},
    {Note::kMixedWaitsNs, "mixed_waits_ns", Severity::kWarning,
     "Nanoseconds in waits for messages together with requests that are not replayed (files, generalized "
     "requests); the replay waits for the messages alone."},
    {Note::kNeverReceived, "never_received", Severity::kWarning,
     "Messages that no receive of the trace took; a replay that sends them eagerly ends with them left over, "
     "another can't go on."},
}};

}  // namespace

OneSidedTraffic one_sided_traffic(const std::vector<fs::path>& files) {
  return {static_cast<std::uint32_t>(files.size()), [&files](OneSidedTraffic& traffic) {
            for (std::uint32_t rank = 0; rank < files.size(); ++rank) {
              TraceReader reader(files[rank].string());
              TraceRecord record;
              while (reader.next(record)) traffic.add(rank, record, reader.communicators());
            }
          }};
}

void report_notes(const ImportNotes& notes, PackInfo& info) {
  info.not_replayed = notes.not_replayed;
  for (const NoteText& text : kNoteTexts) {
    if (notes.count(text.note) == 0) continue;
    info.anomalies.push_back({text.name, text.severity, text.sentence, notes.count(text.note)});
  }
  for (const NotReplayed::Function& function : notes.not_replayed.functions) {
    std::string lower = "not_replayed_" + function.name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    info.anomalies.push_back({lower, Severity::kWarning,
                              fmt::format("Calls of {} are not replayed; {} ns were spent inside them.",
                                          function.name, function.time_ns),
                              function.calls});
  }
  if (notes.local_calls > 0) {
    info.anomalies.push_back({"local_calls", Severity::kInfo,
                              "Other calls, which only the calling rank takes part in; nothing is lost.",
                              notes.local_calls});
  }
}

namespace {

// Do these ranks look like two of one run?
bool belong_together(const TraceHeader& a, const TraceHeader& b) {
  constexpr std::uint64_t kMinuteNs = 60'000'000'000;
  const std::uint64_t apart = std::max(a.epoch_ns, b.epoch_ns) - std::min(a.epoch_ns, b.epoch_ns);
  return a.program == b.program && apart <= kMinuteNs;
}

// What is known of the run as a whole.
struct Run {
  TraceHeader first;
  std::set<std::string> hosts, programs;
  std::set<std::string> regions;  // that some rank began or ended
  std::set<std::string> unseen_callers;
  std::uint64_t ranks_with_unseen_callers = 0;
  std::uint64_t elapsed_ns = 0;
  bool finished = false;  // a rank came to MPI_Finalize
  std::vector<RankTimes> times;
  struct Bounds {
    std::string host;
    std::uint64_t begin_ns, end_ns;  // on the host's clock
  };
  std::vector<Bounds> bounds;  // by rank
  HostClocks clocks;
};

// What is known only where the clocks of all hosts are.
void report_clocks(const Run& run, bool whole, PackInfo& info) {
  if (!run.clocks.comparable()) {
    info.anomalies.push_back(
        {"unknown_clocks", Severity::kInfo,
         "Hosts of which not all clocks were measured (WEFT_TRACE_CLOCKS), so that times "
         "of different hosts are not compared.",
         run.hosts.size()});
    return;
  }
  if (run.hosts.size() > 1) {
    info.metadata["clocks_apart_ns"] = std::to_string(run.clocks.apart_ns());
    info.metadata["clock_uncertainty_ns"] = std::to_string(run.clocks.uncertainty_ns());
  }
  if (!whole) return;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (const Run::Bounds& rank : run.bounds) {
    first = std::min(first, run.clocks.reference_ns(rank.host, rank.begin_ns));
    last = std::max(last, run.clocks.reference_ns(rank.host, rank.end_ns));
  }
  info.metadata["traced_span_ns"] = std::to_string(last - first);
}

// A graph with more operations gets no ideal replay, which takes 28 bytes of memory for each.
constexpr std::uint64_t kMostIdealOps = 100'000'000;

std::optional<std::uint64_t> ideal_ns(const Graph& graph) {
  if (graph.ops() > kMostIdealOps) return std::nullopt;
  const IdealSchedule schedule = ideal_schedule(graph);
  if (schedule.unfinished > 0) return std::nullopt;
  return schedule.makespan_ns;
}

// Tells what the time measured is of, where it isn't from MPI_Init to MPI_Finalize.
std::string part_of(const MpiImportOptions& options, const Run& run) {
  if (!options.region.empty()) return fmt::format("in the region {}", options.region);
  return run.finished ? "" : "from MPI_Init on";
}

void check_region(const MpiImportOptions& options, const Run& run, const fs::path& directory) {
  if (options.region.empty() || run.regions.count(options.region) > 0) return;
  throw InputError(fmt::format("{}: no rank has a region '{}'; {}", directory.string(), options.region,
                               run.regions.empty()
                                   ? "there are none (see tracer/weft_region.h)"
                                   : fmt::format("there are: {}", fmt::join(run.regions, ", "))));
}

bool take_turns(const TraceReader& reader) {
  const auto found = reader.facts().find("threads_take_turns");
  return found != reader.facts().end() && found->second == "1";
}

void import_rank(const fs::path& path, const MpiImportOptions& options, CommunicatorTable& communicators,
                 OneSidedTraffic& traffic, GraphBuilder& builder, ImportNotes& notes, Run& run) {
  TraceReader reader(path.string());
  const TraceHeader& header = reader.header();
  if (header.rank == 0) run.first = header;
  if (header.mpi_library != run.first.mpi_library) {
    throw InputError(
        {path.string()},
        fmt::format("traced under '{}', but rank 0 under '{}'; a directory may hold the traces of "
                    "one run only",
                    header.mpi_library, run.first.mpi_library));
  }
  if (!belong_together(header, run.first)) notes.add(Note::kStrangeRanks);
  run.hosts.insert(header.host);
  run.programs.insert(header.program);
  communicators.begin_rank();
  RankImporter importer(options, header.rank, header.size, communicators, traffic, notes);
  TraceRecord record;
  std::uint64_t facts_known = 0;
  const auto regions = [&] {
    for (const TraceRegionEvent& event : reader.take_region_events()) {
      run.regions.insert(event.name);
      importer.region(event);
    }
    for (const TraceThreadEnd& end : reader.take_thread_ends()) importer.thread_ended(end);
  };
  while (reader.next(record)) {
    try {
      regions();
      if (facts_known != reader.facts_read()) {
        facts_known = reader.facts_read();
        importer.threads_take_turns(take_turns(reader));
      }
      importer.add(record, reader.communicators());
    } catch (const InputError& error) {
      throw InputError({path.string()}, fmt::format("call {}, {}: {}", reader.records(),
                                                    record.function_name(), error.what()));
    }
  }
  regions();
  if (!reader.complete()) {
    if (!options.partial) {
      throw InputError({path.string()},
                       fmt::format("the trace of rank {} is {}; --partial takes each rank up to where its "
                                   "trace ends",
                                   header.rank, reader.status()));
    }
    notes.add(Note::kTruncatedRanks);
  } else if (reader.end() != trace::End::kFinalize) {
    notes.add(Note::kRanksWithoutFinalize);
  }
  for (const TraceCounter& counter : reader.counters()) {
    if (counter.call_class == trace::CallClass::kLocal) {
      if (options.region.empty()) notes.local_calls += counter.calls;
    } else {
      importer.add(counter);
    }
  }
  if (const auto unseen = reader.facts().find("unseen_callers"); unseen != reader.facts().end()) {
    run.unseen_callers.insert(unseen->second);
    ++run.ranks_with_unseen_callers;
  }
  run.finished = run.finished || reader.end() == trace::End::kFinalize;
  run.elapsed_ns = std::max(run.elapsed_ns, importer.elapsed_ns());
  run.times.push_back(
      {header.host, reader.facts(), importer.split(), importer.elapsed_ns(), importer.threads_at_once()});
  run.bounds.push_back({header.host, importer.begin_ns(), importer.end_ns()});
  run.clocks.add(path.string(), header.host, reader.facts());
  importer.finish(builder);
}

}  // namespace

namespace {

// Was this rank started by another program's MPI_Comm_spawn? A trace begins with what it knows of its
// process.
bool is_spawned(const fs::path& path) {
  TraceReader reader(path.string());
  TraceRecord record;
  reader.next(record);
  return reader.facts().count("spawned") > 0;
}

struct RankFile {
  fs::path path;
  TraceHeader header;
};

std::vector<RankFile> rank_files(const fs::path& directory) {
  std::vector<RankFile> files;
  for (fs::path& path : trace_files(directory, kMpiTraces)) {
    TraceHeader header = TraceReader(path.string()).header();
    files.push_back({std::move(path), std::move(header)});
  }
  return files;
}

bool are_of_one_run(const std::vector<RankFile>& files) {
  std::set<std::uint32_t> ranks;
  return std::all_of(files.begin(), files.end(), [&](const RankFile& file) {
    return file.header.size == files[0].header.size && ranks.insert(file.header.rank).second;
  });
}

// Those of another program in the folder; how many. A folder may have those alone, where only they were
// traced.
std::uint64_t leave_out_spawned(std::vector<RankFile>& files) {
  const auto first = std::stable_partition(files.begin(), files.end(),
                                           [](const RankFile& file) { return !is_spawned(file.path); });
  if (first == files.begin()) return 0;
  const auto left_out = static_cast<std::uint64_t>(files.end() - first);
  files.erase(first, files.end());
  return left_out;
}

}  // namespace

std::vector<fs::path> mpi_rank_files(const fs::path& directory, std::uint64_t* spawned) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    throw InputError(directory.string() + ": not a directory; expected the one that 'weft trace -o' wrote");
  }
  std::vector<RankFile> found = rank_files(directory);
  if (found.empty()) {
    throw InputError(directory.string() +
                     ": no MPI traces here; expected files rank-000000.wtrc, rank-000001.wtrc …");
  }
  const std::uint64_t left_out = are_of_one_run(found) ? 0 : leave_out_spawned(found);
  if (spawned != nullptr) *spawned = left_out;
  // By rank: a file may claim to be of a run of millions.
  std::map<std::uint32_t, fs::path> by_rank;
  const std::uint32_t size = found[0].header.size;
  for (const auto& [path, header] : found) {
    if (header.size != size) {
      throw InputError({path.string()}, fmt::format("from a run of {} ranks, but {} is from one of {}; a "
                                                    "directory may hold the traces of one run only",
                                                    header.size, found[0].path.filename().string(), size));
    }
    if (!by_rank.emplace(header.rank, path).second) {
      throw InputError(
          {path.string()},
          fmt::format("says it is rank {}, which is there already (did two MPI programs run while tracing?)",
                      header.rank));
    }
  }
  std::vector<fs::path> files;
  for (auto& [rank, path] : by_rank) {
    if (rank != files.size()) break;
    files.push_back(std::move(path));
  }
  if (files.size() < size) {
    throw InputError(fmt::format("{}: the trace of rank {} is missing ({} of {} ranks have one)",
                                 directory.string(), files.size(), found.size(), size));
  }
  return files;
}

Graph import_mpi(const fs::path& directory, const MpiImportOptions& options, PackInfo* info) {
  if (!options.region.empty() && options.keep_wildcards) {
    throw InputError(
        "--region and --keep-wildcards exclude each other: what lacks a partner could not be told");
  }
  std::uint64_t spawned = 0;
  const std::vector<fs::path> files = mpi_rank_files(directory, &spawned);
  GraphBuilder builder;
  CommunicatorTable communicators(builder, static_cast<std::uint32_t>(files.size()));
  ImportNotes notes;
  notes.add(Note::kSpawnedRanks, spawned);
  Run run;
  OneSidedTraffic traffic = one_sided_traffic(files);
  for (const fs::path& path : files) {
    import_rank(path, options, communicators, traffic, builder, notes, run);
  }
  check_region(options, run, directory);
  Graph graph = builder.finish();
  if ((options.partial || !options.region.empty()) && !options.keep_wildcards) {
    WithoutPartners dropped;
    graph = drop_without_partners(graph, dropped);
    notes.add(Note::kSendsWithoutPartner, dropped.sends);
    notes.add(Note::kReceivesWithoutPartner, dropped.receives);
    notes.add(Note::kCollectivesWithoutPartner, dropped.collectives);
  } else {
    notes.add(Note::kNeverReceived, sends_never_received(graph));
  }
  if (info != nullptr) {
    info->metadata["source"] = "MPI trace";
    info->metadata["application"] = fmt::format("{}", fmt::join(run.programs, ", "));
    info->metadata["mpi_library"] = run.first.mpi_library;
    info->metadata["hosts"] = std::to_string(run.hosts.size());
    if (!options.region.empty()) info->metadata["region"] = options.region;
    if (std::string part = part_of(options, run); !part.empty()) info->metadata["traced_part"] = part;
    info->metadata["traced_elapsed_ns"] = std::to_string(run.elapsed_ns);
    report_notes(notes, *info);
    if (run.ranks_with_unseen_callers > 0) {
      info->anomalies.push_back(
          {"unseen_callers", Severity::kWarning,
           fmt::format("Ranks in which {} called MPI past the tracer (loaded with RTLD_DEEPBIND?); none of "
                       "those calls is in the graph.",
                       printable(fmt::format("{}", fmt::join(run.unseen_callers, ", ")))),
           run.ranks_with_unseen_callers});
    }
    report_clocks(run, options.region.empty(), *info);
    report_times({std::move(run.times), options.compute_times, ideal_ns(graph)}, *info);
    if (!trace_files(directory, kNcclTraces).empty()) {
      info->anomalies.push_back(
          {"nccl_traces", Severity::kWarning,
           "The folder also has traces of NCCL calls, left out here; 'weft import nccl' "
           "takes both.",
           1});
    }
  }
  return graph;
}

namespace {

ComputeTimes compute_times_of(const Parameters& parameters) {
  const std::string& text = parameters.text("compute_times");
  if (text == "auto") return ComputeTimes::kAuto;
  if (text == "wall") return ComputeTimes::kWall;
  return ComputeTimes::kCpu;
}

}  // namespace

Importer mpi_importer() {
  return {
      .info =
          {.name = "mpi",
           .summary = "Traces of an MPI program, as 'weft trace' writes them.",
           .source = "tracer/format/README.md",
           .parameters =
               {{"keep_wildcards", ParameterType::kBoolean, "false",
                 "Keep MPI_ANY_SOURCE and MPI_ANY_TAG; by default the source and tag received stand "
                 "in their place."},
                {"partial", ParameterType::kBoolean, "false",
                 "Take ranks whose trace was cut, each up to where it ends, and leave out what then "
                 "lacks a partner (not with keep_wildcards)."},
                {"region", ParameterType::kText, "",
                 "Take only what ranks do in the region of this name, and leave out what then lacks a "
                 "partner; empty: all."},
                {"poll_gap", ParameterType::kTime, "5us",
                 "Longest time from a Test or Iprobe in vain to the next that is waiting, not "
                 "compute."},
                {"compute_times", ParameterType::kText, "auto",
                 "What the time between calls counts as: wall all of it, cpu only that on a core, auto all "
                 "but that in which the rank was ready and had no core.",
                 one_of({"wall", "cpu", "auto"})}}},
      .looks_like = "a folder with files rank-*.wtrc",
      .span = "from MPI_Init to MPI_Finalize",
      .sniff =
          [](const fs::path& path) {
            return !trace_files(path, kMpiTraces).empty() && trace_files(path, kNcclTraces).empty();
          },
      .import =
          [](const fs::path& path, const Parameters& parameters, PackInfo& info) {
            const MpiImportOptions options{
                .keep_wildcards = parameters.boolean("keep_wildcards"),
                .partial = parameters.boolean("partial"),
                .poll_gap_ns = static_cast<std::uint64_t>(parameters.time("poll_gap").ps() / 1000),
                .compute_times = compute_times_of(parameters),
                .region = parameters.text("region")};
            return import_mpi(path, options, &info);
          }};
}

}  // namespace weft::goal
