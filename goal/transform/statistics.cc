#include "goal/transform/statistics.h"

#include <algorithm>
#include <bit>

namespace weft::goal {
namespace {

void count_rank(const Graph& graph, Rank r, Statistics& result, std::array<SizeBin, 65>& bins) {
  const RankView rank = graph.rank(r);
  double calc_ns = 0;
  std::vector<std::pair<Rank, std::uint64_t>> sends;
  for (OpIndex i = 0; i < rank.ops(); ++i) {
    const OpKind kind = rank.kind(i);
    ++result.ops[static_cast<std::size_t>(kind)];
    if (kind == OpKind::kCalc) calc_ns += static_cast<double>(rank.value(i));
    if (kind == OpKind::kCollective) {
      ++result.collectives[static_cast<std::size_t>(rank.collective(i).kind)];
    }
    if (kind != OpKind::kSend) continue;
    sends.emplace_back(rank.peer(i), rank.value(i));
    SizeBin& bin = bins[static_cast<std::size_t>(std::bit_width(rank.value(i)))];
    ++bin.messages;
    bin.bytes += static_cast<double>(rank.value(i));
  }
  result.calc_ns += calc_ns;
  result.rank_calc_ns.push_back(calc_ns);
  std::sort(sends.begin(), sends.end());
  for (const auto& [to, bytes] : sends) {
    if (result.exchanges.empty() || result.exchanges.back().from != r || result.exchanges.back().to != to) {
      result.exchanges.push_back({r, to});
    }
    ++result.exchanges.back().messages;
    result.exchanges.back().bytes += static_cast<double>(bytes);
    result.bytes += static_cast<double>(bytes);
  }
  result.messages += sends.size();
}

}  // namespace

Statistics statistics(const Graph& graph) {
  Statistics result;
  std::array<SizeBin, 65> bins{};  // by the number of bits of the size
  for (Rank r = 0; r < graph.ranks(); ++r) count_rank(graph, r, result, bins);
  for (std::size_t bits = 0; bits < bins.size(); ++bits) {
    if (bins[bits].messages == 0) continue;
    bins[bits].from = bits == 0 ? 0 : 1ULL << (bits - 1);
    result.sizes.push_back(bins[bits]);
  }
  {
    const IdealSchedule schedule = ideal_schedule(graph);
    result.complete = schedule.unfinished == 0;
    if (!result.complete) return result;
    result.makespan_ns = schedule.makespan_ns;
    result.path = critical_path(graph, schedule);
  }
  result.longest_chain = ideal_schedule(graph, {.message_ns = 1, .calc = false}).makespan_ns;
  return result;
}

}  // namespace weft::goal
