// What a network costs to buy, and the power it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topologies/cost/breakouts.h"
#include "topologies/cost/placement.h"
#include "topologies/cost/price_list.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// kNode: a machine of several accelerators (Node::domain) with all that is inside of it.
enum class Part : std::uint8_t { kSwitch, kCable, kNic, kNode };

// Parts of one kind. Prices in US dollars, power in watts, of all of them together.
struct BillLine {
  Part part = Part::kSwitch;
  std::string item;  // "64-port switch", "400G DAC"
  std::uint64_t count = 0;
  double price = 0, watts = 0;              // watts: 0 where the bill's are not known
  double length_m = 0;                      // of cables, together; of breakout cables all legs
  std::uint64_t ports = 0, ports_used = 0;  // of switches, together
  std::string entry;                        // of switches: the list's name for it; "" by formula
  std::vector<Alternative> over;            // of switches: the next cheapest, at most three
  std::uint32_t ways = 1;                   // of cables: legs of each
};

struct Bill {
  std::string topology, prices;
  std::uint32_t planes = 1;
  std::uint64_t endpoints = 0;
  std::uint32_t racks = 0;
  // What all endpoints' links together can carry into the network; of machines of several accelerators, those
  // that leave the machine.
  double injection_bps = 0;
  std::vector<BillLine> lines;
  double price = 0;             // of all lines
  std::optional<double> watts;  // of all lines; empty if the list gives no watts

  std::uint64_t count(Part part) const;  // of all lines of that part
};

// The bill for `planes` copies of the network between the same endpoints. For every switch the cheapest entry
// is taken that has its ports at its rates, or a chassis of several if the list allows one; for every cable
// the cheapest that reaches; where the network itself says what kind a cable is, only that kind. Where the
// list has breakout cables, ports are broken out if that makes switches and cables cheaper, or if no switch
// has a port for every link (breakouts.h). A long-haul link is leased by its length. Routers inside hosts,
// the links inside hosts and (unless listed) traces on backplanes are free. What is inside of a machine of
// several accelerators belongs to it: a line of its own, which costs what the list says, or nothing. Throws
// InputError if the list has nothing for a switch, cable or NIC. REQUIRES: planes >= 1.
Bill bill(const Topology& topology, const PriceList& prices, std::uint32_t planes = 1);

// What the money is set against, if it is known: bit/s, 0 where it is not.
struct Worth {
  double bisection_bps = 0;  // all planes together, one direction
  double achieved_bps = 0;   // goodput that an application or a traffic pattern got of what is priced
};

// Gives what a run put on the links that lead out of machines of several accelerators, by the share of the
// time that each channel was busy. What accelerators of one machine tell each other takes nothing of the
// network that is priced.
double between_machines_bps(const Topology& topology, std::span<const double> utilization);

// A table for people, and a JSON object for scripts; README.md describes both.
std::string bill_table(const Bill& bill, const Worth& worth);
std::string bill_json(const Bill& bill, const Worth& worth);

}  // namespace weft::topologies
