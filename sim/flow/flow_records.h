// What is known of messages that were delivered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/results/records.h"

namespace weft::sim::flow {

class FlowRecords {
 public:
  // `keep_each`: a record of each message, not only what they come to together.
  explicit FlowRecords(bool keep_each) : keep_each_(keep_each) {}

  // `number`: among the messages of its source.
  void add(std::uint32_t number, const results::Flow& record) {
    ++totals_.messages;
    totals_.bytes += record.bytes;
    statistics_.add(record);
    if (keep_each_) delivered_.emplace_back(number, record);
  }

  const results::NetworkTotals& totals() const { return totals_; }  // of payload
  const results::FlowStatistics& statistics() const { return statistics_; }
  // In the order in which they began.
  std::vector<results::Flow> flows() const {
    auto sorted = delivered_;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::tie(a.second.start, a.second.source, a.first) <
             std::tie(b.second.start, b.second.source, b.first);
    });
    std::vector<results::Flow> rows;
    rows.reserve(sorted.size());
    for (const auto& [number, flow] : sorted) rows.push_back(flow);
    return rows;
  }

 private:
  const bool keep_each_;
  results::NetworkTotals totals_;
  results::FlowStatistics statistics_;
  std::vector<std::pair<std::uint32_t, results::Flow>> delivered_;  // with the number among the source's
};

}  // namespace weft::sim::flow
