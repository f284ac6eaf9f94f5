// How much traffic a network takes, measured twice, against the fluid model.
//
// The fluid model: every host sends at the rate of its link; at each router, traffic splits equally over all
// next links of shortest paths. The load of a link is what crosses it, over what a host sends. A network
// saturates at 1 / its largest load, and at 1 where none is above 1.
//
// The first measurement counts what crosses each link while the network is half loaded. The second overloads
// it: all hosts have all their messages at once, and queues never drop. The busiest link then works without a
// pause until it has done its part, so the time until everything has arrived tells what the network takes.
// Small windows do as well where every host has a message to every other: what is under way is then bounded.
//
// Both agree with the fluid model in the limit of many packets only: the largest of many equal loads is above
// their mean, by some standard deviations of what chance sends over one link.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "goal/workload/message_graph.h"
#include "sim/units/random.h"
#include "tests/validation/run.h"

namespace weft::validation {
namespace {

// What each host sends, one message to each of these in turn.
using Destinations = std::vector<std::vector<goal::Rank>>;

struct FluidModel {
  double largest = 0, mean = 0;  // load of links between routers
  double saturation() const { return std::min(1.0, 1 / largest); }
};

constexpr std::uint64_t kPacketBytes = 4096;
constexpr double kPacketWire_ns = 327.68;  // at 100 Gb/s

// More packets than any message has: no window.
constexpr int kNoWindow = 1'000'000;

// No headers, and ACKs of one byte: they take 0.02% of a link. `latency` is that of each link, `window` that
// of each message, in packets.
std::string sprayed(const std::string& family, const std::string& shape, const std::string& latency,
                    int window) {
  return "topology { " + family + " { " + shape + " link: \"100Gbps\" latency: \"" + latency + R"(" } }
    network { packet { mtu: "4096" header: "0" ack: "1" } }
    routing { spray { paths: 65536 } }
    queue { droptail { capacity: "100GB" } }
    congestion { fixed_window { packets: )" +
         std::to_string(window) + " } }";
}

// To every other host, in an order of its own, so that hosts don't step through the same shifts together.
Destinations everyone(std::uint32_t hosts) {
  Destinations to(hosts);
  for (goal::Rank r = 0; r < hosts; ++r) {
    for (std::uint32_t i = 1; i < hosts; ++i) to[r].push_back((r + i) % hosts);
    RandomStream random(1, r);
    for (std::size_t i = to[r].size(); i > 1; --i) std::swap(to[r][i - 1], to[r][random.below(i)]);
  }
  return to;
}

// One message from every host that the pattern does not send to itself.
template <typename Pattern>
Destinations pattern(std::uint32_t hosts, Pattern&& to) {
  Destinations destinations(hosts);
  for (goal::Rank r = 0; r < hosts; ++r) {
    if (to(r) != r) destinations[r].push_back(to(r));
  }
  return destinations;
}

// Every host sends to all its destinations, `rounds` times over; its message i starts at i times `gap_ns`.
goal::Graph messages_graph(const Destinations& to, std::uint64_t packets, int rounds, double gap_ns) {
  std::vector<goal::Message> messages;
  for (goal::Rank r = 0; r < to.size(); ++r) {
    std::uint64_t sent = 0;
    for (int round = 0; round < rounds; ++round) {
      for (const goal::Rank destination : to[r]) {
        messages.push_back({r, destination, packets * kPacketBytes,
                            static_cast<std::uint64_t>(static_cast<double>(sent++) * gap_ns)});
      }
    }
  }
  return goal::message_graph(static_cast<std::uint32_t>(to.size()), messages);
}

// `unit_ns`: the time in which a host's link carries what its host sends.
FluidModel loads(const results::Report& report, double unit_ns) {
  FluidModel loads;
  std::size_t links = 0;
  for (const results::Link& link : report.links) {
    if (link.from.starts_with("host") || link.to.starts_with("host")) continue;
    const double load = static_cast<double>(link.busy.ps()) / 1000 / unit_ns;
    loads.largest = std::max(loads.largest, load);
    loads.mean += load;
    ++links;
  }
  loads.mean /= static_cast<double>(links);
  return loads;
}

// Links of 100 Gb/s.
struct SaturationCase {
  std::string family, shape;  // torus, dims: "8x8"
  Destinations to;
  int rounds;             // of the first measurement
  std::uint64_t packets;  // of each message in the second
  FluidModel published;
  int window = kNoWindow;  // of each message in the second
};

// Rounds of short messages on long links: no packet is overtaken by a whole round trip, so that none is sent
// twice.
void check_loads(const SaturationCase& c) {
  constexpr std::uint64_t kPackets = 8;
  const double message_ns = kPacketWire_ns * kPackets;
  const double gap_ns = message_ns / (c.published.saturation() / 2);
  const results::Report report =
      run(sprayed(c.family, c.shape, "10us", kNoWindow), messages_graph(c.to, kPackets, c.rounds, gap_ns));
  REQUIRE(report.outcome == results::Outcome::kComplete);
  REQUIRE(signal(report, "retransmit") == 0);
  const FluidModel measured = loads(report, message_ns * c.rounds * static_cast<double>(c.to[1].size()));
  INFO("loads: largest " << measured.largest << ", mean " << measured.mean);
  // Nothing of the mean is left to chance.
  const double acks = 1.0 / kPacketBytes;
  CHECK(measured.mean == Approx(c.published.mean * (1 + acks)).margin(6e-5));
  // Below 1 the largest does not decide, and may stand out more.
  CHECK(measured.largest == Approx(c.published.largest).epsilon(c.published.largest > 1 ? 0.03 : 0.05));
  CHECK(measured.saturation() == Approx(c.published.saturation()).epsilon(0.03));
}

void check_accepted(const SaturationCase& c) {
  const results::Report report =
      run(sprayed(c.family, c.shape, "500ns", c.window), messages_graph(c.to, c.packets, 1, 0));
  REQUIRE(report.outcome == results::Outcome::kComplete);
  REQUIRE(signal(report, "drop") == 0);
  const double at_full_rate_ns =
      kPacketWire_ns * static_cast<double>(c.packets) * static_cast<double>(c.to[1].size());
  const double accepted = at_full_rate_ns / (static_cast<double>(report.makespan.ps()) / 1000);
  CHECK(accepted == Approx(c.published.saturation()).epsilon(0.03));
}

// REQUIRES: no host sends more than host 1 does (host 0 may send nothing: it is its own transpose).
void check(const SaturationCase& c) {
  INFO(c.family << " " << c.shape);
  check_loads(c);
  check_accepted(c);
}

const std::string kEight = R"(dims: "8x8")";

}  // namespace

TEST_CASE("saturation: torus 8×8, uniform") {
  check({"torus", kEight, everyone(64), 32, 512, {1.0159, 1.0159}});
}
TEST_CASE("saturation: torus 16×16, uniform") {
  check({"torus", R"(dims: "16x16")", everyone(256), 4, 64, {2.0078, 2.0078}, 4});
}
// The means of these three: 3, 4 and 4 links for each message, and 4 for each router.
TEST_CASE("saturation: torus 8×8, tornado in one dimension") {
  const auto tornado = pattern(64, [](goal::Rank r) { return r / 8 * 8 + (r + 3) % 8; });
  check({"torus", kEight, tornado, 2500, 20000, {3, .75}});
}
TEST_CASE("saturation: torus 8×8, transpose") {
  const auto transpose = pattern(64, [](goal::Rank r) { return r % 8 * 8 + r / 8; });
  check({"torus", kEight, transpose, 2500, 20000, {1.6296, 1}});
}
TEST_CASE("saturation: torus 8×8, bit complement") {
  const auto complement = pattern(64, [](goal::Rank r) { return 63 - r; });
  check({"torus", kEight, complement, 2500, 20000, {2.8125, 1}});
}
TEST_CASE("saturation: mesh 8×8, uniform") {
  check({"mesh", kEight, everyone(64), 32, 256, {2.5613, 1.5238}});
}
TEST_CASE("saturation: hypercube of 8 dimensions, uniform") {
  check({"hypercube", "n: 8", everyone(256), 8, 32, {.5020, .5020}});
}
TEST_CASE("saturation: HyperX 8×8 with 4 hosts on a router, uniform") {
  check({"hyperx", kEight + " hosts: 4", everyone(256), 4, 32, {.5020, .5020}});
}
TEST_CASE("saturation: HyperX 8×8 with 7 hosts on a router, uniform") {
  check({"hyperx", kEight + " hosts: 7", everyone(448), 2, 32, {.8770, .8770}});
}
TEST_CASE("saturation: HyperX 4×4×4 with 2 hosts on a router, uniform") {
  check({"hyperx", R"(dims: "4x4x4" hosts: 2)", everyone(128), 8, 32, {.5039, .5039}});
}
TEST_CASE("saturation: HyperX 4×4×4 with 3 hosts on a router, uniform") {
  check({"hyperx", R"(dims: "4x4x4" hosts: 3)", everyone(192), 4, 32, {.7539, .7539}});
}
TEST_CASE("saturation: fat tree of 4 ports, uniform") {
  check({"fat_tree", "k: 4", everyone(16), 64, 256, {.9333, .8667}});
}
TEST_CASE("saturation: fat tree of 8 ports, uniform") {
  check({"fat_tree", "k: 8", everyone(128), 8, 64, {.9764, .9291}});
}

}  // namespace weft::validation
