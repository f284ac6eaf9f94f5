#include "topologies/cost/bill.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sim/units/input_error.h"
#include "topologies/cost/breakouts.h"
#include "topologies/cost/cables.h"

namespace weft::topologies {
namespace {

// A cable's ends that are NICs, and whether it lies inside a host or on a board and is none.
bool inside_host(const Node& a, const Node& b) {
  return (a.kind == NodeKind::kHost && b.in_host) || (b.kind == NodeKind::kHost && a.in_host);
}
// What an endpoint can send into the network: from a machine of several accelerators, what can leave that.
double injection(const Topology& topology) {
  double bps = 0;
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    const bool in_domain = topology.node(v).domain != kNoDomain;
    if (!in_domain && topology.node(v).kind != NodeKind::kHost) continue;
    for (const std::uint32_t c : topology.out_channels(v)) {
      const Channel& channel = topology.channels()[c];
      if (!topology.is_inside(v, channel.to)) bps += static_cast<double>(channel.rate.bps());
    }
  }
  return bps;
}

bool is_endpoint(const Node& node) { return node.kind == NodeKind::kHost || node.in_host; }

class Clerk {
 public:
  Clerk(const Topology& topology, const PriceList& prices, std::uint32_t planes)
      : topology_(topology), prices_(prices), planes_(planes), ports_(topology.nodes()) {}

  Bill run() {
    const Placement placement = place(topology_, prices_.racks);
    std::size_t number = 0;
    for (const Edge& edge : topology_.edges()) {
      count_link(edge.from, edge.to, edge.link, placement.length_m[number++]);
    }
    count_cables();
    for (std::uint32_t s = 0; s < topology_.switches(); ++s) count_switch(topology_.switch_at(s));

    Bill bill;
    bill.topology = topology_.name();
    bill.prices = prices_.name;
    bill.planes = planes_;
    bill.endpoints = topology_.hosts();
    bill.racks = placement.racks;
    bill.injection_bps = injection(topology_) * planes_;
    if (prices_.has_watts) bill.watts = 0;
    for (auto& [key, line] : lines_) {
      share(key, line);
      line.count *= planes_;
      line.price *= planes_;
      line.watts *= planes_;
      line.length_m *= planes_;
      line.ports *= planes_;
      line.ports_used *= planes_;
      add_up(line, bill);
      bill.lines.push_back(std::move(line));
    }
    add_nodes(bill);
    return bill;
  }

 private:
  // This says how many ports of each rate a switch uses.
  struct Ports {
    std::map<Bandwidth, std::uint32_t> by_rate;

    std::uint32_t used() const {
      std::uint32_t sum = 0;
      for (const auto& [rate, count] : by_rate) sum += count;
      return sum;
    }
    Bandwidth fastest() const { return by_rate.rbegin()->first; }
    // Returns how many ports of rate `of` these need, where one may be split into several if `split` says so.
    std::uint64_t needed(Bandwidth of, bool split) const {
      std::uint64_t sum = 0;
      for (const auto& [rate, count] : by_rate) {
        const std::uint64_t to_a_port =
            split ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(of.bps() / rate.bps())) : 1;
        sum += (count + to_a_port - 1) / to_a_port;
      }
      return sum;
    }
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("price list {}: {}", prices_.name, what));
  }

  using Key = std::tuple<Part, std::uint64_t, std::string>;

  // Machines of several accelerators, however many planes they are joined by.
  void add_nodes(Bill& bill) const {
    std::map<std::uint32_t, std::uint64_t> accelerators;  // by domain
    for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
      const std::uint32_t domain = topology_.node(topology_.host(h)).domain;
      if (domain != kNoDomain) ++accelerators[domain];
    }
    std::map<std::uint64_t, std::uint64_t> nodes;  // by size
    for (const auto& [domain, size] : accelerators) ++nodes[size];
    const NodePrice each = prices_.node.value_or(NodePrice());
    for (const auto& [size, count] : nodes) {
      BillLine line;
      line.part = Part::kNode;
      line.item = fmt::format("node of {} accelerators{}", size, prices_.node ? "" : ", not priced");
      line.count = count;
      line.price = each.price * static_cast<double>(count);
      line.watts = each.watts * static_cast<double>(count);
      add_up(line, bill);
      bill.lines.push_back(std::move(line));
    }
  }

  static void add_up(const BillLine& line, Bill& bill) {
    bill.price += line.price;
    if (bill.watts) *bill.watts += line.watts;
  }

  // As many switches as are needed if several of the network's fit one. Where the last has room left, the
  // item tells of all together.
  void share(const Key& key, BillLine& line) const {
    const auto found = to_a_switch_.find(key);
    if (found == to_a_switch_.end()) return;
    const auto& [fit, choice] = found->second;
    const std::uint64_t needed = (line.count + fit - 1) / fit;
    line.item = line.count % fit == 0
                    ? item_of(choice, fit)
                    : item_of(choice, line.count * planes_, choice.entry->ports * needed * planes_);
    line.price *= static_cast<double>(needed) / static_cast<double>(line.count);
    line.watts *= static_cast<double>(needed) / static_cast<double>(line.count);
    line.ports = line.ports / line.count * needed;
    line.count = needed;
  }

  // `order` sorts the lines of a part.
  BillLine& add(Part part, std::uint64_t order, const std::string& item, double price, double watts,
                double length_m = 0, double share = 1) {
    BillLine& line = lines_[{part, order, item}];
    line.part = part;
    line.item = item;
    if (share == 1) {
      ++line.count;
    } else if (++ends_[{part, order, item}] % 2 == 1) {  // a cable for each two ends
      ++line.count;
    }
    line.price += price;
    line.watts += watts;
    line.length_m += length_m;
    return line;
  }

  void count_link(Vertex a, Vertex b, const Link& link, double length_m) {
    const Node &from = topology_.node(a), &to = topology_.node(b);
    if (inside_host(from, to) || topology_.is_inside(a, b)) return;
    for (const Vertex v : {a, b}) {
      if (topology_.node(v).kind == NodeKind::kSwitch) ++ports_[v].by_rate[link.rate];
    }
    const CablePrice* cable = cheapest_cable(prices_, link.rate, link.cable, length_m);
    if (cable == nullptr && link.cable == CableKind::kBackplane && !has_backplanes()) {
      links_.push_back({a, b, link.rate, link.cable, length_m, 0});  // a trace
      return;
    }
    links_.push_back({a, b, link.rate, link.cable, length_m,
                      cable == nullptr ? kNoCable : cable->price_of(link.rate, length_m)});
    if (link.cable == CableKind::kBackplane) return;
    for (const Node* node : {&from, &to}) {
      if (is_endpoint(*node)) count_nic(link.rate);
    }
  }

  bool has_backplanes() const {
    return std::any_of(prices_.cables.begin(), prices_.cables.end(),
                       [](const CablePrice& cable) { return cable.kind == CableKind::kBackplane; });
  }

  // Is it a switch that is bought? Routers in hosts and what is inside of machines come with them.
  bool is_bought(Vertex v) const {
    const Node& node = topology_.node(v);
    return node.kind == NodeKind::kSwitch && !node.in_host && node.domain == kNoDomain;
  }

  void count_cables() {
    if (!prices_.breakouts.empty()) {
      std::vector<bool> bought(topology_.nodes());
      std::vector<std::uint8_t> tier(topology_.nodes());
      for (Vertex v = 0; v < topology_.nodes(); ++v) {
        bought[v] = is_bought(v);
        tier[v] = topology_.node(v).tier;
      }
      plan_ = plan_ports(links_, bought, tier, prices_);
      for (const SharedCable& cable : plan_.cables) count_shared(cable);
    }
    for (std::size_t l = 0; l < links_.size(); ++l) {
      const BilledLink& link = links_[l];
      if (!plan_.shares.empty() && plan_.shares[l]) continue;
      const CablePrice* cable = cheapest_cable(prices_, link.rate, link.kind, link.length_m);
      if (cable != nullptr) {
        add_cable(*cable, link.straight, 1, link.length_m);
      } else if (link.straight > 0) {
        fail(fmt::format("it has no {}cable of {:.1f} m for {}",
                         link.kind == CableKind::kLongHaul ? "long-haul " : "", link.length_m,
                         to_string(link.rate)));
      }
    }
  }

  void add_cable(const CablePrice& cable, double price, double share, double length_m) {
    add(Part::kCable, static_cast<std::uint64_t>(&cable - prices_.cables.data()), cable.name, price,
        cable.watts * share, length_m, share);
  }

  void count_shared(const SharedCable& cable) {
    if (cable.straight != nullptr) {
      add_cable(*cable.straight, cable.price, cable.share, cable.length_m);
      return;
    }
    const BreakoutPrice& breakout = *cable.breakout;
    add(Part::kCable,
        prices_.cables.size() + static_cast<std::uint64_t>(&breakout - prices_.breakouts.data()),
        breakout.name, cable.price, breakout.watts * cable.share, cable.length_m, cable.share)
        .ways = breakout.ways;
  }

  void count_nic(Bandwidth rate) {
    if (prices_.nics.empty()) return;
    const NicPrice* best = nullptr;
    for (const NicPrice& nic : prices_.nics) {
      if (nic.rate >= rate && (best == nullptr || nic.price < best->price)) best = &nic;
    }
    if (best == nullptr) fail(fmt::format("it has no NIC for {}", to_string(rate)));
    add(Part::kNic, static_cast<std::uint64_t>(best - prices_.nics.data()),
        fmt::format("NIC port of {}", to_string(best->rate)), best->price, best->watts);
  }

  void count_switch(Vertex v) {
    const Ports& ports = ports_[v];
    if (!is_bought(v) || ports.by_rate.empty()) return;
    const Bandwidth rate = ports.fastest();
    const SwitchChoice choice = plan_.of.empty() ? choose_switch(ports) : plan_.of[v];
    if (choice.entry != nullptr) {
      count_entry(choice);
      return;
    }
    const auto& formula = prices_.switch_formula;
    const std::uint32_t used = ports.used();
    if (formula && formula->rate >= rate && formula->most_ports >= used) {
      count_ports(
          add(Part::kSwitch, used, fmt::format("switch of {} ports, by formula", used),
              std::max(0.0, formula->base + formula->per_port * used), formula->watts_per_port * used),
          used, used);
      return;
    }
    if (prices_.chassis && count_chassis(ports)) return;
    fail(fmt::format("it has no switch like '{}', with {} ports of {}; add one, or a formula for switches",
                     topology_.node(v).name, used, to_string(rate)));
  }

  void count_entry(const SwitchChoice& choice) {
    const SwitchPrice& entry = *choice.entry;
    const std::uint32_t fit =
        prices_.shared_switches && choice.ports_used > 0 ? entry.ports / choice.ports_used : 1;
    std::string item = item_of(choice, fit);
    // Others may have as many ports in use with another number to a switch.
    if (fit > 1) item += fmt::format(", {} switches of {}", fit, choice.ports_used);
    BillLine& line = add(Part::kSwitch, entry.ports, item, entry.price, entry.watts);
    count_ports(line, entry.ports, choice.ports_used);
    if (line.entry.empty()) {
      line.entry = entry.name;
      line.over = choice.over;
    }
    if (fit > 1) to_a_switch_.try_emplace({Part::kSwitch, entry.ports, item}, fit, choice);
  }

  // What so many of the network's switches take of the ports of one, or of all `there`.
  static std::string item_of(const SwitchChoice& choice, std::uint64_t switches, std::uint64_t there = 0) {
    std::string item = fmt::format("switch of {} ports of {}, {}{} in use", choice.entry->ports,
                                   to_string(choice.entry->rate), choice.ports_used * switches,
                                   there > 0 ? fmt::format(" of {}", there) : "");
    for (const BrokenOut& out : choice.broken_out) {
      item += fmt::format(", {} broken out to {} x {}", out.ports * switches, out.links * switches,
                          to_string(out.rate));
    }
    return item;
  }

  // From a list without breakout cables: by the switches' prices alone.
  SwitchChoice choose_switch(const Ports& ports) const {
    constexpr std::size_t kMost = 3;
    std::vector<const SwitchPrice*> fitting;
    for (const SwitchPrice& entry : prices_.switches) {
      if (entry.rate < ports.fastest() || entry.ports < ports.needed(entry.rate, prices_.split_ports))
        continue;
      fitting.push_back(&entry);
    }
    std::stable_sort(fitting.begin(), fitting.end(),
                     [](const SwitchPrice* a, const SwitchPrice* b) { return a->price < b->price; });
    SwitchChoice choice;
    if (fitting.empty()) return choice;
    choice.entry = fitting[0];
    choice.ports_used = static_cast<std::uint32_t>(ports.needed(choice.entry->rate, prices_.split_ports));
    for (std::size_t i = 1; i < fitting.size() && i <= kMost; ++i) {
      choice.over.push_back({fitting[i]->name, fitting[i]->price, 0});
    }
    return choice;
  }

  static void count_ports(BillLine& line, std::uint64_t there, std::uint64_t used) {
    line.ports += there;
    line.ports_used += used;
  }

  // Leaves with half of their ports outside and half inside, spines that have all inside. Returns whether an
  // entry can build it: at most as many leaves as a spine has ports.
  bool count_chassis(const Ports& ports) {
    const SwitchPrice* best = nullptr;
    std::uint64_t best_leaves = 0, best_spines = 0;
    for (const SwitchPrice& entry : prices_.switches) {
      if (entry.rate < ports.fastest() || entry.ports < 2) continue;
      const std::uint64_t outside = ports.needed(entry.rate, prices_.split_ports), half = entry.ports / 2;
      const std::uint64_t leaves = (outside + half - 1) / half;
      const std::uint64_t spines = (leaves * half + entry.ports - 1) / entry.ports;
      if (leaves > entry.ports) continue;
      const auto price = [](const SwitchPrice& of, std::uint64_t count) {
        return of.price * static_cast<double>(count);
      };
      if (best != nullptr && price(entry, leaves + spines) >= price(*best, best_leaves + best_spines))
        continue;
      best = &entry;
      best_leaves = leaves;
      best_spines = spines;
    }
    if (best == nullptr) return false;
    const std::uint64_t used = ports.needed(best->rate, prices_.split_ports),
                        there = best_leaves * (best->ports / 2), parts = best_leaves + best_spines;
    count_ports(add(Part::kSwitch, there,
                    fmt::format("chassis of {} ports of {}, {} in use: {} switches of {}", there,
                                to_string(best->rate), used, parts, best->ports),
                    best->price * static_cast<double>(parts), best->watts * static_cast<double>(parts)),
                there, used);
    return true;
  }

  const Topology& topology_;
  const PriceList& prices_;
  const std::uint32_t planes_;
  std::vector<Ports> ports_;  // of each vertex
  std::map<Key, BillLine> lines_;
  // How many are in one, where more than one, and each of them.
  std::map<Key, std::pair<std::uint32_t, SwitchChoice>> to_a_switch_;
  std::map<Key, std::uint64_t> ends_;  // of cables that are counted at each end
  std::vector<BilledLink> links_;
  PortPlan plan_;  // empty if the list has no breakout cables
};

}  // namespace

std::uint64_t Bill::count(Part part) const {
  std::uint64_t sum = 0;
  for (const BillLine& line : lines) sum += line.part == part ? line.count : 0;
  return sum;
}

Bill bill(const Topology& topology, const PriceList& prices, std::uint32_t planes) {
  return Clerk(topology, prices, planes).run();
}

double between_machines_bps(const Topology& topology, std::span<const double> utilization) {
  double bps = 0;
  for (std::size_t c = 0; c < utilization.size(); ++c) {
    const Channel& channel = topology.channels()[c];
    const bool leaves =
        topology.node(channel.from).domain != kNoDomain && topology.node(channel.to).domain == kNoDomain;
    if (leaves) bps += utilization[c] * static_cast<double>(channel.rate.bps());
  }
  return bps;
}

}  // namespace weft::topologies
