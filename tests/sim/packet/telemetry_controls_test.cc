// Controls that go by telemetry, marks with round trips, and phantom queues: whether flows share a link
// evenly and keep it busy, and what an incast does.
#include <catch2/catch.hpp>

#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/meter.h"
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
  double header = 64;    // bytes of each packet's
  int messages = 150;    // of each of ten flows
  double incast = 1.25;  // how long eight to one may take, in ideal times
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
  const double on_wire = sum * (kMtu + each.header) / kMtu;
  return {sum * sum / (flows * squares),
          on_wire * 8 / (static_cast<double>(kRate.bps()) * (until - from).seconds())};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {"hpcc", "droptail:capacity=4MB", 64 + 42},
      {"powertcp", "droptail:capacity=4MB", 64 + 42},
      {"powertcp:signal=delay", "droptail:capacity=4MB"},
      {"bolt", "droptail:capacity=4MB"},
      {"smartt", "ecn:capacity=4MB,kmin=40KB,kmax=120KB"},
      {"smartt", "composite:capacity=160KB"},
      {"strack", "droptail:capacity=4MB", 64, 600},
      {"uno:epoch=12.7us", "phantom:capacity=1MB", 64, 600, 2},
  };
  return list;
}

TEST_CASE("two and ten flows share a link evenly, and keep it busy, though half of them come late") {
  for (const Case& each : cases()) {
    for (const std::uint32_t flows : {2u, 10u}) {
      const Shares shares = share(each, flows);
      INFO(each.control << ", " << each.queue << ", " << flows << " flows");
      CHECK(shares.jain >= 0.95);
      CHECK(shares.utilization >= 0.9);
      CHECK(shares.utilization <= 1.01);  // a message may begin before, and end within what is counted
    }
  }
}

TEST_CASE("eight to one: all comes through, and the last link rests little") {
  constexpr std::uint64_t kPackets = 500;
  for (const Case& each : cases()) {
    const auto topology = star(9, kRate, Time::us(3), Time());
    Simulation simulation(topology, {.control = each.control, .queue = each.queue});
    for (std::uint32_t s = 0; s < 8; ++s) simulation.send(s, 8, kPackets * kMtu);
    simulation.run();
    INFO(each.control << ", " << each.queue);
    check_all_came(simulation, each, 8);
    Time last;
    for (const auto& [message, at] : simulation.client.delivered) last = std::max(last, at);
    const double ideal = kRate.serialization((8 * kPackets + 1) * (kMtu + 64)).seconds() + 6e-6;
    CHECK(last.seconds() >= ideal * (1 - 1e-9));
    CHECK(last.seconds() < each.incast * ideal);
  }
}

// Two senders in the receiver's datacenter and two in another, with round trips of 12.7 us and 1.27 ms: the
// near ones' share of what came through in the second half.
double share_of_near(const std::string& control, const std::string& queue) {
  const Time time = Time::us(60'000);
  const auto topology = topologies::build(parse_module_choice(
      "datacenters:of=[single_switch:hosts=3,link=100Gbps,latency=3us,switch_latency=0ns],"
      "long_latency=620us,long_rate=400Gbps"));
  Options options{.control = control, .queue = queue};
  options.config.connections.per_message = false;
  Simulation simulation(topology, options);
  const auto messages = static_cast<std::uint32_t>(time.seconds() * 12.5e9 / kMessage);
  for (std::uint32_t m = 0; m < messages; ++m) {
    for (const std::uint32_t sender : {1, 2, 3, 4}) simulation.send(sender, 0, kMessage);
  }
  RunUntil end(time);
  simulation.network.run(end);
  double near = 0, all = 0;
  for (const auto& [message, at] : simulation.client.delivered) {
    if (at * 2 < time) continue;
    all += kMessage;
    if (message % 4 < 2) near += kMessage;
  }
  INFO(control << " on " << queue);
  CHECK(all * (kMtu + 64) / kMtu * 8 >= 0.9 * static_cast<double>(kRate.bps()) * time.seconds() / 2);
  return near / all;
}

TEST_CASE("between datacenters: Uno shares evenly where DCTCP leaves nothing to who is far away") {
  CHECK(share_of_near("dctcp", "ecn:capacity=1MB,kmin=100KB,kmax=800KB") > 0.95);
  const double uno = share_of_near("uno:epoch=12.7us", "phantom:capacity=1MB,phantom_capacity=22.4MB");
  CHECK(uno > 0.35);
  CHECK(uno < 0.65);
}

TEST_CASE("whatever is dropped and however paths differ, all comes once, the same for any division") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 4)));
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=3,spines=2,hosts_per_leaf=3"));
  for (const Case& each : cases()) {
    RandomStream random(seed, 9);
    Options options{.control = each.control, .seed = seed};
    const std::string limit = std::to_string(20'000 + random.below(60'000));
    // Each control has the discipline of its own case, with little room.
    options.queue =
        std::string(each.queue).substr(0, std::string(each.queue).find(':')) + ":capacity=" + limit;
    options.config.ack_every = random.below(2) == 0 ? 1 : 4;
    options.config.connections.per_message = random.below(2) == 0;
    if (random.below(2) == 0) options.policy = spray();
    std::vector<Message> messages;
    for (std::uint32_t i = 0; i < 60; ++i) {
      messages.push_back({.source = static_cast<std::uint32_t>(random.below(9)),
                          .destination = static_cast<std::uint32_t>(random.below(3)),
                          .bytes = random.below(200'000),
                          .client = {i}});
    }
    INFO(options.control << ", " << options.queue << ", seed " << seed);
    const Account whole =
        run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1, StopEvery::kNever);
    REQUIRE(whole.delivered == messages.size());
    const Account divided =
        run_divided(topology, options, messages, random_division(topology, 4, random), 2, StopEvery::kNever);
    REQUIRE(divided == whole);
  }
}

}  // namespace
}  // namespace weft::sim::packet
