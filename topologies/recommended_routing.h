// Which routing policy is recommended for a family, by its name among the policies.
#pragma once

#include <string_view>

namespace weft::topologies {

struct RecommendedRouting {
  const char* policy = "ecmp";
  const char* source = "";  // who recommends it; "": nobody, it is what works anywhere
};

// Recommends for a family by its name; for those without an entry, and unknown ones, all shortest paths by
// flow hash.
RecommendedRouting recommended_routing(std::string_view family);

}  // namespace weft::topologies
