// A buffer shared by all ports, with dynamic thresholds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/packet/fake_node.h"
#include "tests/sim/packet/support.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kPacket = 4160;
constexpr Time kNever = Time::us(1'000'000);
using Verdict = Admission::Verdict;

std::unique_ptr<Admission> make_shared_buffer(const std::string& text, std::size_t ports) {
  return make_buffers<Admission>(text, ports, Bandwidth::gbps(400), &Discipline::make_admission);
}

TEST_CASE("k ports with more than they can send share the buffer as Choudhury and Hahne say") {
  // q = alpha (B - k q), so q = alpha B / (1 + k alpha), and B / (1 + k alpha) stays free.
  constexpr double kBuffer = 10e6;
  const auto alpha = GENERATE(0.125, 0.5, 1.0, 4.0);
  const auto busy = static_cast<std::uint32_t>(GENERATE(1, 2, 7, 30));
  const auto queues = make_shared_buffer("shared:buffer=10MB,reserve=0,alpha=" + std::to_string(alpha), 32);
  std::vector<std::uint64_t> held(busy);
  std::uint32_t dropped = 0;
  for (std::uint32_t packet = 0; packet < 3 * kBuffer / kPacket; ++packet) {
    const bool fits = queues->admit(PortId(packet % busy), kPacket, Time(), kNever) != Verdict::kDrop;
    held[packet % busy] += fits ? kPacket : 0;
    dropped += !fits;
  }
  REQUIRE(dropped > kBuffer / kPacket);
  const double expected = alpha * kBuffer / (1 + busy * alpha);
  double sum = 0;
  for (std::uint32_t port = 0; port < busy; ++port) {
    // A packet is let in that finds the queue just below.
    const auto queued = static_cast<double>(held[port]);
    REQUIRE(queued == Approx(expected).margin(2 * kPacket));
    sum += queued;
  }
  REQUIRE(kBuffer - sum == Approx(kBuffer / (1 + busy * alpha)).margin((busy + 1) * kPacket));
  // A port that becomes busy finds room at once.
  REQUIRE(queues->admit(PortId(31), kPacket, Time(), kNever) != Verdict::kDrop);
  if (busy == 1) REQUIRE(queues->capacity_bytes(PortId(0)) == Approx(expected).margin(1));
}

TEST_CASE("a port's reserve is its own, however full the rest is") {
  const auto queues = make_shared_buffer("shared:buffer=100KB,alpha=1000,reserve=8320", 4);
  const auto fitting = [&](PortId port, int packets) {
    int fit = 0;
    for (int packet = 0; packet < packets; ++packet) {
      fit += queues->admit(port, kPacket, Time(), kNever) != Verdict::kDrop;
    }
    return fit;
  };
  // 100,000 - 4 * 8,320 = 66,720 are shared: 16 packets, beside the two of the reserve.
  REQUIRE(fitting(PortId(0), 100) == 18);
  REQUIRE(queues->signals().front() == std::pair<std::string, std::uint64_t>{"most_shared_bytes", 66'560});
  for (const std::uint32_t port : {1u, 2u, 3u}) REQUIRE(fitting(PortId(port), 3) == 2);
}

TEST_CASE("random arrivals and departures, against sums taken anew each time") {
  constexpr std::uint32_t kPorts = 5;
  constexpr std::uint64_t kBuffer = 200'000, kReserve = 6'000;
  constexpr double kAlpha = 0.5;
  const auto queues = make_shared_buffer("shared:buffer=200000,alpha=0.5,reserve=6000", kPorts);
  struct Held {
    Time departure;
    std::uint32_t bytes = 0;
  };
  std::vector<std::vector<Held>> all(kPorts);
  Time now;
  const auto used = [&](std::uint32_t port) {
    std::uint64_t bytes = 0;
    for (const Held& held : all[port]) bytes += held.departure > now ? held.bytes : 0;
    return bytes;
  };
  const auto beyond = [](std::uint64_t bytes) { return bytes > kReserve ? bytes - kReserve : 0; };
  RandomStream random(9, 9);
  std::uint64_t drops = 0, refused_with_room = 0, most = 0;
  for (std::uint32_t step = 0; step < 20'000; ++step) {
    now += Time::ps(static_cast<std::int64_t>(random.below(3)) * 10'000);
    const PortId port{static_cast<std::uint32_t>(random.below(kPorts))};
    std::erase_if(all[port], [&](const Held& held) { return held.departure <= now; });
    const auto size = static_cast<std::uint32_t>(64 + random.below(4096));
    std::uint64_t taken = 0;
    for (std::uint32_t each = 0; each < kPorts; ++each) taken += beyond(used(each));
    const std::uint64_t free = kBuffer - kPorts * kReserve - taken;
    const std::uint64_t more = beyond(used(port) + size) - beyond(used(port));
    const bool fits = more == 0 || (more <= free && static_cast<double>(beyond(used(port))) <
                                                        kAlpha * static_cast<double>(free));
    if (!fits && more <= free) ++refused_with_room;
    const Time last = all[port].empty() ? now : all[port].back().departure;
    const Time departure = last + Time::ps(std::int64_t{size} * 60);
    REQUIRE((queues->admit(port, size, now, departure) != Verdict::kDrop) == fits);
    drops += !fits;
    if (!fits) continue;
    all[port].push_back({departure, size});
    most = std::max(most, taken + more);
  }
  REQUIRE(queues->signals().front().second == most);
  REQUIRE(drops > 2000);
  REQUIRE(refused_with_room > 2000);
}

TEST_CASE("data is marked by what its port holds, the packet being sent included") {
  const auto queues = make_shared_buffer("shared:buffer=1MB,alpha=1,kmin=8320,kmax=8320", 2);
  std::vector<Verdict> verdicts;
  for (std::int64_t number = 1; number <= 4; ++number) {
    verdicts.push_back(queues->admit(PortId(0), kPacket, Time(), Time::us(number)));
    REQUIRE(queues->admit(PortId(1), 64, Time(), Time::us(number)) == Verdict::kTake);
  }
  REQUIRE(verdicts == std::vector<Verdict>{Verdict::kTake, Verdict::kTake, Verdict::kTake, Verdict::kMark});
  // At 1 us the first has left to its last bit: the next finds three.
  REQUIRE(queues->admit(PortId(0), kPacket, Time::us(1), Time::us(5)) == Verdict::kMark);
  REQUIRE(queues->admit(PortId(0), kPacket, Time::us(3), Time::us(6)) == Verdict::kTake);
}

TEST_CASE("in a network: nothing is lost or out of order, and links never rest") {
  const auto topology =
      topologies::build(parse_module_choice("fat_tree:k=4,link=400Gbps,latency=500ns,switch_latency=100ns"));
  Simulation simulation(
      topology,
      {.control = "fixed_window:packets=30", .queue = "shared:buffer=100KB,alpha=0.5", .policy = spray()});
  simulation.send_at_random(topology.hosts());
  simulation.run();
  REQUIRE(simulation.verdict() == "");
  REQUIRE(simulation.signal("drop") > 0);
  REQUIRE(simulation.signal("most_shared_bytes") <= 100'000 - 4 * kPacket);
}

TEST_CASE("defaults, and values that make no sense") {
  // 51.2 Tb/s: 163.84 MB, of which 128 ports have a packet each; a lone port gets a ninth of the rest.
  const double shared = 163.84e6 - 128 * kPacket;
  REQUIRE(make_shared_buffer("shared", 128)->capacity_bytes(PortId(0)) ==
          Approx(kPacket + shared / 9).margin(1));
  for (const char* bad : {"shared:alpha=0", "shared:alpha=-1", "shared:alpha=2000", "shared:buffer=8KB",
                          "shared:buffer=1MB,reserve=600KB", "shared:kmin=20KB,kmax=10KB"}) {
    INFO(bad);
    REQUIRE_THROWS_AS(make_shared_buffer(bad, 2), InputError);
  }
}

}  // namespace
}  // namespace weft::sim::packet
