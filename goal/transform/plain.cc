#include "goal/transform/plain.h"

#include <algorithm>
#include <string>
#include <utility>

#include "goal/transform/copy.h"
#include "goal/transform/ideal_schedule.h"
#include "goal/transform/wildcards.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kTags = 1ULL << 31;

bool is_message(OpKind kind) { return kind == OpKind::kSend || kind == OpKind::kRecv; }

// What the messages of a graph use.
struct Usage {
  std::vector<bool> comms;  // by number
  bool several = false;     // communicators
  bool any_tag = false;
};

Usage usage_of(const Graph& graph) {
  Usage usage{.comms = std::vector<bool>(graph.communicators().size(), false)};
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) == OpKind::kCollective) {
        throw InputError("operation " + std::to_string(i) + " of rank " + std::to_string(r) +
                         " is a collective, which plain GOAL does not have; spell collectives out first "
                         "(--expand)");
      }
      if (!is_message(rank.kind(i))) continue;
      usage.comms[rank.comm(i)] = true;
      usage.any_tag = usage.any_tag || rank.tag(i) == kAny;
    }
  }
  usage.several = std::count(usage.comms.begin(), usage.comms.end(), true) > 1;
  return usage;
}

}  // namespace

Graph fold_communicators(const Graph& graph, std::vector<Anomaly>* anomalies) {
  const Usage usage = usage_of(graph);
  const bool bind = usage.several && usage.any_tag;
  const OpPlaces places(graph);
  const IdealSchedule schedule = bind ? ideal_schedule(graph) : IdealSchedule();
  const auto tag_of = [&](Rank r, OpIndex i) {
    return bind ? bind_wildcards(graph, places, schedule, r, i).tag : graph.rank(r).tag(i);
  };

  const auto stays = [&](std::uint32_t comm, std::uint32_t tag) {
    return tag == kAny || ((comm == kWorld || !usage.several) && tag != kUnnamedTag);
  };
  std::uint64_t in_world = 0;                                   // tags that stay
  std::vector<std::pair<std::uint32_t, std::uint32_t>> others;  // (communicator, tag) beside the world
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (!is_message(rank.kind(i))) continue;
      const std::uint32_t tag = tag_of(r, i);
      if (tag == kAny) continue;
      if (stays(rank.comm(i), tag)) {
        in_world = std::max<std::uint64_t>(in_world, std::uint64_t{tag} + 1);
      } else if (others.empty() || others.back() != std::pair(rank.comm(i), tag)) {
        others.emplace_back(rank.comm(i), tag);
      }
    }
  }
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  const std::uint64_t highest = in_world + others.size();
  if (highest > kTags) {
    throw InputError("the graph needs tags up to " + std::to_string(highest - 1) +
                     "; plain GOAL has them up to 2^31 - 1");
  }

  GraphBuilder builder;
  builder.reserve(graph.ops(), graph.edges());
  std::uint64_t bound = 0, synchronous = 0;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    copy_rank(graph.rank(r), {}, builder, [&](OpIndex i, Op& op) {
      if (!is_message(op.kind)) return;
      const std::uint32_t tag = tag_of(r, i);
      bound += tag != op.tag;
      op.tag = tag;
      if (!stays(op.comm, tag)) {
        const auto found = std::lower_bound(others.begin(), others.end(), std::pair(op.comm, tag));
        op.tag = static_cast<std::uint32_t>(in_world + static_cast<std::uint64_t>(found - others.begin()));
      }
      op.comm = kWorld;
      synchronous += op.kind.synchronous();
      op.kind = OpKind(op.kind);
    });
  }
  if (synchronous > 0 && anomalies != nullptr) {
    anomalies->push_back(
        {"synchronous_sends_lost", Severity::kWarning,
         "Synchronous sends (MPI_Ssend) became standard ones, which plain GOAL has alone: small "
         "ones no longer wait for their receive.",
         synchronous});
  }
  if (bound > 0 && anomalies != nullptr) {
    anomalies->push_back({"tags_bound", Severity::kWarning,
                          "Sends and receives of any tag got the tag of an ideal run, as they would take "
                          "messages of other communicators.",
                          bound});
  }
  return builder.finish();
}

}  // namespace weft::goal
