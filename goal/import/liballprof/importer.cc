#include "goal/import/liballprof/importer.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "goal/import/liballprof/rank_file.h"
#include "goal/import/mpi/importer.h"
#include "goal/import/mpi_calls/import_calls.h"
#include "goal/import/rank_files.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

constexpr RankFileKind kFiles = {
    "no trace of liballprof; expected a file for each rank, as trace0.txt, whose first call is MPI_Init",
    looks_like_allprof};

bool looks_like_liballprof(const fs::path& path) { return has_rank_files(path, kFiles); }

void report_own(const AllprofNotes& notes, PackInfo& info) {
  const auto note = [&](const char* name, const char* sentence, std::uint64_t count) {
    if (count > 0) info.anomalies.push_back({name, Severity::kWarning, sentence, count});
  };
  note("unknown_outcomes",
       "Calls of Waitany, Waitsome, Test and Iprobe, of which the trace does not say what they found; "
       "requests count "
       "as complete when a Wait names them or they are used again.",
       notes.unknown_outcomes);
  note("implied_completions",
       "Requests used again without a Wait; they had completed at that time at the latest.",
       notes.implied_completions);
  note("cut_lines", "Last lines without an end, left out.", notes.cut_lines);
  note("ranks_without_finalize",
       "Ranks that ended without MPI_Finalize; some of their messages may have no partner.",
       notes.without_finalize);
}

Graph import_liballprof(const fs::path& path, const Parameters& parameters, PackInfo& info) {
  std::uint32_t request_bytes = 0;
  if (!parameters.automatic("request_size")) {
    const std::uint64_t given = parameters.bytes("request_size");
    if (given != 4 && given != 8) parameters.fail("request_size", "it must be 4B or 8B");
    request_bytes = static_cast<std::uint32_t>(given);
  }
  const std::vector<fs::path> files = rank_files(path, kFiles);
  const auto ranks = static_cast<Rank>(files.size());
  ImportNotes notes;
  AllprofNotes own, twice;
  bool first_pass = true;
  const auto open = [&](Rank rank) {
    auto file =
        std::make_unique<AllprofRankFile>(files[rank].string(), request_bytes, first_pass ? twice : own);
    if (rank + 1 == ranks) first_pass = false;
    return file;
  };
  const MpiImportOptions options{.poll_gap_ns =
                                     static_cast<std::uint64_t>(parameters.time("poll_gap").ps() / 1000)};
  CallsImport made = import_calls(ranks, open, options, notes);
  info.metadata["source"] = "liballprof trace";
  info.metadata["traced_elapsed_ns"] = std::to_string(made.elapsed_ns);
  report_notes(notes, info);
  report_own(own, info);
  return std::move(made.graph);
}

}  // namespace

Importer liballprof_importer() {
  return {
      .info =
          {.name = "liballprof",
           .summary = "Text traces of MPI programs by liballprof, of the LogGOPSim tool chain.",
           .source = "T. Hoefler et al., LogGOPSim, HPDC 2010",
           .parameters =
               {{"request_size", ParameterType::kBytes, "auto",
                 "Bytes of MPI_Request in the traced program, which tells what a Waitall waits for; auto: 4 "
                 "for MPICH and its kin, 8 for others."},
                {"poll_gap", ParameterType::kTime, "5us",
                 "Longest time from a Test or Iprobe in vain to the next that is waiting, not "
                 "compute."}}},
      .looks_like =
          "a folder with files of ranks (trace0.txt, trace1.txt …) that begin with MPI_Init:, or one of them",
      .span = "from MPI_Init to MPI_Finalize",
      .sniff = looks_like_liballprof,
      .import = import_liballprof};
}

}  // namespace weft::goal
