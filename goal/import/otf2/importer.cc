#include "goal/import/otf2/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "goal/import/mpi/importer.h"
#include "goal/import/otf2/rank_events.h"
#include "goal/import/sniff.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

// An anchor file begins with two bytes, on the order of bytes and chunks, and "OTF2".
bool is_anchor(const fs::path& path) {
  return path.extension() == ".otf2" && first_bytes(path, 16).find("OTF2") <= 2;
}

std::vector<fs::path> anchors_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const fs::path& path : folder_entries(folder)) {
    if (is_anchor(path)) found.push_back(path);
  }
  return found;
}

bool looks_like_otf2(const fs::path& path) { return is_anchor(path) || !anchors_in(path).empty(); }

std::string anchor_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path.string();
  const std::vector<fs::path> found = anchors_in(path);
  if (found.empty()) throw InputError(path.string() + ": no OTF2 archive here; expected a file *.otf2");
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const fs::path& anchor : found) names.push_back(anchor.filename().string());
    throw InputError(fmt::format("{}: several archives here; give the path of one: {}", path.string(),
                                 fmt::join(names, ", ")));
  }
  return found[0].string();
}

// The world first, then a place for each rank's own, then the others.
void add_communicators(Otf2Run& run, Rank ranks) {
  const Otf2Definitions& definitions = run.archive.definitions();
  run.known.resize(2);
  run.known[0].id = trace::kCommWorld;
  run.known[1].id = trace::kCommSelf;
  for (Rank rank = 0; rank < ranks; ++rank) run.known[0].ranks.push_back(static_cast<std::int32_t>(rank));
  bool has_world = false;
  for (const auto& [comm, group] : definitions.communicators) {
    const auto found = definitions.groups.find(group);
    const bool self = definitions.self_groups.contains(group);
    if (!self && found == definitions.groups.end()) continue;  // between two groups, or of no MPI
    TraceCommunicator made{.id = static_cast<std::uint32_t>(run.known.size()),
                           .key = std::uint64_t{comm} + 1};
    if (!self) {
      for (const Rank rank : found->second) {
        if (rank >= ranks) {
          throw InputError(
              {run.archive.path()},
              fmt::format("a communicator has rank {}, but there are only {} ranks", rank, ranks));
        }
        made.ranks.push_back(static_cast<std::int32_t>(rank));
      }
    }
    const bool world = !self && !has_world && made.ranks == run.known[0].ranks;
    has_world = has_world || world;
    const std::uint32_t number = world                   ? trace::kCommWorld
                                 : made.ranks.size() < 2 ? trace::kCommSelf
                                                         : made.id;
    run.communicators[comm] = number;
    if (number == made.id) run.known.push_back(made);
  }
}

// By rank: the threads of its process, the one that MPI counts first.
std::vector<std::vector<OTF2_LocationRef>> locations_of_ranks(const Otf2Archive& archive) {
  const Otf2Definitions& definitions = archive.definitions();
  if (definitions.rank_locations.empty()) {
    throw InputError({archive.path()}, "no MPI ranks: the definitions have no group of MPI's locations");
  }
  std::map<OTF2_LocationRef, OTF2_LocationGroupRef> process_of;
  std::map<OTF2_LocationGroupRef, std::vector<OTF2_LocationRef>> threads;
  for (const Otf2Location& location : definitions.locations) {
    process_of[location.id] = location.process;
    threads[location.process].push_back(location.id);
  }
  std::vector<std::vector<OTF2_LocationRef>> all;
  for (const std::uint64_t first : definitions.rank_locations) {
    const auto process = process_of.find(first);
    if (process == process_of.end()) {
      throw InputError({archive.path()},
                       fmt::format("rank {} is location {}, which is not defined", all.size(), first));
    }
    std::vector<OTF2_LocationRef>& of_rank = all.emplace_back(std::vector<OTF2_LocationRef>{first});
    for (const OTF2_LocationRef thread : threads[process->second]) {
      if (thread != first) of_rank.push_back(thread);
    }
  }
  return all;
}

// Events of locations that are none of a rank's threads.
void note_other_locations(const Otf2Archive& archive,
                          const std::vector<std::vector<OTF2_LocationRef>>& of_ranks, Unread& unread) {
  const Otf2Definitions& definitions = archive.definitions();
  if (definitions.other_events > 0) {
    count_unread(unread, "events of locations that are no threads (GPUs, metrics)", definitions.other_events);
  }
  std::set<OTF2_LocationRef> taken;
  for (const std::vector<OTF2_LocationRef>& rank : of_ranks) taken.insert(rank.begin(), rank.end());
  for (const Otf2Location& location : definitions.locations) {
    if (location.events == 0 || taken.contains(location.id)) continue;
    count_unread(unread, "events of processes that are no ranks of MPI", location.events);
  }
}

Graph import_otf2(const fs::path& path, const Parameters& parameters, PackInfo& info) {
  const Otf2Archive archive(anchor_of(path));
  Otf2Run run{.archive = archive};
  for (const auto& [region, name] : archive.definitions().regions) {
    const auto text = archive.definitions().strings.find(name);
    if (text != archive.definitions().strings.end() && text->second.starts_with("MPI_")) {
      run.mpi_regions[region] = text->second;
    }
  }
  const auto locations = locations_of_ranks(archive);
  const auto ranks = static_cast<Rank>(locations.size());
  add_communicators(run, ranks);
  note_other_locations(archive, locations, run.unread);
  for (Rank rank = 0; rank < ranks; ++rank) Otf2RankEvents(run, rank, locations[rank]).add_shares();
  run.shares.rewind();
  const MpiImportOptions options{.poll_gap_ns =
                                     static_cast<std::uint64_t>(parameters.time("poll_gap").ps() / 1000)};
  GraphBuilder builder;
  CommunicatorTable communicators(builder, ranks);
  ImportNotes notes;
  std::uint64_t elapsed_ns = 0;
  for (Rank rank = 0; rank < ranks; ++rank) {
    communicators.begin_rank();
    Otf2RankEvents events(run, rank, locations[rank]);
    events.import(options, communicators, notes, builder);
    elapsed_ns = std::max(elapsed_ns, events.elapsed_ns());
  }
  info.metadata["source"] = "OTF2 archive";
  info.metadata["traced_elapsed_ns"] = std::to_string(elapsed_ns);
  report_notes(notes, info);
  if (run.spread_evenly > 0) {
    info.anomalies.push_back(
        {"counts_spread_evenly", Severity::kWarning,
         "Calls of v-form collectives of which not all ranks' sums are in the trace; all ranks "
         "count as this one.",
         run.spread_evenly});
  }
  if (!run.unread.empty()) info.anomalies.push_back(unread_anomaly(run.unread));
  return builder.finish();
}

}  // namespace

Importer otf2_importer() {
  return {.info = {.name = "otf2",
                   .summary = "OTF2 archives of MPI programs, as Score-P writes them.",
                   .source = "Open Trace Format 2, Score-P project",
                   .parameters =
                       {{"poll_gap", ParameterType::kTime, "5us",
                         "Longest time from a test in vain to the next that is waiting, not compute."}}},
          .looks_like = "a folder with a file *.otf2, or that file",
          .span = "from MPI_Init to MPI_Finalize",
          .sniff = looks_like_otf2,
          .import = import_otf2};
}

}  // namespace weft::goal
