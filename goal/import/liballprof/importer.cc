#include "goal/import/liballprof/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "goal/import/liballprof/rank_file.h"
#include "goal/import/mpi/importer.h"
#include "goal/import/mpi_calls/import_calls.h"
#include "goal/import/sniff.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

// The name of a rank's file: PREFIX, the rank, and ".txt" or "-of-8.txt".
struct FileName {
  std::string prefix;
  Rank rank = 0;
};

std::optional<FileName> parse_name(const fs::path& path) {
  std::string name = path.filename().string();
  if (!name.ends_with(".txt")) return std::nullopt;
  name.resize(name.size() - 4);
  constexpr std::string_view kDigits = "0123456789";
  const auto digits_at = [&] { return name.find_last_not_of(kDigits) + 1; };
  if (const std::size_t of = name.rfind("-of-");
      of != name.npos && of + 4 == digits_at() && of + 4 < name.size()) {
    name.resize(of);
  }
  const std::size_t begin = digits_at();
  FileName made{name.substr(0, begin)};
  const char* end = name.data() + name.size();
  if (begin == name.size() || std::from_chars(name.data() + begin, end, made.rank).ptr != end)
    return std::nullopt;
  return made;
}

bool is_rank_file(const fs::path& path) { return parse_name(path) && looks_like_allprof(first_bytes(path)); }

// The files of a folder, by prefix and rank.
std::map<std::string, std::map<Rank, fs::path>> traces_in(const fs::path& folder) {
  std::map<std::string, std::map<Rank, fs::path>> traces;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::optional<FileName> name = parse_name(entry.path());
    if (name && looks_like_allprof(first_bytes(entry.path())))
      traces[name->prefix][name->rank] = entry.path();
  }
  return traces;
}

bool looks_like_liballprof(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) ? !traces_in(path).empty() : is_rank_file(path);
}

std::vector<fs::path> rank_files(const fs::path& path) {
  std::error_code error;
  const bool folder = fs::is_directory(path, error);
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const auto traces = traces_in(folder ? path : parent);
  std::string prefix;
  if (!folder) {
    const std::optional<FileName> name = parse_name(path);
    if (name) prefix = name->prefix;
  } else if (traces.size() == 1) {
    prefix = traces.begin()->first;
  } else if (traces.size() > 1) {
    std::vector<std::string> names;
    for (const auto& [other, files] : traces) names.push_back(files.begin()->second.filename().string());
    throw InputError(fmt::format("{}: several traces here; give the path of one rank's file: {}",
                                 path.string(), fmt::join(names, ", ")));
  }
  const auto found = traces.find(prefix);
  if (found == traces.end()) {
    throw InputError(path.string() +
                     ": no trace of liballprof; expected a file for each rank, as trace0.txt, whose first "
                     "call is MPI_Init");
  }
  std::vector<fs::path> files;
  for (const auto& [rank, file] : found->second) {
    if (rank != files.size()) {
      throw InputError(fmt::format("{}: the file of rank {} is missing, but that of rank {} is there",
                                   file.parent_path().string(), files.size(), rank));
    }
    files.push_back(file);
  }
  return files;
}

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
  const std::vector<fs::path> files = rank_files(path);
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
