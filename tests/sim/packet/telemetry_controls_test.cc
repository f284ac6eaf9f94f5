// Controls that go by telemetry, marks with round trips, and phantom queues: whether flows share a link
// evenly and keep it busy, and what an incast does.
#include <catch2/catch.hpp>
#include <cstdio>

#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

const Bandwidth kRate = Bandwidth::gbps(100);
constexpr std::uint32_t kMtu = 4096;
constexpr std::uint64_t kMessage = 16 * kMtu;

struct Case {
  const char* control;
  const char* queue;
  double header = 64;           // bytes of each packet's
  double utilization = 0.9;     // that is promised
  int messages = 150;           // of each flow, per ten flows
};

class RunUntil final : public RunControl {
 public:
  explicit RunUntil(Time time) : RunControl({.time = time}) {}
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

// Nothing is missing. (The checker of FIFO queues knows nothing of virtual ones.)
void check_all_came(const Simulation& simulation, const Case& each, std::uint64_t messages) {
  CHECK(simulation.client.deliveries == messages);
  CHECK(simulation.network.open_flows() == 0);
  if (!std::string(each.queue).starts_with("phantom")) CHECK(simulation.verdict() == "");
}

// How `flows` senders to one receiver shared its link, while all were sending and after a start.
struct Shares {
  double jain = 0, utilization = 0;
};

// Every other flow begins when the first ones have had the link for 50 round trips.
Shares share(const Case& each, std::uint32_t flows) {
  // Round trip 12.7 us, bandwidth-delay product 158 kB.
  const auto topology = star(static_cast<int>(flows) + 1, kRate, Time::us(3), Time());
  Options options{.control = each.control, .queue = each.queue};
  options.config.connections.per_message = false;
  Simulation simulation(topology, options);
  const std::uint32_t messages = static_cast<std::uint32_t>(each.messages) * 10 / flows;
  std::vector<std::uint32_t> owner;
  for (const std::uint32_t first : {0u, 1u}) {
    for (std::uint32_t m = 0; m < messages; ++m) {
      for (std::uint32_t f = first; f < flows; f += 2) {
        simulation.send(f, flows, kMessage);
        owner.push_back(f);
      }
    }
    RunUntil late(Time::us(635));
    if (first == 0) simulation.network.run(late);
  }
  simulation.run();
  check_all_came(simulation, each, owner.size());
  std::vector<Time> last(flows);
  for (const auto& [message, at] : simulation.client.delivered) {
    last[owner[message]] = std::max(last[owner[message]], at);
  }
  const Time until = *std::min_element(last.begin(), last.end());
  const Time from = Time::ps(until.ps() / 2);
  std::vector<double> bytes(flows);
  for (const auto& [message, at] : simulation.client.delivered) {
    if (at > from && at <= until) bytes[owner[message]] += kMessage;
  }
  double sum = 0, squares = 0;
  for (const double b : bytes) {
    sum += b;
    squares += b * b;
  }
  if (std::getenv("SHOW")) for (double b : bytes) std::printf("  %.3f", b / sum * flows);
  const double on_wire = sum * (kMtu + each.header) / kMtu;
  return {sum * sum / (flows * squares),
          on_wire * 8 / (static_cast<double>(kRate.bps()) * (until - from).seconds())};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {"hpcc", "droptail:capacity=4MB", 106},
      {"powertcp", "droptail:capacity=4MB", 106},
      {"powertcp:signal=delay", "droptail:capacity=4MB"},
      {"bolt", "droptail:capacity=4MB"},
      {"smartt", "ecn:capacity=4MB,kmin=40KB,kmax=120KB"},
      {"smartt", "composite:capacity=160KB"},
      {"strack", "droptail:capacity=4MB", 64, 0.9, 900},
      {"uno:epoch=12.7us", "phantom:capacity=1MB", 64, 0.9, 900},
  };
  return list;
}

TEST_CASE("two and ten flows share a link evenly, and keep it busy") {
  for (const Case& each : cases()) {
    for (const std::uint32_t flows : {2u, 10u}) {
      const Shares shares = share(each, flows);
      INFO(each.control << ", " << each.queue << ", " << flows << " flows");
      if (std::getenv("SHOW")) std::printf("%-26s %2u flows: Jain %.4f, utilization %.3f\n", each.control, flows, shares.jain,
                  shares.utilization);
      CHECK(shares.jain >= 0.95);
      CHECK(shares.utilization >= each.utilization);
    }
  }
}

// Two senders in the receiver's datacenter and two in another, round trips 100:1, all for `time`; the local
// ones' share of what came through in the second half.
double local_share(const std::string& control, const std::string& queue, Time time) {
  const auto topology = topologies::build(
      parse_module_choice("datacenters:of=[single_switch:hosts=3,link=100Gbps,latency=3us,switch_latency=0ns],"
                          "long_latency=620us,long_rate=400Gbps"));
  Options options{.control = control, .queue = queue};
  options.config.connections.per_message = false;
  Simulation simulation(topology, options);
  const std::uint32_t senders[] = {1, 2, 3, 4};
  const auto messages = static_cast<std::uint32_t>(time.seconds() * 12.5e9 / kMessage);
  for (std::uint32_t m = 0; m < messages; ++m) {
    for (const std::uint32_t sender : senders) simulation.send(sender, 0, kMessage);
  }
  RunUntil end(time);
  simulation.network.run(end);
  double local = 0, all = 0;
  for (const auto& [message, at] : simulation.client.delivered) {
    if (at * 2 < time) continue;
    all += kMessage;
    if (message % 4 < 2) local += kMessage;
  }
  if (std::getenv("SHOW")) std::printf("%s on %s: local %.3f, utilization %.3f\n", control.c_str(), queue.c_str(),
    local / all, all * 8 * 4160/4096 / 100e9 / time.seconds() * 2);
  return local / all;
}

TEST_CASE("near and far") {
  for (const int ms : {60, 250}) {
  local_share("dctcp", "ecn:capacity=1MB,kmin=100KB,kmax=800KB", Time::us(ms * 1000));
  local_share("uno:epoch=12.7us", "ecn:capacity=1MB,kmin=100KB,kmax=800KB", Time::us(ms * 1000));
  local_share("uno:epoch=12.7us", "phantom:capacity=1MB,phantom_capacity=22.4MB", Time::us(ms * 1000));
  }
}

TEST_CASE("eight to one: all comes through, and the last link rests little") {
  constexpr std::uint64_t kPackets = 500;
  for (const Case& each : cases()) {
    const auto topology = star(9, kRate, Time::us(3), Time());
    Simulation simulation(topology, {.control = each.control, .queue = each.queue});
    for (std::uint32_t s = 0; s < 8; ++s) simulation.send(s, 8, kPackets * kMtu);
    simulation.run();
    check_all_came(simulation, each, 8);
    Time last;
    for (const auto& [message, at] : simulation.client.delivered) last = std::max(last, at);
    const double ideal = kRate.serialization(8 * kPackets * (kMtu + 64)).seconds() + 6.3e-6;
    INFO(each.control << ", " << each.queue);
    if (std::getenv("SHOW")) std::printf("%-26s incast %.3f of ideal\n", each.control, last.seconds() / ideal);
    CHECK(last.seconds() >= ideal);
    CHECK(last.seconds() < 1.25 * ideal);
  }
}

}  // namespace
}  // namespace weft::sim::packet
