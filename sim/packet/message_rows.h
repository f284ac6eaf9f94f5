// The rows of messages in a run's results: what their receivers know, and what their senders know beside
// that.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/packet/hosts.h"
#include "sim/results/flow.h"

namespace weft::sim::packet {

// Those that were delivered, by start, source and number.
class MessageRows {
 public:
  explicit MessageRows(std::vector<DeliveredMessage> delivered);

  // Fills in what the senders of one partition know; messages that haven't been delivered are left out.
  void add_sent(std::span<const SentMessage> sent);
  std::vector<results::Flow> take() { return std::move(rows_); }

 private:
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // source, number, index of the row

  std::vector<results::Flow> rows_;
  // Sorted. Of a run that was stopped, many more are sent than there are rows.
  std::vector<Place> places_;
};

}  // namespace weft::sim::packet
