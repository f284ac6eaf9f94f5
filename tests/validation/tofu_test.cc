// Times on Tofu-D with what it has by default, against arithmetic on paper.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "goal/workload/message_graph.h"
#include "tests/validation/run.h"

namespace weft::validation {
namespace {

constexpr std::uint64_t kBytes = 1'000'000;
constexpr std::uint32_t kHosts = 3 * 3 * 3 * 12;
// Steps in X, Y, Z, A, B and C, the last fastest.
constexpr std::uint32_t kX = 108, kY = 36, kZ = 12, kA = 6, kB = 2, kC = 1;

// 521 packets of 1,920 bytes or fewer, each with 136 more, at 6.8 GB/s. (Measured are 6.35 GB/s: 157.5 us.)
constexpr double kWireUs = (kBytes + 521 * 136) / 6.8e3;

double makespan_us(const std::string& network, const std::vector<std::uint32_t>& destinations) {
  std::vector<goal::Message> messages;
  for (const std::uint32_t to : destinations) messages.push_back({0, to, kBytes, 0});
  const std::string text = fmt::format(
      "job {{ goal: \"built by the test\" }} hosts {{ o: \"0ns\" S: \"1000TB\" }} connections: "
      "\"per_message\" seed: 1\ntopology {{ tofu {{ x: 3 y: 3 z: 3 }} }} network {{ {} }}",
      network);
  const results::Report report = run_whole(text, goal::message_graph(kHosts, messages));
  REQUIRE(report.outcome == results::Outcome::kComplete);
  return report.makespan.seconds() * 1e6;
}

}  // namespace

TEST_CASE("Tofu-D: a message between neighbours has a link's 6.8 GB/s, and each hop takes 100 ns") {
  for (const char* network : {"flow {}", "packet {}"}) {
    INFO(network);
    const double near = makespan_us(network, {kX}), far = makespan_us(network, {kX + kY + kZ});
    // 200 ns in each NIC and a hop, and the last packet on the links from a host and to one again.
    constexpr double kPacketUs = (1920 + 136) / 6.8e3;
    CHECK(near == Approx(kWireUs + 0.4 + 0.1 + 2 * kPacketUs).margin(0.1));
    CHECK(far - near == Approx(2 * (0.1 + kPacketUs)).margin(0.01));
  }
}

TEST_CASE("Tofu-D: a node sends by six links at once, and no more by ten; a rank alone by one") {
  const std::vector<std::uint32_t> six = {kX, 2 * kX, kY, 2 * kY, kZ, 2 * kZ};
  std::vector<std::uint32_t> ten = six;
  ten.insert(ten.end(), {kA, kB, 2 * kB, kC});
  for (const std::string network : {"flow", "packet"}) {
    INFO(network);
    CHECK(makespan_us(network + " { nic_choice: \"round_robin\" }", six) == Approx(kWireUs).epsilon(0.03));
    CHECK(makespan_us(network + " { nic_choice: \"all\" }", six) == Approx(kWireUs).epsilon(0.03));
    CHECK(makespan_us(network + " { nic_choice: \"all\" }", ten) == Approx(kWireUs * 10 / 6).epsilon(0.03));
    CHECK(makespan_us(network + " {}", six) == Approx(6 * kWireUs).epsilon(0.03));
  }
}

}  // namespace weft::validation
