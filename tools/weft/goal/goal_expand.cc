#include "tools/weft/goal/goal_expand.h"

#include <algorithm>
#include <utility>

#include "goal/collectives/selection_profiles.h"
#include "goal/transform/expand.h"
#include "sim/units/input_error.h"
#include "sim/units/module.h"

namespace weft::cli {

void ExpandOption::add_options(Command& command) {
  command.add_flag("--expand", expand, "Spell collectives out as sends, receives and calcs first");
  command
      .add_option("--algorithm", algorithms,
                  "KIND=NAME[:key=value,…], as 'weft list collective' has them; may be repeated")
      .repeated();
  command.add_option(
      "--profile", profile,
      "Algorithms as this library chooses them: openmpi, mpich; default: the first of each kind. "
      "Otherwise as the graph's own MPI library, else as mpich");
  command.add_option("--table", table, "A file of rules that choose algorithms");
  command.add_option("--reduction", reduction_ns_per_byte,
                     "Time to combine received data, in ns per byte: a calc");
}

goal::Graph ExpandOption::apply(goal::Graph graph, const goal::PackInfo& info) const {
  if (!expand) {
    if (!algorithms.empty() || !table.empty() || !profile.empty() || reduction_ns_per_byte != 0) {
      throw InputError("--algorithm, --profile, --table and --reduction do nothing without --expand");
    }
    return graph;
  }
  goal::CollectiveChoices choices;
  choices.table = table;
  // As a replay would choose.
  const auto library = info.metadata.find("mpi_library");
  choices.profile = !profile.empty()                 ? profile
                    : library == info.metadata.end() ? goal::kUsualProfile
                                                     : goal::profile_name_of_library(library->second);
  std::vector<std::string> kinds;
  for (int kind = 0; kind < goal::kCollectiveKinds; ++kind) {
    kinds.emplace_back(goal::name(static_cast<goal::CollectiveKind>(kind)));
  }
  for (const std::string& text : algorithms) {
    const std::size_t equals = text.find('=');
    const std::string kind = text.substr(0, std::min(equals, text.size()));
    if (equals == std::string::npos || text.find(':') < equals) {
      throw InputError("--algorithm '" + text + "': expected KIND=NAME: allreduce=ring");
    }
    const auto found = std::find(kinds.begin(), kinds.end(), kind);
    if (found == kinds.end()) {
      fail_unknown_name("kind of collective", kind, kinds, SourceLocation{.file = "--algorithm"});
    }
    choices.forced[static_cast<std::size_t>(found - kinds.begin())] = text.substr(equals + 1);
  }
  goal::CollectiveSelection selection(choices);
  selection.know_groups(graph.facts());
  return goal::expand_collectives(graph, selection, {.reduction_ns_per_byte = reduction_ns_per_byte});
}

}  // namespace weft::cli
