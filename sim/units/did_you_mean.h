// The end of a message about a word that isn't known.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/units/module.h"

namespace weft {

// "; did you mean 'fat_tree'?", or nothing where no word of `known` is like this one.
inline std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::string nearest = nearest_name(word, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace weft
