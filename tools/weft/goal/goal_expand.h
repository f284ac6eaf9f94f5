// --expand and what goes with it: collectives spelled out before a subcommand of weft goal does its work.
#pragma once

#include <string>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/info.h"
#include "tools/weft/cli/command.h"

namespace weft::cli {

struct ExpandOption {
  bool expand = false;
  std::vector<std::string> algorithms;  // "allreduce=ring:segment=1MiB"
  std::string table, profile;
  double reduction_ns_per_byte = 0;

  // Adds --expand, --algorithm, --profile, --table and --reduction.
  void add_options(Command& command);
  // The graph itself, unless --expand was given. Throws InputError for algorithms that are unknown or given
  // without --expand.
  // `info`: what is known of it; it may name the library whose algorithms are taken.
  goal::Graph apply(goal::Graph graph, const goal::PackInfo& info) const;
};

}  // namespace weft::cli
