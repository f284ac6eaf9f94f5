#include "goal/collectives/torus.h"

#include <fmt/core.h>

namespace weft::goal {
namespace {

// The largest divisor of n whose power to `factors` is not above n.
std::uint32_t least_size(std::uint64_t n, std::uint32_t factors) {
  if (factors == 1) return static_cast<std::uint32_t>(n);
  const auto fits = [&](std::uint64_t divisor) {
    std::uint64_t power = 1;
    for (std::uint32_t i = 0; i < factors && power <= n; ++i) power *= divisor;
    return power <= n;
  };
  std::uint64_t divisor = 1;
  while (fits(divisor + 1)) ++divisor;
  while (n % divisor != 0) --divisor;
  return static_cast<std::uint32_t>(divisor);
}

}  // namespace

Torus::Torus(const std::vector<std::uint32_t>& dims, std::uint32_t ranks)
    : dimensions_(static_cast<std::uint32_t>(dims.size())) {
  std::uint64_t rest = ranks;
  std::uint32_t open = 0;
  for (std::uint32_t d = 0; d < dimensions_; ++d) {
    sizes_[d] = dims[d];
    if (dims[d] == 0) ++open;
    if (dims[d] > 0) rest /= dims[d];
  }
  for (std::uint32_t d = dimensions_; d-- > 0 && open > 0 && rest > 0;) {
    if (dims[d] > 0) continue;
    sizes_[d] = least_size(rest, open--);
    rest /= sizes_[d];
  }
}

std::uint64_t Torus::size() const {
  std::uint64_t size = 1;
  for (std::uint32_t d = 0; d < dimensions_; ++d) size *= sizes_[d];
  return size;
}

std::uint32_t Torus::stride(std::uint32_t d) const {
  std::uint32_t stride = 1;
  for (std::uint32_t e = d + 1; e < dimensions_; ++e) stride *= sizes_[e];
  return stride;
}

std::uint32_t torus_lanes(const CollectiveCall& call) {
  const auto most = static_cast<std::uint32_t>(2 * call.options->dims.size());
  return call.options->parallel == 0 ? most : call.options->parallel;
}

std::string torus_objection(const CollectiveOptions& options, std::uint32_t ranks) {
  if (options.dims.size() > Torus::kMostDimensions) {
    return fmt::format("dims can be {} at most", Torus::kMostDimensions);
  }
  if (Torus(options.dims, ranks).size() != ranks) return fmt::format("dims must multiply to {}", ranks);
  if (options.parallel > 2 * options.dims.size()) {
    return fmt::format("parallel can be {} at most, twice the dims", 2 * options.dims.size());
  }
  return "";
}

}  // namespace weft::goal
