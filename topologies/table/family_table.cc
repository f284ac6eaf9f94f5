#include "topologies/table/family_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"
#include "topologies/analysis/distances.h"
#include "topologies/analysis/router_graph.h"
#include "topologies/cost/bill.h"
#include "topologies/families.h"

namespace weft::topologies {
namespace {

constexpr std::uint64_t kSizes[] = {1'000, 16'000};
// The diameter is exact: these many sources are all there are.
constexpr std::uint64_t kAllSources = UINT64_MAX;

// Shared by all families, so no row needs them.
bool is_common(std::string_view parameter) {
  constexpr std::string_view kCommon[] = {"link", "host_link", "latency", "switch_latency"};
  return std::find(std::begin(kCommon), std::end(kCommon), parameter) != std::end(kCommon);
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string price_per_endpoint(const Topology& topology, const PriceList& prices) {
  try {
    const Bill priced = bill(topology, prices);
    return grouped(static_cast<std::uint64_t>(priced.price / static_cast<double>(priced.endpoints) + 0.5));
  } catch (const InputError&) {
    return "–";  // a switch with more ports than the list has
  }
}

// Four cells.
std::string size_cells(const Family& family, std::uint64_t endpoints, const PriceList& prices) {
  constexpr const char* kNothing = " – | – | – | – |";
  if (family.size_for == nullptr) return kNothing;
  ModuleChoice choice{.name = family.info.name, .given = {{"endpoints", std::to_string(endpoints)}}};
  try {
    choice = sized(choice);
  } catch (const InputError&) {
    return kNothing;
  }
  std::vector<std::string> sizes;
  for (const ParameterSpec& spec : family.info.parameters) {  // in the family's order
    const auto found = choice.given.find(spec.name);
    if (found != choice.given.end()) sizes.push_back(found->first + "=" + found->second);
  }
  const Topology topology = build(choice);
  const RouterGraph graph = router_graph(topology);
  const DistanceSummary distances = distance_summary(graph, graph.endpoint_routers(), kAllSources);
  return fmt::format(" `{}` | {} | {} | {} |", fmt::join(sizes, ","), grouped(topology.hosts()),
                     distances.diameter, price_per_endpoint(topology, prices));
}

}  // namespace

std::string family_table() {
  const PriceList prices = find_price_list(price_list_names().front());
  std::string text =
      "| family | parameters | for 1,000 | endpoints | diameter | $ each | for 16,000 | endpoints | diameter "
      "| "
      "$ each | source |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Family& family : families()) {
    std::vector<std::string> names;
    for (const ParameterSpec& spec : family.info.parameters) {
      if (!is_common(spec.name)) names.push_back("`" + spec.name + "`");
    }
    text += fmt::format("| `{}` | {} |", family.info.name, fmt::join(names, ", "));
    for (const std::uint64_t endpoints : kSizes) text += size_cells(family, endpoints, prices);
    text += fmt::format(" {} |\n", family.info.source);
  }
  return text;
}

}  // namespace weft::topologies
