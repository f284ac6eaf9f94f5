// What the parts of a network cost and how much power they take: a list that users can edit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/quantity.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// How racks are filled and cables measured; prices.proto describes each field. Metres.
struct RackRules {
  std::uint32_t hosts = 32, switches = 16;
  double width_m = 1, depth_m = 1, within_m = 1, overhead_m = 2;
};

// Prices in US dollars, power in watts.
struct SwitchPrice {
  std::uint32_t ports = 0;
  Bandwidth rate;  // the most that a port can do
  double price = 0, watts = 0;
  std::string name;  // "64x400Gbps", if the list gives it no other
};

struct SwitchFormula {
  double base = 0, per_port = 0, watts_per_port = 0;
  Bandwidth rate;
  std::uint32_t most_ports = UINT32_MAX;
};

struct CablePrice {
  std::string name;
  CableKind kind = CableKind::kUnknown;
  Bandwidth rate;  // the most that it can carry each way
  double up_to_m = 0;
  double price = 0, price_per_m = 0, price_per_gbps = 0, price_per_gbps_m = 0;
  double watts = 0;  // both ends together

  // Returns the price of a cable that carries `carried` each way.
  double price_of(Bandwidth carried, double length_m) const;
};

// From one port to several of a lower rate.
struct BreakoutPrice {
  std::string name;
  CableKind kind = CableKind::kUnknown;
  std::uint32_t ways = 0;
  Bandwidth rate;  // the most that each leg can carry each way
  double up_to_m = 0;
  double price = 0, price_per_m = 0;  // per metre of each leg
  double watts = 0;                   // all ends together
  bool both_ends = false;             // broken-out ports at both ends

  Bandwidth port() const { return Bandwidth::bps(rate.bps() * ways); }
  double price_of(double all_legs_m) const { return price + price_per_m * all_legs_m; }
};

struct NicPrice {
  Bandwidth rate;
  double price = 0, watts = 0;
};

// A node is a machine of several accelerators; its price includes what is inside of it.
struct NodePrice {
  double price = 0, watts = 0;
};

struct PriceList {
  std::string name;  // of the built-in list, or the file's path
  std::string source, date;
  RackRules racks;
  std::vector<SwitchPrice> switches;
  bool shared_switches = false, split_ports = false, chassis = false;
  std::optional<SwitchFormula> switch_formula;
  std::vector<CablePrice> cables;
  std::vector<BreakoutPrice> breakouts;
  std::vector<NicPrice> nics;
  std::optional<NodePrice> node;
  // Does any entry give watts? If not, nothing is known of power; if so, an entry without takes none.
  bool has_watts = false;
};

// What a list has no figures for, "NICs and power"; "" if it has both.
std::string left_out_of(const PriceList& list);

// Reads a list. Throws InputError with file and line for text that is no such list, and for an entry without
// its ports, rate, name or kind or with a negative figure.
PriceList parse_price_list(std::string_view text, const std::string& name);

// Leaves only these switches in the list, and no formula for others. Throws InputError for a name that no
// entry has.
void pin_switches(PriceList& list, const std::vector<std::string>& names);

// The lists that are built in (the files in prices/), first the one that is taken where none is named.
std::vector<std::string> price_list_names();
// The text of a built-in list. Throws InputError with the nearest name for an unknown one.
std::string_view price_list_text(std::string_view name);
// The built-in list of that name, or else the file at that path. Throws InputError if it is neither.
PriceList find_price_list(const std::string& name_or_path);

}  // namespace weft::topologies
