#include "goal/import/training_steps/rank_steps.h"

#include <algorithm>

namespace weft::goal {

void RankSteps::wait(Event event) {
  if (event == kNothing) return;
  if (pending_ns_ > 0) computed();
  if (std::find(waits_.begin(), waits_.end(), event) == waits_.end()) waits_.push_back(event);
}

RankSteps::Event RankSteps::computed() {
  if (pending_ns_ == 0 && waits_.empty()) return last_computed_;
  const OpIndex calc = builder_.add_calc(pending_ns_);
  for (const Event event : waits_) builder_.add_edge(event, calc);
  pending_ns_ = 0;
  waits_.clear();
  if (last_computed_ != kNothing) builder_.add_edge(last_computed_, calc);
  return last_computed_ = calc;
}

RankSteps::Event RankSteps::chained(OpIndex op, Event& last) {
  if (last_computed_ != kNothing) builder_.add_edge(last_computed_, op);
  if (last != kNothing) builder_.add_edge(last, op);
  return last = op;
}

RankSteps::Event RankSteps::collective(TrainingAxis axis, const Collective& collective) {
  computed();
  const auto at = static_cast<std::size_t>(axis);
  if (cpus_[at] == 0) cpus_[at] = new_cpu();
  return chained(builder_.add_collective(collective, cpus_[at]), last_[at]);
}

RankSteps::Event RankSteps::message(OpKind kind, std::uint64_t bytes, Rank peer, std::uint32_t tag) {
  computed();
  auto found = std::find_if(peers_.begin(), peers_.end(),
                            [&](const Peer& one) { return one.rank == peer && one.kind == kind; });
  if (found == peers_.end()) found = peers_.insert(found, {peer, kind, new_cpu(), kNothing});
  return chained(builder_.add({.kind = kind, .cpu = found->cpu, .peer = peer, .tag = tag, .value = bytes}),
                 found->last);
}

RankSteps::Event RankSteps::after(Event event, std::uint64_t ns) {
  if (ns == 0 || event == kNothing) return event;
  if (delay_cpu_ == 0) delay_cpu_ = new_cpu();
  const OpIndex calc = builder_.add_calc(ns, delay_cpu_);
  builder_.add_edge(event, calc);
  return calc;
}

OpIndex RankSteps::end() {
  computed();
  const OpIndex ops = builder_.ops_in_rank();
  builder_.end_rank();
  return ops;
}

}  // namespace weft::goal
