// What families share to find the size that holds a number of endpoints.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::topologies {

using SizeParameters = std::map<std::string, std::string>;

// The least value from `first` to `last` in steps of `step` with which the network has `endpoints` or more.
// REQUIRES: endpoints_with() does not fall. Throws InputError that names the family and its largest network
// if even that is too small.
std::uint32_t least_size(std::string_view family, std::uint64_t endpoints, std::uint32_t first,
                         std::uint32_t last, std::uint32_t step,
                         const std::function<std::uint64_t(std::uint32_t)>& endpoints_with);
// Returns the least of `values` with which the network has `endpoints` or more, for families where only
// certain ones are possible (prime powers). Throws InputError as the other does. REQUIRES: `values` ascend.
std::uint32_t least_size(std::string_view family, std::uint64_t endpoints,
                         const std::vector<std::uint32_t>& values,
                         const std::function<std::uint64_t(std::uint32_t)>& endpoints_with);
// The throw of least_size(), for families that search in another way.
[[noreturn]] void fail_too_many_endpoints(std::string_view family, std::uint64_t endpoints,
                                          std::uint64_t most);

// `dimensions` sizes as equal as possible whose product is `points` or a little more: 1,000 in 3 is 10x10x10.
std::vector<std::uint32_t> near_cube(std::uint64_t points, std::uint32_t dimensions);
// 10x10x10, as `dims` is written.
std::string dims_text(const std::vector<std::uint32_t>& dims);

}  // namespace weft::topologies
