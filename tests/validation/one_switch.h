// Collectives on 16 hosts of one switch, on any of the network models.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>

#include "tests/validation/run.h"

namespace weft::validation {

inline constexpr int kHosts = 16;
inline constexpr double kGbps = 400;
// Two cables of 500 ns and a packet once more on the second.
inline constexpr double kLatency_us = 1.0832;

inline const std::string kFlow = "network { flow {} }";

inline std::string packets(int ack_bytes) {
  return fmt::format(
      "network {{ packet {{ ack: \"{}\" }} }} congestion {{ fixed_window {{ packets: 150 }} }} queue {{ "
      "droptail {{ capacity: \"1GB\" }} }}",
      ack_bytes);
}

// On the wire, in microseconds.
inline double wire_us(double bytes) { return bytes * (4096 + 64) / 4096 * 8 / (kGbps * 1000); }

inline double run_us(const std::string& network, const std::string& collective) {
  return run_whole(fmt::format("job {{ traffic {{ collective {{ {} }} }} }}\nfabric: \"none\"\n{}",
                               collective, network))
             .makespan.seconds() *
         1e6;
}

inline double on(const std::string& network, const std::string& collective) {
  const std::string topology = fmt::format(
      "topology {{ single_switch {{ hosts: {} link: \"{}Gbps\" latency: \"500ns\" }} }}\n", kHosts, kGbps);
  return run_us(topology + network, collective);
}

// This sends all eagerly, so that collectives are without what a library's blocking calls make of them.
inline const std::string kEager = " hosts { S: \"1000TB\" }";

// Runs the collective on LogGOPS, with the latency and rate of the switch.
inline double on_loggops(const std::string& collective) {
  return run_us(
      fmt::format("network {{ loggops {{ L: \"{}ns\" o: \"0\" g: \"0\" G: {} O: 0 S: \"1000TB\" }} }}\n",
                  kLatency_us * 1000, wire_us(1) * 1000),
      fmt::format("{} ranks: {}", collective, kHosts));
}

inline std::string call(const std::string& kind, const std::string& size, const std::string& algorithm) {
  return fmt::format("kind: \"{}\" size: \"{}\" algorithm: \"{}\"", kind, size, algorithm);
}

}  // namespace weft::validation
