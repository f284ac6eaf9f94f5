#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/units/grouped.h"
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
    case Part::kNode:
      return "node";
  }
  return "";
}

double per_gbps(const Bill& bill, double bps) { return bill.price / (bps * 1e-9); }

// The part that most of the money goes to; of switches, how far their ports are in use.
std::string what_dominates(const Bill& bill) {
  std::map<Part, double> price;
  std::uint64_t ports = 0, used = 0;
  for (const BillLine& line : bill.lines) {
    price[line.part] += line.price;
    ports += line.ports;
    used += line.ports_used;
  }
  if (bill.price <= 0) return "";
  const auto most = std::max_element(price.begin(), price.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  constexpr const char* kParts[] = {"switches", "cables", "NICs", "nodes"};
  std::string text =
      fmt::format("largest part            {}, {:.1f}% of the price",
                  kParts[static_cast<std::size_t>(most->first)], 100 * most->second / bill.price);
  if (ports > 0) {
    const double share = static_cast<double>(used) / static_cast<double>(ports);
    text += fmt::format("; {:.1f}% of the switches' ports are in use", 100 * share);
  }
  return text + "\n";
}

// Which entries of the list the switches are, and what they were chosen over.
std::string choices(const Bill& bill) {
  std::string text;
  for (const BillLine& line : bill.lines) {
    if (line.part != Part::kSwitch || line.entry.empty()) continue;
    text += fmt::format("{:<24}{} at {} $", text.empty() ? "cheapest that fits" : "", line.entry,
                        grouped(line.price / static_cast<double>(line.count)));
    for (std::size_t i = 0; i < line.over.size(); ++i) {
      const Alternative& other = line.over[i];
      text += fmt::format("{} {} at {} $", i == 0 ? ", before" : ",", other.name, grouped(other.price));
      constexpr double kDollar = 0.5;
      if (std::abs(other.cables_more) >= kDollar) {
        text += fmt::format(" with cables {} $ {}", grouped(std::round(std::abs(other.cables_more))),
                            other.cables_more > 0 ? "dearer" : "cheaper");
      }
    }
    text += line.over.empty() ? "; nothing else fits\n" : " (--switch NAME takes another)\n";
  }
  return text;
}

}  // namespace

std::string bill_table(const Bill& bill, const Worth& worth) {
  std::string text = fmt::format("topology   {}\nprices     {}\n", bill.topology, bill.prices);
  if (bill.planes > 1) text += fmt::format("planes     {}\n", bill.planes);
  text += fmt::format("racks      {}\n\n", bill.racks);

  std::size_t width = 4;
  const auto described = [](const BillLine& line) {
    if (line.part != Part::kCable) return line.item;
    const double each = line.length_m / static_cast<double>(line.count) / line.ways;
    return fmt::format("{}, {:.1f} m {}on average", line.item, each, line.ways > 1 ? "a leg " : "");
  };
  for (const BillLine& line : bill.lines) width = std::max(width, described(line).size());
  text += fmt::format("{:>10}  {:<{}}  {:>10}  {:>14}  {:>11}\n", "count", "item", width, "each $", "$", "W");
  const auto watts = [&](double known) { return bill.watts ? grouped(known) : "-"; };
  for (const BillLine& line : bill.lines) {
    text += fmt::format("{:>10}  {:<{}}  {:>10}  {:>14}  {:>11}\n", grouped(static_cast<double>(line.count)),
                        described(line), width, grouped(line.price / static_cast<double>(line.count)),
                        grouped(line.price), watts(line.watts));
  }
  text += fmt::format("{:>10}  {:<{}}  {:>10}  {:>14}  {:>11}\n\n", "", "all", width, "", grouped(bill.price),
                      watts(bill.watts.value_or(0)));
  text += choices(bill);
  text += what_dominates(bill);
  const auto endpoints = static_cast<double>(bill.endpoints);
  const std::string each = bill.watts ? fmt::format("{:.1f} W", *bill.watts / endpoints)
                                      : "power not known: the list gives no watts";
  text += fmt::format("per endpoint            {} $, {} ({} endpoints)\n", grouped(bill.price / endpoints),
                      each, grouped(endpoints));
  const auto row = [&](const char* of, double bps) {
    if (bps > 0) text += fmt::format("per Gb/s {:<15}{:.2f} $\n", of, per_gbps(bill, bps));
  };
  row("of injection", bill.injection_bps);
  row("of bisection", worth.bisection_bps);
  row("achieved", worth.achieved_bps);
  return text;
}

std::string bill_json(const Bill& bill, const Worth& worth) {
  using Json = nlohmann::ordered_json;
  Json json;
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
                                    {"watts", bill.watts ? Json(line.watts) : Json()}};
    if (line.part == Part::kCable) {
      entry["length_m"] = line.length_m;
      entry["ways"] = line.ways;
    }
    if (line.part == Part::kSwitch) {
      entry["ports"] = line.ports;
      entry["ports_used"] = line.ports_used;
      entry["entry"] = line.entry;
      entry["over"] = nlohmann::ordered_json::array();
      for (const Alternative& other : line.over) {
        entry["over"].push_back(
            {{"entry", other.name}, {"price", other.price}, {"cables_more", other.cables_more}});
      }
    }
    json["lines"].push_back(std::move(entry));
  }
  json["price"] = bill.price;
  json["watts"] = bill.watts ? Json(*bill.watts) : Json();
  const auto endpoints = static_cast<double>(bill.endpoints);
  json["price_per_endpoint"] = bill.price / endpoints;
  json["watts_per_endpoint"] = bill.watts ? Json(*bill.watts / endpoints) : Json();
  const auto add = [&](const std::string& name, double bps) {
    if (bps <= 0) return;
    json[name + "_bps"] = bps;
    json["price_per_gbps_" + name] = per_gbps(bill, bps);
  };
  add("injection", bill.injection_bps);
  add("bisection", worth.bisection_bps);
  add("achieved", worth.achieved_bps);
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace weft::topologies
