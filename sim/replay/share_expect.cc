// What a share fetches into the cache before the events that need it.
#include "sim/replay/share.h"

namespace weft::sim {

void ReplayShare::expect(const Event& event, int look) const {
  if (event.kind == kLaneDone) {
    const Lane& lane = lanes_[event.payload];
    if (look == 0) __builtin_prefetch(&lane, 1);
    if (look == 1) __builtin_prefetch(lane.steps.data(), 1);
    return;
  }
  if (event.kind == kMessageReady && look == 0) held_.prefetch(event.payload);
  if (event.kind != kCpuDone) return;
  const RankState& rank = ranks_[local_[event.source - first_entity_]];
  const Cpu& cpu = cpus_[event.payload];
  if (look == 0) {
    __builtin_prefetch(&rank, 1);
    __builtin_prefetch(&rank.finish, 1);
    __builtin_prefetch(&cpu, 1);
    if (trails_) trails_->expect_cpu(event.payload);
    return;
  }
  if (look == 2 && cpu.head < kTask) {  // the operation that the cpu takes up then
    __builtin_prefetch(rank.view.record(cpu.head));
    __builtin_prefetch(rank.words + cpu.head, 1);
  }
  if (cpu.current == kNone) return;
  if ((cpu.current & kTask) != 0) {
    const Task& task = tasks_[cpu.current & ~kTask];
    if (look == 1) __builtin_prefetch(&task, 1);
    if (look == 2 && task.lane != kNone) __builtin_prefetch(&lanes_[task.lane], 1);
    return;
  }
  if (look == 1) {
    __builtin_prefetch(rank.view.record(cpu.current));
    __builtin_prefetch(rank.words + cpu.current, 1);
    return;
  }
  __builtin_prefetch(rank.view.dependents(cpu.current).data());
  // What comes next is mostly stored next.
  __builtin_prefetch(rank.view.dependents(cpu.current).data() + 4);
  __builtin_prefetch(rank.view.record(cpu.current) + 2);
  __builtin_prefetch(rank.view.record(cpu.current) + 4);
  __builtin_prefetch(rank.words + cpu.current + 4, 1);
}

void ReplayShare::expect(const Message& message, int look) const {
  const std::uint32_t local = local_[wire::ends_of(message).destination];
  const RankState& rank = ranks_[local];
  const bool is_collective = wire::is_of_collective(message);
  if (look == 0) {
    __builtin_prefetch(&rank);
    if (trails_) trails_->expect_message(message);
    if (!is_collective) user_messages_.expect(local);
    return;
  }
  if (is_collective) {
    if (rank.first_active == kNone) return;
    const auto first = wire::FirstOfStep::decode(message);
    const Active& active = actives_[rank.first_active];
    if (!is_indexed(active)) {
      if (look == 2) __builtin_prefetch(&lanes_[active.first_lane], 1);
      return;
    }
    if (look == 1) return open_receives_.prefetch(rank.first_active, first.tag);
    const std::uint32_t lane = open_receives_.lane(rank.first_active, first.tag);
    if (lane < OpenReceives::kSeveral) return __builtin_prefetch(&lanes_[lane], 1);
    return early_.prefetch({local, first.place, first.collective, first.communicator, first.tag});
  }
  if (wire::kind_of(message) != wire::Kind::kEager) return;
  const auto first = wire::FirstOfSend::decode(message);
  const std::uint32_t receive =
      user_messages_.expect(local, {first.ends.source, first.tag, first.communicator}, look);
  if (receive == kNone) return;
  __builtin_prefetch(rank.view.record(receive));
  __builtin_prefetch(rank.words + receive, 1);
}

}  // namespace weft::sim
