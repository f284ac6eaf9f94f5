#include <fmt/core.h>

#include <memory>
#include <string>

#include "goal/read_graph.h"
#include "goal/transform/heat_map.h"
#include "goal/transform/statistics.h"
#include "sim/units/grouped.h"
#include "sim/units/quantity.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/goal/goal_commands.h"
#include "tools/weft/goal/goal_expand.h"
#include "tools/weft/goal/goal_output.h"
#include "tools/weft/goal/matrix_picture.h"

namespace weft::cli {
namespace {

using goal::Statistics;

// What communication would cost if every message took latency + bytes / bandwidth, one after the other on its
// sender.
struct LinkModel {
  double latency_ns = 0, ns_per_byte = 0;
  double ns(const Statistics& s) const {
    return static_cast<double>(s.messages) * latency_ns + s.bytes * ns_per_byte;
  }
};

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

std::string text_of(const goal::Graph& graph, const Statistics& s, const LinkModel& link,
                    const std::string& assumed) {
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<22} {}\n", name, value);
  };
  row("ranks", std::to_string(graph.ranks()));
  row("messages", fmt::format("{}, {}", s.messages, short_bytes(s.bytes)));
  row("calc time", short_time(s.calc_ns));
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    const std::uint64_t count = s.collectives[static_cast<std::size_t>(kind)];
    if (count > 0) row(goal::name(static_cast<goal::CollectiveKind>(kind)), fmt::format("{}", count));
  }
  if (s.complete) {
    row("critical path", fmt::format("{} of calc, {} messages with {}, {} collectives",
                                     short_time(static_cast<double>(s.path.calc_ns)), s.path.messages,
                                     short_bytes(static_cast<double>(s.path.bytes)), s.path.collectives));
    row("average parallelism", fmt::format("{:.3g}", ratio(s.calc_ns, static_cast<double>(s.makespan_ns))));
    row("longest message chain", fmt::format("{}", s.longest_chain));
  } else {
    row("critical path", "none: the program can't run to its end (see weft goal check)");
  }
  row("compute/communication", s.messages == 0
                                   ? std::string("no messages")
                                   : fmt::format("{:.4g} ({})", ratio(s.calc_ns, link.ns(s)), assumed));
  if (!s.sizes.empty()) text += "message sizes          from (B)         messages            bytes\n";
  for (const goal::SizeBin& bin : s.sizes) {
    text += fmt::format("{:>31} {:>16} {:>16.6g}\n", bin.from, bin.messages, bin.bytes);
  }
  return text;
}

std::string json_of(const goal::Graph& graph, const Statistics& s, const LinkModel& link) {
  std::string json = fmt::format(
      "{{\n  \"ranks\": {},\n  \"operations\": {},\n  \"messages\": {},\n  \"bytes\": {:.0f},\n"
      "  \"calc_ns\": {:.0f},\n",
      graph.ranks(), graph.ops(), s.messages, s.bytes, s.calc_ns);
  json += "  \"collectives\": {";
  bool first = true;
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    const std::uint64_t count = s.collectives[static_cast<std::size_t>(kind)];
    if (count == 0) continue;
    json += fmt::format("{}\"{}\": {}", first ? "" : ", ",
                        goal::name(static_cast<goal::CollectiveKind>(kind)), count);
    first = false;
  }
  json += fmt::format("}},\n  \"complete\": {},\n", s.complete);
  if (s.complete) {
    json += fmt::format(
        "  \"critical_path\": {{\"calc_ns\": {}, \"messages\": {}, \"bytes\": {}, \"collectives\": {}, "
        "\"operations\": {}}},\n  \"parallelism\": {:.6g},\n  \"longest_message_chain\": {},\n",
        s.path.calc_ns, s.path.messages, s.path.bytes, s.path.collectives, s.path.ops,
        ratio(s.calc_ns, static_cast<double>(s.makespan_ns)), s.longest_chain);
  }
  json += fmt::format("  \"communication_ns\": {:.6g},\n  \"compute_to_communication\": {:.6g},\n",
                      link.ns(s), ratio(s.calc_ns, link.ns(s)));
  json += "  \"message_sizes\": [";
  for (std::size_t i = 0; i < s.sizes.size(); ++i) {
    json += fmt::format("{}\n    {{\"from\": {}, \"messages\": {}, \"bytes\": {:.0f}}}", i == 0 ? "" : ",",
                        s.sizes[i].from, s.sizes[i].messages, s.sizes[i].bytes);
  }
  return json + (s.sizes.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace

void add_stats(Command& parent) {
  struct Options {
    std::string file, matrix, picture, latency = "1us", bandwidth = "100Gbps";
    std::uint32_t cells = 256;
    bool json = false;
    ExpandOption expand;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand(
      "stats", "Message sizes, who talks to whom, critical path, compute against communication");
  command.add_option("FILE", options->file, "A GOAL graph: packed, text or binary").required();
  command.add_flag("--json", options->json, "As JSON; bytes, and nanoseconds");
  command.add_option("--matrix", options->matrix, "Write the communication matrix to this file (CSV)");
  command.add_option("--picture", options->picture,
                     "Draw it: .svg with axes, .png, .pgm a grey pixel each cell");
  command.add_option("--cells", options->cells, "Most cells a side of the picture; more ranks share one")
      .with_default()
      .range(1, 4096);
  command.add_option("--latency", options->latency, "Of a message, for the ratio of compute to communication")
      .with_default();
  command.add_option("--bandwidth", options->bandwidth, "The same").with_default();
  options->expand.add_options(command);
  command.footer(
      "Messages inside collectives count with --expand only.\n"
      "Example: weft goal stats lj.weft --expand --matrix lj.csv --picture lj.svg");
  command.callback([options] {
    if (!options->picture.empty()) check_picture_name(options->picture);
    refuse_ending_of_another(options->matrix, "the matrix is CSV; --picture draws it", {".csv"});
    LinkModel link;
    link.latency_ns = static_cast<double>(option_ns("--latency", options->latency));
    link.ns_per_byte = 8e9 / static_cast<double>(option_bandwidth("--bandwidth", options->bandwidth).bps());
    goal::PackInfo info;
    const goal::Graph graph = options->expand.apply(goal::read_graph(options->file, &info), info);
    const Statistics statistics = goal::statistics(graph);
    if (!options->matrix.empty()) write_file(options->matrix, goal::matrix_csv(statistics.exchanges));
    if (!options->picture.empty()) {
      draw_matrix(options->picture, statistics.exchanges, graph.ranks(), options->cells);
    }
    print(options->json ? json_of(graph, statistics, link)
                        : text_of(graph, statistics, link,
                                  options->latency + " and " + options->bandwidth + " a message"));
  });
}

}  // namespace weft::cli
