#include "goal/transform/references.h"

#include <algorithm>
#include <string>
#include <vector>

#include "goal/graph/communicator_places.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// Words for what is wrong, or "".
std::string wrong_in(const Collective& collective, std::uint32_t size) {
  if (has_root(collective.kind) && collective.root >= size) return "a root that is no member";
  const bool neighbors = is_of_neighbors(collective.kind);
  const auto fits = [&](const std::vector<std::uint64_t>& counts, std::size_t of_neighbors) {
    return counts.empty() || counts.size() == (neighbors ? of_neighbors : size);
  };
  if (!fits(collective.counts, collective.destinations.size()) ||
      !fits(collective.receive_counts, collective.sources.size())) {
    return "another number of block sizes than of ranks";
  }
  const auto outside = [&](std::uint32_t rank) { return rank >= size; };
  if (std::ranges::any_of(collective.destinations, outside) ||
      std::ranges::any_of(collective.sources, outside)) {
    return "a neighbor that is no member";
  }
  return "";
}

std::string wrong_in(const Graph& graph, const CommunicatorPlaces& places, Rank rank, const Op& op) {
  if (op.kind == OpKind::kCalc) return "";
  if (op.comm >= graph.communicators().size()) return "a communicator that does not exist";
  if (places.position(op.comm, rank) == kAny) return "a communicator that it is no member of";
  if (op.kind == OpKind::kCollective) {
    return wrong_in(graph.collectives()[op.peer], graph.communicator_size(op.comm));
  }
  if (op.peer == kAny) return "";
  if (op.peer >= graph.ranks()) return "a peer that does not exist";
  return places.position(op.comm, op.peer) == kAny ? "a peer that is no member of the communicator" : "";
}

}  // namespace

void require_references(const Graph& graph, const char* what) {
  for (const Communicator& communicator : graph.communicators()) {
    const auto outside = [&](Rank rank) { return rank >= graph.ranks(); };
    if (std::ranges::any_of(communicator.ranks, outside)) {
      throw InputError(std::string(what) + ": communicator '" + communicator.name +
                       "' has a member that does not exist; see weft goal check");
    }
  }
  const CommunicatorPlaces places(graph);
  for (Rank r = 0; r < graph.ranks(); ++r) {
    for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
      const std::string wrong = wrong_in(graph, places, r, graph.rank(r).op(i));
      if (wrong.empty()) continue;
      throw InputError(std::string(what) + ": operation " + std::to_string(i) + " of rank " +
                       std::to_string(r) + " has " + wrong + "; see weft goal check");
    }
  }
}

}  // namespace weft::goal
