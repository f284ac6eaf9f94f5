#include "topologies/slurm/names.h"

#include <fmt/core.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "sim/units/input_error.h"
#include "topologies/slurm/hostlist.h"

namespace weft::topologies {
namespace {

void check_characters(std::string_view name) {
  constexpr std::size_t kMostCharacters = 255;
  const bool odd = std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (!odd && name.size() <= kMostCharacters) return;
  throw InputError(fmt::format("'{}' is no name: it must be of at most {} characters that can be printed",
                               shortened_text(name), kMostCharacters));
}

}  // namespace

std::vector<std::string> SlurmNames::expand(std::string_view hostlist) {
  std::vector<std::string> names = expand_hostlist(hostlist, kMostSlurmNames - listed_);
  for (const std::string& name : names) {
    check_characters(name);
    if (name.find_first_of("*?{}") != std::string::npos) {
      throw InputError(
          fmt::format("'{}' is no name: ranges are written like tux[0-3], and patterns not at all",
                      shortened_text(name)));
    }
    // Words of slurm.conf's, which stand for its nodes, in any case.
    if (strcasecmp(name.c_str(), "ALL") != 0 && strcasecmp(name.c_str(), "DEFAULT") != 0) continue;
    throw InputError(fmt::format(
        "'{}' stands for nodes that slurm.conf lists, and this file doesn't: write them out, like tux[0-3]",
        name));
  }
  listed_ += names.size();
  return names;
}

void SlurmNames::check(std::string_view what, std::string_view name) {
  if (name.empty() || name.find_first_of("[],") != std::string::npos) {
    throw InputError(fmt::format("{} is '{}', but it must be one name", what, shortened_text(name)));
  }
  check_characters(name);
}

std::string shortened_text(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return text.size() <= kMost ? std::string(text) : fmt::format("{}…", text.substr(0, kMost));
}

std::uint64_t positive_number(std::string_view what, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value > 0) return value;
  throw InputError(
      fmt::format("{} is '{}', but it must be a whole number above 0", what, shortened_text(text)));
}

}  // namespace weft::topologies
