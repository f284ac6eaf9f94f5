#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/axis.h"
#include "goal/noted_number.h"
#include "goal/read_graph.h"
#include "sim/results/not_replayed_json.h"
#include "sim/units/grouped.h"
#include "tools/weft/goal/goal_commands.h"

namespace weft::cli {
namespace {

using goal::OpKind;
using Json = nlohmann::ordered_json;

// Operations of one kind on one axis: how many, and the bytes of the buffers that they name.
struct OnAxis {
  std::uint64_t operations = 0;
  double bytes = 0;
};

// Sums over a graph.
struct Totals {
  std::map<std::string, std::map<std::string, OnAxis>> axes;  // by axis and kind
  std::array<std::uint64_t, 5> ops{};                         // by OpKind
  std::array<std::uint64_t, goal::kCollectiveKinds> collectives{};
  std::uint64_t largest_message = 0, any_source = 0, any_tag = 0;
  // Sums are floating point: a wrong graph may well hold more than 2^64 ns or bytes.
  double calc_ns = 0, most_calc_ns = 0, sent = 0;
  goal::Rank busiest = 0;
  std::uint16_t max_cpu = 0;
  std::uint8_t max_nic = 0;
};

// Adds up the buffers of a graph's operations by axis.
class AxisSums {
 public:
  AxisSums(const goal::RankSource& graph, Totals& totals) : totals_(totals) {
    for (const goal::Communicator& communicator : graph.communicators()) {
      axes_.push_back(goal::axis_of(communicator.name));
    }
  }
  void collective(const goal::Collective& collective) {
    double bytes = static_cast<double>(collective.bytes);
    for (const std::uint64_t count : collective.counts) bytes += static_cast<double>(count);
    add(collective.comm, std::string(goal::name(collective.kind)), bytes);
  }
  void send(std::uint32_t comm, std::uint64_t bytes) { add(comm, "send", static_cast<double>(bytes)); }

 private:
  void add(std::uint32_t comm, const std::string& kind, double bytes) {
    if (axes_[comm].empty()) return;
    OnAxis& sum = totals_.axes[axes_[comm]][kind];
    ++sum.operations;
    sum.bytes += bytes;
  }

  Totals& totals_;
  std::vector<std::string> axes_;  // of communicators
};

Totals sum_up(goal::RankSource& graph) {
  Totals totals;
  AxisSums axes(graph, totals);
  for (goal::Rank r = 0; r < graph.ranks(); ++r) {
    const goal::RankView rank = graph.rank(r);
    double calc_ns = 0;
    for (goal::OpIndex i = 0; i < rank.ops(); ++i) {
      const OpKind kind = rank.kind(i);
      totals.max_cpu = std::max(totals.max_cpu, rank.cpu(i));
      totals.max_nic = std::max(totals.max_nic, rank.nic(i));
      ++totals.ops[static_cast<std::size_t>(kind)];
      if (kind == OpKind::kCalc) calc_ns += static_cast<double>(rank.value(i));
      if (kind == OpKind::kCollective) {
        const goal::Collective& collective = graph.collectives()[rank.peer(i)];
        ++totals.collectives[static_cast<std::size_t>(collective.kind)];
        axes.collective(collective);
      }
      if (kind == OpKind::kSend) {
        axes.send(rank.comm(i), rank.value(i));
        totals.sent += static_cast<double>(rank.value(i));
        totals.largest_message = std::max(totals.largest_message, rank.value(i));
      }
      if (kind == OpKind::kRecv) {
        totals.any_source += rank.peer(i) == goal::kAny;
        totals.any_tag += rank.tag(i) == goal::kAny;
      }
    }
    totals.calc_ns += calc_ns;
    if (calc_ns > totals.most_calc_ns) {
      totals.most_calc_ns = calc_ns;
      totals.busiest = r;
    }
  }
  return totals;
}

std::string info_text(goal::RankSource& graph, const goal::PackInfo& info) {
  const Totals totals = sum_up(graph);
  const auto of = [&](OpKind kind) { return totals.ops[static_cast<std::size_t>(kind)]; };
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<15} {}\n", name, value);
  };
  row("ranks", std::to_string(graph.ranks()));
  row("operations",
      fmt::format("{} ({} calc, {} send, {} recv, {} collective)", graph.ops(), of(OpKind::kCalc),
                  of(OpKind::kSend), of(OpKind::kRecv), of(OpKind::kCollective)));
  row("dependencies", std::to_string(graph.edges()));
  row("messages", fmt::format("{}, {} in all, {} the largest", of(OpKind::kSend), short_bytes(totals.sent),
                              short_bytes(static_cast<double>(totals.largest_message))));
  row("wildcards",
      fmt::format("{} receives from any source, {} of any tag", totals.any_source, totals.any_tag));
  row("calc time",
      fmt::format("{} in all, {} a rank on average, {} at most (rank {})", short_time(totals.calc_ns),
                  short_time(graph.ranks() == 0 ? 0 : totals.calc_ns / graph.ranks()),
                  short_time(totals.most_calc_ns), totals.busiest));
  row("cpus, nics", fmt::format("{}, {} a rank", totals.max_cpu + 1, totals.max_nic + 1));
  row("communicators", fmt::format("{} beside the world", graph.communicators().size() - 1));
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    const std::uint64_t count = totals.collectives[static_cast<std::size_t>(kind)];
    if (count != 0)
      row(goal::name(static_cast<goal::CollectiveKind>(kind)), fmt::format("{}, over all ranks", count));
  }
  for (const auto& [axis, kinds] : totals.axes) {
    std::string sums;
    for (const auto& [kind, sum] : kinds) {
      sums += fmt::format("{}{} {} of {}", sums.empty() ? "" : ", ", sum.operations, kind,
                          short_bytes(sum.bytes / static_cast<double>(sum.operations)));
    }
    row("axis " + axis, sums + " on average");
  }
  row("memory", fmt::format("{} for operations and dependencies, if all are held at once",
                            short_bytes(static_cast<double>(graph.ops() * sizeof(goal::OpRecord) +
                                                            graph.edges() * sizeof(goal::Edge)))));
  if (info.not_replayed.any()) row("warning", goal::sentence(info.not_replayed));
  for (const auto& [key, value] : info.metadata) row(key, value);
  for (const goal::Anomaly& anomaly : info.anomalies) {
    row(goal::name(anomaly.severity),
        fmt::format("{}: {}. {}", anomaly.name, anomaly.count, anomaly.sentence));
  }
  return text;
}

// What a generator knows of its graph, as numbers: of all its steps, and of the device that needs most. Not
// of a graph that was changed since.
void add_training(const goal::PackInfo& info, Json& json) {
  if (info.metadata.contains("transform 1")) return;
  for (const char* key :
       {"tokens", "model_flops", "device_memory_bytes", "parameters", "active_parameters"}) {
    const auto noted = info.metadata.find(key);
    if (noted == info.metadata.end()) continue;
    if (const auto number = goal::noted_number(noted->second)) json[key] = *number;
  }
}

// `not_replayed` is null of a graph that is no import. Bytes, and nanoseconds.
std::string info_json(goal::RankSource& graph, const goal::PackInfo& info) {
  const Totals totals = sum_up(graph);
  const auto of = [&](OpKind kind) { return totals.ops[static_cast<std::size_t>(kind)]; };
  Json json = {{"ranks", graph.ranks()},
               {"operations",
                {{"all", graph.ops()},
                 {"calc", of(OpKind::kCalc)},
                 {"send", of(OpKind::kSend)},
                 {"recv", of(OpKind::kRecv)},
                 {"collective", of(OpKind::kCollective)}}},
               {"dependencies", graph.edges()},
               {"sent_bytes", totals.sent},
               {"largest_message", totals.largest_message},
               {"any_source", totals.any_source},
               {"any_tag", totals.any_tag},
               {"calc_ns", totals.calc_ns},
               {"most_calc_ns", totals.most_calc_ns},
               {"busiest_rank", totals.busiest},
               {"cpus", totals.max_cpu + 1},
               {"nics", totals.max_nic + 1},
               {"communicators", graph.communicators().size() - 1}};
  json["collectives"] = Json::object();
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    const std::uint64_t count = totals.collectives[static_cast<std::size_t>(kind)];
    if (count != 0)
      json["collectives"][std::string(goal::name(static_cast<goal::CollectiveKind>(kind)))] = count;
  }
  // Bytes of the buffers that operations name: a whole vector or one rank's block, over all ranks.
  for (const auto& [axis, kinds] : totals.axes) {
    for (const auto& [kind, sum] : kinds) {
      json["axes"][axis][kind] = {{"operations", sum.operations}, {"bytes", sum.bytes}};
    }
  }
  add_training(info, json);
  json["metadata"] = info.metadata;
  json["unread"] = Json::array();
  for (const goal::Anomaly& anomaly : info.anomalies) {
    if (anomaly.name.starts_with(goal::kUnreadPrefix)) json["unread"].push_back(anomaly.sentence);
  }
  json["anomalies"] = Json::array();
  for (const goal::Anomaly& anomaly : info.anomalies) {
    json["anomalies"].push_back({{"name", anomaly.name},
                                 {"severity", goal::name(anomaly.severity)},
                                 {"count", anomaly.count},
                                 {"sentence", anomaly.sentence}});
  }
  json["not_replayed"] =
      info.not_replayed.counted() ? results::not_replayed_json(info.not_replayed) : Json(nullptr);
  // Texts of a file need not be UTF-8, as JSON must be.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_info(Command& parent) {
  struct Options {
    std::string file;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  Command command =
      parent.add_subcommand("info", "Tell what a graph holds: operations, messages, collectives, anomalies");
  command.add_option("FILE", options->file, "A GOAL graph: packed, text or binary").required();
  command.add_flag("--json", options->json, "As JSON; bytes, and nanoseconds");
  command.footer("Examples:\n  weft goal info lj.weft\n  weft goal info lj.weft --json");
  command.callback([options] {
    goal::PackInfo info;
    const auto graph = goal::open_ranks(options->file, &info);
    print(options->json ? info_json(*graph, info) : info_text(*graph, info));
  });
}

}  // namespace weft::cli
