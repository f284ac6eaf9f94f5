// The links between the groups of a Dragonfly or one of its relatives.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units/module.h"

namespace weft::topologies {

// The parameters `links_per_pair` and `arrangement`.
std::vector<ParameterSpec> with_global_links(std::vector<ParameterSpec> own);

// A link between two groups, at one global port of each.
struct GlobalLink {
  std::uint32_t group_a = 0, port_a = 0;
  std::uint32_t group_b = 0, port_b = 0;
};

// The links of `groups` groups with `ports` global ports each, by group a, then port a. Port n leads to the
// group's (n mod (groups - 1))-th other group. By arrangement (E. Hastings et al., Comparing global link
// arrangements for Dragonfly networks, CLUSTER 2015) that is, of group G,
//   relative: G + n + 1, around the last;
//   absolute: the n-th of all others in the order of their numbers.
// With `links_per_pair` "auto" no port stays free if that can be had: after as many links between every two
// groups as the ports allow, those left over join groups G and G + 1, G + 2, … Throws InputError if
// `links_per_pair` does not fit the ports or `arrangement` is neither.
std::vector<GlobalLink> read_global_links(const Parameters& parameters, std::uint32_t groups,
                                          std::uint32_t ports);

}  // namespace weft::topologies
