// The shortest time in which a message can be there whose packets take different paths.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/packet/channels.h"

namespace weft::sim::packet {

// One partition's, as it remembers what it has found.
class LeastTimes {
 public:
  explicit LeastTimes(const Channels& channels) : channels_(channels) {}

  // No message can be there sooner whose packets leave by any of these NICs and take any shortest path, of
  // `hops` links: all that is sent has to leave them, and to pass the links of each step of these paths, and
  // what leaves last has the quickest of them before it. `packet_bytes`: of all packets but the last, on the
  // wire.
  Time one_way(std::span<const ChannelId> nic_channels, HostId destination_host, std::uint32_t hops,
               std::uint32_t packet_bytes, std::uint32_t packets, std::uint32_t last_bytes);
  // Gives how much longer so many bytes take on all shortest paths together at the rates of the moment than
  // at those that links were built with; nothing if they can't pass. No partition changes rates meanwhile.
  Time slowed_by(std::span<const ChannelId> nic_channels, HostId destination_host, std::uint64_t bytes);

 private:
  // Between the switch at a NIC's end and the last cable: the delay, and what a byte takes where switches
  // store what they forward.
  struct Middle {
    std::int64_t delay_ps = 0;
    double ps_per_byte = 0;
    double cost(std::uint32_t bytes) const { return static_cast<double>(delay_ps) + ps_per_byte * bytes; }
  };
  struct Reached {
    NodeId node{0};
    Middle way;
  };

  Middle quickest(std::span<const ChannelId> nic_channels, HostId destination_host, std::uint32_t hops,
                  std::uint32_t packet_bytes);
  Middle between(NodeId from, HostId destination_host, std::uint32_t packet_bytes);
  Middle search(NodeId from, HostId destination_host, std::uint32_t packet_bytes);
  std::int64_t delay_ps(ChannelId c) const;
  // By what known ways are kept: the first switch, and the last where that is the only one of the
  // destination, else this.
  std::uint64_t ends_of(NodeId from, HostId destination_host) const;
  template <typename Takes>
  void step_on(HostId destination_host, const Takes& takes);
  Bandwidth least_step(std::span<const ChannelId> nic_channels, HostId destination_host);
  // What the links of a step carry together, as they were built and as they are.
  struct Rates {
    std::int64_t built_bps = 0, now_bps = 0;
    void add(const Channels& channels, ChannelId c);
    void keep_least(const Rates& other);
  };
  Rates least_rates(NodeId from, HostId destination_host);

  const Channels& channels_;
  std::vector<Reached> here_, next_;
  std::vector<NodeId> step_, next_step_;
  std::unordered_map<std::uint64_t, Middle> known_;       // by ends_of()
  std::unordered_map<std::uint64_t, Rates> known_rates_;  // likewise, after so many changes of links
  std::uint32_t changes_ = 0;
};

}  // namespace weft::sim::packet
