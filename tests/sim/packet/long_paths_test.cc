// One flow within a datacenter and one between two share a link, round trips a hundred times apart.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/congestion/every_control.h"
#include "tests/sim/packet/meter.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

const std::string kMarks = "ecn:capacity=1MB,kmin=100KB,kmax=800KB";
const std::string kPhantom = "phantom:capacity=1MB,phantom_capacity=22.4MB";

struct Row {
  std::string control, queue;
  double least, most;  // of what came through from 30 ms to 60 ms, the near flow's share
  double used;         // of the link, at least
};

// Receivers that grant credit share evenly, whatever the round trip, and so do timers of one length (DCQCN).
// Windows that grow by as much in every round trip give a link to who is near (DCTCP, MPRDMA, NewReno,
// CUBIC). A longest rate and twice the round trip's worth in flight (BBR), growth in proportion to the
// bandwidth-delay product (PowerTCP, Bolt, NSCC), windows of a bandwidth-delay product (fixed_window) or
// delays judged in round trips of one's own (TIMELY, Swift, STrack, SMaRTT) give it to who is far. Where that
// one keeps a queue full that drops what doesn't fit, the near flow gets nothing at all.
std::vector<Row> rows() {
  const std::string room = "droptail:capacity=1MB", trims = "composite:capacity=160KB";
  return {
      {"fixed_window", room, 0.3, 0.45, 0.98},
      {"dctcp", kMarks, 0.95, 1, 0.98},
      {"timely", room, 0, 0.02, 0.95},
      {"dcqcn", kMarks, 0.4, 0.6, 0.9},
      {"hpcc", room, 0.3, 0.5, 0.93},
      {"powertcp", room, 0.01, 0.03, 0.98},
      {"swift", room, 0, 0.02, 0.98},
      {"mprdma", kMarks, 0.65, 0.85, 0.98},
      {"ndp", trims, 0.49, 0.51, 0.98},
      {"eqds", trims, 0.49, 0.51, 0.98},
      {"nscc", trims, 0, 0.05, 0.95},
      {"rccc", trims, 0.49, 0.51, 0.98},
      {"nscc_rccc", trims, 0.45, 0.55, 0.95},
      {"smartt", trims, 0.1, 0.25, 0.92},
      {"strack", room, 0.15, 0.35, 0.9},
      {"bolt", room, 0.08, 0.2, 0.97},
      {"bbr", room, 0, 0.01, 0.97},
      {"uno:epoch=12.7us", kPhantom, 0.13, 0.6, 0.93},
      {"newreno", room, 0.95, 1, 0.98},
      {"cubic", room, 0.95, 1, 0.98},
  };
}

struct Outcome {
  double near = 0, used = 0;
};

// Round trips of 12.7 us and 1.27 ms over 100 Gb/s.
Outcome share(const std::string& control, const std::string& queue, Time from, Time end) {
  const auto topology = topologies::build(parse_module_choice(
      "datacenters:of=[single_switch:hosts=2,link=100Gbps,latency=3us,switch_latency=0ns],"
      "long_latency=620us,long_rate=400Gbps"));
  Simulation simulation(topology, {.control = control, .queue = queue});
  Meter meter(4, from);
  simulation.network.set_observer(&meter);
  constexpr std::uint32_t kNear = 1, kFar = 2;
  for (const std::uint32_t sender : {kNear, kFar}) simulation.send(sender, 0, 4'000'000'000);
  RunUntil until(end);
  simulation.network.run(until);
  const double all = meter.bytes[kNear] + meter.bytes[kFar];
  return {meter.bytes[kNear] / all, all * 8 / (100e9 * (end - from).seconds())};
}

}  // namespace

TEST_CASE("between datacenters: what each control leaves to the flow that is a hundred times as far away") {
  CHECK(congestion::unmatched(rows()) == "");
  const Row row = GENERATE(from_range(rows()));
  const Outcome outcome = share(row.control, row.queue, Time::us(30'000), Time::us(60'000));
  CAPTURE(row.control, row.queue, outcome.near, outcome.used);
  CHECK(outcome.near >= row.least);
  CHECK(outcome.near <= row.most);
  CHECK(outcome.used >= row.used);
  CHECK(outcome.used <= 1.001);
}

// A round trip of 20 ms at 5 Gb/s is 3,000 packets. From 300 ms on slow starts are over, too.
TEST_CASE("a path as long as it may be: alone on it, each control fills the link") {
  const Row row = GENERATE(from_range(rows()));
  const Time from = Time::us(300'000), end = Time::us(400'000);
  const auto topology =
      topologies::build(parse_module_choice("single_switch:hosts=2,link=5Gbps,latency=5ms"));
  Simulation simulation(topology, {.control = parse_module_choice(row.control).name, .queue = row.queue});
  Meter meter(2, from);
  simulation.network.set_observer(&meter);
  simulation.send(1, 0, 4'000'000'000);
  RunUntil until(end);
  simulation.network.run(until);
  CAPTURE(row.control);
  CHECK(meter.bytes[1] * 8 / (5e9 * (end - from).seconds()) > 0.85);
}

// Each begins with a window of its own bandwidth-delay product, so the far one has 99 hundredths of all, and
// grows by a thousandth of that in a round trip: to be even takes hundreds of milliseconds.
TEST_CASE("between datacenters: Uno's flows become even, DCTCP's part") {
  const auto near = [](const std::string& control, const std::string& queue, int from_ms, int end_ms) {
    return share(control, queue, Time::us(1000 * from_ms), Time::us(1000 * end_ms)).near;
  };
  const std::string uno = "uno:epoch=12.7us";
  const double first = near(uno, kPhantom, 10, 20), second = near(uno, kPhantom, 60, 90),
               third = near(uno, kPhantom, 250, 290);
  CAPTURE(first, second, third);
  CHECK(first < 0.15);
  CHECK(second > 1.5 * first);
  CHECK(third > 1.4 * second);
  CHECK(third < 0.55);
  CHECK(near("dctcp", kMarks, 10, 20) < 0.9);
  CHECK(near("dctcp", kMarks, 60, 90) > 0.98);
}

}  // namespace weft::sim::packet
