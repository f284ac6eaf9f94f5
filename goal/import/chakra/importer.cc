#include "goal/import/chakra/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "goal/import/chakra/groups.h"
#include "goal/import/chakra/node.h"
#include "goal/import/chakra/rank_builder.h"
#include "goal/import/json/json_value.h"
#include "goal/import/sniff.h"
#include "goal/workload/compute/device.h"
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

// Protobuf has no mark of its own: names tell.
bool is_trace(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool named = name.ends_with(".et") || name.ends_with(".et.gz");
  return !is_group_file(path) && (named || may_be_json(path)) && looks_like_chakra(path.string());
}

bool sniff(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return !TracePaths(path).files(is_trace).empty();
  return fs::is_regular_file(path, error) && looks_like_chakra(path.string());
}

// The files of the ranks, and that of the groups, if there is one.
struct Files {
  std::vector<fs::path> ranks;
  std::string groups;
  bool by_place = false;  // names don't tell ranks
};

// By the ranks in their names, if all have one; else as they come.
std::vector<fs::path> in_order_of_ranks(std::vector<fs::path> traces, const TracePaths& paths,
                                        bool& by_place) {
  by_place = traces.size() > 1 && std::any_of(traces.begin(), traces.end(),
                                              [](const fs::path& file) { return rank_of(file) < 0; });
  if (by_place || traces.size() < 2) return traces;
  std::map<std::int64_t, fs::path> by_rank;
  for (const fs::path& file : traces) {
    const auto [at, is_new] = by_rank.emplace(rank_of(file), file);
    if (!is_new) {
      throw InputError({file.string()}, fmt::format("is of rank {}, as {} is; a folder may hold one trace",
                                                    rank_of(file), at->second.filename().string()));
    }
  }
  traces.clear();
  for (const auto& [rank, file] : by_rank) {
    if (rank != static_cast<std::int64_t>(traces.size())) {
      throw InputError({paths.text()}, fmt::format("the trace of rank {} is missing", traces.size()));
    }
    traces.push_back(file);
  }
  return traces;
}

// STAGE's file of groups, NAME.json beside NAME.RANK.et; empty if there is none.
std::string groups_beside(const fs::path& trace) {
  std::string name = trace.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (rank_of(trace) < 0 || !name.ends_with(".et")) return "";
  name.resize(name.size() - 3);
  const fs::path groups = trace.parent_path() / (name.substr(0, name.rfind('.')) + ".json");
  std::error_code error;
  return fs::is_regular_file(groups, error) && !looks_like_chakra(groups.string()) ? groups.string() : "";
}

Files find_files(const TracePaths& paths, const std::string& groups) {
  Files files{.ranks = {}, .groups = groups};
  std::vector<fs::path> traces;
  std::error_code error;
  const bool folder = !paths.several() && fs::is_directory(paths.first(), error);
  for (const fs::path& file : paths.files([](const fs::path&) { return true; })) {
    if (is_group_file(file) && groups.empty()) {
      if (!files.groups.empty()) {
        throw InputError({paths.text()}, "several files of groups (*comm_group*.json); --groups names one");
      }
      files.groups = file.string();
    } else if (!folder || is_trace(file)) {
      traces.push_back(file);
    }
  }
  files.ranks = in_order_of_ranks(std::move(traces), paths, files.by_place);
  if (folder && files.groups.empty() && !files.ranks.empty()) files.groups = groups_beside(files.ranks[0]);
  // One of a folder may be missing its fellows.
  if (folder && files.ranks.size() == 1 && rank_of(files.ranks[0]) > 0) {
    throw InputError({paths.text()}, "the trace of rank 0 is missing");
  }
  if (files.ranks.empty()) {
    throw InputError({paths.text()}, "no Chakra traces here; expected NAME.0.et, NAME.1.et …");
  }
  return files;
}

ChakraDeps parse_deps(const Parameters& parameters) {
  const std::string& text = parameters.text("deps");
  if (text == "auto") return ChakraDeps::kAuto;
  if (text == "all") return ChakraDeps::kAll;
  return ChakraDeps::kData;
}

}  // namespace

Graph import_chakra(const TracePaths& paths, const ChakraOptions& options, PackInfo* info) {
  const Files files = find_files(paths, options.groups);
  const auto at_hand = static_cast<Rank>(files.ranks.size());
  const Rank ranks = options.ranks == 0 ? at_hand : options.ranks;
  if (ranks < at_hand) {
    throw InputError({paths.text()}, fmt::format("has {} ranks, more than the {} asked for", at_hand, ranks));
  }
  ChakraReckoning reckoning = options.reckoning;
  reckoning.multiply_adds = is_of_stage(files.ranks[0].string());
  GraphBuilder builder;
  ChakraNotes notes;
  Unread unread;
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
    ChakraRankBuilder of_rank(builder, groups, !files.groups.empty(), rank, ranks, rank >= at_hand, reckoning,
                              options.deps, notes);
    read_chakra(
        file, [&](ChakraNode& node, const SourceLocation& where) { of_rank.add(node, where); },
        rank < at_hand ? &unread : nullptr);
    of_rank.finish(file);
    if (rank == 0) GraphBuilder::expect_graph(of_rank.nodes() * ranks, of_rank.dependencies() * ranks);
  }
  if (reckoning.multiply_adds && reckoning.element_bytes == 1) {
    notes.add(
        "sizes_in_elements", Severity::kWarning,
        "Files of STAGE, whose sizes count elements of tensors; each is taken for a byte, as ASTRA-sim does "
        "(--element-bytes 2 for bf16).",
        at_hand);
  }
  if (files.by_place) {
    notes.add(
        "ranks_by_place", Severity::kWarning,
        "Files whose names don't all tell a rank (NAME.3.et); they are those of ranks 0, 1 … as they come.",
        files.ranks.size());
  }
  if (info != nullptr) {
    info->metadata["source"] = "Chakra execution trace";
    info->anomalies.insert(info->anomalies.end(), notes.anomalies().begin(), notes.anomalies().end());
    if (!unread.empty()) info->anomalies.push_back(unread_anomaly(unread));
  }
  return builder.finish();
}

namespace {

Graph import_traces(const TracePaths& paths, const Parameters& parameters, PackInfo& info) {
  const std::int64_t ranks = parameters.integer("ranks");
  const double gflops = parameters.real("gflops");
  const std::string& device = parameters.text("device");
  if (gflops > 0 && !device.empty()) parameters.fail("gflops", "a device is given, too");
  const std::int64_t element_bytes = parameters.integer("element_bytes");
  return import_chakra(paths,
                       {.ranks = static_cast<Rank>(ranks),
                        .reckoning = {.gflops = gflops,
                                      .device = device.empty() ? nullptr : &find_device(device),
                                      .element_bytes = static_cast<std::uint64_t>(element_bytes)},
                        .deps = parse_deps(parameters),
                        .groups = parameters.file("groups")},
                       &info);
}

}  // namespace

Importer chakra_importer() {
  return {
      .info =
          {.name = "chakra",
           .summary = "Chakra execution traces (MLCommons), protobuf or JSON, one file per rank.",
           .source = "mlcommons/chakra, schema/protobuf/et_def.proto",
           .parameters =
               {{"ranks", ParameterType::kInteger, "0",
                 "Number of ranks; those without a file do what another does (0: as many as files).",
                 from_to("0", "16777216")},
                {"groups", ParameterType::kFile, "",
                 "File with the ranks of communicator groups (default: *comm_group*.json in the folder, or "
                 "NAME.json beside NAME.RANK.et)."},
                {"deps", ParameterType::kText, "auto",
                 "Dependencies that hold: all, data, or auto (all, unless these make a circle).",
                 one_of({"auto", "all", "data"})},
                {"gflops", ParameterType::kReal, "0",
                 "Rate of compute nodes that have num_ops and no duration, in 10^9 operations a second.",
                 at_least("0")},
                {"device", ParameterType::kNameOrFile, "",
                 "Reckon such nodes on this device instead (weft list devices)."},
                {"element_bytes", ParameterType::kInteger, "1",
                 "Bytes of what comm_size and tensor_size count: 2 for STAGE's files, if tensors are "
                 "bf16.",
                 from_to("1", "8")}}},
      .looks_like =
          "NAME.RANK.et, JSON with workload_graph, what chakra_jsonizer writes, or a folder of such files",
      .span = "",
      .sniff = sniff,
      .import = [](const fs::path& path, const Parameters& parameters,
                   PackInfo& info) { return import_traces(path, parameters, info); },
      .import_several = import_traces};
}

}  // namespace weft::goal
