#include "goal/import/chakra/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "goal/import/chakra/groups.h"
#include "goal/import/chakra/node.h"
#include "goal/import/chakra/rank_builder.h"
#include "goal/import/json/json_value.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kMostRanks = 1 << 24;

// The rank in "name.3.et", "name.3.json.gz"; -1 if there is none.
std::int64_t rank_of(const fs::path& path) {
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const std::string_view ending : {".et", ".json"}) {
    if (!name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    const auto dot = name.rfind('.');
    if (dot == name.npos) return -1;
    const auto rank = whole_number(std::string_view(name).substr(dot + 1));
    return rank && *rank >= 0 && *rank < kMostRanks ? *rank : -1;
  }
  return -1;
}

bool is_group_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") && name.find("comm_group") != name.npos;
}

bool is_rank_file(const fs::path& path) {
  return rank_of(path) >= 0 && !is_group_file(path) && looks_like_chakra(path.string());
}

bool sniff(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return fs::is_regular_file(path, error) && looks_like_chakra(path.string());
  }
  const fs::directory_iterator entries(path, error);
  return !error && std::any_of(begin(entries), end(entries),
                               [](const fs::directory_entry& entry) { return is_rank_file(entry.path()); });
}

// The files of the ranks, and that of the groups, if there is one.
struct Files {
  std::vector<fs::path> ranks;
  std::string groups;
};

Files find_files(const fs::path& path, const std::string& groups) {
  Files files{.ranks = {}, .groups = groups};
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    files.ranks.push_back(path);
    return files;
  }
  std::map<std::int64_t, fs::path> by_rank;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
    if (is_group_file(entry.path()) && groups.empty()) {
      if (!files.groups.empty()) {
        throw InputError({path.string()}, "several files of groups (*comm_group*.json); --groups names one");
      }
      files.groups = entry.path().string();
    }
    if (!is_rank_file(entry.path())) continue;
    const std::int64_t rank = rank_of(entry.path());
    const auto [at, is_new] = by_rank.emplace(rank, entry.path());
    if (!is_new) {
      throw InputError({entry.path().string()},
                       fmt::format("is of rank {}, as {} is; a folder may hold one trace", rank,
                                   at->second.filename().string()));
    }
  }
  for (const auto& [rank, file] : by_rank) {
    if (rank != static_cast<std::int64_t>(files.ranks.size())) {
      throw InputError({path.string()}, fmt::format("the trace of rank {} is missing", files.ranks.size()));
    }
    files.ranks.push_back(file);
  }
  if (files.ranks.empty()) {
    throw InputError({path.string()}, "no Chakra traces here; expected NAME.0.et, NAME.1.et …");
  }
  return files;
}

ChakraDeps parse_deps(const Parameters& parameters) {
  const std::string& text = parameters.text("deps");
  if (text == "auto") return ChakraDeps::kAuto;
  if (text == "all") return ChakraDeps::kAll;
  if (text != "data") parameters.fail("deps", "it must be auto, all or data");
  return ChakraDeps::kData;
}

void note_unread(const ChakraUnread& unread, ChakraNotes& notes) {
  constexpr std::size_t kMostNames = 16;
  std::string names;
  std::size_t listed = 0;
  std::uint64_t values = 0;
  for (const auto& [name, times] : unread) {
    values += times;
    if (listed++ < kMostNames) names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", name, times);
  }
  if (listed > kMostNames) names += fmt::format(" and {} more", listed - kMostNames);
  notes.add("unread_attributes", Severity::kInfo,
            fmt::format("Values of the trace that are not read, by name: {}.", names), values);
}

}  // namespace

Graph import_chakra(const fs::path& path, const ChakraOptions& options, PackInfo* info) {
  const Files files = find_files(path, options.groups);
  const auto at_hand = static_cast<Rank>(files.ranks.size());
  const Rank ranks = options.ranks == 0 ? at_hand : options.ranks;
  if (ranks < at_hand) {
    throw InputError({path.string()},
                     fmt::format("has {} ranks, more than the {} asked for", at_hand, ranks));
  }
  GraphBuilder builder;
  ChakraNotes notes;
  ChakraUnread unread;
  std::map<std::string, ChakraGroup> groups;
  if (!files.groups.empty()) {
    for (auto& [name, members] : read_comm_groups(files.groups, ranks)) {
      const std::uint32_t number = builder.add_communicator({name, members});
      groups[name] = {number, std::move(members)};
    }
  }
  for (Rank rank = 0; rank < ranks; ++rank) {
    const std::string file = files.ranks[rank % at_hand].string();
    if (rank >= at_hand) {
      notes.add("copied_ranks", Severity::kWarning, "Ranks without a trace, which do what another rank did.");
    }
    ChakraRankBuilder of_rank(builder, groups, !files.groups.empty(), rank, ranks, rank >= at_hand,
                              options.gflops, options.deps, notes);
    read_chakra(
        file, [&](ChakraNode& node, const SourceLocation& where) { of_rank.add(node, where); },
        rank < at_hand ? &unread : nullptr);
    of_rank.finish(file);
    if (rank == 0) GraphBuilder::expect_graph(of_rank.nodes() * ranks, of_rank.dependencies() * ranks);
  }
  if (!unread.empty()) note_unread(unread, notes);
  if (info != nullptr) {
    info->metadata["source"] = "Chakra execution trace";
    info->anomalies.insert(info->anomalies.end(), notes.anomalies().begin(), notes.anomalies().end());
  }
  return builder.finish();
}

Importer chakra_importer() {
  return {
      .info =
          {.name = "chakra",
           .summary = "Chakra execution traces (MLCommons), protobuf or JSON, one file per rank.",
           .source = "mlcommons/chakra, schema/protobuf/et_def.proto",
           .parameters =
               {{"ranks", ParameterType::kInteger, "0",
                 "Number of ranks; those without a file do what another does (0: as many as files)."},
                {"groups", ParameterType::kFile, "",
                 "File with the ranks of communicator groups (default: *comm_group*.json in the folder)."},
                {"deps", ParameterType::kText, "auto",
                 "Dependencies that hold: all, data, or auto (all, unless these make a circle)."},
                {"gflops", ParameterType::kReal, "0",
                 "Rate of compute nodes that have num_ops and no duration, in 10^9 operations a second."}}},
      .looks_like = "NAME.RANK.et, JSON with workload_graph, or a folder of such files",
      .span = "",
      .sniff = sniff,
      .import = [](const fs::path& path, const Parameters& parameters, PackInfo& info) {
        const std::int64_t ranks = parameters.integer("ranks");
        if (ranks < 0 || ranks > kMostRanks) parameters.fail("ranks", "it must be 0 to 16777216");
        const double gflops = parameters.real("gflops");
        if (!(gflops >= 0)) parameters.fail("gflops", "it must be 0 or more");
        return import_chakra(path,
                             {.ranks = static_cast<Rank>(ranks),
                              .gflops = gflops,
                              .deps = parse_deps(parameters),
                              .groups = parameters.file("groups")},
                             &info);
      }};
}

}  // namespace weft::goal
