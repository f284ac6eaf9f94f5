#include "tools/weft/goal/goal_output.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/units/input_error.h"
#include "tools/weft/cli/log.h"
#include "tools/weft/goal/goal_commands.h"

namespace weft::cli {

void GraphOutput::add_options(Command& command) {
  command
      .add_option("-o,--output", path,
                  "The graph to write: .weft packed, .goal text, .bin binary GOAL, .et Chakra")
      .required();
  command.add_option("--to", to, "The format, whatever the name: pack, text, binary or chakra");
}

goal::Format GraphOutput::format() const {
  return to.empty() ? goal::format_of_path(path) : goal::format_of_name(to);
}

void GraphOutput::write(const goal::Graph& graph, const goal::PackInfo& info) const {
  goal::GraphRanks ranks(graph);
  write(ranks, info);
}

void GraphOutput::write(goal::RankSource& graph, const goal::PackInfo& info) const {
  goal::write_graph(graph, info, path, format());
  std::string text = fmt::format("{}: {} ranks, {} operations, {} dependencies\n", path, graph.ranks(),
                                 graph.ops(), graph.edges());
  for (const goal::Anomaly& anomaly : info.anomalies) {
    text += fmt::format("  {:<12} {}: {}. {}\n", goal::name(anomaly.severity), anomaly.name, anomaly.count,
                        anomaly.sentence);
  }
  print(text);
  warn_if_lost(info, format(), path);
}

void warn_if_lost(const goal::PackInfo& info, goal::Format format, const std::string& path) {
  if (format == goal::Format::kPack || !info.not_replayed.any()) return;
  log::warn(path + " does not say what is missing in it, as only packed graphs do: " +
            goal::sentence(info.not_replayed));
}

void record(goal::PackInfo& info, const Command& command, const std::vector<goal::Anomaly>& anomalies) {
  std::string text = command.name();
  for (const GivenOption& option : command.given()) {
    if (option.name == "--output" || option.name == "--to") continue;
    if (option.flag) {
      text += " " + option.name;
      continue;
    }
    for (const std::string& value : option.values) {
      text += (option.positional ? " " : " " + option.name + " ") + value;
    }
  }
  for (int n = 1;; ++n) {
    if (info.metadata.emplace(fmt::format("transform {}", n), text).second) break;
  }
  for (const goal::Anomaly& anomaly : anomalies) {
    const auto known = std::find_if(
        info.anomalies.begin(), info.anomalies.end(),
        [&](const goal::Anomaly& a) { return a.name == anomaly.name && a.sentence == anomaly.sentence; });
    if (known == info.anomalies.end()) {
      info.anomalies.push_back(anomaly);
    } else {
      known->count += anomaly.count;
    }
  }
}

std::uint64_t option_ns(const std::string& option, const std::string& text) {
  try {
    const Time time = parse_time(text);
    if (time < Time()) throw InputError("a time below 0");
    return static_cast<std::uint64_t>(time.ps() / 1000);
  } catch (const InputError& error) {
    throw InputError(SourceLocation{.file = option}, error.what());
  }
}

Bandwidth option_bandwidth(const std::string& option, const std::string& text) {
  try {
    const Bandwidth bandwidth = parse_bandwidth(text);
    if (bandwidth < kLeastRate) throw InputError("'" + text + "' is less than " + to_string(kLeastRate));
    return bandwidth;
  } catch (const InputError& error) {
    throw InputError(SourceLocation{.file = option}, error.what());
  }
}

}  // namespace weft::cli
