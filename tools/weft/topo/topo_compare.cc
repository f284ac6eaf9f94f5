#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "tools/weft/topo/topo_analysis.h"
#include "tools/weft/topo/topo_commands.h"
#include "topologies/analysis/report.h"
#include "topologies/cost/bill.h"

namespace weft::cli {
namespace {

using topologies::Analysis;
using topologies::ComparisonRow;

// A network's bill, or why there is none.
struct Priced {
  topologies::Bill bill;
  topologies::Worth worth;  // achieved: with uniform traffic
  double worst_bps = 0;     // achieved with the worst traffic measured
  std::string left_out;
};

Priced price(const topologies::Topology& network, const Analysis& analysis,
             const topologies::PriceList& prices) {
  Priced priced;
  try {
    priced.bill = topologies::bill(network, prices);
  } catch (const InputError& error) {
    priced.left_out = error.what();
    return priced;
  }
  if (analysis.bisection) priced.worth.bisection_bps = analysis.bisection->even_rate();
  for (const topologies::Throughput& t : analysis.throughput) {
    if (t.demands == "uniform") priced.worth.achieved_bps = t.theta * priced.bill.injection_bps;
  }
  if (const topologies::Throughput* worst = analysis.worst_throughput()) {
    priced.worst_bps = worst->theta * priced.bill.injection_bps;
  }
  return priced;
}

std::vector<ComparisonRow> price_rows(const std::vector<Priced>& all) {
  std::vector<ComparisonRow> rows;
  const auto add = [&](const char* name, const auto& cell) {
    rows.push_back({name, {}});
    for (const Priced& one : all) rows.back().cells.push_back(one.left_out.empty() ? cell(one) : "");
  };
  const auto each = [](const Priced& p) { return static_cast<double>(p.bill.endpoints); };
  const auto per_gbps = [](const Priced& p, double bps) {
    return bps > 0 ? fmt::format("{:.2f}", p.bill.price / (bps * 1e-9)) : std::string();
  };
  add("price, $", [](const Priced& p) { return grouped(std::round(p.bill.price)); });
  add("  per endpoint", [&](const Priced& p) { return grouped(std::round(p.bill.price / each(p))); });
  add("  per Gb/s, bisection", [&](const Priced& p) { return per_gbps(p, p.worth.bisection_bps); });
  add("  per Gb/s, uniform", [&](const Priced& p) { return per_gbps(p, p.worth.achieved_bps); });
  add("  per Gb/s, worst", [&](const Priced& p) { return per_gbps(p, p.worst_bps); });
  add("power, W", [](const Priced& p) {
    return p.bill.watts ? grouped(std::round(*p.bill.watts)) : std::string("not known");
  });
  add("  per endpoint", [&](const Priced& p) {
    return p.bill.watts ? fmt::format("{:.1f}", *p.bill.watts / each(p)) : std::string("not known");
  });
  return rows;
}

// Networks of unequal size are told first: totals of them are no comparison.
std::string unequal_sizes(const std::vector<topologies::Topology>& networks) {
  std::vector<std::uint32_t> sizes;
  for (const topologies::Topology& network : networks) sizes.push_back(network.hosts());
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  if (*least == *most) return "";
  return fmt::format("endpoints differ, {}: compare what is per endpoint, not totals\n",
                     fmt::join(sizes, ", "));
}

std::string text(const std::vector<topologies::Topology>& networks, const std::vector<Analysis>& analyses,
                 const std::vector<Priced>& priced, const std::vector<topologies::PriceList>& prices) {
  std::string table = unequal_sizes(networks);
  table += "under one fabric, that of theory: the best routing there could be, or flow hashes (ECMP)\n\n";
  table += topologies::comparison_text(analyses, price_rows(priced));
  std::vector<std::string> lists;
  for (const topologies::PriceList& list : prices) {
    const std::string without = topologies::left_out_of(list);
    lists.push_back(without.empty() ? list.name : fmt::format("{} (without {})", list.name, without));
  }
  table += fmt::format("\nprices: {}\n", fmt::join(lists, ", "));
  for (std::size_t i = 0; i < priced.size(); ++i) {
    if (!priced[i].left_out.empty()) table += fmt::format("no price for {}: {}\n", i + 1, priced[i].left_out);
  }
  return table;
}

// The objects of analyze, each with a member "cost": what weft topo cost has beside them.
std::string json(const std::vector<Analysis>& analyses, const std::vector<Priced>& priced) {
  auto list = nlohmann::ordered_json::parse(topologies::comparison_json(analyses));
  for (std::size_t i = 0; i < priced.size(); ++i) {
    const Priced& one = priced[i];
    if (!one.left_out.empty()) {
      list[i]["cost"] = {{"left_out", one.left_out}};
      continue;
    }
    auto cost = nlohmann::ordered_json::parse(topologies::bill_json(one.bill, one.worth));
    for (const char* known : {"topology", "endpoints"}) cost.erase(known);
    if (one.worst_bps > 0) {
      cost["worst_bps"] = one.worst_bps;
      cost["price_per_gbps_worst"] = one.bill.price / (one.worst_bps * 1e-9);
    }
    list[i]["cost"] = std::move(cost);
  }
  return list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_topo_compare(Command& parent) {
  struct Options {
    TopologyArgument sizes;
    std::vector<std::string> topologies;
    std::vector<std::string> prices;
    AnalysisArguments analysis;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand("compare", "Measure several networks and show them side by side");
  command
      .add_option("TOPOLOGY", options->topologies,
                  "NAME:key=value,…, one or more; `weft list topology` names all")
      .required();
  options->sizes.add_endpoints_to(command);
  command
      .add_option(
          "--prices", options->prices,
          fmt::format("A file of prices, or one of: {}, for all (the first if not given) or, given again, "
                      "for each network in turn; see `weft topo cost`",
                      fmt::join(topologies::price_list_names(), ", ")))
      .repeated();
  options->analysis.add_to(command);
  command.footer(
      "Example: weft topo compare fat_tree slim_fly dragonfly --endpoints 1024\n"
      "All are measured alike, with the best routing there could be, or by flow hash where it says ECMP: no "
      "fabric counts.\n"
      "Path diversity and resilience are in --json; weft topo analyze shows them for one network, weft topo "
      "cost the bill.");
  command.callback([options] {
    const topologies::AnalysisOptions wanted = options->analysis.options();
    if (options->prices.empty()) options->prices = {topologies::price_list_names().front()};
    if (options->prices.size() != 1 && options->prices.size() != options->topologies.size()) {
      throw InputError(fmt::format("--prices was given {} times, but must be once or for each of {} networks",
                                   options->prices.size(), options->topologies.size()));
    }
    std::vector<topologies::PriceList> prices;
    for (const std::string& list : options->prices) prices.push_back(topologies::find_price_list(list));
    std::vector<topologies::Topology> networks;  // all, so that a bad one is told before the work
    for (const std::string& name : options->topologies) networks.push_back(options->sizes.build(name));
    std::vector<Analysis> analyses;
    std::vector<Priced> priced;
    for (const topologies::Topology& network : networks) {
      analyses.push_back(topologies::analyze(network, wanted));
      priced.push_back(price(network, analyses.back(), prices[prices.size() == 1 ? 0 : priced.size()]));
    }
    options->analysis.write(options->analysis.json() ? json(analyses, priced)
                                                     : text(networks, analyses, priced, prices));
  });
}

}  // namespace weft::cli
