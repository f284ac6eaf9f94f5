#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "topologies/cost/bill.h"

namespace weft::topologies {
namespace {

const char* part_name(Part part) {
  switch (part) {
    case Part::kSwitch:
      return "switch";
    case Part::kCable:
      return "cable";
    case Part::kNic:
      return "nic";
  }
  return "";
}

// 1,234,567; cents only below 1,000.
std::string grouped(double value) {
  if (value < 1000 && value != static_cast<double>(static_cast<std::int64_t>(value))) {
    return fmt::format("{:.2f}", value);
  }
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

double per_gbps(const Bill& bill, double bps) { return bill.price / (bps * 1e-9); }

}  // namespace

std::string bill_table(const Bill& bill, const Worth& worth) {
  std::string text = fmt::format("topology   {}\nprices     {}\n", bill.topology, bill.prices);
  if (bill.planes > 1) text += fmt::format("planes     {}\n", bill.planes);
  text += fmt::format("racks      {}\n\n", bill.racks);

  std::size_t width = 4;
  const auto described = [](const BillLine& line) {
    if (line.part != Part::kCable) return line.item;
    return fmt::format("{}, {:.1f} m on average", line.item, line.length_m / static_cast<double>(line.count));
  };
  for (const BillLine& line : bill.lines) width = std::max(width, described(line).size());
  text += fmt::format("{:>10}  {:<{}}  {:>10}  {:>14}  {:>11}\n", "count", "item", width, "each $", "$", "W");
  for (const BillLine& line : bill.lines) {
    text += fmt::format("{:>10}  {:<{}}  {:>10}  {:>14}  {:>11}\n", grouped(static_cast<double>(line.count)),
                        described(line), width, grouped(line.price / static_cast<double>(line.count)),
                        grouped(line.price), grouped(line.watts));
  }
  text += fmt::format("{:>10}  {:<{}}  {:>10}  {:>14}  {:>11}\n\n", "", "all", width, "", grouped(bill.price),
                      grouped(bill.watts));
  const auto endpoints = static_cast<double>(bill.endpoints);
  text += fmt::format("per endpoint            {} $, {:.1f} W ({} endpoints)\n",
                      grouped(bill.price / endpoints), bill.watts / endpoints, grouped(endpoints));
  const auto row = [&](const char* of, double bps) {
    if (bps > 0) text += fmt::format("per Gb/s {:<15}{:.2f} $\n", of, per_gbps(bill, bps));
  };
  row("of injection", bill.injection_bps);
  row("of bisection", worth.bisection_bps);
  row("achieved", worth.achieved_bps);
  return text;
}

std::string bill_json(const Bill& bill, const Worth& worth) {
  nlohmann::ordered_json json;
  json["topology"] = bill.topology;
  json["prices"] = bill.prices;
  json["planes"] = bill.planes;
  json["endpoints"] = bill.endpoints;
  json["racks"] = bill.racks;
  json["switches"] = bill.count(Part::kSwitch);
  json["cables"] = bill.count(Part::kCable);
  json["lines"] = nlohmann::ordered_json::array();
  for (const BillLine& line : bill.lines) {
    nlohmann::ordered_json entry = {{"part", part_name(line.part)},
                                    {"item", line.item},
                                    {"count", line.count},
                                    {"price", line.price},
                                    {"watts", line.watts}};
    if (line.part == Part::kCable) entry["length_m"] = line.length_m;
    json["lines"].push_back(std::move(entry));
  }
  json["price"] = bill.price;
  json["watts"] = bill.watts;
  const auto endpoints = static_cast<double>(bill.endpoints);
  json["price_per_endpoint"] = bill.price / endpoints;
  json["watts_per_endpoint"] = bill.watts / endpoints;
  const auto add = [&](const std::string& name, double bps) {
    if (bps <= 0) return;
    json[name + "_bps"] = bps;
    json["price_per_gbps_" + name] = per_gbps(bill, bps);
  };
  add("injection", bill.injection_bps);
  add("bisection", worth.bisection_bps);
  add("achieved", worth.achieved_bps);
  return json.dump(2) + "\n";
}

}  // namespace weft::topologies
