// The entropies of a sprayed flow, in rounds: what `spray` and its relatives share.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "sim/core/random.h"
#include "sim/units/module.h"

namespace weft::routing {

// Every entropy of the flow comes once in a round, in an order drawn anew for each (the round's counter XOR a
// random mask).
class Rounds {
 public:
  // REQUIRES: `paths` is a power of two.
  Rounds(std::uint32_t paths, sim::RandomStream random) : low_bits_(paths - 1), random_(random) {
    base_ = static_cast<std::uint32_t>(random_.next()) & ~low_bits_;
  }

  std::uint32_t next() {
    if ((counter_ & low_bits_) == 0) mask_ = static_cast<std::uint32_t>(random_.next());
    return base_ | ((counter_++ ^ mask_) & low_bits_);
  }
  // Gives an entropy's number among those of the flow, below `paths`.
  std::uint32_t position(std::uint32_t entropy) const { return entropy & low_bits_; }
  // One of them at random.
  std::uint32_t any() { return base_ | (static_cast<std::uint32_t>(random_.next()) & low_bits_); }

  // The parameter `paths`, with its default, and its checked value. Throws InputError.
  static ParameterSpec parameter(const std::string& value) {
    return {"paths", ParameterType::kInteger, value,
            "Entropies of a flow, each used once in a round: a power of two, 1 to 65536."};
  }
  static std::uint32_t paths(const Parameters& parameters) {
    const std::int64_t paths = parameters.integer("paths");
    if (paths < 1 || paths > kMostPaths || !std::has_single_bit(static_cast<std::uint64_t>(paths))) {
      parameters.fail("paths", "it must be a power of two from 1 to 65536");
    }
    return static_cast<std::uint32_t>(paths);
  }

 private:
  static constexpr std::int64_t kMostPaths = 1 << 16;

  std::uint32_t low_bits_;
  std::uint32_t base_;  // so that flows with equal counters take different paths
  std::uint32_t counter_ = 0;
  std::uint32_t mask_ = 0;
  sim::RandomStream random_;
};

}  // namespace weft::routing
