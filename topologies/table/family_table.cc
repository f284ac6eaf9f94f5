#include "topologies/table/family_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/grouped.h"
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

// Two cells: per endpoint, and per Gb/s that all of them can send.
std::string price_cells(const Topology& topology, const PriceList& prices) {
  try {
    const Bill priced = bill(topology, prices);
    return fmt::format("{} | {:.1f}",
                       grouped(std::round(priced.price / static_cast<double>(priced.endpoints))),
                       priced.price / (priced.injection_bps * 1e-9));
  } catch (const InputError&) {
    return "– | –";  // a switch with more ports than the list has
  }
}

// Five cells.
std::string size_cells(const Family& family, std::uint64_t endpoints, const PriceList& prices) {
  constexpr const char* kNothing = " – | – | – | – | – |";
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
                     distances.diameter, price_cells(topology, prices));
}

}  // namespace

std::string family_table() {
  const PriceList prices = find_price_list(price_list_names().front());
  std::string text =
      "| family | parameters | for 1,000 | endpoints | diameter | $ each | $ per Gb/s | for 16,000 | "
      "endpoints "
      "| diameter | $ each | $ per Gb/s | source |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
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
