#include "goal/workload/llm/emitter.h"

#include <algorithm>
#include <cmath>

namespace weft::goal::llm {

void Emitter::wait(Event event) {
  if (event == kNothing) return;
  if (pending_ns_[stream_] > 0) computed();
  std::vector<Event>& waits = waits_[stream_];
  if (std::find(waits.begin(), waits.end(), event) == waits.end()) waits.push_back(event);
}

Event Emitter::computed() {
  Event& last = last_[slot(Chain::kCompute)];
  double& pending = pending_ns_[stream_];
  std::vector<Event>& waits = waits_[stream_];
  if (pending == 0 && waits.empty()) return last;
  const Op op{.kind = OpKind::kCalc, .value = static_cast<std::uint64_t>(std::llround(pending))};
  if (builder_ != nullptr) builder_->add(op);
  const OpIndex calc = ops_in_rank_++;
  for (const Event event : waits) edge(event, calc);
  edge(last, calc);
  last = calc;
  pending = 0;
  waits.clear();
  return last;
}

void Emitter::fork() {
  computed();
  std::copy_n(last_.begin(), kChains, last_.begin() + kChains);
}

void Emitter::join() {
  stream(1);
  const Event beside = computed();
  stream(0);
  if (beside != computed()) wait(beside);
}

Event Emitter::collective(Chain chain, const Collective& collective, Event after) {
  if (builder_ != nullptr) builder_->add_collective(collective, cpu(chain));
  return chained(chain, ops_in_rank_++, after);
}

Event Emitter::send(Chain chain, std::uint64_t bytes, Rank to, std::uint32_t tag, std::uint32_t comm,
                    Event after) {
  return message(chain, OpKind::kSend, bytes, to, tag, comm, after);
}

Event Emitter::receive(Chain chain, std::uint64_t bytes, Rank from, std::uint32_t tag, std::uint32_t comm,
                       Event after) {
  return message(chain, OpKind::kRecv, bytes, from, tag, comm, after);
}

Event Emitter::message(Chain chain, OpKind kind, std::uint64_t bytes, Rank peer, std::uint32_t tag,
                       std::uint32_t comm, Event after) {
  if (builder_ != nullptr) {
    builder_->add({.kind = kind, .cpu = cpu(chain), .peer = peer, .tag = tag, .comm = comm, .value = bytes});
  }
  return chained(chain, ops_in_rank_++, after);
}

Event Emitter::chained(Chain chain, OpIndex op, Event after) {
  Event& last = last_[slot(chain)];
  edge(last, op);
  if (after != last) edge(after, op);
  last = op;
  return op;
}

void Emitter::edge(Event first, OpIndex dependent) {
  if (first == kNothing) return;
  if (builder_ != nullptr) builder_->add_edge(first, dependent);
  ++edges_;
}

void Emitter::end_rank() {
  computed();
  if (builder_ != nullptr) builder_->end_rank();
  ops_ += ops_in_rank_;
  ops_in_rank_ = 0;
  last_.fill(kNothing);
}

}  // namespace weft::goal::llm
