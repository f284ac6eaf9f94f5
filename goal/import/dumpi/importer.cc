#include "goal/import/dumpi/importer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "goal/file.h"
#include "goal/import/dumpi/rank_file.h"
#include "goal/import/dumpi/text_file.h"
#include "goal/import/mpi/importer.h"
#include "goal/import/mpi_calls/import_calls.h"
#include "goal/import/rank_files.h"
#include "goal/import/sniff.h"
#include "sim/units/input_error.h"
#include "sim/units/input_file.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;

// A .meta file: lines of name=value.
std::map<std::string, std::string> read_meta(const std::string& text) {
  std::map<std::string, std::string> values;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) {
      std::string value = line.substr(equals + 1);
      while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back())) != 0) value.pop_back();
      values[line.substr(0, equals)] = value;
    }
    at = end + 1;
  }
  return values;
}

bool is_meta(const fs::path& path) {
  if (path.extension() != ".meta") return false;
  const auto values = read_meta(first_bytes(path));
  return values.contains("numprocs") && values.contains("fileprefix");
}

std::vector<fs::path> metas_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const fs::path& path : folder_entries(folder)) {
    if (is_meta(path)) found.push_back(path);
  }
  return found;
}

constexpr RankFileKind kTexts = {
    "no text of DUMPI; expected a file for each rank, as trace-0000.txt, as "
    "dumpi2ascii -a prints it",
    looks_like_dumpi_text};

bool looks_like_dumpi(const fs::path& path) {
  return is_meta(path) || !metas_in(path).empty() || has_rank_files(path, kTexts);
}

// Where both forms are, the binary one is read.
bool is_text(const fs::path& path) {
  std::error_code error;
  if (!has_rank_files(path, kTexts)) return false;
  if (!fs::is_directory(path, error)) return true;
  return std::ranges::none_of(folder_entries(path),
                              [](const fs::path& entry) { return entry.extension() == ".bin"; });
}

fs::path meta_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  const std::vector<fs::path> found = metas_in(path);
  if (found.empty()) {
    throw InputError(path.string() +
                     ": no DUMPI trace here; expected a file *.meta with numprocs= and fileprefix=");
  }
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const fs::path& meta : found) names.push_back(meta.filename().string());
    throw InputError(fmt::format("{}: several traces here; give the path of one: {}", path.string(),
                                 fmt::join(names, ", ")));
  }
  return found[0];
}

// The files PREFIX-0000.bin, PREFIX-0001.bin … of all ranks.
std::vector<fs::path> binary_files(const fs::path& meta, const std::map<std::string, std::string>& values) {
  const auto value = [&](const char* name) {
    const auto found = values.find(name);
    if (found == values.end()) throw InputError({meta.string()}, fmt::format("'{}=' is missing", name));
    return found->second;
  };
  const std::string text = value("numprocs");
  Rank ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
  if (error != std::errc() || end != text.data() + text.size() || ranks == 0 || ranks > 1u << 26) {
    throw InputError({meta.string()}, fmt::format("numprocs is '{}'; expected a number of ranks", text));
  }
  const std::string prefix = fs::path(value("fileprefix")).filename().string() + "-";
  std::map<Rank, fs::path> found;
  const fs::path folder = meta.has_parent_path() ? meta.parent_path() : fs::path(".");
  for (const fs::path& path : folder_entries(folder)) {
    const std::string name = path.filename().string();
    if (!name.starts_with(prefix) || path.extension() != ".bin") continue;
    Rank rank = 0;
    const char* last = name.data() + name.size() - 4;
    if (std::from_chars(name.data() + prefix.size(), last, rank).ptr == last) found[rank] = path;
  }
  std::vector<fs::path> files;
  for (const auto& [rank, path] : found) {
    if (rank == files.size() && files.size() < ranks) files.push_back(path);
  }
  if (files.size() < ranks) {
    throw InputError({meta.string()}, fmt::format("the file of rank {} of {} is missing: {}{:04}.bin",
                                                  files.size(), ranks, prefix, files.size()));
  }
  return files;
}

Graph import_dumpi(const fs::path& path, const Parameters& parameters, PackInfo& info) {
  const bool text = is_text(path);
  std::map<std::string, std::string> values;
  std::vector<fs::path> files;
  if (text) {
    files = rank_files(path, kTexts);
    values = read_meta(first_bytes(files[0]));
  } else {
    const fs::path meta = meta_of(path);
    values = read_meta(std::string(FileView(meta.string()).bytes()));
    files = binary_files(meta, values);
  }
  const auto ranks = static_cast<Rank>(files.size());
  ImportNotes notes;
  DumpiNotes own, twice;
  bool first_pass = true;
  const auto open = [&](Rank rank) -> std::unique_ptr<CallSource> {
    DumpiNotes& met = first_pass ? twice : own;
    if (rank + 1 == ranks) first_pass = false;
    if (text) return std::make_unique<DumpiTextFile>(files[rank].string(), ranks, met);
    return std::make_unique<DumpiRankFile>(files[rank].string(), ranks, met);
  };
  const MpiImportOptions options{
      .keep_wildcards = parameters.boolean("keep_wildcards"),
      .poll_gap_ns = static_cast<std::uint64_t>(parameters.time("poll_gap").ps() / 1000)};
  CallsImport made = import_calls(ranks, open, options, notes);
  info.metadata["source"] = "DUMPI trace";
  if (values.contains("hostname")) info.metadata["host"] = values.at("hostname");
  info.metadata["traced_elapsed_ns"] = std::to_string(made.elapsed_ns);
  report_notes(notes, info);
  const auto note = [&](const char* name, const char* sentence, std::uint64_t count) {
    if (count > 0) info.anomalies.push_back({name, Severity::kWarning, sentence, count});
  };
  note("calls_without_time", "Calls without a time; no compute is known before and behind them.",
       own.without_time);
  note("unknown_datatypes", "Uses of datatypes of unknown size, which count as 0 bytes.", own.unknown_types);
  note("strange_statuses", "Statuses that don't fit what was asked for; the receive stays as posted.",
       own.strange_statuses);
  note("assumed_sizes",
       "Files without the sizes of datatypes (dumpi2ascii prints them with -a); those of x86-64 were taken.",
       own.assumed_sizes);
  return std::move(made.graph);
}

}  // namespace

Importer dumpi_importer() {
  return {.info = {.name = "dumpi",
                   .summary = "Traces of MPI programs by SST DUMPI, binary or as dumpi2ascii prints them.",
                   .source = "SST DUMPI 1.0, Sandia National Laboratories",
                   .parameters =
                       {{"keep_wildcards", ParameterType::kBoolean, "false",
                         "Keep MPI_ANY_SOURCE and MPI_ANY_TAG; by default the source and tag received stand "
                         "in their place."},
                        {"poll_gap", ParameterType::kTime, "5us",
                         "Longest time from a Test or Iprobe in vain to the next that is waiting, not "
                         "compute."}}},
          .looks_like =
              "a folder with a file *.meta that has numprocs= and fileprefix=, or that file; or texts of "
              "dumpi2ascii",
          .span = "from MPI_Init to MPI_Finalize",
          .sniff = looks_like_dumpi,
          .import = import_dumpi};
}

}  // namespace weft::goal
