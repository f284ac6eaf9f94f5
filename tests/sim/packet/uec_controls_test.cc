// Controls with trimming and receivers that pull, end to end: shares of a bottleneck, incasts, and what their
// signals say.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/congestion/every_control.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/meter.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kMtu = 4096;
const Bandwidth kRate = Bandwidth::gbps(100);

Options with(const std::string& control) {
  Options options{.control = control, .queue = "composite"};
  options.policy = spray();
  options.config.connections.per_message = true;
  return options;
}

struct Result {
  double fairness = 0;     // of goodputs
  double utilization = 0;  // of the bottleneck, by payload and headers, until the last message is there
};

// `flows` messages of so many packets from hosts of a star to its last, at once.
Result share_link(const std::string& control, std::uint32_t flows, std::uint32_t packets) {
  const auto topology = star(static_cast<int>(flows) + 1, kRate, Time::us(1), Time::ns(0));
  Simulation simulation(topology, with(control));
  for (std::uint32_t host = 0; host < flows; ++host)
    simulation.send(host, flows, std::uint64_t{packets} * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  std::vector<double> shares;
  double last = 0;
  for (const auto& [message, at] : simulation.client.delivered) {
    shares.push_back(1 / at.seconds());
    last = std::max(last, at.seconds());
  }
  REQUIRE(shares.size() == flows);
  const double wire = kRate.serialization(std::uint64_t{flows} * packets * (kMtu + 64)).seconds();
  REQUIRE(last > wire);
  return {congestion::jain(shares), wire / last};
}

TEST_CASE("two and ten flows share a link evenly and fill it") {
  const std::string control = GENERATE("nscc", "rccc", "nscc_rccc", "eqds", "ndp");
  const std::uint32_t flows = GENERATE(2, 10);
  INFO(control << ", " << flows << " flows");
  const Result result = share_link(control, flows, 2000);
  REQUIRE(result.fairness >= 0.95);
  REQUIRE(result.utilization >= 0.9);
}

TEST_CASE("an incast of eight: the last link is full, and nothing is lost but what was trimmed") {
  const std::string control = GENERATE("nscc", "rccc", "nscc_rccc", "eqds", "ndp");
  INFO(control);
  const Result result = share_link(control, 8, 250);
  REQUIRE(result.utilization >= 0.9);
  REQUIRE(result.fairness >= 0.95);
}

TEST_CASE("when one of two flows ends, the other has the link for itself") {
  const std::string control = GENERATE("nscc", "rccc", "nscc_rccc", "eqds", "ndp");
  INFO(control);
  const auto topology = star(3, kRate, Time::us(1), Time::ns(0));
  Simulation simulation(topology, with(control));
  simulation.send(0, 2, 6000 * kMtu);
  simulation.send(1, 2, 3000 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  // The short one has half the link: it ends when both have had 3,000 packets.
  const double packet = kRate.serialization(kMtu + 64).seconds();
  REQUIRE(simulation.client.delivered[1].seconds() == Approx(6000 * packet).epsilon(0.1));
  REQUIRE(simulation.client.delivered[0].seconds() == Approx(9000 * packet).epsilon(0.1));
}

TEST_CASE("short messages that follow each other on one connection wait for no timer") {
  const std::string control = GENERATE("nscc", "rccc", "nscc_rccc", "eqds", "ndp");
  INFO(control);
  const auto topology = star(2, kRate, Time::us(1), Time::ns(0));
  Options options = with(control);
  options.config.connections.per_message = false;
  Simulation simulation(topology, options);
  // A third of the link's rate; a window is 14 of them, and at no time all are acknowledged.
  constexpr std::uint32_t kMessages = 300;
  std::vector<Time> begun;
  for (std::uint32_t m = 0; m < kMessages; ++m) {
    begun.push_back(Time::us(m));
    RunUntil then(begun.back());
    simulation.network.run(then);
    simulation.send(0, 1, kMtu);
  }
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  for (const auto& [message, at] : simulation.client.delivered) {
    // Alone 2.7 us. What finds the window used up waits for two round trips at most, of 4.7.
    REQUIRE(at - begun[message] < Time::us(13));
  }
}

TEST_CASE("a host that sends to all others at once, again and again, waits for no timer") {
  const std::string control = GENERATE("nscc", "rccc", "nscc_rccc", "eqds", "ndp");
  INFO(control);
  constexpr std::uint32_t kHosts = 12, kRounds = 5;
  const auto topology = star(kHosts, kRate, Time::us(1), Time::ns(0));
  Options options = with(control);
  options.config.connections.per_message = false;
  Simulation simulation(topology, options);
  // A round takes 15 us of each link, and a round trip.
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    RunUntil then(Time::us(20 * round));
    simulation.network.run(then);
    for (std::uint32_t from = 0; from < kHosts; ++from) {
      for (std::uint32_t i = 1; i < kHosts; ++i) simulation.send(from, (from + i) % kHosts, 4 * kMtu);
    }
  }
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  Time last;
  for (const auto& [message, at] : simulation.client.delivered) last = std::max(last, at);
  REQUIRE(last < Time::us(150));
}

TEST_CASE("receivers that pull trim the first windows of an incast only") {
  const std::string control = GENERATE("rccc", "nscc_rccc", "eqds", "ndp");
  INFO(control);
  constexpr std::uint32_t kSenders = 16;
  const auto topology = star(kSenders + 1, kRate, Time::us(1), Time::ns(0));
  Simulation simulation(topology, with(control));
  for (std::uint32_t host = 0; host < kSenders; ++host) simulation.send(host, kSenders, 500 * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("timeout") == 0);
  REQUIRE(simulation.signal("drop") == 0);
  // Round trip: 4 us and two packets' time. 1.5 of these are 22 packets at the most, of 16 senders; what is
  // sent again may meet what still waits.
  REQUIRE(simulation.signal("trim") > 0);
  REQUIRE(simulation.signal("trim") < 2 * kSenders * 22);
  REQUIRE(simulation.signal("most_pulled_flows") == kSenders);
}

// The network's own bottleneck: two leaves, four hosts each, one cable up. Pulls at 0.9 of a fourth each
// leave less to be trimmed than marks and cuts take back.
TEST_CASE("RCCC's control of its rate spares an oversubscribed network most of what would be trimmed") {
  const auto topology = topologies::build(
      parse_module_choice("leaf_spine:leaves=2,spines=1,hosts_per_leaf=4,link=100Gbps,latency=1us"));
  const auto trims = [&](const std::string& control, double& last) {
    Simulation simulation(topology, with(control));
    for (std::uint32_t host = 0; host < 4; ++host) simulation.send(host, 4 + host, 2000 * kMtu);
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    last = 0;
    for (const auto& [message, at] : simulation.client.delivered) last = std::max(last, at.seconds());
    return simulation.signal("trim");
  };
  double with_control = 0, without = 0;
  const std::uint64_t few = trims("rccc:oversubscription=4", with_control), many = trims("rccc", without);
  INFO(few << " and " << many);
  REQUIRE(few * 3 < many);
  const double wire = kRate.serialization(std::uint64_t{4} * 2000 * (kMtu + 64)).seconds();
  REQUIRE(with_control < wire / 0.75);
  REQUIRE(without < wire / 0.9);
}

TEST_CASE("all is delivered under losses and several messages on a connection, the same for any division") {
  const std::string control = GENERATE("nscc", "rccc", "nscc_rccc", "eqds", "ndp");
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 5)));
  INFO(control);
  RandomStream random(seed, 8);
  auto topology = topologies::build(parse_module_choice("leaf_spine:leaves=3,spines=2,hosts_per_leaf=3"));
  Options options = with(control);
  options.seed = seed;
  options.queue = seed == 2   ? "composite:capacity=30KB,trim=false"
                  : seed == 4 ? "composite:capacity=30KB,high_capacity=1KB,return_to_sender=true"
                              : "composite:capacity=30KB,high_capacity=2KB";
  options.config.ack_every = seed == 1 ? 1 : 4;
  options.config.connections.per_message = seed == 3;
  std::vector<Message> messages;
  for (std::uint32_t i = 0; i < 60; ++i) {
    messages.push_back({.source = static_cast<std::uint32_t>(random.below(9)),
                        .destination = static_cast<std::uint32_t>(random.below(3)),
                        .bytes = i % 10 == 0 ? 0 : random.below(200'000),
                        .client = {i}});
  }
  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  REQUIRE(whole.delivered == messages.size());
  const Account divided = run_divided(topology, options, messages, random_division(topology, 4, random), 2);
  REQUIRE(divided == whole);
}

}  // namespace
}  // namespace weft::sim::packet
