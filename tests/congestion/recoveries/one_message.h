// A sending half with one message of full packets, for tests that work a recovery out step by step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "congestion/recovery.h"

namespace weft::congestion {

constexpr Time kRtt = Time::us(10);
constexpr std::uint32_t kMtu = 1000;
// 8 Gb/s: a packet in 1 us, ten in a bandwidth-delay product.
inline RecoverySetup setup_with(RingPool& rings, std::uint64_t& signal, bool reordering = false) {
  return {.config = {.min_timeout = Time::us(100), .max_timeout = Time::us(1000), .reordering = reordering},
          .mtu_bytes = kMtu,
          .base_rtt = kRtt,
          .longest_rtt = kRtt,
          .line_rate = Bandwidth::gbps(8),
          .rings = &rings,
          .signals = &signal};
}

template <typename Sending>
struct OneMessage final : RingPool {
  explicit OneMessage(std::uint32_t packets, const RecoveryKind& kind,
                      const std::map<std::string, std::string>& parameters = {}, bool reordering = false)
      : recovery(setup_with(*this, signal, reordering),
                 typename Sending::Settings(Parameters(kind.info, parameters))) {
    recovery.append(std::uint64_t{packets} * kMtu);
  }
  // So many packets, one each microsecond from `at` on; returns their numbers.
  std::vector<std::uint32_t> send(std::uint32_t packets, Time at) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < packets; ++i) {
      numbers.push_back(recovery.next_to_send());
      recovery.on_send(numbers.back(), at);
      at = at + Time::us(1);
    }
    return numbers;
  }
  Recovery::Outcome ack(Time now, std::uint32_t number, std::uint32_t cumulative, Time sent,
                        std::uint64_t window_packets = 10) {
    return recovery.on_ack({.now = now,
                            .number = number,
                            .cumulative = cumulative,
                            .sent = sent,
                            .window_bytes = window_packets * kMtu});
  }
  Recovery::Outcome nack(Time now, std::uint32_t number, std::uint32_t cumulative, Time sent) {
    return recovery.on_nack({.now = now, .number = number, .cumulative = cumulative, .sent = sent});
  }

  std::uint64_t signal = 0;
  Sending recovery;
};

}  // namespace weft::congestion
