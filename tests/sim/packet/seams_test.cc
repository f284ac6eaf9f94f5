// The worked example of the host side's seams, end to end: a control that the receiver drives.
#include <catch2/catch.hpp>

#include "tests/congestion/paced_credit.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kMtu = 4096;
const Bandwidth kRate = Bandwidth::gbps(400);

TEST_CASE("a receiver that paces its senders keeps the queue to their first credit, and the link full") {
  constexpr std::uint32_t kSenders = 8, kPackets = 200;
  const auto topology = star(kSenders + 1, kRate, Time::ns(500), Time::ns(100));
  const congestion::Control control = congestion::paced_credit();
  Options options;
  options.control = "paced_credit";
  options.config.connections.per_message = GENERATE(true, false);
  Simulation simulation(topology, options, control);
  for (std::uint32_t host = 0; host < kSenders; ++host) simulation.send(host, kSenders, kPackets * kMtu);
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  std::uint64_t longest = 0;
  for (const results::Link& link : simulation.network.links())
    longest = std::max(longest, link.max_queue_bytes);
  REQUIRE(longest <= kSenders * 4 * 4160);
  REQUIRE(simulation.signal("credit") == kSenders * (kPackets - 4));
  REQUIRE(simulation.signal("most_senders") == kSenders);  // at one NIC, and none at others
  // The link never rests: all packets, and the way of the first.
  const Time all = kRate.serialization(4160) * (kSenders * kPackets + 1) + Time::ns(1100);
  Time last, first = Time::max();
  for (const auto& [message, at] : simulation.client.delivered) {
    last = std::max(last, at);
    first = std::min(first, at);
  }
  REQUIRE(last >= all);
  REQUIRE(last.seconds() == Approx(all.seconds()).epsilon(0.01));
  // In turn: they end together.
  REQUIRE(last.seconds() - first.seconds() < 0.02 * last.seconds());
}

TEST_CASE("credits and losses: all is delivered, the same for any division") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(1, 6)));
  RandomStream random(seed, 8);
  const auto topology =
      topologies::build(parse_module_choice("leaf_spine:leaves=3,spines=2,hosts_per_leaf=3"));
  const congestion::Control control = congestion::paced_credit();
  Options options;
  options.control = "paced_credit";
  options.seed = seed;
  options.queue = random.below(2) == 0 ? "droptail:capacity=30KB" : "composite:capacity=30KB";
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
  const Account whole =
      run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1, StopEvery::kNever, &control);
  REQUIRE(whole.delivered == messages.size());
  const Account divided = run_divided(topology, options, messages, random_division(topology, 4, random), 2,
                                      StopEvery::kNever, &control);
  REQUIRE(divided == whole);
}

}  // namespace
}  // namespace weft::sim::packet
