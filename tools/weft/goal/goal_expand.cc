#include "tools/weft/goal/goal_expand.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "goal/collectives/nccl/node.h"
#include "goal/collectives/selection_profiles.h"
#include "goal/transform/expand.h"
#include "sim/units/input_error.h"
#include "sim/units/module.h"
#include "tools/weft/cli/log.h"

namespace weft::cli {

void ExpandOption::add_options(Command& command) {
  command.add_flag("--expand", expand, "Spell collectives out as sends, receives and calcs first");
  command
      .add_option("--algorithm", algorithms,
                  "KIND=NAME[:key=value,…], as 'weft list collective' has them; may be repeated")
      .repeated();
  command.add_option(
      "--profile", profile,
      "Algorithms as this library chooses them: openmpi, mpich, nccl (nccl:node=…,gpus_per_node=…); default: "
      "the first of each kind. Otherwise as the graph's own library, else as mpich");
  command.add_option("--table", table, "A file of rules that choose algorithms");
  command.add_option("--reduction", reduction_ns_per_byte,
                     "Time to combine received data, in ns per byte: a calc");
}

namespace {

std::string noted(const goal::PackInfo& info, const char* key) {
  const auto found = info.metadata.find(key);
  return found == info.metadata.end() ? "" : found->second;
}

// As a replay would choose, and why.
std::pair<std::string, std::string> profile_of(const goal::PackInfo& info) {
  const std::string library = noted(info, "mpi_library"), nccl = noted(info, "nccl_library");
  if (!library.empty()) {
    return {std::string(goal::profile_name_of_library(library)),
            goal::profile_of_library(library) != nullptr
                ? "as the graph's MPI library is " + library
                : "as none is known for the graph's MPI library " + library};
  }
  if (!nccl.empty()) {
    const goal::nccl::Node& node = goal::nccl::node_preset(goal::nccl::kUsualNode);
    return {std::string(goal::kNcclProfile),
            fmt::format("as the graph's collectives are those of {}, on nodes of {} with {} GPUs", nccl,
                        node.label, node.gpus)};
  }
  return {std::string(goal::kUsualProfile), "as the graph names no library"};
}

// Is any collective left to the profile?
bool asks_profile(const goal::Graph& graph, const goal::CollectiveChoices& choices) {
  return std::ranges::any_of(graph.collectives(), [&](const goal::Collective& collective) {
    return collective.algorithm.empty() &&
           choices.forced[static_cast<std::size_t>(collective.kind)].empty() &&
           graph.communicator_size(collective.comm) > 1;
  });
}

}  // namespace

goal::Graph ExpandOption::apply(goal::Graph graph, const goal::PackInfo& info) const {
  if (!expand) {
    if (!algorithms.empty() || !table.empty() || !profile.empty() || reduction_ns_per_byte != 0) {
      throw InputError("--algorithm, --profile, --table and --reduction do nothing without --expand");
    }
    return graph;
  }
  goal::CollectiveChoices choices;
  choices.table = table;
  const auto [usual, why] = profile_of(info);
  choices.profile = profile.empty() ? usual : profile;
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
  if (profile.empty() && asks_profile(graph, choices)) {
    log::warn(
        fmt::format("algorithms of collectives by the profile {}, {}; --profile says other", usual, why));
  }
  goal::CollectiveSelection selection(choices);
  selection.know_groups(graph.facts());
  return goal::expand_collectives(graph, selection, {.reduction_ns_per_byte = reduction_ns_per_byte});
}

}  // namespace weft::cli
