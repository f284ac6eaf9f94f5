#include "topologies/families/sizing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/units/input_error.h"

namespace weft::topologies {

std::uint32_t least_size(std::string_view family, std::uint64_t endpoints,
                         const std::vector<std::uint32_t>& values,
                         const std::function<std::uint64_t(std::uint32_t)>& endpoints_with) {
  const auto found = std::lower_bound(
      values.begin(), values.end(), endpoints,
      [&](std::uint32_t value, std::uint64_t wanted) { return endpoints_with(value) < wanted; });
  if (found == values.end()) fail_too_many_endpoints(family, endpoints, endpoints_with(values.back()));
  return *found;
}

std::uint32_t least_size(std::string_view family, std::uint64_t endpoints, std::uint32_t first,
                         std::uint32_t last, std::uint32_t step,
                         const std::function<std::uint64_t(std::uint32_t)>& endpoints_with) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t value = first; value <= last; value += step) values.push_back(value);
  return least_size(family, endpoints, values, endpoints_with);
}

void fail_too_many_endpoints(std::string_view family, std::uint64_t endpoints, std::uint64_t most) {
  throw InputError(
      fmt::format("{}: {} endpoints are more than its largest network has: {}", family, endpoints, most));
}

std::vector<std::uint32_t> near_cube(std::uint64_t points, std::uint32_t dimensions) {
  std::vector<std::uint32_t> dims;
  std::uint64_t left = points;
  for (std::uint32_t d = dimensions; d > 0; --d) {
    auto size = static_cast<std::uint64_t>(std::round(std::pow(static_cast<double>(left), 1.0 / d)));
    if (d == 1) size = left;
    size = std::max<std::uint64_t>(size, 1);
    dims.push_back(static_cast<std::uint32_t>(size));
    left = (left + size - 1) / size;
  }
  std::sort(dims.rbegin(), dims.rend());
  return dims;
}

std::string dims_text(const std::vector<std::uint32_t>& dims) {
  return fmt::format("{}", fmt::join(dims, "x"));
}

}  // namespace weft::topologies
