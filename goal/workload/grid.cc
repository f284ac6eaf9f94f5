#include "goal/workload/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>

namespace weft::goal {
namespace {

// Is d^k at most n?
bool power_fits(std::uint64_t d, std::uint32_t k, std::uint64_t n) {
  std::uint64_t power = 1;
  for (std::uint32_t i = 0; i < k && power <= n; ++i) power *= d;
  return power <= n;
}

// The words between the separators; calls `fail` if one is empty or has a bracket.
template <typename Fail>
std::vector<std::string_view> items_of(std::string_view text, char separator, const Fail& fail) {
  std::vector<std::string_view> items;
  for (;;) {
    const std::string_view item = text.substr(0, text.find(separator));
    if (item.empty() || item.find_first_of("[]") != std::string_view::npos) fail();
    items.push_back(item);
    if (item.size() == text.size()) return items;
    text.remove_prefix(item.size() + 1);
  }
}

}  // namespace

std::vector<std::uint32_t> Grid::coordinates(Rank r) const {
  std::vector<std::uint32_t> at(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; r /= dims[d]) at[d] = r % dims[d];
  return at;
}

Rank Grid::rank(std::span<const std::uint32_t> coordinates) const {
  Rank r = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) r = r * dims[d] + coordinates[d];
  return r;
}

std::optional<Rank> Grid::neighbor(std::span<const std::uint32_t> from, std::span<const int> offset,
                                   bool periodic) const {
  Rank r = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    std::int64_t at = static_cast<std::int64_t>(from[d]) + offset[d];
    if (at < 0 || at >= dims[d]) {
      if (!periodic) return std::nullopt;
      at = (at % dims[d] + dims[d]) % dims[d];
    }
    r = r * dims[d] + static_cast<Rank>(at);
  }
  return r;
}

Grid balanced_grid(std::uint32_t n, std::uint32_t dimensions) {
  Grid grid;
  for (std::uint32_t k = dimensions; k > 1; --k) {
    std::uint32_t largest = 1;
    for (std::uint32_t d = 2; power_fits(d, k, n); ++d) {
      if (n % d == 0) largest = d;
    }
    grid.dims.push_back(largest);
    n /= largest;
  }
  grid.dims.push_back(n);
  std::sort(grid.dims.begin(), grid.dims.end(), std::greater<>());
  return grid;
}

std::string to_text(const Grid& grid) { return fmt::format("[{}]", fmt::join(grid.dims, ",")); }

std::vector<std::string_view> list_of(const Parameters& parameters, std::string_view name) {
  const auto fail = [&] { parameters.fail(name, "it must be one value, or a list like [a,b,c]"); };
  std::string_view text = parameters.text(name);
  if (!text.empty() && text.front() == '[') {
    if (text.back() != ']') fail();
    text = text.substr(1, text.size() - 2);
  }
  return items_of(text, ',', fail);
}

std::vector<std::uint32_t> numbers_of(const Parameters& parameters, std::string_view name) {
  const std::string& text = parameters.text(name);
  const bool by_x = text.find('x') != std::string::npos && text.front() != '[';
  const auto fail = [&] { parameters.fail(name, "it must be sizes written like 4x4x8 or [4,4,8]"); };
  std::vector<std::uint32_t> numbers;
  for (const std::string_view item : by_x ? items_of(text, 'x', fail) : list_of(parameters, name)) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (error != std::errc() || end != item.data() + item.size() || number == 0) {
      parameters.fail(name, fmt::format("'{}' must be a whole number, 1 or more", item));
    }
    numbers.push_back(number);
  }
  return numbers;
}

ParameterSpec dims_parameter(const char* default_value) {
  return {"dims", ParameterType::kText, default_value,
          "Grid of the ranks, 4x4x8 or [4,4,8], the last varying fastest; 2d, 3d, …: so many dimensions, as "
          "equal as they "
          "go."};
}

Grid grid_of(const Parameters& parameters, std::uint32_t ranks, std::uint32_t least, std::uint32_t most) {
  const std::string& text = parameters.text("dims");
  const auto check_dimensions = [&](std::uint64_t dimensions) {
    if (dimensions >= least && dimensions <= most) return;
    const std::string number =
        least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
    parameters.fail("dims", fmt::format("it must have {} dimensions", number));
  };
  std::uint32_t dimensions = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dimensions);
  if (error == std::errc() && std::string_view(end) == "d") {
    check_dimensions(dimensions);
    return balanced_grid(ranks, dimensions);
  }
  if (text.empty() || (text.front() != '[' && text.find('x') == std::string::npos)) {
    parameters.fail("dims", "it must be written like [4,4,8] or 4x4x8, or like 3d");
  }
  Grid grid{numbers_of(parameters, "dims")};
  check_dimensions(grid.dims.size());
  std::uint64_t product = 1;
  for (const std::uint32_t dim : grid.dims) product = product > ranks ? product : product * dim;
  if (product != ranks) {
    const Grid instead = balanced_grid(ranks, static_cast<std::uint32_t>(grid.dims.size()));
    parameters.fail("dims",
                    fmt::format("the dimensions must multiply to the number of ranks, {}: {} would do", ranks,
                                to_text(instead)));
  }
  return grid;
}

}  // namespace weft::goal
