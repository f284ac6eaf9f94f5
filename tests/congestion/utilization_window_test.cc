// The worked example of a control that reads telemetry: its formulas by hand.
#include "tests/congestion/utilization_window.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft::congestion {
namespace {

const Bandwidth kRate = Bandwidth::gbps(100);
constexpr std::uint64_t kBdp = 125'000;  // 100 Gb/s for 10 us

TEST_CASE("the window follows the fullest port, from what it sent and what waited there") {
  const Control control = utilization_window();
  const auto factory = control.make_factory(Parameters(control.info, std::map<std::string, std::string>()));
  CHECK(factory->header_bytes() == 42);
  std::array<std::uint64_t, 2> signals{};
  alignas(16) std::array<std::byte, sizeof(UtilizationWindow)> storage;
  Sender* const sender = factory->construct(storage.data(), {.mtu_bytes = 1000,
                                                             .line_rate = kRate,
                                                             .base_rtt = Time::us(10),
                                                             .bdp_bytes = kBdp,
                                                             .hops = 3,
                                                             .signals = signals.data()});
  sender->start(Time());
  CHECK(sender->allowed().window_bytes == kBdp);
  const auto told = [&](std::int64_t now_us, std::int64_t rtt_us, const std::vector<HopTelemetry>& hops) {
    sender->on_ack({.now = Time::us(now_us), .rtt = Time::us(rtt_us), .telemetry = hops});
    return static_cast<double>(sender->allowed().window_bytes);  // cut to whole bytes
  };
  // Nothing to compare the first with.
  CHECK(told(10, 10, {{Time::us(5), 0, 1000, kRate, 4}, {Time::us(6), 0, 1000, kRate, 8}}) == double{kBdp});
  CHECK(signals == std::array<std::uint64_t, 2>{0, 1});
  // Both have sent for ten microseconds: one all the time, the other half of it; no queue at both ends of
  // that.
  CHECK(told(20, 10, {{Time::us(15), 0, 63'500, kRate, 4}, {Time::us(16), 25'000, 126'000, kRate, 8}}) ==
        Approx(118'750).margin(1));
  CHECK(signals == std::array<std::uint64_t, 2>{1, 1});  // the packet was sent after the start
  // Both send as much again, with 25,000 bytes waiting all the time: 1.2. The packet was sent at 19, before
  // the last change at 20.
  CHECK(told(30, 11, {{Time::us(25), 0, 126'000, kRate, 4}, {Time::us(26), 50'000, 251'000, kRate, 8}}) ==
        Approx(118'750 * 0.95 / 1.2).margin(2));
  CHECK(signals == std::array<std::uint64_t, 2>{1, 1});
  // Another way.
  const auto before = static_cast<double>(sender->allowed().window_bytes);
  CHECK(told(31, 11, {{Time::us(26), 0, 1000, kRate, 4}, {Time::us(27), 0, 1000, kRate, 10}}) == before);
  CHECK(signals == std::array<std::uint64_t, 2>{1, 2});
  sender->~Sender();
}

}  // namespace
}  // namespace weft::congestion
