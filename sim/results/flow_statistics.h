// What is said of all messages of a run together.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/results/distribution.h"
#include "sim/results/flow.h"
#include "sim/units/quantity.h"

namespace weft::results {

// What hosts sent and received, of a part of the messages that few of many hosts have to do with: memory
// follows these, not the highest number.
class HostTally {
 public:
  struct Host {
    std::uint64_t bytes_sent = 0, bytes_received = 0;  // of users
    std::uint64_t flows_sent = 0, flows_received = 0;
    Host& operator+=(const Host& other);
  };

  // A message that was delivered, from one host to another.
  void add(const Flow& flow);
  // Calls visit(host, Host) for each, in no order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.host != kNobody) visit(entry.host, entry.sums);
    }
  }

 private:
  static constexpr std::uint32_t kNobody = 0xFFFFFFFFu;
  struct Entry {
    std::uint32_t host = kNobody;
    Host sums;
  };

  Host& of(std::uint32_t host);
  Entry& place(std::uint32_t host);
  void grow();

  std::vector<Entry> entries_;  // open addressing; a power of two, at most two thirds full
  std::size_t used_ = 0;
};

// How long messages took and how much arrived where. Counted as they are delivered, in memory that grows with
// the hosts, never with the messages; parts counted apart can be merged, and no order makes a difference.
// Messages within one host are left out: no network carries them.
class FlowStatistics {
 public:
  // Flow completion times, in picoseconds, and the same as multiples of Flow::ideal in units of
  // 1 / kSlowdownUnit, of the flows that have one.
  struct Times {
    Distribution completion, slowdown;
  };
  static constexpr std::uint64_t kSlowdownUnit = 1 << 20;
  // Classes of messages by size: up to so many bytes, and the rest.
  static constexpr std::array<std::uint64_t, 5> kClassBytes = {10'000, 100'000, 1'000'000, 10'000'000,
                                                               UINT64_MAX};
  using Host = HostTally::Host;

  // A message that was delivered.
  void add(const Flow& flow);
  void merge(const FlowStatistics& other);
  // These do what add() does in two steps: what is told by hosts is added at the end, all at once.
  void add_but_hosts(const Flow& flow);
  void add_hosts(const HostTally& tally);

  const Times& all() const { return all_; }
  const Times& of_class(std::size_t index) const { return classes_[index]; }
  const Distribution& sizes() const { return sizes_; }  // in bytes of users
  std::uint64_t bytes() const { return bytes_; }
  // By number, up to the last that sent or received.
  const std::vector<Host>& hosts() const { return hosts_; }

 private:
  Times all_;
  std::array<Times, kClassBytes.size()> classes_;
  Distribution sizes_;
  Host& host(std::uint32_t number) {
    if (number >= hosts_.size()) hosts_.resize(std::size_t{number} + 1);
    return hosts_[number];
  }

  std::vector<Host> hosts_;
  std::uint64_t bytes_ = 0;
};

// What hosts that received anything got, over the whole run.
struct HostGoodput {
  std::uint64_t receivers = 0;
  double mean_bps = 0, least_bps = 0, most_bps = 0;
};
HostGoodput host_goodput(const FlowStatistics& flows, Time makespan);

// User bytes over time, in bits per second; 0 if no time passed.
inline double goodput_bps(std::uint64_t bytes, Time time) {
  return time > Time() ? 8.0 * static_cast<double>(bytes) / time.seconds() : 0;
}

}  // namespace weft::results
