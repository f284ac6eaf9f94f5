// Watches queues that decide packet by packet (NodeQueues) from outside, with plain bookkeeping.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "sim/packet/observer.h"
#include "topologies/graph/topology.h"

namespace weft::sim::packet {

// Faults are collected, not thrown: a test requires that there are none. Checks for every channel: first in,
// first out in each lane; transmissions never overlap; each takes its bytes over the rate, and arrives one
// latency (+ switch latency) later; where the discipline is work-conserving, the link never rests while
// packets wait. A payload is cut once, a header never grows. For the whole: every packet is where the last
// event left it; injected = delivered + dropped + trimmed off once all is over. Ports that are FIFO with a
// rule (NICs mostly) are checked for their departures.
class ScheduledChecker final : public Observer {
 public:
  struct Expected {
    bool work_conserving = true;
    // The class or virtual channel of a packet at a channel, by what can be seen of it.
    std::function<int(std::uint32_t channel, const Sighting&)> lane =
        [](std::uint32_t, const Sighting& packet) { return packet.ack || packet.trimmed ? 1 : 0; };
    // The most that may wait in a lane; unset: no limit.
    std::function<std::uint64_t(std::uint32_t channel, int lane)> most_bytes;
    Time send_delay = {};  // of all hosts
  };

  explicit ScheduledChecker(const topologies::Topology& topology) : ScheduledChecker(topology, Expected()) {}
  ScheduledChecker(const topologies::Topology& topology, Expected expected)
      : topology_(topology), expected_(std::move(expected)), channels_(topology.channels().size()) {}

  void on_inject(Time, const Sighting& packet) override {
    check(!packets_.contains(packet.handle), "a handle is used by two packets");
    packets_[packet.handle] = {.bytes = packet.bytes, .source = packet.source, .marked = packet.marked};
    injected_ += packet.bytes;
  }
  void on_enqueue(Time now, std::uint32_t channel, const Sighting& packet, Time departure) override {
    Record& record = known(packet);
    if (record.place == Place::kWaiting && packet.returned && packet.source != record.source) {
      leave(record, packet.handle);  // a header that is turned round where it is
      record.source = packet.source;
      ++returned_;
    }
    check(record.place == Place::kNowhere, "a packet joins a queue while it is elsewhere");
    check(packet.source == record.source, "a packet has changed its direction");
    Channel& at = channels_[channel];
    record.channel = channel;
    if (departure != Time::max()) {
      check(departure == std::max(now, at.free) + wire_time(channel, packet.bytes), "wrong departure");
      note_mark(record, packet);
      go(at, record, departure);
      return;
    }
    if (waiting(at) == 0) at.work_since = now;
    join(at, record, packet);
  }
  void on_trim(Time, std::uint32_t channel, const Sighting& packet) override {
    Record& record = known(packet);
    check(record.place == Place::kWaiting && record.channel == channel,
          "a packet is cut that waits elsewhere");
    check(!record.trimmed && packet.trimmed && !packet.ack, "a header is cut");
    check(packet.bytes <= record.bytes, "a header is longer than its packet");
    note_mark(record, packet);
    leave(record, packet.handle);
    trimmed_ += record.bytes - packet.bytes;
    ++trims_;
    record.bytes = packet.bytes;
    record.trimmed = true;
    join(channels_[channel], record, packet);  // the lane of headers, presumably
  }
  void on_transmit(Time now, std::uint32_t channel, const Sighting& packet, Time departure) override {
    Record& record = known(packet);
    check(record.place == Place::kWaiting && record.channel == channel,
          "a packet is sent that waits elsewhere");
    Channel& at = channels_[channel];
    const Lane& lane = at.lanes[record.lane];
    check(!lane.queue.empty() && lane.queue.front() == packet.handle, "a lane is not first in, first out");
    check(!expected_.most_bytes || lane.bytes <= expected_.most_bytes(channel, record.lane),
          "more waits than may");
    check(packet.bytes == record.bytes, "a packet has changed its size");
    check(now >= at.free, "two transmissions overlap");
    check(!expected_.work_conserving || now == std::max(at.free, at.work_since),
          "the link rests while packets wait");
    check(departure == now + wire_time(channel, packet.bytes), "wrong transmission time");
    note_mark(record, packet);
    leave(record, packet.handle);
    at.work_since = departure;
    go(at, record, departure);
  }
  void on_drop(Time, std::uint32_t channel, const Sighting& packet) override {
    Record& record = known(packet);
    const bool here = record.place == Place::kWaiting && record.channel == channel;
    check(here || record.place == Place::kNowhere, "a packet is dropped that is elsewhere");
    note_mark(record, packet);
    if (record.place == Place::kWaiting) leave(record, packet.handle);
    dropped_ += packet.bytes;
    ++drops_;
    packets_.erase(packet.handle);
  }
  void on_arrive(Time now, std::uint32_t channel, const Sighting& packet) override {
    Record& record = known(packet);
    check(record.place == Place::kWire && record.channel == channel,
          "a packet arrives from where it was not");
    const topologies::Channel& wire = topology_.channels()[channel];
    const topologies::Node& end = topology_.node(wire.to);
    const Time pipeline = end.kind == topologies::NodeKind::kSwitch ? end.switch_latency : Time();
    const bool leaves_host = topology_.node(wire.from).kind == topologies::NodeKind::kHost;
    const Time delay = leaves_host ? expected_.send_delay : Time();
    check(now == record.departure + delay + wire.latency + pipeline, "wrong arrival");
    record.place = Place::kNowhere;
  }
  void on_deliver(Time, const Sighting& packet) override {
    check(known(packet).place == Place::kNowhere, "a packet is delivered while it is in a queue");
    check(packet.bytes == known(packet).bytes, "a packet has changed its size");
    delivered_ += packet.bytes;
    packets_.erase(packet.handle);
  }

  // "" if all is well, else the first fault. `over`: nothing may be left on its way.
  std::string verdict(bool over = true) const {
    if (!faults_.empty()) return faults_.front() + " (and " + std::to_string(faults_.size() - 1) + " more)";
    if (over && !packets_.empty()) return "packets are left over";
    if (over && injected_ != delivered_ + dropped_ + trimmed_) return "bytes are not conserved";
    return "";
  }
  std::uint64_t injected() const { return injected_; }  // bytes
  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t dropped() const { return dropped_; }
  std::uint64_t trimmed() const { return trimmed_; }  // bytes cut off
  std::uint64_t drops() const { return drops_; }      // packets
  std::uint64_t trims() const { return trims_; }
  std::uint64_t returned() const { return returned_; }
  std::uint64_t marks() const { return marks_; }
  std::uint64_t hops() const { return hops_; }

 private:
  enum class Place : std::uint8_t { kNowhere, kWaiting, kWire };
  struct Record {
    Place place = Place::kNowhere;
    std::uint32_t channel = 0, bytes = 0, source = 0;
    int lane = 0;
    Time departure;
    bool trimmed = false, marked = false;
  };
  struct Lane {
    std::list<std::uint32_t> queue;  // handles that wait, in order
    std::uint64_t bytes = 0;
  };
  struct Channel {
    std::map<int, Lane> lanes;
    Time free;        // when the newest transmission ends
    Time work_since;  // there is always something waiting since then
  };

  void check(bool fine, const char* fault) {
    if (!fine) faults_.push_back(fault);
  }
  Record& known(const Sighting& packet) {
    check(packets_.contains(packet.handle), "an unknown packet");
    return packets_[packet.handle];
  }
  Time wire_time(std::uint32_t channel, std::uint32_t bytes) const {
    return topology_.channels()[channel].rate.serialization(bytes);
  }
  static std::size_t waiting(const Channel& at) {
    std::size_t packets = 0;
    for (const auto& [lane, waiting] : at.lanes) packets += waiting.queue.size();
    return packets;
  }
  void join(Channel& at, Record& record, const Sighting& packet) {
    record.place = Place::kWaiting;
    record.lane = expected_.lane(record.channel, packet);
    at.lanes[record.lane].queue.push_back(packet.handle);
    at.lanes[record.lane].bytes += packet.bytes;
  }
  // It waits no more.
  void leave(Record& record, std::uint32_t handle) {
    Lane& lane = channels_[record.channel].lanes[record.lane];
    const auto found = std::find(lane.queue.begin(), lane.queue.end(), handle);
    check(found != lane.queue.end(), "a packet is not in its lane");
    if (found != lane.queue.end()) lane.queue.erase(found);
    lane.bytes -= record.bytes;
    record.place = Place::kNowhere;
  }
  void go(Channel& at, Record& record, Time departure) {
    at.free = departure;
    record.departure = departure;
    record.place = Place::kWire;
    ++hops_;
  }
  void note_mark(Record& record, const Sighting& packet) {
    check(packet.marked || !record.marked, "a mark is lost");
    check(!packet.ack || packet.marked == record.marked, "an ACK's echo has changed");
    if (packet.marked && !record.marked) ++marks_;
    record.marked = packet.marked;
  }

  const topologies::Topology& topology_;
  const Expected expected_;
  std::vector<Channel> channels_;
  std::map<std::uint32_t, Record> packets_;  // by handle
  std::vector<std::string> faults_;
  std::uint64_t injected_ = 0, delivered_ = 0, dropped_ = 0, trimmed_ = 0, drops_ = 0, trims_ = 0,
                returned_ = 0, marks_ = 0, hops_ = 0;
};

}  // namespace weft::sim::packet
