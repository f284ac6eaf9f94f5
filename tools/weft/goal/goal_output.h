// What the subcommands of weft goal that make a graph from others share: input, output, and the record of
// what was done.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "goal/pack/pack.h"
#include "goal/write_graph.h"
#include "sim/units/quantity.h"
#include "tools/weft/cli/command.h"

namespace weft::cli {

struct GraphOutput {
  std::string path, to;

  // Adds -o and --to.
  void add_options(Command& command);
  // Throws InputError if the name asks for no format: before the work, not after.
  goal::Format format() const;
  // Writes the graph, and tells what it holds and what was odd while it was made.
  void write(const goal::Graph& graph, const goal::PackInfo& info) const;
  // Writes a graph whose ranks are in memory one at a time, and tells as much of it.
  void write(goal::RankSource& graph, const goal::PackInfo& info) const;
};

// Says so where what the graph lacks of the program traced won't be in a file of this format.
void warn_if_lost(const goal::PackInfo& info, goal::Format format, const std::string& path);

// Notes in the graph's metadata what this subcommand was called with ("transform 1", "transform 2", …) and
// adds the anomalies that it met.
void record(goal::PackInfo& info, const Command& command, const std::vector<goal::Anomaly>& anomalies = {});

// The time given for an option, in whole nanoseconds. Throws InputError that names the option.
std::uint64_t option_ns(const std::string& option, const std::string& text);
// Returns the bandwidth given for an option, at least kLeastRate. Throws InputError that names the option.
Bandwidth option_bandwidth(const std::string& option, const std::string& text);

}  // namespace weft::cli
