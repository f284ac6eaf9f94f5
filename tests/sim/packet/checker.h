// Watches a packet network from outside and recomputes what every queue must do, with plain bookkeeping.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/packet/observer.h"
#include "sim/packet/queues/queues.h"
#include "topologies/graph/topology.h"

namespace weft::sim::packet {

// Faults are collected, not thrown: a test requires that there are none. Checks for every channel: FIFO
// order; departure = max(now, departure of the one before) + serialization; arrival = departure + latency (+
// switch latency); a drop only when the packet doesn't fit, never one that does not fit kept; marks only
// above kmin, always above kmax. For the whole: every packet is where the last event left it; injected =
// delivered + dropped once all is over.
class Checker final : public Observer {
 public:
  // `rule`: that of all switch ports. `send_delay`: of all hosts.
  Checker(const topologies::Topology& topology, const QueueRule& rule, Time send_delay = {})
      : topology_(topology), rule_(rule), send_delay_(send_delay) {
    channels_.resize(topology.channels().size());
  }

  void on_inject(Time, const Sighting& packet) override {
    check(!where_.contains(packet.handle), "a handle is used by two packets");
    where_[packet.handle] = kNowhere;
    if (!packet.ack) marked_.erase(packet.handle);  // else an ACK in the record of its data packet
    injected_ += packet.bytes;
  }
  void on_enqueue(Time now, std::uint32_t channel, const Sighting& packet, Time departure) override {
    check(at(packet) == kNowhere, "a packet joins a queue while it is in another");
    where_[packet.handle] = channel;
    const topologies::Channel& wire = topology_.channels()[channel];
    std::deque<Queued>& queue = channels_[channel].queue;
    const double found = backlog_bytes(now, channel);
    const Time free = queue.empty() ? Time() : queue.back().departure;
    check(departure == std::max(now, free) + wire.rate.serialization(packet.bytes), "wrong departure");
    if (at_switch(channel)) {
      check(found + packet.bytes <= static_cast<double>(rule_.capacity_bytes) + kSlack,
            "a packet is kept that does not fit");
      if (packet.ack) {
        check(packet.marked == marked_.contains(packet.handle), "an ACK's echo changed");
      } else {
        const bool fresh_mark = packet.marked && !marked_.contains(packet.handle);
        check(!packet.marked || marked_.contains(packet.handle) ||
                  (rule_.marks && found >= static_cast<double>(rule_.mark_from_bytes) - kSlack),
              "a mark below kmin");
        check(packet.marked || !rule_.marks || found <= static_cast<double>(rule_.mark_all_bytes) + kSlack,
              "no mark above kmax");
        if (fresh_mark) ++marks_;
      }
    }
    if (packet.marked) marked_[packet.handle] = true;
    queue.push_back({packet.handle, packet.bytes, departure});
    ++hops_;
  }
  void on_drop(Time now, std::uint32_t channel, const Sighting& packet) override {
    check(at(packet) == kNowhere, "a packet is dropped while it is in a queue");
    check(at_switch(channel), "a NIC drops");
    check(backlog_bytes(now, channel) + packet.bytes > static_cast<double>(rule_.capacity_bytes) - kSlack,
          "a packet is dropped that fits");
    where_.erase(packet.handle);
    marked_.erase(packet.handle);
    dropped_ += packet.bytes;
    ++drops_;
  }
  void on_arrive(Time now, std::uint32_t channel, const Sighting& packet) override {
    check(at(packet) == channel, "a packet arrives from where it was not");
    std::deque<Queued>& queue = channels_[channel].queue;
    const topologies::Channel& wire = topology_.channels()[channel];
    auto& in_order = channels_[channel].next;
    check(in_order < queue.size() + channels_[channel].popped, "an arrival without a departure");
    const Queued& first = queue[in_order - channels_[channel].popped];
    check(first.handle == packet.handle, "a queue is not first in, first out");
    const topologies::Node& end = topology_.node(wire.to);
    const Time pipeline = end.kind == topologies::NodeKind::kSwitch ? end.switch_latency : Time();
    const Time delay = at_switch(channel) ? Time() : send_delay_;
    check(now == first.departure + delay + wire.latency + pipeline, "wrong arrival");
    ++in_order;
    // Keep the newest, whose departure the next packet needs.
    while (queue.size() > 1 && channels_[channel].popped < in_order) {
      queue.pop_front();
      ++channels_[channel].popped;
    }
    where_[packet.handle] = kNowhere;
  }
  void on_deliver(Time, const Sighting& packet) override {
    check(at(packet) == kNowhere, "a packet is delivered while it is in a queue");
    where_.erase(packet.handle);
    if (packet.ack) marked_.erase(packet.handle);  // a data packet's record goes back as its ACK
    delivered_ += packet.bytes;
  }

  // "" if all is well, else the first fault. `over`: nothing may be left on its way.
  std::string verdict(bool over = true) const {
    if (!faults_.empty()) return faults_.front() + " (and " + std::to_string(faults_.size() - 1) + " more)";
    if (over && !where_.empty()) return "packets are left over";
    if (over && injected_ != delivered_ + dropped_) return "bytes are not conserved";
    return "";
  }
  std::uint64_t injected() const { return injected_; }
  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t trimmed() const { return 0; }
  std::uint64_t drops() const { return drops_; }
  std::uint64_t marks() const { return marks_; }
  std::uint64_t hops() const { return hops_; }

 private:
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  static constexpr double kSlack = 1;  // bytes: the network counts in whole picoseconds
  struct Queued {
    std::uint32_t handle, bytes;
    Time departure;
  };
  struct ChannelState {
    std::deque<Queued> queue;  // in order; from the first not arrived, or the newest
    std::uint64_t popped = 0, next = 0;
  };

  void check(bool fine, const char* fault) {
    if (!fine) faults_.push_back(fault);
  }
  std::uint32_t at(const Sighting& packet) const {
    const auto found = where_.find(packet.handle);
    return found == where_.end() ? kNowhere - 1 : found->second;
  }
  bool at_switch(std::uint32_t channel) const {
    return topology_.node(topology_.channels()[channel].from).kind == topologies::NodeKind::kSwitch;
  }
  // Packet by packet: whole ones that wait, and the rest of the one on the wire.
  double backlog_bytes(Time now, std::uint32_t channel) const {
    const Bandwidth rate = topology_.channels()[channel].rate;
    double bytes = 0;
    for (const Queued& queued : channels_[channel].queue) {
      if (queued.departure <= now) continue;
      const double left = (queued.departure - now).seconds() * static_cast<double>(rate.bps()) / 8;
      bytes += std::min<double>(queued.bytes, left);
    }
    return bytes;
  }

  const topologies::Topology& topology_;
  QueueRule rule_;
  Time send_delay_;
  std::vector<ChannelState> channels_;
  std::map<std::uint32_t, std::uint32_t> where_;  // handle → channel it is in
  std::map<std::uint32_t, bool> marked_;
  std::vector<std::string> faults_;
  std::uint64_t injected_ = 0, delivered_ = 0, dropped_ = 0, drops_ = 0, marks_ = 0, hops_ = 0;
};

}  // namespace weft::sim::packet
