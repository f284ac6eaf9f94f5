#include "topologies/cost/price_list.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "sim/units/module.h"
#include "topologies/cost/built_in_prices.h"
#include "topologies/cost/prices.pb.h"

namespace weft::topologies {
namespace {

// The first thing the parser finds wrong.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& text) override {
    if (message.empty()) {
      at.line = line + 1;
      at.column = column + 1;
      message = text;
    }
  }
  SourceLocation at;
  std::string message;
};

// Reads the entries of a parsed list, and knows at which line each stands.
class Reader {
 public:
  Reader(const pb::Prices& prices, const google::protobuf::TextFormat::ParseInfoTree& tree, std::string file)
      : prices_(prices), tree_(tree), file_(std::move(file)) {}

  PriceList read() {
    PriceList list;
    list.name = file_;
    list.source = prices_.source();
    list.date = prices_.date();
    list.shared_switches = prices_.shared_switches();
    list.split_ports = prices_.split_ports();
    list.chassis = prices_.chassis();
    read_racks(list.racks);
    for (int i = 0; i < prices_.switch__size(); ++i) {
      const pb::Switch& entry = prices_.switch_(i);
      enter("switch", i);
      if (entry.ports() == 0) fail("ports must be given, 1 or more");
      const Bandwidth each = rate(entry.rate());
      expect_price(entry.has_price());
      list.switches.push_back(
          {entry.ports(), each, positive(entry.price(), "price"), positive(entry.watts(), "watts"),
           entry.has_name() ? entry.name() : fmt::format("{}x{}", entry.ports(), to_string(each))});
    }
    if (prices_.has_switch_formula()) {
      const pb::SwitchFormula& entry = prices_.switch_formula();
      enter("switch_formula", -1);
      if (!entry.has_base() && !entry.has_per_port()) fail("base or per_port must be given");
      list.switch_formula = {.base = entry.base(),
                             .per_port = positive(entry.per_port(), "per_port"),
                             .watts_per_port = positive(entry.watts_per_port(), "watts_per_port"),
                             .rate = rate(entry.rate())};
      if (entry.has_most_ports()) list.switch_formula->most_ports = entry.most_ports();
    }
    for (int i = 0; i < prices_.cable_size(); ++i) {
      enter("cable", i);
      list.cables.push_back(read_cable(prices_.cable(i)));
    }
    for (int i = 0; i < prices_.breakout_size(); ++i) {
      enter("breakout", i);
      list.breakouts.push_back(read_breakout(prices_.breakout(i)));
    }
    for (int i = 0; i < prices_.nic_size(); ++i) {
      const pb::Nic& entry = prices_.nic(i);
      enter("nic", i);
      expect_price(entry.has_price());
      list.nics.push_back(
          {rate(entry.rate()), positive(entry.price(), "price"), positive(entry.watts(), "watts")});
    }
    if (prices_.has_node()) {
      enter("node", -1);
      expect_price(prices_.node().has_price());
      list.node = {positive(prices_.node().price(), "price"), positive(prices_.node().watts(), "watts")};
    }
    list.has_watts = gives_watts();
    return list;
  }

 private:
  bool gives_watts() const {
    const auto given = [](const auto& entries) {
      return std::any_of(entries.begin(), entries.end(), [](const auto& entry) { return entry.has_watts(); });
    };
    return given(prices_.switch_()) || given(prices_.cable()) || given(prices_.breakout()) ||
           given(prices_.nic()) || prices_.node().has_watts() ||
           prices_.switch_formula().has_watts_per_port();
  }

  void enter(const char* field, int index) {
    const auto place = tree_.GetLocation(pb::Prices::descriptor()->FindFieldByName(field), index);
    at_ = {.file = file_, .line = place.line + 1, .column = place.column + 1};
  }
  [[noreturn]] void fail(const std::string& what) const { throw InputError(at_, what); }

  // A price left out would make the part free, and so the one that is chosen.
  void expect_price(bool given) const {
    if (!given) fail("price must be given; 0 for what costs nothing");
  }

  double positive(double value, const char* field) const {
    if (!(value >= 0) || !std::isfinite(value))
      fail(fmt::format("{} is {}, but it can't be below 0", field, value));
    return value;
  }

  Bandwidth rate(const std::string& text) const {
    if (text.empty()) fail("rate must be given, like \"400Gbps\"");
    try {
      const Bandwidth value = parse_bandwidth(text);
      if (value < kLeastRate) fail(fmt::format("rate is '{}', but a unit is needed, like \"400Gbps\"", text));
      return value;
    } catch (const InputError& error) {
      if (!error.location().file.empty()) throw;
      fail(error.what());
    }
  }

  void read_racks(RackRules& racks) {
    const pb::Racks& entry = prices_.racks();
    if (prices_.has_racks()) enter("racks", -1);
    racks = {.hosts = entry.hosts(),
             .switches = entry.switches(),
             .width_m = positive(entry.width_m(), "width_m"),
             .depth_m = positive(entry.depth_m(), "depth_m"),
             .within_m = positive(entry.within_m(), "within_m"),
             .overhead_m = positive(entry.overhead_m(), "overhead_m")};
  }

  static CableKind kind(pb::CableKind kind) {
    switch (kind) {
      case pb::BACKPLANE:
        return CableKind::kBackplane;
      case pb::COPPER:
        return CableKind::kCopper;
      case pb::OPTICAL:
        return CableKind::kOptical;
      case pb::LONG_HAUL:
        return CableKind::kLongHaul;
    }
    return CableKind::kUnknown;
  }

  BreakoutPrice read_breakout(const pb::Breakout& entry) const {
    constexpr std::uint32_t kMostWays = 16;
    if (prices_.split_ports()) {
      fail("split_ports splits ports without breakout cables: leave out it, or all entries 'breakout'");
    }
    if (entry.name().empty()) fail("name must be given, like \"800G to 2x400G DAC\"");
    if (entry.kind() != pb::COPPER && entry.kind() != pb::OPTICAL) fail("kind must be COPPER or OPTICAL");
    if (entry.ways() < 2 || entry.ways() > kMostWays) {
      fail(fmt::format("ways is {}, but a port is broken out into 2 to {}", entry.ways(), kMostWays));
    }
    const Bandwidth each = rate(entry.rate());
    expect_price(entry.has_price() || entry.has_price_per_m());
    if (each.bps() > INT64_MAX / entry.ways()) fail("rate is more than a port can have");
    return {.name = entry.name(),
            .kind = kind(entry.kind()),
            .ways = entry.ways(),
            .rate = each,
            .up_to_m = entry.has_up_to_m() ? positive(entry.up_to_m(), "up_to_m") : HUGE_VAL,
            .price = positive(entry.price(), "price"),
            .price_per_m = positive(entry.price_per_m(), "price_per_m"),
            .watts = positive(entry.watts(), "watts"),
            .both_ends = entry.both_ends()};
  }

  CablePrice read_cable(const pb::Cable& entry) const {
    CablePrice cable;
    cable.name = entry.name();
    if (cable.name.empty()) fail("name must be given, like \"5 m DAC\"");
    if (!entry.has_kind()) fail("kind must be given: BACKPLANE, COPPER, OPTICAL or LONG_HAUL");
    cable.kind = kind(entry.kind());
    expect_price(entry.has_price() || entry.has_price_per_m() || entry.has_price_per_gbps() ||
                 entry.has_price_per_gbps_m());
    cable.rate = entry.has_rate() ? rate(entry.rate()) : Bandwidth::bps(INT64_MAX);
    cable.up_to_m = entry.has_up_to_m() ? positive(entry.up_to_m(), "up_to_m") : HUGE_VAL;
    cable.price = positive(entry.price(), "price");
    cable.price_per_m = positive(entry.price_per_m(), "price_per_m");
    cable.price_per_gbps = positive(entry.price_per_gbps(), "price_per_gbps");
    cable.price_per_gbps_m = positive(entry.price_per_gbps_m(), "price_per_gbps_m");
    cable.watts = positive(entry.watts(), "watts");
    return cable;
  }

  const pb::Prices& prices_;
  const google::protobuf::TextFormat::ParseInfoTree& tree_;
  std::string file_;
  SourceLocation at_;
};

}  // namespace

std::string left_out_of(const PriceList& list) {
  std::string text = list.nics.empty() ? "NICs" : "";
  if (!list.has_watts) text += text.empty() ? "power" : " and power";
  return text;
}

double CablePrice::price_of(Bandwidth carried, double length_m) const {
  const double gbps = static_cast<double>(carried.bps()) * 1e-9;
  return price + price_per_m * length_m + gbps * (price_per_gbps + price_per_gbps_m * length_m);
}

PriceList parse_price_list(std::string_view text, const std::string& name) {
  pb::Prices prices;
  google::protobuf::TextFormat::Parser parser;
  google::protobuf::TextFormat::ParseInfoTree tree;
  FirstError error;
  parser.RecordErrorsTo(&error);
  parser.WriteLocationsTo(&tree);
  if (!parser.ParseFromString(std::string(text), &prices)) {
    error.at.file = name;
    throw InputError(
        error.at, fmt::format("{} (fields and their meanings: topologies/cost/prices.proto)", error.message));
  }
  return Reader(prices, tree, name).read();
}

void pin_switches(PriceList& list, const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::vector<std::string> known;
  for (const SwitchPrice& entry : list.switches) known.push_back(entry.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      fail_unknown_name(fmt::format("switch of price list {}", list.name), name, known);
    }
  }
  std::erase_if(list.switches, [&](const SwitchPrice& entry) {
    return std::find(names.begin(), names.end(), entry.name) == names.end();
  });
  list.switch_formula.reset();
}

std::vector<std::string> price_list_names() {
  std::vector<std::string> names;
  for (const BuiltInPrices& list : kBuiltInPrices) names.emplace_back(list.name);
  return names;
}

std::string_view price_list_text(std::string_view name) {
  for (const BuiltInPrices& list : kBuiltInPrices) {
    if (name == list.name) return list.text;
  }
  fail_unknown_name("price list", name, price_list_names());
}

// Nobody writes more by hand.
constexpr std::uint64_t kMostBytes = 64 << 20;

PriceList find_price_list(const std::string& name_or_path) {
  const std::vector<std::string> names = price_list_names();
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return parse_price_list(price_list_text(name_or_path), name_or_path);
  }
  std::error_code error;
  if (!std::filesystem::exists(name_or_path, error)) {
    throw InputError(
        fmt::format("'{}' is neither a price list that is built in ({}) nor a file that can be read",
                    name_or_path, fmt::join(names, ", ")));
  }
  return parse_price_list(read_input(name_or_path, kMostBytes), name_or_path);
}

}  // namespace weft::topologies
