#include "tools/weft/goal.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "goal/check/check.h"
#include "goal/read_graph.h"
#include "goal/text/text.h"
#include "goal/write_graph.h"
#include "sim/units/input_error.h"
#include "tools/weft/subcommand.h"

namespace weft::cli {
namespace {

using goal::Graph;
using goal::OpKind;

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// --- info ---

// Sums over a graph.
struct Totals {
  std::array<std::uint64_t, 5> ops{};  // by OpKind
  std::array<std::uint64_t, goal::kCollectiveKinds> collectives{};
  std::uint64_t largest_message = 0, any_source = 0, any_tag = 0;
  // Sums are floating point: a wrong graph may well hold more than 2^64 ns or bytes.
  double calc_ns = 0, most_calc_ns = 0, sent = 0;
  goal::Rank busiest = 0;
};

Totals sum_up(const Graph& graph) {
  Totals totals;
  for (goal::Rank r = 0; r < graph.ranks(); ++r) {
    const goal::RankView rank = graph.rank(r);
    double calc_ns = 0;
    for (goal::OpIndex i = 0; i < rank.ops(); ++i) {
      const OpKind kind = rank.kind(i);
      ++totals.ops[static_cast<std::size_t>(kind)];
      if (kind == OpKind::kCalc) calc_ns += static_cast<double>(rank.value(i));
      if (kind == OpKind::kCollective)
        ++totals.collectives[static_cast<std::size_t>(rank.collective(i).kind)];
      if (kind == OpKind::kSend) {
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

// Three significant digits with a decimal prefix: "12.3 MB", "950 ms".
std::string short_bytes(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes >= 999.5 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}
std::string short_time(double ns) {
  constexpr std::string_view kUnits[] = {"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  for (; ns >= 999.5 && unit + 1 < std::size(kUnits); ++unit) ns /= 1000;
  return ns < 1000 ? fmt::format("{:.3g} {}", ns, kUnits[unit]) : fmt::format("{:.0f} {}", ns, kUnits[unit]);
}

std::string info_text(const Graph& graph, const goal::PackInfo& info) {
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
  row("cpus, nics", fmt::format("{}, {} a rank", graph.max_cpu() + 1, graph.max_nic() + 1));
  row("communicators", fmt::format("{} beside the world", graph.communicators().size() - 1));
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    const std::uint64_t count = totals.collectives[static_cast<std::size_t>(kind)];
    if (count != 0)
      row(goal::name(static_cast<goal::CollectiveKind>(kind)), fmt::format("{}, over all ranks", count));
  }
  row("memory", short_bytes(static_cast<double>(graph.memory_bytes())));
  for (const auto& [key, value] : info.metadata) row(key, value);
  for (const goal::Anomaly& anomaly : info.anomalies) {
    row(goal::name(anomaly.severity),
        fmt::format("{}: {}. {}", anomaly.name, anomaly.count, anomaly.sentence));
  }
  return text;
}

void add_info(CLI::App& parent) {
  const auto file = std::make_shared<std::string>();
  CLI::App* app =
      parent.add_subcommand("info", "Tell what a graph holds: operations, messages, collectives, anomalies");
  app->add_option("FILE", *file, "A GOAL graph: packed, text or binary")->required();
  app->callback([file] {
    goal::PackInfo info;
    const Graph graph = goal::read_graph(*file, &info);
    print(info_text(graph, info));
  });
}

// --- check ---

void add_check(CLI::App& parent, int& exit_code) {
  struct Options {
    std::string file;
    std::uint32_t examples = static_cast<std::uint32_t>(goal::CheckOptions().examples);
  };
  const auto options = std::make_shared<Options>();
  CLI::App* app =
      parent.add_subcommand("check", "Find unmatched messages, cycles and disagreeing collectives");
  app->add_option("FILE", options->file, "A GOAL graph: packed, text or binary")->required();
  app->add_option("--examples", options->examples, "How many findings of each kind to show")
      ->capture_default_str();
  app->footer("Exit status: 0 if nothing worse than warnings was found, else 2.");
  app->callback([options, &exit_code] {
    const Graph graph = goal::read_graph(options->file);
    const goal::Report report = goal::check(graph, {.examples = std::max(1u, options->examples)});
    for (const goal::Finding& finding : report.findings) {
      print(fmt::format("{}: {}: {}\n", goal::name(goal::severity(finding.kind)), goal::name(finding.kind),
                        finding.sentence));
    }
    for (std::size_t kind = 0; kind < goal::kFindingKinds; ++kind) {
      if (report.counts[kind] == 0) continue;
      print(fmt::format("{}: {} in all\n", goal::name(static_cast<goal::FindingKind>(kind)),
                        report.counts[kind]));
    }
    if (report.clean()) {
      print(fmt::format("{}: sound ({} ranks, {} operations)\n", options->file, graph.ranks(), graph.ops()));
    }
    if (report.has_errors()) exit_code = kBadInput;
  });
}

// --- print ---

void add_print(CLI::App& parent) {
  struct Options {
    std::string file;
    std::optional<goal::Rank> rank;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* app = parent.add_subcommand("print", "Write a graph as GOAL text to the standard output");
  app->add_option("FILE", options->file, "A GOAL graph: packed, text or binary")->required();
  app->add_option("--rank", options->rank, "Only this rank's block");
  app->callback([options] {
    const Graph graph = goal::read_graph(options->file);
    const auto sink = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
    if (!options->rank) return goal::print_text(graph, sink);
    if (*options->rank >= graph.ranks()) {
      throw InputError(fmt::format("--rank {}: {} has {} ranks, counted from 0", *options->rank,
                                   options->file, graph.ranks()));
    }
    goal::print_rank(graph, *options->rank, sink);
  });
}

// --- convert ---

void add_convert(CLI::App& parent) {
  struct Options {
    std::string in, out, to;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* app = parent.add_subcommand("convert", "Write a graph in another format");
  app->add_option("IN", options->in, "A GOAL graph: packed, text or binary")->required();
  app->add_option("OUT", options->out, "The file to write: .weft packed, .goal text, .bin binary GOAL")
      ->required();
  app->add_option("--to", options->to, "The format, whatever the name: pack, text or binary");
  app->callback([options] {
    const goal::Format format =
        options->to.empty() ? goal::format_of_path(options->out) : goal::format_of_name(options->to);
    goal::PackInfo info;
    const Graph graph = goal::read_graph(options->in, &info);
    goal::write_graph(graph, info, options->out, format);
    if (format != goal::Format::kPack && info != goal::PackInfo()) {
      spdlog::warn("note: only packed graphs keep metadata and anomaly counters; {} has none", options->out);
    }
  });
}

}  // namespace

void add_goal(CLI::App& app, int& exit_code) {
  app.require_subcommand(1);
  add_info(app);
  add_check(app, exit_code);
  add_print(app);
  add_convert(app);
}

}  // namespace weft::cli
