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
  if (event.kind == kMessageReady && look == 0) {
    __builtin_prefetch(&held_[event.payload]);
    __builtin_prefetch(reinterpret_cast<const char*>(&held_[event.payload]) + 64);
  }
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
  const auto& word = message.client;
  const std::uint32_t local = local_[word[kDestinationRank]];
  const RankState& rank = ranks_[local];
  const bool is_collective = (word[kContextAndKind] & kCollectiveContext) != 0;
  if (look == 0) {
    __builtin_prefetch(&rank);
    if (trails_) trails_->expect_message(message);
    if (!has_wildcards_ && !is_collective) __builtin_prefetch(&tables_[local], 1);
    return;
  }
  if (is_collective) {
    if (rank.first_active == kNone) return;
    const Active& active = actives_[rank.first_active];
    if (!is_indexed(active)) {
      if (look == 2) __builtin_prefetch(&lanes_[active.first_lane], 1);
      return;
    }
    if (look == 1) return open_receives_.prefetch(rank.first_active, word[kNumber]);
    const std::uint32_t lane = open_receives_.lane(rank.first_active, word[kNumber]);
    if (lane < OpenReceives::kSeveral) return __builtin_prefetch(&lanes_[lane], 1);
    early_.prefetch({local, word[kReceiverTask], word[kTag],
                     word[kContextAndKind] & kContextMask & ~kCollectiveContext, word[kNumber]});
    return;
  }
  if (has_wildcards_) return;
  // This is the key of eager messages; of others it is one that nobody waits for.
  const MatchTable& table = tables_[local];
  const MatchTable::Key key{word[kSourceRank], word[kTag], word[kContextAndKind]};
  if (look == 1 && table.has_far()) return table.prefetch(key);
  if (look == 2 && !table.has_far()) return;  // it was found with the first look
  const MatchTable::Entry* entry = table.find(key);
  if (entry == nullptr || entry->of_messages) return;
  __builtin_prefetch(rank.view.record(entry->last));
  __builtin_prefetch(rank.words + entry->last, 1);
}

}  // namespace weft::sim
