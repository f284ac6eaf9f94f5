#include "topologies/cost/breakouts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "topologies/cost/cables.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kNoClass = UINT32_MAX;

// An entry, and into how many its ports are broken out for links of each rate of the class.
struct Option {
  const SwitchPrice* entry = nullptr;
  std::vector<std::uint32_t> ways;

  bool is_whole() const {
    return std::all_of(ways.begin(), ways.end(), [](std::uint32_t each) { return each == 1; });
  }
};

// Switches with the same links in the same tier.
struct SwitchClass {
  std::vector<Bandwidth> rates;      // grow
  std::vector<std::uint32_t> links;  // of each rate
  std::vector<Vertex> members;
  std::vector<Option> options;  // cheapest first
  std::size_t chosen = 0;

  const Option& option() const { return options[chosen]; }
  std::uint32_t ways(Bandwidth rate) const {
    const auto place = std::lower_bound(rates.begin(), rates.end(), rate) - rates.begin();
    return option().ways[static_cast<std::size_t>(place)];
  }
};

// What switches and cables cost; fewer switches without a port for every link are better at any price.
struct Cost {
  std::uint64_t overfull = 0;
  double price = 0;

  bool better_than(const Cost& other) const {
    if (overfull != other.overfull) return overfull < other.overfull;
    return price < other.price - 1e-9 * other.price;
  }
};

class Planner {
 public:
  Planner(const std::vector<BilledLink>& links, const std::vector<bool>& to_buy,
          const std::vector<std::uint8_t>& tier, const PriceList& prices)
      : links_(links), prices_(prices), ends_(to_buy.size()), class_of_(to_buy.size(), kNoClass) {
    for (std::uint32_t l = 0; l < links.size(); ++l) {
      straight_ += links[l].straight;
      for (const Vertex v : {links[l].from, links[l].to}) {
        if (to_buy[v]) ends_[v].push_back(l);
      }
    }
    for (Vertex v = 0; v < ends_.size(); ++v) {
      std::stable_sort(ends_[v].begin(), ends_[v].end(),
                       [&](std::uint32_t a, std::uint32_t b) { return sort_key(a) < sort_key(b); });
    }
    classify(tier);
  }

  PortPlan run() {
    Cost now = cheapest();
    while (now.overfull > 0) {
      drop_overfull();
      now = cheapest();
    }
    PortPlan plan;
    plan.of.resize(ends_.size());
    plan.shares.resize(links_.size(), false);
    for (SwitchClass& each : classes_) {
      const std::vector<Alternative> over = others(each, now);
      for (const Vertex v : each.members) settle(v, over, plan);
    }
    return plan;
  }

 private:
  std::tuple<Bandwidth, CableKind, double> sort_key(std::uint32_t l) const {
    return {links_[l].rate, links_[l].kind, links_[l].length_m};
  }
  Vertex other_end(std::uint32_t l, Vertex v) const {
    return links_[l].from == v ? links_[l].to : links_[l].from;
  }

  void classify(const std::vector<std::uint8_t>& tier) {
    std::map<std::pair<std::uint8_t, std::map<Bandwidth, std::uint32_t>>, std::vector<Vertex>> alike;
    for (Vertex v = 0; v < ends_.size(); ++v) {
      std::map<Bandwidth, std::uint32_t> by_rate;
      for (const std::uint32_t l : ends_[v]) ++by_rate[links_[l].rate];
      if (!by_rate.empty()) alike[{tier[v], by_rate}].push_back(v);
    }
    for (auto& [key, members] : alike) {
      SwitchClass each;
      for (const auto& [rate, count] : key.second) {
        each.rates.push_back(rate);
        each.links.push_back(count);
      }
      each.members = std::move(members);
      each.options = options_for(each);
      if (each.options.empty()) continue;
      for (const Vertex v : each.members) class_of_[v] = static_cast<std::uint32_t>(classes_.size());
      classes_.push_back(std::move(each));
    }
  }

  // If all links could share ports; whether they can is seen when they are laid.
  std::vector<Option> options_for(const SwitchClass& of) const {
    std::set<std::uint32_t> limits{1};
    for (const BreakoutPrice& cable : prices_.breakouts) limits.insert(cable.ways);
    std::vector<Option> options;
    for (const SwitchPrice& entry : prices_.switches) {
      if (entry.rate < of.rates.back()) continue;
      std::vector<std::uint32_t> before;
      for (const std::uint32_t limit : limits) {
        Option option{&entry, {}};
        std::uint64_t ports = 0;
        for (std::size_t i = 0; i < of.rates.size(); ++i) {
          option.ways.push_back(most_ways(entry.rate, of.rates[i], limit));
          ports += (of.links[i] + option.ways.back() - 1) / option.ways.back();
        }
        if (ports > entry.ports || option.ways == before) continue;
        before = option.ways;
        options.push_back(std::move(option));
        if (limit == 1) break;  // a port for every link
      }
    }
    std::stable_sort(options.begin(), options.end(),
                     [](const Option& a, const Option& b) { return a.entry->price < b.entry->price; });
    return options;
  }

  std::uint32_t most_ways(Bandwidth port, Bandwidth rate, std::uint32_t limit) const {
    std::uint32_t most = 1;
    for (const BreakoutPrice& cable : prices_.breakouts) {
      if (cable.ways <= limit && cable.rate >= rate && cable.port() <= port)
        most = std::max(most, cable.ways);
    }
    return most;
  }

  // From two beginnings, as ports at both ends may have to be broken out together: no ports broken out, and
  // all.
  Cost cheapest() {
    for (SwitchClass& each : classes_) each.chosen = first(each, true);
    const Cost from_whole = descend();
    std::vector<std::size_t> chosen;
    for (SwitchClass& each : classes_) chosen.push_back(std::exchange(each.chosen, first(each, false)));
    const Cost from_broken_out = descend();
    if (from_broken_out.better_than(from_whole)) return from_broken_out;
    for (std::size_t i = 0; i < classes_.size(); ++i) classes_[i].chosen = chosen[i];
    return from_whole;
  }

  // The cheapest with a port for every link or without, or else the cheapest of all.
  static std::size_t first(const SwitchClass& of, bool whole) {
    const auto found = std::find_if(of.options.begin(), of.options.end(),
                                    [&](const Option& option) { return option.is_whole() == whole; });
    return found == of.options.end() ? 0 : static_cast<std::size_t>(found - of.options.begin());
  }

  Cost descend() {
    constexpr int kMostRounds = 4;
    Cost now = cost();
    for (int round = 0; round < kMostRounds; ++round) {
      const Cost before = now;
      for (SwitchClass& each : classes_) now = improve(each, now);
      if (!now.better_than(before)) break;
    }
    return now;
  }

  // Switches whose links can't share ports after all have no entry: their legs would be too long, say.
  void drop_overfull() {
    std::vector<SwitchClass> fit;
    std::vector<std::uint32_t> class_of(class_of_.size(), kNoClass);
    for (SwitchClass& each : classes_) {
      if (overfull(each) > 0) continue;
      for (const Vertex v : each.members) class_of[v] = static_cast<std::uint32_t>(fit.size());
      fit.push_back(std::move(each));
    }
    classes_ = std::move(fit);
    class_of_ = std::move(class_of);
  }

  std::uint64_t overfull(const SwitchClass& of) const {
    std::uint64_t count = 0;
    for (const Vertex v : of.members) {
      std::uint32_t ports = 0;
      lay(
          v, [](const SharedCable&, const std::vector<std::uint32_t>&) {},
          [&](Bandwidth, std::uint32_t used, std::uint32_t) { ports += used; });
      count += ports > of.option().entry->ports ? 1 : 0;
    }
    return count;
  }

  // Tries all that this class may be, the others as they are.
  Cost improve(SwitchClass& of, Cost now) const {
    if (of.options.size() < 2) return now;
    std::set<std::vector<std::uint32_t>> seen;  // dearer entries have the same cables
    std::size_t best = of.chosen;
    for (std::size_t i = 0; i < of.options.size(); ++i) {
      if (seen.contains(of.options[i].ways)) continue;
      of.chosen = i;
      const Cost tried = cost();
      if (tried.overfull == 0) seen.insert(of.options[i].ways);
      if (!tried.better_than(now)) continue;
      now = tried;
      best = i;
    }
    of.chosen = best;
    return now;
  }

  // What else it could have been, by the price of switch and cables.
  std::vector<Alternative> others(SwitchClass& of, const Cost& now) const {
    constexpr std::size_t kMost = 3;
    const std::size_t chosen = of.chosen;
    const SwitchPrice& taken = *of.options[chosen].entry;
    const auto members = static_cast<double>(of.members.size());
    std::map<std::vector<std::uint32_t>, double> cables{{of.option().ways, 0}};  // more, at each switch
    std::vector<Alternative> all;
    for (std::size_t i = 0; i < of.options.size(); ++i) {
      const SwitchPrice& entry = *of.options[i].entry;
      of.chosen = i;
      if (!cables.contains(of.option().ways)) {
        const Cost tried = cost();
        if (tried.overfull > now.overfull || !std::isfinite(tried.price)) continue;
        cables[of.option().ways] = (tried.price - now.price) / members - (entry.price - taken.price);
      }
      if (&entry != &taken) all.push_back({entry.name, entry.price, cables.at(of.option().ways)});
    }
    of.chosen = chosen;
    std::stable_sort(all.begin(), all.end(), [](const Alternative& a, const Alternative& b) {
      return a.price + a.cables_more < b.price + b.cables_more;
    });
    std::vector<Alternative> over;
    std::set<std::string> names;
    for (Alternative& other : all) {
      if (over.size() < kMost && names.insert(other.name).second) over.push_back(std::move(other));
    }
    return over;
  }

  Cost cost() const {
    Cost sum{.price = straight_};
    for (const SwitchClass& of : classes_) {
      const Option& option = of.option();
      sum.price += option.entry->price * static_cast<double>(of.members.size());
      if (option.is_whole()) continue;
      for (const Vertex v : of.members) {
        std::uint32_t ports = 0;
        lay(
            v,
            [&](const SharedCable& cable, const std::vector<std::uint32_t>& on) {
              sum.price += cable.price;
              for (const std::uint32_t l : on) sum.price -= cable.share * links_[l].straight;
            },
            [&](Bandwidth, std::uint32_t used, std::uint32_t) { ports += used; });
        sum.overfull += ports > option.entry->ports ? 1 : 0;
      }
    }
    return sum;
  }

  void settle(Vertex v, const std::vector<Alternative>& over, PortPlan& plan) const {
    SwitchChoice choice;
    choice.entry = classes_[class_of_[v]].option().entry;
    choice.over = over;
    std::map<Bandwidth, BrokenOut> broken_out;
    lay(
        v,
        [&](const SharedCable& cable, const std::vector<std::uint32_t>& on) {
          plan.cables.push_back(cable);
          for (const std::uint32_t l : on) plan.shares[l] = true;
        },
        [&](Bandwidth rate, std::uint32_t ports, std::uint32_t links) {
          choice.ports_used += ports;
          if (links <= ports) return;
          BrokenOut& of_rate = broken_out[rate];
          of_rate.rate = rate;
          of_rate.ports += ports;
          of_rate.links += links;
        });
    for (const auto& [rate, of_rate] : broken_out) choice.broken_out.push_back(of_rate);
    plan.of[v] = std::move(choice);
  }

  // Tells `cable` of each cable that several links of a switch share, or its end there, with the links; and
  // `port` of the ports that links of a rate take.
  template <typename Cable, typename Port>
  void lay(Vertex v, const Cable& cable, const Port& port) const {
    const SwitchClass& of = classes_[class_of_[v]];
    std::vector<std::uint32_t> single, both;
    auto next = ends_[v].begin();
    for (std::size_t i = 0; i < of.rates.size(); ++i) {
      const std::uint32_t ways = of.option().ways[i];
      const auto end = next + of.links[i];
      if (ways == 1) {
        port(of.rates[i], of.links[i], of.links[i]);
        next = end;
        continue;
      }
      single.clear();
      both.clear();
      for (; next != end; ++next) {
        const std::uint32_t there = class_of_[other_end(*next, v)];
        const std::uint32_t ways_there = there == kNoClass ? 1 : classes_[there].ways(of.rates[i]);
        if (may_break_out(links_[*next].kind) && ways_there == 1) {
          single.push_back(*next);
        } else if (may_break_out(links_[*next].kind) && ways_there == ways) {
          both.push_back(*next);
        } else {
          port(of.rates[i], 1, 1);
        }
      }
      lay_single(single, ways, of.option().entry->rate, cable, port);
      lay_bundles(v, both, ways, cable, port);
      lay_both(v, both, ways, cable, port);
    }
  }

  Legs legs(const std::vector<std::uint32_t>& on) const {
    Legs all{static_cast<std::uint32_t>(on.size()), links_[on[0]].rate, links_[on[0]].kind, 0, 0};
    for (const std::uint32_t l : on) {
      all.longest_m = std::max(all.longest_m, links_[l].length_m);
      all.length_m += links_[l].length_m;
    }
    return all;
  }

  // Takes the next links of one kind, at most `most`.
  std::vector<std::uint32_t> take(const std::vector<std::uint32_t>& from, std::size_t& at,
                                  std::uint32_t most) const {
    std::vector<std::uint32_t> taken;
    const CableKind kind = links_[from[at]].kind;
    while (at < from.size() && taken.size() < most && links_[from[at]].kind == kind) {
      taken.push_back(from[at++]);
    }
    return taken;
  }

  // Links whose other ends are whole ports. The last one alone has a straight cable.
  template <typename Cable, typename Port>
  void lay_single(const std::vector<std::uint32_t>& links, std::uint32_t ways, Bandwidth entry,
                  const Cable& cable, const Port& port) const {
    for (std::size_t at = 0; at < links.size();) {
      const std::vector<std::uint32_t> on = take(links, at, ways);
      const Legs all = legs(on);
      const BreakoutPrice* breakout =
          all.count > 1 ? cheapest_breakout(prices_, all, {entry, 2, ways, false}) : nullptr;
      if (breakout == nullptr) {
        port(all.rate, all.count, all.count);
        continue;
      }
      cable(
          SharedCable{
              .breakout = breakout, .length_m = all.length_m, .price = breakout->price_of(all.length_m)},
          on);
      port(all.rate, 1, all.count);
    }
  }

  // As many links as a port is broken out to between the same two switches are one straight cable; takes them
  // out of `links`.
  template <typename Cable, typename Port>
  void lay_bundles(Vertex v, std::vector<std::uint32_t>& links, std::uint32_t ways, const Cable& cable,
                   const Port& port) const {
    std::stable_sort(links.begin(), links.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return other_end(a, v) < other_end(b, v); });
    std::vector<std::uint32_t> left;
    for (std::size_t at = 0; at < links.size();) {
      std::size_t end = at;
      while (end < links.size() && other_end(links[end], v) == other_end(links[at], v)) ++end;
      const std::vector<std::uint32_t> same(links.begin() + static_cast<std::ptrdiff_t>(at),
                                            links.begin() + static_cast<std::ptrdiff_t>(end));
      for (std::size_t i = 0; i < same.size();) {
        const std::vector<std::uint32_t> on = take(same, i, ways);
        const Legs all = legs(on);
        const Bandwidth rate = Bandwidth::bps(all.rate.bps() * ways);
        const CablePrice* straight =
            all.count == ways ? cheapest_cable(prices_, rate, all.kind, all.longest_m) : nullptr;
        if (straight == nullptr) {
          left.insert(left.end(), on.begin(), on.end());
          continue;
        }
        cable(SharedCable{.straight = straight,
                          .share = 0.5,
                          .length_m = all.longest_m / 2,
                          .price = straight->price_of(rate, all.longest_m) / 2},
              on);
        port(all.rate, 1, ways);
      }
      at = end;
    }
    links = std::move(left);
  }

  // Links that lead to several switches, whose ports are broken out alike: transceivers at each end.
  template <typename Cable, typename Port>
  void lay_both(Vertex v, std::vector<std::uint32_t>& links, std::uint32_t ways, const Cable& cable,
                const Port& port) const {
    const auto transceivers = [&](const Legs& all, Bandwidth rate) {
      return cheapest_breakout(prices_, all, {rate, ways, ways, true});
    };
    const auto entry_rate = [&](Vertex at) { return classes_[class_of_[at]].option().entry->rate; };
    // Whether a link can is the same at both of its ends.
    std::erase_if(links, [&](std::uint32_t l) {
      if (transceivers(legs({l}), std::min(entry_rate(v), entry_rate(other_end(l, v)))) != nullptr)
        return false;
      port(links_[l].rate, 1, 1);
      return true;
    });
    std::stable_sort(links.begin(), links.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return sort_key(a) < sort_key(b); });
    for (std::size_t at = 0; at < links.size();) {
      const std::vector<std::uint32_t> on = take(links, at, ways);
      const Legs all = legs(on);
      const BreakoutPrice* breakout = transceivers(all, entry_rate(v));
      cable(SharedCable{.breakout = breakout,
                        .share = 0.5,
                        .length_m = all.length_m / 2,
                        .price = breakout->price_of(all.length_m) / 2},
            on);
      port(all.rate, 1, all.count);
    }
  }

  const std::vector<BilledLink>& links_;
  const PriceList& prices_;
  double straight_ = 0;                           // all links, each with a cable of its own
  std::vector<std::vector<std::uint32_t>> ends_;  // links at each switch, by rate, kind and length
  std::vector<std::uint32_t> class_of_;           // by vertex
  std::vector<SwitchClass> classes_;              // that have an option
};

}  // namespace

PortPlan plan_ports(const std::vector<BilledLink>& links, const std::vector<bool>& to_buy,
                    const std::vector<std::uint8_t>& tier, const PriceList& prices) {
  return Planner(links, to_buy, tier, prices).run();
}

}  // namespace weft::topologies
