// What groups of hosts send to each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sim/routing/paths/host_groups.h"
#include "topologies/analysis/demands.h"

namespace weft::routing {

class GroupTraffic {
 public:
  struct Rate {
    std::uint32_t group = 0;
    double bps = 0;
  };

  GroupTraffic(const topologies::HostTraffic& traffic, const HostGroups& groups)
      : traffic_(traffic),
        sent_(traffic.weight.size()),
        received_(sent_),
        weight_(groups.size()),
        own_(groups.size()) {
    if (!traffic.weight.empty()) {
      const double all = std::accumulate(traffic.weight.begin(), traffic.weight.end(), 0.0);
      for (std::uint32_t h = 0; h < sent_.size(); ++h) {
        const double weight = traffic.weight[h];
        sent_[h] = received_[h] = weight * (all - weight);
        weight_[groups.of(h)] += weight;
        own_[groups.of(h)] += weight * weight;
      }
      return;
    }
    weight_.clear();
    rows_.resize(groups.size());
    for (const topologies::MatrixEntry& entry : traffic.entries) {
      const std::uint32_t most = std::max(entry.from, entry.to);
      if (most >= sent_.size()) sent_.resize(most + 1), received_.resize(most + 1);
      sent_[entry.from] += entry.weight;
      received_[entry.to] += entry.weight;
      rows_[groups.of(entry.to)].push_back({groups.of(entry.from), entry.weight});
    }
    for (std::vector<Rate>& row : rows_) merge(row);
  }

  // Both count all that a host sends or receives.
  double sent(std::uint32_t host) const { return host < sent_.size() ? sent_[host] : 0; }
  double received(std::uint32_t host) const { return host < received_.size() ? received_[host] : 0; }
  // Who sends to a group.
  const topologies::HostTraffic& hosts() const { return traffic_; }
  void to(std::uint32_t group, std::vector<Rate>& rates) const {
    if (weight_.empty()) {
      rates = rows_[group];
      return;
    }
    rates.clear();
    for (std::uint32_t s = 0; s < weight_.size(); ++s) {
      const double bps = weight_[s] * weight_[group] - (s == group ? own_[s] : 0);
      if (bps > 0) rates.push_back({s, bps});
    }
  }

 private:
  static void merge(std::vector<Rate>& row) {
    std::stable_sort(row.begin(), row.end(), [](const Rate& a, const Rate& b) { return a.group < b.group; });
    std::size_t count = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (count > 0 && row[count - 1].group == row[i].group) {
        row[count - 1].bps += row[i].bps;
      } else {
        row[count++] = row[i];
      }
    }
    row.resize(count);
  }

  const topologies::HostTraffic& traffic_;
  std::vector<double> sent_, received_;  // by host
  std::vector<double> weight_, own_;     // of a product, by group: of its hosts; their squares
  std::vector<std::vector<Rate>> rows_;  // of others, by destination
};

}  // namespace weft::routing
