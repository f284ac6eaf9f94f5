#include "sim/placement/failed_hosts.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "sim/placement/host_names.h"
#include "sim/units/brackets.h"
#include "sim/units/random.h"

namespace weft::placement {
namespace {

constexpr std::uint64_t kDrawPurpose = 0x6661696C;

std::uint32_t read_share(std::string_view word, const SourceLocation& location, std::size_t hosts) {
  double percent = 0;
  const char* const last = word.data() + word.size() - 1;
  const auto [end, error] = std::from_chars(word.data(), last, percent);
  if (error != std::errc() || end != last || !(percent >= 0 && percent <= 100)) {
    throw InputError(location, fmt::format("'{}': expected a share from 0% to 100%", word));
  }
  const auto count = std::lround(static_cast<double>(hosts) * percent / 100);
  if (count == 0 && percent > 0) {
    throw InputError(location,
                     fmt::format("'{}' of {} hosts is less than half a host; the nearest share is one host: "
                                 "{:.4g}%",
                                 word, hosts, 100 / static_cast<double>(hosts)));
  }
  return static_cast<std::uint32_t>(count);
}

void draw(std::uint32_t count, std::uint64_t seed, Machine& machine) {
  std::vector<std::uint32_t> sound;
  for (std::uint32_t h = 0; h < machine.state.size(); ++h) {
    if (machine.is_free(h)) sound.push_back(h);
  }
  RandomStream random(seed, 0, kDrawPurpose);
  for (; count > 0 && !sound.empty(); --count) {
    std::swap(sound[random.below(sound.size())], sound.back());
    machine.state[sound.back()] = HostState::kFailed;
    sound.pop_back();
  }
}

}  // namespace

void fail_hosts(std::string_view list, const SourceLocation& location, std::uint64_t seed, Machine& machine) {
  const HostNames names(machine.topology);
  for (const std::string_view word : split_outside_brackets(list, ',')) {
    if (word.ends_with('%')) {
      draw(read_share(word, location, machine.state.size()), seed, machine);
    } else {
      machine.state[names.find(word, location)] = HostState::kFailed;
    }
  }
}

}  // namespace weft::placement
