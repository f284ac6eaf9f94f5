#include "goal/import/mpi/partitioned_channels.h"

namespace weft::goal {

using trace::Function;
using trace::Shape;

void PartitionedChannels::add(std::uint32_t rank, const TraceRecord& record,
                              const std::vector<TraceCommunicator>& known) {
  if (rank != rank_) {
    rank_ = rank;
    sends_.clear();
  }
  if (record.error != 0) return;
  if (trace::function_info(record.function).shape == Shape::kReady) {
    const auto found = sends_.find(record.request);
    if (found == sends_.end()) return;
    PartitionedChannel& channel = pairs_[found->second.pair].channels[found->second.channel];
    for (const std::uint32_t partition : record.ready) ++channel.ready[partition];
    return;
  }
  if (record.function != Function::kPsend_init || record.peer < 0 || record.comm >= known.size()) return;
  const Pair pair{known[record.comm].key, rank, static_cast<std::uint32_t>(record.peer)};
  Between& between = pairs_[pair];
  PartitionedChannel channel{
      .tag = record.tag, .partitions = record.partitions, .bytes = record.bytes(), .ready = {}};
  if (!between.channels.empty()) {
    channel.first = between.channels.back().first + between.channels.back().partitions;
  }
  between.of_tag[record.tag].push_back(between.channels.size());
  sends_[record.request] = {pair, between.channels.size()};
  between.channels.push_back(std::move(channel));
}

const PartitionedChannel* PartitionedChannels::next(bool sends, std::uint64_t comm_key, std::uint32_t from,
                                                    std::uint32_t to, std::int32_t tag) {
  const auto found = pairs_.find({comm_key, from, to});
  if (found == pairs_.end()) return nullptr;
  Between& between = found->second;
  const std::vector<std::size_t>& places = between.of_tag[tag];
  std::size_t& asked = between.asked[sends ? 1 : 0][tag];
  return asked < places.size() ? &between.channels[places[asked++]] : nullptr;
}

}  // namespace weft::goal
