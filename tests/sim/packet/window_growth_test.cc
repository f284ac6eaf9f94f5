// Windows that grow while they are in use, end to end, against a small model of windows, ACKs and one NIC.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "tests/sim/packet/support.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kMtu = 4096, kHeader = 64;

struct Path {
  double nic_bps, link_bps;  // the sender's cable, and the receivers'
  std::uint32_t flows;       // from one sender, to a receiver each
  std::uint32_t ack_every;
  std::int64_t latency_us = 100;  // of a cable
};

// All that a window allows joins the NIC's queue at once, however long that is, and counts as in flight. An
// ACK is for so many packets, or for what came until it was held back for long enough. In seconds and
// packets.
class Model {
 public:
  // `slow_start`: a packet more for each that is acknowledged, else one more for a window of them.
  Model(const Path& path, std::uint32_t packets, bool slow_start)
      : path_(path), slow_start_(slow_start), left_(path.flows, packets), window_(path.flows, 10.0) {
    flight_.resize(path.flows);
    held_.resize(path.flows);
    link_free_.resize(path.flows);
    held_until_.resize(path.flows);
  }
  // When the last packet arrives.
  double run() {
    for (std::uint32_t flow = 0; flow < path_.flows; ++flow) fill(flow);
    while (!events_.empty()) {
      const auto [at, number, flow, acked] = events_.top();
      events_.pop();
      now_ = at;
      if (acked == kLook) {
        if (held_[flow] > 0 && held_until_[flow] <= now_) acknowledge(flow);
      } else if (acked > 0) {
        flight_[flow] -= acked;
        window_[flow] += slow_start_ ? acked : acked / window_[flow];
        fill(flow);
      } else {
        arrive(flow);
      }
    }
    return last_;
  }

 private:
  using Event = std::tuple<double, std::uint64_t, std::uint32_t, std::uint32_t>;
  static constexpr std::uint32_t kLook = UINT32_MAX;  // at what is held back; 0: a packet; else an ACK

  void fill(std::uint32_t flow) {
    for (; left_[flow] > 0 && flight_[flow] + 1 <= window_[flow]; --left_[flow], ++flight_[flow]) {
      constexpr double kBits = 8.0 * (kMtu + kHeader);
      nic_free_ = std::max(nic_free_, now_) + kBits / path_.nic_bps;
      double& link = link_free_[flow];
      link = std::max(link, nic_free_ + latency()) + kBits / path_.link_bps;
      events_.emplace(link + latency(), number_++, flow, 0);
    }
  }
  void arrive(std::uint32_t flow) {
    last_ = now_;
    if (++held_[flow] == path_.ack_every) return acknowledge(flow);
    if (held_[flow] > 1) return;
    held_until_[flow] = now_ + 5e-6;
    events_.emplace(held_until_[flow], number_++, flow, kLook);
  }
  void acknowledge(std::uint32_t flow) {
    const double back = 2 * latency() + 8.0 * kHeader * (1 / path_.nic_bps + 1 / path_.link_bps);
    events_.emplace(now_ + back, number_++, flow, held_[flow]);
    held_[flow] = 0;
  }
  double latency() const { return static_cast<double>(path_.latency_us) * 1e-6; }

  Path path_;
  bool slow_start_;
  std::vector<std::uint32_t> left_, flight_, held_;
  std::vector<double> window_, link_free_, held_until_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t number_ = 0;
  double now_ = 0, nic_free_ = 0, last_ = 0;
};

topologies::Topology star_of(const Path& path) {
  topologies::Topology topology("test");
  const auto hub = topology.add_switch("s", 1, 0, Time());
  for (std::uint32_t host = 0; host <= path.flows; ++host) {
    const double bps = host == 0 ? path.nic_bps : path.link_bps;
    topology.add_link(
        topology.add_host("h" + std::to_string(host)), hub,
        {.rate = Bandwidth::bps(static_cast<std::int64_t>(bps)), .latency = Time::us(path.latency_us)});
  }
  topology.finish();
  return topology;
}

double simulate(const Path& path, std::uint32_t packets, const std::string& control) {
  const topologies::Topology topology = star_of(path);
  Options options{.control = control};
  options.config.ack_every = path.ack_every;
  Simulation simulation(topology, options);
  for (std::uint32_t flow = 1; flow <= path.flows; ++flow) {
    simulation.send(0, flow, std::uint64_t{packets} * kMtu);
  }
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  Time last;
  for (const auto& [number, at] : simulation.client.delivered) last = std::max(last, at);
  return last.seconds();
}

TEST_CASE("slow start doubles the window each round trip, whichever link is the slower one") {
  const std::string control = GENERATE("newreno", "cubic", "dctcp:slow_start=true,initial_window=10");
  const Path path = GENERATE(Path{100e9, 100e9, 1, 1}, Path{400e9, 100e9, 1, 1}, Path{120e9, 100e9, 1, 1},
                             Path{100e9, 400e9, 1, 1}, Path{100e9, 100e9, 3, 1}, Path{100e9, 400e9, 3, 1});
  const std::uint32_t packets = GENERATE(20u, 489u, 5000u);
  const double expected = Model(path, packets, true).run(), actual = simulate(path, packets, control);
  INFO(control << ", " << path.nic_bps << " and " << path.link_bps << " bit/s, " << path.flows << " flows of "
               << packets << " packets: " << actual * 1e6 << " us, expected " << expected * 1e6);
  CHECK(actual == Approx(expected).epsilon(0.01));
}

TEST_CASE("windows grow by a packet in a round trip where flows share a NIC and ACKs come for many at once") {
  const std::string control =
      GENERATE("dctcp:initial_window=10", "mprdma:initial_window=10", "swift:initial_window=10");
  const Path path = GENERATE(Path{100e9, 100e9, 1, 1}, Path{100e9, 400e9, 4, 1}, Path{100e9, 400e9, 4, 8});
  const std::uint32_t packets = 2000;
  const double expected = Model(path, packets, false).run(), actual = simulate(path, packets, control);
  INFO(control << ", " << path.flows << " flows, " << path.ack_every << " packets an ACK: " << actual * 1e6
               << " us, expected " << expected * 1e6);
  CHECK(actual == Approx(expected).epsilon(0.02));
}

}  // namespace
}  // namespace weft::sim::packet
