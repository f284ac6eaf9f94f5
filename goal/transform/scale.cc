#include "goal/transform/scale.h"

#include <cmath>

#include "goal/transform/copy.h"
#include "sim/units/input_error.h"

namespace weft::goal {

std::uint64_t scaled_ns(std::uint64_t value, double factor) {
  if (factor == 1) return value;
  const long double product = static_cast<long double>(value) * static_cast<long double>(factor);
  if (product > 0x1p62L) {
    throw InputError("a calc of " + std::to_string(value) + " ns, made " + std::to_string(factor) +
                     " times as long, is longer than 2^62 ns");
  }
  return static_cast<std::uint64_t>(std::floor(product + 0.5L));
}

std::uint64_t count_calcs(const Graph& graph, const std::optional<RankList>& ranks,
                          std::optional<std::uint16_t> cpu) {
  std::uint64_t count = 0;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    if (ranks && !ranks->contains(r)) continue;
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      count += rank.kind(i) == OpKind::kCalc && (!cpu || rank.cpu(i) == *cpu);
    }
  }
  return count;
}

Graph scale(const Graph& graph, std::span<const ScaleRule> rules) {
  for (const ScaleRule& rule : rules) {
    if (!std::isfinite(rule.factor) || rule.factor < 0) {
      throw InputError("scale: a factor must be a number of at least 0, not " + std::to_string(rule.factor));
    }
  }
  return copy_graph(graph, [&](Rank rank, OpIndex, Op& op) {
    if (op.kind != OpKind::kCalc) return;
    for (const ScaleRule& rule : rules) {
      if (rule.cpu && *rule.cpu != op.cpu) continue;
      if (rule.ranks && !rule.ranks->contains(rank)) continue;
      op.value = scaled_ns(op.value, rule.factor);
    }
  });
}

}  // namespace weft::goal
