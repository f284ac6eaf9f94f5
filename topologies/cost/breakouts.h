// Which entry of a price list each switch is, and which links share a port of it by a breakout cable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topologies/cost/price_list.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// An entry of the list that would have done, too.
struct Alternative {
  std::string name;
  double price = 0;        // each
  double cables_more = 0;  // what the cables at each would cost more than they do
};

// A link as the bill sees it. `straight`: the price of its own cable; where the list has none, more than any.
struct BilledLink {
  Vertex from = 0, to = 0;
  Bandwidth rate;
  CableKind kind = CableKind::kUnknown;
  double length_m = 0, straight = 0;
};
inline constexpr double kNoCable = 1e12;

// Ports that are broken out, and to how many links of one rate.
struct BrokenOut {
  Bandwidth rate;
  std::uint32_t ports = 0, links = 0;
};

struct SwitchChoice {
  const SwitchPrice* entry = nullptr;  // null: no entry has its ports
  std::uint32_t ports_used = 0;
  std::vector<BrokenOut> broken_out;  // fastest links last
  std::vector<Alternative> over;      // the next cheapest, at most three
};

// One cable for several links, or an end of it: a breakout cable, or where both ends are broken out a
// straight one between the same two ports.
struct SharedCable {
  const BreakoutPrice* breakout = nullptr;
  const CablePrice* straight = nullptr;
  double share = 1;  // 0.5: an end; the other end is counted with the switch there
  double length_m = 0, price = 0;
};

struct PortPlan {
  std::vector<SwitchChoice> of;  // by vertex; others than switches to buy have no entry
  std::vector<bool> shares;      // by link: it has no cable of its own
  std::vector<SharedCable> cables;
};

// Chooses switches and cables together. Switches with the same links in the same tier are the same entry;
// each is changed in turn, the others as they are, to what makes all switches and cables cheapest, until
// nothing gets cheaper. An entry with a port for every link breaks none out. Of a port's links all are of one
// rate and kind, and neighbours in length. Their other ends are whole ports (of NICs, or of switches that
// break none out), or else both ends are broken out alike: then by one straight cable, if they lead to the
// same switch, or by transceivers (`both_ends`). `to_buy`: by vertex, the switches that the bill pays for.
PortPlan plan_ports(const std::vector<BilledLink>& links, const std::vector<bool>& to_buy,
                    const std::vector<std::uint8_t>& tier, const PriceList& prices);

}  // namespace weft::topologies
