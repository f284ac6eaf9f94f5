// Cables and lengths as vendors' words tell them.
#pragma once

#include <optional>
#include <string_view>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// What a text like "100G AOC 30m", "3m passive copper", "10ft DAC" or "QSFP-H40G-CU3M" says.
struct CableWords {
  std::optional<CableKind> kind = std::nullopt;
  std::optional<double> metres = std::nullopt;
  std::optional<Bandwidth> rate = std::nullopt;
};
CableWords cable_words(std::string_view text);

// A length: a number with a unit, or one of metres. Nothing if it is none.
std::optional<double> metres_of(std::string_view text);

}  // namespace weft::topologies
