// What queue disciplines share that hold packets back until the next node has room for them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/packet/queues/node_queues.h"

namespace weft::sim::packet {

// A FIFO queue for each port and lane (class or virtual channel) of a node. Every packet is remembered with
// the port and lane it came through, whose buffer it fills until its last bit has left.
class LaneQueues : public NodeQueues {
 public:
  std::uint64_t backlog_bytes(std::uint32_t out) const final;
  void prefetch(std::uint32_t out) const override {
    __builtin_prefetch(&queues_[out * lanes_], 1);
    __builtin_prefetch(&queues_[out * lanes_ + lanes_ - 1], 1);
    __builtin_prefetch(&sending_[out], 1);
  }
  void prefetch_deep(std::uint32_t out) const override {
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
      if (!queue(out, lane).packets.empty()) queue(out, lane).packets.prefetch();
    }
  }
  void held_back(Time now, std::vector<Lane>& out) const final;
  void filled_by(Lane in, Time now, std::vector<Lane>& out) const final;

 protected:
  // REQUIRES: ports and lanes above 0, less than 65,535.
  LaneQueues(std::uint32_t ports, std::uint32_t lanes);

  // A packet that waits, and the port and lane it came through.
  struct Entry {
    std::uint32_t packet = kNone, bytes = 0;
    std::uint16_t in_port = 0, lane = 0;
  };
  struct Queue {
    EntryFifo<Entry> packets;
    bool held = false;  // the next node has no room for the packet in front
  };
  struct Origin {
    std::uint32_t port = 0, lane = 0;  // port kHere: it was made here
  };
  struct Sending {
    Origin from;
    std::uint32_t lane = 0;
    std::uint32_t bytes = 0;  // 0: nothing, or it is known to have left
    Time departure;
  };

  std::uint32_t ports() const { return ports_; }
  std::uint32_t lanes() const { return lanes_; }
  Queue& queue(std::uint32_t out, std::uint32_t lane) { return queues_[out * lanes_ + lane]; }
  const Queue& queue(std::uint32_t out, std::uint32_t lane) const { return queues_[out * lanes_ + lane]; }
  // Of the packet that was sent last through each port.
  Sending& sending(std::uint32_t out) { return sending_[out]; }
  bool nothing_waits(std::uint32_t out) const;
  // A packet joins the queue of (out, lane).
  void put(Origin from, std::uint32_t out, std::uint32_t lane, std::uint32_t packet, std::uint32_t bytes) {
    queue(out, lane).packets.push(
        {packet, bytes, static_cast<std::uint16_t>(from.port), static_cast<std::uint16_t>(from.lane)});
  }
  // Takes the oldest of (out, lane) to be sent now. REQUIRES: there is one.
  Next take(std::uint32_t out, std::uint32_t lane);

 private:
  static Origin origin_of(const Entry& entry) {
    constexpr std::uint16_t kMadeHere = static_cast<std::uint16_t>(kHere);
    return {entry.in_port == kMadeHere ? kHere : entry.in_port, entry.lane};
  }

  const std::uint32_t ports_, lanes_;
  std::vector<Queue> queues_;     // by port and lane
  std::vector<Sending> sending_;  // by port
};

}  // namespace weft::sim::packet
