#include "tools/weft/run/network_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "sim/results/row.h"
#include "sim/units/grouped.h"
#include "tools/weft/run/time_unit.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

// ---- From runs to rows ----

void take_training(const Json& summary, NetworkRow& row) {
  row.tokens_per_second += summary.value("tokens_per_second", 0.0);
  row.compute_share += summary.value(Json::json_pointer("/first_cpu/compute_share"), 0.0);
  const Json exposed = summary.value("exposed_communication", Json::object());
  for (const auto& [axis, waiting] : exposed.items()) {
    row.exposed[axis].all += waiting.value("share", 0.0);
    row.exposed[axis].unsent += waiting.value("unsent_share", 0.0);
  }
}

void take(const sweep::Result& result, NetworkRow& row) {
  const Json& summary = result.summary;
  const std::string routing = summary.value("routing", "");
  row.routing = routing.substr(0, routing.find(':'));
  row.fabric = summary.value("fabric", "");
  row.ranks = summary.value("ranks", std::uint64_t{0});
  row.messages += summary.value("messages", 0.0);
  row.bytes += summary.value("bytes", 0.0);
  const Json::json_pointer hosts("/machine/hosts");
  if (summary.contains(hosts)) row.endpoints = summary[hosts].get<std::uint64_t>();
  if (const std::string cause = summary.value("bound_by", ""); !cause.empty()) row.bound_by.insert(cause);
  for (const Json& warning : summary.value("warnings", Json::array())) {
    row.warnings.insert(warning.get<std::string>());
  }
  take_training(summary, row);
}

// From sums over seeds to means.
void divide_by(double seeds, NetworkRow& row) {
  for (double* sum : {&row.messages, &row.bytes, &row.tokens_per_second, &row.compute_share}) *sum /= seeds;
  for (auto& [axis, share] : row.exposed) {
    share.all /= seeds;
    share.unsent /= seeds;
  }
}

NetworkRow row_of(const sweep::Folder& folder, const std::string& application, const PricedNetwork& network,
                  std::size_t seeds) {
  NetworkRow row{.application = application, .network = network};
  std::vector<double> times;
  for (const sweep::Point& point : folder.points()) {
    if (point.values[0] != application || point.values[1] != network.topology) continue;
    const std::optional<sweep::Result> result = folder.result(point);
    if (!result || !result->complete()) continue;
    times.push_back(result->makespan_ns);
    take(*result, row);
  }
  if (times.size() != seeds) return row;
  divide_by(static_cast<double>(seeds), row);
  row.runtime_ns = sweep::estimate(times);
  return row;
}

// The fastest first.
void sort_and_tie(std::span<NetworkRow> rows) {
  std::ranges::stable_sort(
      rows, {}, [](const NetworkRow& row) { return row.runtime_ns ? row.runtime_ns->mean : INFINITY; });
  // A network that is there with several lists of prices is no tie of its own.
  const auto is_fastest = [&](const NetworkRow& row) {
    return row.network.topology == rows[0].network.topology;
  };
  for (NetworkRow& row : rows.subspan(1)) {
    if (!row.runtime_ns) break;
    if (is_fastest(row)) continue;
    const sweep::Estimate &fastest = *rows[0].runtime_ns, &other = *row.runtime_ns;
    row.tie = sweep::tie(fastest, other).value_or(fastest.mean == other.mean);
    rows[0].tie = rows[0].tie || row.tie;
  }
  for (NetworkRow& row : rows) {
    if (is_fastest(row)) row.tie = rows[0].tie;
  }
}

// ---- What isn't alike ----

using Fact = std::function<std::string(const NetworkRow&)>;

// The values of a fact, where they are not all the same.
std::optional<std::string> unlike(std::span<const NetworkRow> rows, const Fact& fact) {
  std::vector<std::string> values;
  for (const NetworkRow& row : rows) {
    if (row.runtime_ns) values.push_back(fact(row));
  }
  const bool alike =
      std::ranges::all_of(values, [&](const std::string& value) { return value == values[0]; });
  if (alike) return std::nullopt;
  return fmt::format("{}", fmt::join(values, ", "));
}

std::string prices_of(const NetworkRow& row) {
  const PricedNetwork& network = row.network;
  return network.unpriced.empty() ? network.prices
                                  : fmt::format("{} (without {})", network.prices, network.unpriced);
}

void compare_networks(std::span<const NetworkRow> rows, std::vector<std::string>& told) {
  const std::pair<const char*, Fact> kFacts[] = {
      {"endpoints", [](const NetworkRow& row) { return grouped(static_cast<double>(row.endpoints)); }},
      {"rate of a host, Gb/s",
       [](const NetworkRow& row) {
         return row.network.endpoint_bps > 0 ? fmt::format("{:g}", row.network.endpoint_bps / 1e9)
                                             : "not known";
       }},
      {"fabric", [](const NetworkRow& row) { return row.fabric; }},
      {"prices", prices_of},
  };
  for (const auto& [what, fact] : kFacts) {
    const std::optional<std::string> values = unlike(rows, fact);
    if (!values) continue;
    std::string line = fmt::format("not alike: {}: {}", what, *values);
    if (std::ranges::find(told, line) == told.end()) told.push_back(std::move(line));
  }
}

void compare_work(std::span<const NetworkRow> rows, NetworkTable& table) {
  const std::pair<const char*, Fact> kFacts[] = {
      {"ranks", [](const NetworkRow& row) { return grouped(static_cast<double>(row.ranks)); }},
      {"messages", [](const NetworkRow& row) { return grouped(row.messages); }},
      {"bytes sent", [](const NetworkRow& row) { return grouped(row.bytes); }},
  };
  const std::string& application = rows[0].application;
  std::vector<const char*> others;
  for (const auto& [what, fact] : kFacts) {
    const std::optional<std::string> values = unlike(rows, fact);
    if (!values) continue;
    table.differences.push_back(fmt::format("not alike: {} of {}: {}", what, application, *values));
    others.push_back(what);
  }
  if (others.empty()) return;
  table.other_work.push_back(
      fmt::format("{} did not do the same on all networks ({}): its runtimes tell of that, too", application,
                  fmt::join(others, ", ")));
}

// ---- For people ----

std::string number_in(const TimeUnit& unit, double time_ns) {
  return fmt::format(fmt::runtime(unit.is_least() ? "{:.0f}" : "{:.4g}"), time_ns / unit.ns);
}

std::string four_digits(double time_ns) {
  const TimeUnit unit = unit_of(time_ns);
  return number_in(unit, time_ns) + " " + unit.name;
}

// In the unit of the upper end.
std::string interval(const NetworkRow& row) {
  const TimeUnit unit = unit_of(row.high());
  return fmt::format("{} - {} {}", number_in(unit, row.low()), number_in(unit, row.high()), unit.name);
}

std::string cell(const std::optional<double>& value, const char* form, double factor = 1) {
  return value ? fmt::format(fmt::runtime(form), *value * factor) : "-";
}

std::string cause(const NetworkRow& row) { return fmt::format("{}", fmt::join(row.bound_by, " / ")); }

// Names of networks of networks are long.
std::size_t width_of(std::span<const NetworkRow> rows) {
  std::size_t width = 44;
  for (const NetworkRow& row : rows) width = std::max(width, row.network.topology.size());
  return width;
}

// The width of a column for the lists of prices; 0, and no column, where all have the same.
std::size_t width_of_prices(std::span<const NetworkRow> rows) {
  std::size_t width = 0;
  bool alike = true;
  for (const NetworkRow& row : rows) {
    width = std::max(width, row.network.prices.size() + 2);
    alike = alike && row.network.prices == rows[0].network.prices;
  }
  return alike ? 0 : width;
}

std::string line_of(const NetworkRow& row, std::size_t width, std::size_t of_prices) {
  const bool spread = row.runtime_ns && row.runtime_ns->count > 1;
  return fmt::format("{:<{}} {:>10} {:>23} {:>9} {:>7} {:>11}  {:<{}}{}{}\n", row.network.topology, width,
                     row.runtime_ns ? four_digits(row.runtime_ns->mean) : "failed",
                     spread ? interval(row) : "", cell(row.network.price, "{:.0f}", 1e-3),
                     cell(row.network.watts, "{:.1f}", 1e-3), cell(row.price_time(), "{:.3g}"),
                     of_prices > 0 ? row.network.prices : "", of_prices, cause(row), row.tie ? " (tie)" : "");
}

std::string cut_intervals(std::span<const NetworkRow> rows) {
  const bool any =
      std::ranges::any_of(rows, [](const NetworkRow& row) { return row.runtime_ns && row.is_cut(); });
  return any ? "An interval that begins at 0 is cut there: by so few seeds, so unlike, it would begin "
               "below.\n"
             : "";
}

std::string verdict(std::span<const NetworkRow> rows) {
  std::vector<std::string> ties;
  for (const NetworkRow& row : rows) {
    const bool known = std::ranges::find(ties, row.network.topology) != ties.end();
    if (row.tie && !known) ties.push_back(row.network.topology);
  }
  if (!ties.empty()) {
    const bool same = std::ranges::all_of(rows, [&](const NetworkRow& row) {
      return !row.tie || (row.low() == row.high() && row.runtime_ns->mean == rows[0].runtime_ns->mean);
    });
    return fmt::format("{} are a tie: {}.\n", fmt::join(ties, " and "),
                       same ? "they take the same time, so here the network makes no difference"
                            : "between them the seed decides, not the network");
  }
  const auto next = std::ranges::find_if(
      rows, [&](const NetworkRow& row) { return row.network.topology != rows[0].network.topology; });
  if (next == rows.end()) return "They are one network, with several lists of prices.\n";
  if (!next->runtime_ns) return "";
  return fmt::format("{} is the fastest, {:.1f}% ahead of the next{}.\n", rows[0].network.topology,
                     100 * (next->runtime_ns->mean / rows[0].runtime_ns->mean - 1),
                     rows[0].runtime_ns->count > 1 ? "" : "; with one seed it isn't known how sure that is");
}

std::set<std::string> axes_of(std::span<const NetworkRow> rows) {
  std::set<std::string> axes;
  for (const NetworkRow& row : rows) {
    for (const auto& [axis, share] : row.exposed) axes.insert(axis);
  }
  return axes;
}

// Each axis without what had not been sent, which is one column of all.
std::string shares_of(const NetworkRow& row, const std::set<std::string>& axes) {
  std::string text = fmt::format(" {:>8.1f}%", 100 * row.compute_share);
  double unsent = 0;
  for (const std::string& axis : axes) {
    const auto share = row.exposed.find(axis);
    const ExposedShare of = share == row.exposed.end() ? ExposedShare() : share->second;
    text += fmt::format(" {:>{}.1f}%", 100 * (of.all - of.unsent), std::max(axis.size(), std::size_t{6}) - 1);
    unsent += of.unsent;
  }
  return text + fmt::format(" {:>6.1f}%", 100 * unsent);
}

std::string explained(const TokenPrices& prices) {
  const std::string beside =
      prices.endpoint_price > 0 ? fmt::format(" and {:.0f} $ for each endpoint", prices.endpoint_price) : "";
  return fmt::format(
      "$/Mtoken: the network's price{} over {:g} years, by a million tokens (--years, --endpoint-price); "
      "then shares of\n"
      "the runtime: computing, what it waits for by axis, and waiting for what was not sent yet or who had "
      "not\n"
      "called (a pipeline's bubble).\n",
      beside, prices.years);
}

// What the steps of training cost, where the application has tokens.
std::string training_text(std::span<const NetworkRow> rows, const TokenPrices& prices, std::size_t width) {
  if (std::ranges::none_of(rows, [](const NetworkRow& row) { return row.tokens_per_second > 0; })) return "";
  const std::set<std::string> axes = axes_of(rows);
  std::string text = fmt::format("{:<{}} {:>12} {:>10} {:>9}", "", width, "tokens/s", "$/Mtoken", "compute");
  for (const std::string& axis : axes) text += fmt::format(" {:>6}", axis);
  text += " unsent\n";
  for (const NetworkRow& row : rows) {
    if (!row.runtime_ns) continue;
    text += fmt::format("{:<{}} {:>12.5g} {:>10}{}\n", row.network.topology, width, row.tokens_per_second,
                        cell(row.price_per_million_tokens(prices), "{:.4f}"), shares_of(row, axes));
  }
  return text + explained(prices);
}

std::optional<double> tokens_of(const NetworkRow& row) {
  return row.tokens_per_second > 0 ? std::optional(row.tokens_per_second) : std::nullopt;
}

Json exposed_of(const NetworkRow& row) {
  Json json = Json::object();
  for (const auto& [axis, share] : row.exposed)
    json[axis] = {{"share", share.all}, {"unsent_share", share.unsent}};
  return json;
}

// The rows of one application each.
void by_application(const NetworkTable& table,
                    const std::function<void(std::span<const NetworkRow>)>& visit) {
  const std::span<const NetworkRow> rows(table.rows);
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first;
    while (end < rows.size() && rows[end].application == rows[first].application) ++end;
    visit(rows.subspan(first, end - first));
    first = end;
  }
}

}  // namespace

std::optional<double> NetworkRow::price_time() const {
  if (!network.price || !runtime_ns) return std::nullopt;
  return *network.price * runtime_ns->mean / 1e9;
}

std::optional<double> NetworkRow::price_per_million_tokens(const TokenPrices& prices) const {
  if (!network.price || tokens_per_second <= 0) return std::nullopt;
  constexpr double kSecondsOfYear = 365.25 * 86400;
  const double dollars = *network.price + prices.endpoint_price * static_cast<double>(endpoints);
  return 1e6 * dollars / (prices.years * kSecondsOfYear * tokens_per_second);
}

bool NetworkTable::tie() const { return std::ranges::any_of(rows, &NetworkRow::tie); }

NetworkTable network_table(const sweep::Folder& folder, const std::vector<std::string>& applications,
                           const std::vector<PricedNetwork>& networks, std::size_t seeds,
                           const TokenPrices& token_prices) {
  NetworkTable table{.seeds = seeds, .token_prices = token_prices};
  for (const std::string& application : applications) {
    std::vector<NetworkRow> rows;
    for (const PricedNetwork& network : networks) rows.push_back(row_of(folder, application, network, seeds));
    compare_networks(rows, table.differences);
    compare_work(rows, table);
    sort_and_tie(rows);
    table.rows.insert(table.rows.end(), rows.begin(), rows.end());
  }
  return table;
}

std::string as_text(const NetworkTable& table) {
  std::string text;
  for (const std::string& each : table.differences) text += each + "\n";
  std::set<std::string> warnings;
  by_application(table, [&](std::span<const NetworkRow> rows) {
    const std::size_t width = width_of(rows), of_prices = width_of_prices(rows);
    text +=
        fmt::format("{}{}\n{:<{}} {:>10} {:>23} {:>9} {:>7} {:>11}  {:<{}}{}\n", text.empty() ? "" : "\n",
                    rows[0].application, "network", width, "runtime", table.seeds > 1 ? "95% of means" : "",
                    "k$", "kW", "$ x s", of_prices > 0 ? "prices" : "", of_prices, "bound by");
    for (const NetworkRow& row : rows) {
      text += line_of(row, width, of_prices);
      warnings.insert(row.warnings.begin(), row.warnings.end());
    }
    text += cut_intervals(rows) + verdict(rows) + training_text(rows, table.token_prices, width);
  });
  for (const std::string& warning : warnings) text += "warning: " + warning + "\n";
  return text;
}

std::string as_csv(const NetworkTable& table) {
  const auto number = [](const std::optional<double>& value, const char* form) {
    return value ? fmt::format(fmt::runtime(form), *value) : "";
  };
  std::string text =
      "application,topology,fabric,routing,endpoints,runtime_ns,low_ns,high_ns,price,power,bound_by,tie,"
      "ranks,messages,bytes,tokens_per_second,price_per_million_tokens,compute_share,prices";
  const std::set<std::string> axes = axes_of(table.rows);
  for (const std::string& axis : axes) text += fmt::format(",exposed_{0},unsent_{0}", axis);
  text += "\n";
  for (const NetworkRow& row : table.rows) {
    const std::string times =
        row.runtime_ns ? fmt::format("{:.3f},{:.3f},{:.3f}", row.runtime_ns->mean, row.low(), row.high())
                       : ",,";
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.17g},{:.17g},{},{},{:.6g},{}",
                        results::csv_field(row.application), results::csv_field(row.network.topology),
                        row.fabric, row.routing, row.endpoints, times, number(row.network.price, "{:.2f}"),
                        number(row.network.watts, "{:.1f}"), results::csv_field(cause(row)), row.tie ? 1 : 0,
                        row.ranks, row.messages, row.bytes, number(tokens_of(row), "{:.6g}"),
                        number(row.price_per_million_tokens(table.token_prices), "{:.6g}"), row.compute_share,
                        results::csv_field(row.network.prices));
    for (const std::string& axis : axes) {
      const auto share = row.exposed.find(axis);
      text += share == row.exposed.end()
                  ? ",,"
                  : fmt::format(",{:.6g},{:.6g}", share->second.all, share->second.unsent);
    }
    text += "\n";
  }
  return text;
}

Json as_json(const NetworkTable& table) {
  const auto value = [](const std::optional<double>& given) { return given ? Json(*given) : Json(); };
  Json json = {{"seeds", table.seeds},
               {"differences", table.differences},
               {"same_work", table.other_work.empty()},
               {"rows", Json::array()},
               {"tie", table.tie()}};
  for (const NetworkRow& row : table.rows) {
    const bool known = row.runtime_ns.has_value();
    json["rows"].push_back(
        {{"application", row.application},
         {"topology", row.network.topology},
         {"fabric", row.fabric},
         {"routing", row.routing},
         {"endpoints", row.endpoints},
         {"runtime_ns", known ? Json(row.runtime_ns->mean) : Json()},
         {"low", known ? Json(row.low()) : Json()},
         {"high", known ? Json(row.high()) : Json()},
         {"prices", row.network.prices},
         {"price", value(row.network.price)},
         {"power", value(row.network.watts)},
         {"price_time", value(row.price_time())},
         {"bound_by", cause(row)},
         {"tie", row.tie},
         {"ranks", row.ranks},
         {"messages", row.messages},
         {"bytes", row.bytes},
         {"tokens_per_second", value(tokens_of(row))},
         {"price_per_million_tokens", value(row.price_per_million_tokens(table.token_prices))},
         {"compute_share", row.compute_share},
         {"exposed_communication", exposed_of(row)},
         {"warnings", row.warnings}});
  }
  return json;
}

}  // namespace weft::cli
