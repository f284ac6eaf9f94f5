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
  void departed(std::uint32_t out, NodeActions& node) final;
  void held_back(std::vector<Lane>& out) const final;
  void filled_by(Lane in, std::vector<Lane>& out) const final;

 protected:
  // REQUIRES: ports and lanes above 0, less than 65,535.
  LaneQueues(std::uint32_t ports, std::uint32_t lanes);

  struct Queue {
    PacketFifo packets;
    bool held = false;  // the next node has no room for the packet in front
  };
  struct Origin {
    std::uint32_t port = 0, lane = 0;  // port kHere: it was made here
  };

  std::uint32_t ports() const { return ports_; }
  std::uint32_t lanes() const { return lanes_; }
  Queue& queue(std::uint32_t out, std::uint32_t lane) { return queues_[out * lanes_ + lane]; }
  const Queue& queue(std::uint32_t out, std::uint32_t lane) const { return queues_[out * lanes_ + lane]; }
  // A packet joins the queue of (out, lane).
  void put(Origin from, std::uint32_t out, std::uint32_t lane, std::uint32_t packet, NodeActions& node);
  // Takes the oldest of (out, lane) to be sent now. REQUIRES: there is one.
  std::uint32_t take(std::uint32_t out, std::uint32_t lane, NodeActions& node);

  // A packet that had come through `from` has left to its last bit.
  virtual void left(Origin from, std::uint32_t bytes, NodeActions& node) = 0;
  // In which lane do packets leave through `out` that came through `from`?
  virtual std::uint32_t lane_out(Origin from, std::uint32_t out) const = 0;

 private:
  struct Sending {
    Origin from;
    std::uint32_t bytes = 0;  // 0: nothing is being sent
  };
  std::uint32_t& passing(Origin from, std::uint32_t out) {
    return passing_[(out * ports_ + from.port) * lanes_ + from.lane];
  }

  const std::uint32_t ports_, lanes_;
  std::vector<Queue> queues_;           // by port and lane
  std::vector<Sending> sending_;        // by port
  std::vector<std::uint32_t> passing_;  // packets here, by port out, port in and lane in
};

}  // namespace weft::sim::packet
