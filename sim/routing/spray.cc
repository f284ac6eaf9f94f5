#include "sim/routing/spray.h"

#include <bit>

namespace weft::routing {
namespace {

constexpr std::int64_t kMostPaths = 1 << 16;

class Spray final : public PathSelector {
 public:
  Spray(std::uint32_t paths, sim::RandomStream random) : low_bits_(paths - 1), random_(random) {
    base_ = static_cast<std::uint32_t>(random_.next()) & ~low_bits_;
  }
  std::uint32_t next_entropy(std::uint32_t) override {
    if ((counter_ & low_bits_) == 0) mask_ = static_cast<std::uint32_t>(random_.next());
    return base_ | ((counter_++ ^ mask_) & low_bits_);
  }

 private:
  std::uint32_t low_bits_;
  std::uint32_t base_;  // so that flows with equal counters take different paths
  std::uint32_t counter_ = 0;
  std::uint32_t mask_ = 0;
  sim::RandomStream random_;
};

PathSelectorMaker make(const Parameters& parameters) {
  const std::int64_t paths = parameters.integer("paths");
  if (paths < 1 || paths > kMostPaths || !std::has_single_bit(static_cast<std::uint64_t>(paths))) {
    parameters.fail("paths", "it must be a power of two from 1 to 65536");
  }
  return [paths = static_cast<std::uint32_t>(paths)](std::uint64_t, sim::RandomStream random) {
    return std::make_unique<Spray>(paths, random);
  };
}

}  // namespace

Policy spray() {
  return {
      .info =
          {.name = "spray",
           .summary = "Each packet takes another of the shortest paths, whatever their load.",
           .source = "A. Dixit, P. Prakash, Y. Hu, R. Kompella, On the impact of packet spraying in data "
                     "center networks, INFOCOM 2013",
           .parameters = {{"paths", ParameterType::kInteger, "256",
                           "Entropies of a flow, each used once in a round: a power of two, 1 to 65536."}}},
      .make_path_selectors = make,
      .selectors_want_feedback = false,
      .fluid = FluidPaths::kEven};
}

}  // namespace weft::routing
