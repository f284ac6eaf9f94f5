#include "sim/packet/message_rows.h"

#include <algorithm>

namespace weft::sim::packet {

MessageRows::MessageRows(std::vector<DeliveredMessage> delivered) {
  std::sort(delivered.begin(), delivered.end(), [](const auto& a, const auto& b) {
    return std::tie(a.record.start, a.record.source, a.number) <
           std::tie(b.record.start, b.record.source, b.number);
  });
  rows_.reserve(delivered.size());
  places_.reserve(delivered.size());
  for (const DeliveredMessage& message : delivered) {
    places_.emplace_back(message.record.source, message.number, static_cast<std::uint32_t>(rows_.size()));
    rows_.push_back(message.record);
  }
  std::sort(places_.begin(), places_.end());
}

void MessageRows::add_sent(std::span<const SentMessage> sent) {
  for (const SentMessage& message : sent) {
    const auto found =
        std::lower_bound(places_.begin(), places_.end(), Place(message.source, message.number, 0));
    if (found == places_.end() || std::get<0>(*found) != message.source ||
        std::get<1>(*found) != message.number) {
      continue;
    }
    results::Flow& row = rows_[std::get<2>(*found)];
    row.packets = message.packets;
    row.retransmissions = message.retransmissions;
  }
}

}  // namespace weft::sim::packet
