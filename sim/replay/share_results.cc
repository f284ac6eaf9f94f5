// What a share tells of itself.
#include <algorithm>

#include "sim/replay/share.h"

namespace weft::sim {

void ReplayShare::keep_trails(TrailRecords& records, const CommunicationClasses& classes) {
  const Trails::Setting setting{
      records, classes, plan_.local, hosts_.nic_per_byte, hosts_.longest_latency, plan_.place.start};
  trails_ = std::make_unique<Trails>(setting, cpus_.size(), ranks_.size());
  departures_.keep_trails(*trails_);
  cpu_work_.keep_trails(*trails_);
  work_.keep_trails(*trails_);
  handshakes_.keep_trails(*trails_);
  collectives_.keep_trails(*trails_);
}

void ReplayShare::set_tap(TimelineTap& tap) {
  cpu_work_.set_tap(tap);
  handshakes_.set_tap(tap);
}

std::uint64_t ReplayShare::memory_bytes() const {
  std::uint64_t bytes = progress_.memory_bytes() + ranks_.capacity() * sizeof(RankState) +
                        cpus_.memory_bytes() + tasks_.memory_bytes() + point_to_point_.memory_bytes() +
                        open_.memory_bytes() + collectives_.memory_bytes() + held_.memory_bytes();
  if (trails_) bytes += trails_->memory_bytes();
  if (overlap_) bytes += overlap_->memory_bytes();
  return bytes;
}

bool ReplayShare::at_rest() const { return progress_.have_all_begun() && cpus_.are_idle(); }

ReplayTotals ReplayShare::totals() const {
  ReplayTotals totals{.ops = progress_.ops(),
                      .executed_ops = executed_ops(),
                      .bytes = work_.bytes_sent(),
                      .unreceived = unreceived(),
                      .makespan = {}};
  for (const RankState& state : ranks_) {
    totals.messages += state.messages_sent;
    totals.makespan = std::max(totals.makespan, state.finish);
  }
  return totals;
}

results::Rank ReplayShare::result(std::uint32_t rank) const {
  const RankState& state = ranks_[local_[rank]];
  results::Rank row;
  row.rank = rank;
  row.host = plan_.host_of(rank);
  row.finish = state.finish;
  row.compute = state.compute;
  row.overhead = state.overhead;
  for (std::uint32_t cpu = 0; overlap_ && cpu < state.cpus; ++cpu) {
    row.slowed += overlap_->lost_by(state.first_cpu + cpu);
  }
  // Work after the last operation that finished (in a replay that stopped short) is no part of the finish.
  const __int128 waiting =
      static_cast<__int128>(std::max(state.finish - plan_.place.start, Time()).ps()) * state.cpus -
      (state.compute + state.overhead).ps();
  row.waiting = Time::ps(static_cast<std::int64_t>(std::clamp<__int128>(waiting, 0, Time::max().ps())));
  row.messages_sent = state.messages_sent;
  row.messages_received = state.messages_received;
  row.bytes_sent = state.bytes_sent;
  row.bytes_received = state.bytes_received;
  row.ops = state.ops_done;
  return row;
}

}  // namespace weft::sim
