#include "sim/placement/host_names.h"

#include <fmt/core.h>

#include <charconv>
#include <optional>
#include <vector>

#include "sim/units/module.h"
#include "sim/units/printable.h"

namespace weft::placement {
namespace {

constexpr std::size_t kMostCompared = 5000;  // names, for the nearest one

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return UINT64_MAX;
  return value;
}

}  // namespace

HostNames::HostNames(const topologies::Topology& topology) : topology_(topology) {
  for (std::uint32_t h = 0; h < topology.hosts(); ++h)
    number_.emplace(topology.node(topology.host(h)).name, h);
}

std::uint32_t HostNames::find(std::string_view name, const SourceLocation& location) const {
  const auto known = number_.find(std::string(name));
  if (known != number_.end()) return known->second;
  std::string_view digits = name;
  if (digits.starts_with("+n")) {
    digits.remove_prefix(2);
  } else if (digits.starts_with("h")) {
    digits.remove_prefix(1);
  }
  const auto number = number_in(digits);
  if (number && *number < topology_.hosts()) return static_cast<std::uint32_t>(*number);
  const std::string shown = printable(std::string(name.substr(0, 80)));
  if (number) {
    throw InputError(location, fmt::format("'{}', but the network has {} hosts (0 to {})", shown,
                                           topology_.hosts(), topology_.hosts() - 1));
  }
  std::string nearest;
  if (topology_.hosts() <= kMostCompared) {
    std::vector<std::string> names;
    for (std::uint32_t h = 0; h < topology_.hosts(); ++h)
      names.push_back(topology_.node(topology_.host(h)).name);
    nearest = nearest_name(shown, names);
  }
  throw InputError(location,
                   fmt::format("'{}' is no host of {}{}; the first is '{}'", shown, topology_.name(),
                               nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest),
                               topology_.node(topology_.host(0)).name));
}

}  // namespace weft::placement
