// A node for queues under test: notes what they ask for, and sends nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

class FakeNode final : public NodeActions {
 public:
  static constexpr std::uint32_t kHeader = 64;  // bytes of an ACK or a bare header

  FakeNode() : NodeActions(pool) {}
  void drop(PortId, PacketHandle packet) override {
    dropped.push_back(pool[packet].number);
    pool.release(packet);
  }
  void mark(PortId, PacketHandle packet) override {
    if (pool[packet].control()) return;
    pool[packet].set(kMarked);
    marked.push_back(pool[packet].number);
  }
  void trim(PortId, PacketHandle packet) override {
    pool[packet].set(kTrimmed);
    pool[packet].bytes = std::min<std::uint32_t>(kHeader, pool[packet].bytes);
    trimmed.push_back(pool[packet].number);
  }
  void send_back(PortId, PacketHandle packet) override {
    pool[packet].set(kReturned);
    returned.push_back(pool[packet].number);
  }
  void send_frame(PortId port, std::uint32_t content) override { frames.emplace_back(port, content); }
  void return_room(PortId port, PortId, std::uint32_t content, Time when) override {
    rooms.push_back({port, content, when});
  }
  void look_at(PortId port, Time when) override { looks.emplace_back(port, when); }
  void wake(PortId port) override { woken.push_back(port); }
  void settle() override { ++settled; }
  void be_exact(bool now_exact) override { exact = now_exact; }

  void at(Time time) { now_ = time; }
  // What leaves `out` now, for a microsecond; and the end of that, at all ports.
  PacketHandle send(NodeQueues& queues, PortId out) {
    const PacketHandle packet = queues.next(out, *this).packet;
    if (packet != NodeQueues::kNone) queues.started(out, now_ + Time::us(1), *this);
    return packet;
  }
  void leave(NodeQueues& queues) {
    now_ += Time::us(1);
    for (const auto& [port, when] : std::exchange(looks, {})) {
      if (when <= now_) {
        queues.look(port, *this);
      } else {
        looks.emplace_back(port, when);
      }
    }
  }

  // A new packet.
  PacketHandle data(std::uint32_t number, std::uint32_t size) {
    const PacketHandle handle = pool.acquire();
    pool[handle] = Packet{.number = number, .bytes = size};
    return handle;
  }
  PacketHandle ack(std::uint32_t number) {
    const PacketHandle handle = pool.acquire();
    pool[handle] = Packet{.number = number, .bytes = kHeader, .kind = PacketKind::kAck};
    return handle;
  }

  struct Room {
    std::uint32_t port = 0, content = 0;
    Time when;
  };
  PacketPool pool;
  std::vector<std::uint32_t> dropped, marked, trimmed, returned, woken;  // numbers of packets; ports
  std::vector<std::pair<std::uint32_t, std::uint32_t>> frames;
  std::vector<Room> rooms;
  std::vector<std::pair<PortId, Time>> looks;
  int settled = 0;
  bool exact = false;
};

// The queues of a switch with equal ports, from a short form, by one of its discipline's factories. Full
// packets have 4,160 bytes.
template <typename Buffers>
std::unique_ptr<Buffers> make_buffers(const std::string& text, std::size_t ports, Bandwidth rate,
                                      std::unique_ptr<Buffers> (*Discipline::*make)(const Parameters&,
                                                                                    const NodeSite&)) {
  const ModuleChoice choice = parse_module_choice(text);
  const Discipline& discipline = find_module(disciplines(), choice, "queue");
  const std::vector<PortSite> sites(ports, {.rate = rate, .latency = Time::ns(500)});
  return (discipline.*make)(Parameters(discipline.info, choice), {.ports = sites,
                                                                  .rtt = Time::us(5),
                                                                  .packet_bytes = 4160,
                                                                  .control_bytes = FakeNode::kHeader,
                                                                  .random = RandomStream(1, 2, 3)});
}
inline std::unique_ptr<NodeQueues> make_queues(const std::string& text, std::size_t ports = 1,
                                               Bandwidth rate = Bandwidth::gbps(400)) {
  return make_buffers<NodeQueues>(text, ports, rate, &Discipline::make);
}

}  // namespace weft::sim::packet
