#include "topologies/families/global_links.h"

#include <string>

#include "topologies/families/cabling.h"

namespace weft::topologies {
namespace {

// Groups `distance` apart, at ports `port` and, if a group has one link each way, the next.
void add_circle(std::vector<GlobalLink>& links, std::uint32_t groups, std::uint32_t distance,
                std::uint32_t port) {
  const bool halfway = 2 * distance == groups;
  for (std::uint32_t a = 0; a < (halfway ? distance : groups); ++a) {
    links.push_back({a, port, (a + distance) % groups, halfway ? port : port + 1});
  }
}

}  // namespace

std::vector<ParameterSpec> with_global_links(std::vector<ParameterSpec> own) {
  own.push_back({"links_per_pair", ParameterType::kInteger, "auto",
                 "Links between every two groups; auto: until all global ports are used."});
  own.push_back(
      {"arrangement", ParameterType::kText, "relative",
       "Where global port n of group G leads: relative (to G + n + 1) or absolute (to the n-th other).",
       one_of({"relative", "absolute"})});
  return own;
}

std::vector<GlobalLink> read_global_links(const Parameters& parameters, std::uint32_t groups,
                                          std::uint32_t ports) {
  const bool relative = parameters.text("arrangement") == "relative";
  std::vector<GlobalLink> links;
  if (groups == 1) return links;
  const std::uint32_t others = groups - 1, most = ports / others;
  const std::uint32_t per_pair = count_parameter(parameters, "links_per_pair", most, most);
  for (std::uint32_t a = 0; a < groups; ++a) {
    for (std::uint32_t port = 0; port < per_pair * others; ++port) {
      const std::uint32_t n = port % others, round = port - n;
      const std::uint32_t b = relative ? (a + n + 1) % groups : n + (n >= a);
      if (b > a) links.push_back({a, port, b, round + (relative ? others - 1 - n : a)});
    }
  }
  if (!parameters.automatic("links_per_pair")) return links;
  const std::uint32_t first = per_pair * others, spare = ports - first;
  for (std::uint32_t distance = 1; distance <= spare / 2; ++distance) {
    add_circle(links, groups, distance, first + 2 * (distance - 1));
  }
  if (spare % 2 == 1 && groups % 2 == 0) add_circle(links, groups, groups / 2, ports - 1);
  return links;
}

}  // namespace weft::topologies
