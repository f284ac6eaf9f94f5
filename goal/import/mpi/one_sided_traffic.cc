#include "goal/import/mpi/one_sided_traffic.h"

#include <algorithm>

namespace weft::goal {

using trace::Shape;

void OneSidedTraffic::collect() {
  if (collected_) return;
  collected_ = true;
  targets_.resize(world_size_);
  collect_(*this);
  epochs_.reset();
}

OneSidedTraffic::AtTarget& OneSidedTraffic::at(std::uint32_t rank) {
  collect();
  return targets_[rank];
}

PartitionedChannels& OneSidedTraffic::partitioned() {
  collect();
  return partitioned_;
}

void OneSidedTraffic::add(std::uint32_t rank, const TraceRecord& record,
                          const std::vector<TraceCommunicator>& known) {
  if (!epochs_ || rank != rank_) {
    rank_ = rank;
    epochs_.emplace(rank, world_size_);
  }
  const std::uint32_t thread = std::min(record.thread, 0xFFFEu);
  targets_[rank].threads = std::max(targets_[rank].threads, static_cast<std::uint16_t>(thread + 1));
  partitioned_.add(rank, record, known);
  if (record.error != 0) return;
  AccessEpochs& epochs = *epochs_;
  epochs.add(record, known);
  const AccessWindow* const window = epochs.window(record.window);
  if (window == nullptr) return;
  const auto arrives = [&](std::int32_t target, const MeetingPoint& point, const Arrival& arrival) {
    if (target < 0 || static_cast<std::uint32_t>(target) >= world_size_) return;
    targets_[static_cast<std::uint32_t>(target)].arrivals[point].push_back(arrival);
  };
  if (epochs.meeting()) {
    arrives(record.peer, *epochs.meeting(),
            {.window = window->key,
             .bytes = record.bytes_out,
             .wanted = record.bytes_in,
             .origin = rank,
             .kind = record.bytes_in > 0 ? Arrival::Kind::kRequest : Arrival::Kind::kPut,
             .passive = epochs.passive()});
  }
  for (const AccessEpochs::Acknowledgement& wanted : epochs.acknowledgements()) {
    arrives(wanted.target, wanted.meeting,
            {.window = window->key, .origin = rank, .kind = Arrival::Kind::kFlush});
  }
}

}  // namespace weft::goal
