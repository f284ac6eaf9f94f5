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

  Time now() const override { return time; }
  PacketPool& packets() override { return pool; }
  std::uint32_t bytes(std::uint32_t packet) const override { return pool[packet].bytes; }
  void drop(std::uint32_t, std::uint32_t packet) override {
    dropped.push_back(pool[packet].number);
    pool.release(packet);
  }
  void mark(std::uint32_t, std::uint32_t packet) override {
    if (pool[packet].control()) return;
    pool[packet].set(kMarked);
    marked.push_back(pool[packet].number);
  }
  void trim(std::uint32_t, std::uint32_t packet) override {
    pool[packet].set(kTrimmed);
    pool[packet].bytes = std::min<std::uint32_t>(kHeader, pool[packet].bytes);
    trimmed.push_back(pool[packet].number);
  }
  void send_back(std::uint32_t, std::uint32_t packet) override {
    pool[packet].set(kReturned);
    returned.push_back(pool[packet].number);
  }
  void send_frame(std::uint32_t port, std::uint32_t content) override { frames.emplace_back(port, content); }
  void wake(std::uint32_t port) override { woken.push_back(port); }

  // A new packet.
  std::uint32_t data(std::uint32_t number, std::uint32_t size) {
    const std::uint32_t handle = pool.acquire();
    pool[handle] = Packet{.number = number, .bytes = size};
    return handle;
  }
  std::uint32_t ack(std::uint32_t number) {
    const std::uint32_t handle = pool.acquire();
    pool[handle] = Packet{.number = number, .bytes = kHeader, .kind = PacketKind::kAck};
    return handle;
  }

  Time time;
  PacketPool pool;
  std::vector<std::uint32_t> dropped, marked, trimmed, returned, woken;  // numbers of packets; ports
  std::vector<std::pair<std::uint32_t, std::uint32_t>> frames;
};

// The queues of a switch with equal ports, from a short form. Full packets have 4,160 bytes.
inline std::unique_ptr<NodeQueues> make_queues(const std::string& text, std::size_t ports = 1,
                                               Bandwidth rate = Bandwidth::gbps(400)) {
  const ModuleChoice choice = parse_module_choice(text);
  const Discipline& discipline = find_module(disciplines(), choice, "queue");
  const std::vector<PortSite> sites(ports, {.rate = rate, .latency = Time::ns(500)});
  return discipline.make(Parameters(discipline.info, choice), {.ports = sites,
                                                               .rtt = Time::us(5),
                                                               .packet_bytes = 4160,
                                                               .control_bytes = FakeNode::kHeader,
                                                               .random = RandomStream(1, 2, 3)});
}

}  // namespace weft::sim::packet
