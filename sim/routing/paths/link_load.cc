#include "sim/routing/paths/link_load.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "sim/routing/paths/detour_areas.h"
#include "sim/routing/paths/detour_balance.h"
#include "sim/routing/paths/group_traffic.h"
#include "sim/routing/paths/host_groups.h"
#include "sim/routing/paths/path_graph.h"
#include "sim/units/grouped.h"
#include "sim/units/memory.h"
#include "topologies/analysis/edge_load.h"
#include "topologies/analysis/router_graph.h"

namespace weft::routing {
namespace {

class Loader {
 public:
  Loader(const topologies::Topology& topology, const RoutingTable& table, const PathModel& model,
         const topologies::HostTraffic& traffic)
      : topology_(topology),
        model_(model),
        groups_(topology, table, model.tells_hosts_apart()),
        areas_(topology, model, groups_),
        traffic_(traffic, groups_),
        graph_(topology, model),
        by_nic_(groups_.size()),
        arrived_(groups_.size()) {
    load_.bps.resize(topology.channels().size());
    for (std::uint32_t g = 0; g < groups_.size(); ++g) by_nic_[g].resize(groups_.nics(g).size());
  }

  LinkLoad run() {
    if (is_plain()) {
      minimal();
    } else if (model_.names_ways()) {
      for (std::uint32_t d = 0; d < groups_.size(); ++d) named(d);
    } else {
      divided();
    }
    add_hosts();
    summarize();
    return std::move(load_);
  }

 private:
  struct Arrival {
    std::uint32_t at = 0;  // vertex
    PathState state = 0;
    double amount = 0;
  };
  // Traffic that begins with a detour in one state.
  struct Detours {
    PathState state = 0;
    bool within = false;                       // an area
    std::vector<double> sent, received;        // by group; empty: there is none
    std::vector<std::vector<Arrival>> at_via;  // by the intermediate host's group; amounts are shares of 1
  };

  // All shortest paths from and to hosts with one switch each: a search for each destination is quicker than
  // a question for each switch. Nodes of several accelerators have rules that such a search doesn't know:
  // what can stay inside does.
  bool is_plain() const {
    if (dynamic_cast<const MinimalPaths*>(&model_) == nullptr || topology_.has_domains()) return false;
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      const auto nics = groups_.nics(g);
      if (topology_.node(nics[0].to).kind != topologies::NodeKind::kSwitch) return false;
      if (std::ranges::any_of(nics, [&](const Entry& nic) { return nic.to != nics[0].to; })) return false;
    }
    return true;
  }
  void minimal() {
    const topologies::RouterGraph graph = topologies::router_graph(topology_);
    const topologies::FlowNetwork network = topologies::flow_network(graph);
    const topologies::EdgeLoad load =
        topologies::edge_load(network, topologies::terminal_demands(graph, traffic_.hosts()));
    for (std::uint32_t c = 0; c < load_.bps.size(); ++c) {
      const topologies::Node& from = topology_.node(topology_.channels()[c].from);
      const topologies::Node& to = topology_.node(topology_.channels()[c].to);
      if (from.kind == topologies::NodeKind::kHost || to.kind == topologies::NodeKind::kHost) continue;
      const auto begin = network.to.begin() + network.begin[from.index];
      const auto end = network.to.begin() + network.begin[from.index + 1];
      const auto arc = static_cast<std::size_t>(std::lower_bound(begin, end, to.index) - network.to.begin());
      if (from.index != to.index) load_.bps[c] = load.arc[arc] * network.rate[arc] / network.links[arc];
    }
    for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
      const std::uint32_t group = groups_.of(h);
      total_ += traffic_.sent(h);
      for (double& nic : by_nic_[group]) nic += traffic_.sent(h) / static_cast<double>(by_nic_[group].size());
      arrived_[group][groups_.nics(group)[0].to] += traffic_.received(h);
    }
  }

  // Ways hop by hop, to one group.
  void named(std::uint32_t d) {
    traffic_.to(d, rates_);
    for (const GroupTraffic::Rate& rate : rates_) {
      total_ += rate.bps;
      ways_.clear();
      model_.ways(groups_.source(rate.group, d), groups_.destination(d), ways_);
      if (ways_.empty()) load_.stranded += rate.bps;
      for (const NamedWay& way : ways_) {
        const topologies::Channel& first = topology_.channels()[way.channels.front()];
        const auto nics = topology_.out_channels(first.from);
        const auto nic = std::ranges::find(nics, way.channels.front()) - nics.begin();
        by_nic_[rate.group][static_cast<std::size_t>(nic)] += rate.bps * way.share;
        if (way.channels.size() == 1) continue;
        for (std::size_t i = 1; i + 1 < way.channels.size(); ++i) {
          load_.bps[way.channels[i]] += rate.bps * way.share;
        }
        if (groups_.hosts(d).size() == 1) {
          load_.bps[way.channels.back()] += rate.bps * way.share;
        } else {
          arrived_[d][topology_.channels()[way.channels.back()].from] += rate.bps * way.share;
        }
      }
    }
  }
  void divided() {
    for (std::uint32_t d = 0; d < groups_.size(); ++d) direct(d);
    for (Detours& detours : detours_) {
      if (detours.sent.empty()) continue;
      for (std::uint32_t v = 0; v < groups_.size(); ++v) first_leg(detours, v);
      for (std::uint32_t d = 0; d < groups_.size(); ++d) second_leg(detours, d);
    }
  }

  // What a group's hosts send to another's: the sum of a start's shares.
  template <typename Visit>
  void each_start(std::uint32_t s, std::uint32_t d, Visit&& visit) {
    starts_.clear();
    const std::uint32_t from = groups_.source(s, d), to = groups_.destination(d);
    model_.starts(from, to, starts_);
    for (const PathStart& start : starts_) visit(start);
  }

  // `amount` from s on its way to d, at the switches behind its NICs.
  void enter(std::uint32_t s, std::uint32_t d, PathState state, double amount) {
    const std::span<const Entry> entries = groups_.entries(s, d, entries_);
    weights_.clear();
    double sum = 0;
    for (const Entry& entry : entries) {
      const bool on = topology_.node(entry.to).kind == topologies::NodeKind::kSwitch;
      weights_.push_back(on ? model_.weight_of_entry(entry.to, groups_.destination(d)) : 1);
      sum += weights_.back();
    }
    if (sum == 0) load_.stranded += amount;
    for (std::size_t i = 0; i < entries.size() && sum > 0; ++i) {
      const Entry& entry = entries[i];
      const double part = amount * weights_[i] / sum;
      by_nic_[s][entry.nic] += part;
      if (topology_.node(entry.to).kind == topologies::NodeKind::kSwitch) put(entry.to, state, part);
    }
  }
  void put(std::uint32_t at, PathState state, double amount) {
    const std::uint32_t stop = graph_.add(at, state);
    if (amount_.size() <= stop) amount_.resize(graph_.stops().size());
    amount_[stop] += amount;
  }

  void direct(std::uint32_t d) {
    traffic_.to(d, rates_);
    graph_.begin(groups_.destination(d), PathGraph::End::kHost);
    amount_.clear();
    for (const GroupTraffic::Rate& rate : rates_) {
      total_ += rate.bps;
      each_start(rate.group, d, [&](const PathStart& start) {
        const double bps = rate.bps * start.share;
        if (!start.by_detour) return enter(rate.group, d, start.state, bps);
        Detours& detours = of_state(start.state, areas_.is_within(rate.group, d));
        detours.sent[rate.group] += bps;
        detours.received[d] += bps;
        const double near = bps * areas_.near(rate.group, d);
        load_.detoured += bps - near;
        enter(rate.group, d, model_.behind_detour(start.state), near);
      });
    }
    flow([&](std::uint32_t at, double amount) { arrived_[d][at] += amount; }, d);
  }

  Detours& of_state(PathState state, bool within) {
    const auto found = std::ranges::find_if(
        detours_, [&](const Detours& each) { return each.state == state && each.within == within; });
    if (found != detours_.end()) return *found;
    detours_.push_back({state, within, std::vector<double>(groups_.size()),
                        std::vector<double>(groups_.size()),
                        std::vector<std::vector<Arrival>>(groups_.size())});
    return detours_.back();
  }
  // What a source sends by detours in this state, to a destination of the group at hand.
  template <typename Visit>
  void each_detour(const Detours& detours, std::uint32_t d, Visit&& visit) {
    traffic_.to(d, rates_);
    for (const GroupTraffic::Rate& rate : rates_) {
      each_start(rate.group, d, [&](const PathStart& start) {
        const bool within = areas_.is_within(rate.group, d);
        if (start.by_detour && start.state == detours.state && within == detours.within)
          visit(rate.group, rate.bps * start.share);
      });
    }
  }

  // All that goes to a host of v's, to go on from there.
  void first_leg(Detours& detours, std::uint32_t v) {
    other_ = detours.sent;
    for (const std::uint32_t d : groups_.near(v)) {
      each_detour(detours, d, [&](std::uint32_t s, double bps) { other_[s] -= bps; });
    }
    for (const std::uint32_t s : groups_.near(v)) other_[s] = 0;
    graph_.begin(groups_.destination(v), PathGraph::End::kSwitch);
    amount_.clear();
    for (std::uint32_t s = 0; s < groups_.size(); ++s) {
      const double bps = other_[s] > 0 ? other_[s] * areas_.odds(v, s, detours.within) : 0;
      if (bps > 0) enter(s, v, detours.state, bps);
    }
    std::vector<Arrival>& arrivals = detours.at_via[v];
    double sum = 0;
    flow_to_switch([&](const PathGraph::Stop& stop, double amount) {
      arrivals.push_back({stop.at, model_.behind_detour(stop.state), amount});
      sum += amount;
    });
    for (Arrival& arrival : arrivals) arrival.amount /= sum;
  }

  void second_leg(const Detours& detours, std::uint32_t d) {
    other_.assign(groups_.size(), detours.received[d]);
    each_detour(detours, d, [&](std::uint32_t s, double bps) {
      for (const std::uint32_t v : groups_.near(s)) other_[v] -= bps;
    });
    for (const std::uint32_t v : groups_.near(d)) other_[v] = 0;
    graph_.begin(groups_.destination(d), PathGraph::End::kHost);
    amount_.clear();
    for (std::uint32_t v = 0; v < groups_.size(); ++v) {
      if (other_[v] <= 0) continue;
      const double bps = other_[v] * areas_.odds(v, d, detours.within);
      for (const Arrival& arrival : detours.at_via[v]) put(arrival.at, arrival.state, bps * arrival.amount);
    }
    flow([&](std::uint32_t at, double amount) { arrived_[d][at] += amount; }, d);
  }

  // Moves what was put into the graph on to the host: arrive(switch, amount).
  template <typename Arrive>
  void flow(Arrive&& arrive, std::uint32_t group) {
    const bool single = groups_.hosts(group).size() == 1;
    move([&](const PathGraph::Stop&, double) {},
         [&](const PathGraph::Stop& stop, std::uint32_t channel, double amount) {
           if (single) {
             load_.bps[channel] += amount;
           } else {
             arrive(stop.at, amount);
           }
         });
  }
  template <typename Arrive>
  void flow_to_switch(Arrive&& arrive) {
    move(arrive, [&](const PathGraph::Stop&, std::uint32_t, double) {});
  }
  template <typename Last, typename Host>
  void move(Last&& last, Host&& host) {
    const std::span<const PathGraph::Stop> stops = graph_.stops();
    amount_.resize(stops.size());
    const std::span<const std::uint32_t> order = graph_.order();
    // Where packets can come round again, ever less of them do.
    constexpr double kNothing = 1e-12;
    for (bool again = true; again;) {
      again = false;
      for (const std::uint32_t number : order) {
        const double amount = std::exchange(amount_[number], 0.0);
        if (amount == 0) continue;
        const PathGraph::Stop& stop = stops[number];
        if (stop.last) {
          last(stop, amount);
          continue;
        }
        const std::span<const PathStep> steps = graph_.steps(stop);
        if (steps.empty()) load_.stranded += amount;
        for (std::uint32_t i = 0; i < steps.size(); ++i) {
          const double part = amount * steps[i].share;
          const std::uint32_t next = graph_.next(stop, i);
          if (next == PathGraph::kArrived) {
            host(stop, steps[i].channel, part);
            continue;
          }
          load_.bps[steps[i].channel] += part;
          amount_[next] += part;
        }
      }
      if (!graph_.has_circle()) break;
      for (const double left : amount_) again = again || left > kNothing * total_;
    }
  }

  // Links of hosts: what was gathered for groups is divided among their hosts by what each sends and gets.
  void add_hosts() {
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      double sent = 0, received = 0;
      for (const std::uint32_t h : groups_.hosts(g)) {
        sent += traffic_.sent(h);
        received += traffic_.received(h);
      }
      for (const std::uint32_t h : groups_.hosts(g)) {
        const auto nics = topology_.out_channels(topology_.host(h));
        for (std::size_t k = 0; k < nics.size() && sent > 0; ++k) {
          load_.bps[nics[k]] += by_nic_[g][k] * traffic_.sent(h) / sent;
        }
        for (const auto& [at, amount] : arrived_[g]) {
          const auto from_there = [&](std::uint32_t c) { return topology_.channels()[c].to == at; };
          const auto cables = static_cast<double>(std::ranges::count_if(nics, from_there));
          for (const std::uint32_t c : nics) {
            if (from_there(c)) load_.bps[c ^ 1] += amount * traffic_.received(h) / received / cables;
          }
        }
      }
    }
  }

  void summarize() {
    std::uint64_t between = 0;
    const auto& channels = topology_.channels();
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
      if (topology_.node(channels[c].from).kind == topologies::NodeKind::kHost) continue;
      if (topology_.node(channels[c].to).kind == topologies::NodeKind::kHost) continue;
      const double load = load_.bps[c] / static_cast<double>(channels[c].rate.bps());
      if (load > load_.most) load_.busiest = c;
      load_.most = std::max(load_.most, load);
      load_.mean += load;
      ++between;
    }
    if (between > 0) load_.mean /= static_cast<double>(between);
    if (total_ > 0) {
      load_.detoured /= total_;
      load_.stranded /= total_;
    }
  }

  const topologies::Topology& topology_;
  const PathModel& model_;
  const HostGroups groups_;
  const DetourAreas areas_;
  const GroupTraffic traffic_;
  PathGraph graph_;
  LinkLoad load_;
  double total_ = 0;
  std::vector<Detours> detours_;
  std::vector<std::vector<double>> by_nic_;               // by group and NIC: what leaves its hosts
  std::vector<std::map<std::uint32_t, double>> arrived_;  // by group and switch, if it has several hosts
  // These are for the destination at hand only.
  std::vector<double> amount_, other_;  // by stop; by group
  std::vector<double> weights_;         // by NIC at hand
  std::vector<GroupTraffic::Rate> rates_;
  std::vector<PathStart> starts_;
  std::vector<NamedWay> ways_;
  std::vector<Entry> entries_;
};

}  // namespace

LinkLoad link_load(const topologies::Topology& topology, const RoutingTable& table, const PathModel& model,
                   const topologies::HostTraffic& traffic) {
  // Lists grow to twice what is in them. Detours take what groups do, a few times over.
  constexpr double kOfChannel = 16, kOfHost = 256, kOfState = 64, kOfEntry = 32, kOfSearch = 64 << 20;
  const double channels = static_cast<double>(topology.channels().size());
  const double entries = static_cast<double>(traffic.entries.size());
  expect_memory(channels * kOfChannel + topology.hosts() * kOfHost + entries * kOfEntry + kOfSearch +
                    static_cast<double>(topology.nodes()) * model.states() * kOfState,
                fmt::format("the loads of {} links", grouped(channels / 2)));
  return Loader(topology, table, model, traffic).run();
}

LinkLoad balanced_load(const topologies::Topology& topology, const RoutingTable& table,
                       std::unique_ptr<PathModel> model, const topologies::HostTraffic& traffic) {
  const HostGroups groups = HostGroups::between_homes(topology, table, model->tells_hosts_apart());
  const GroupTraffic offered(traffic, groups);
  std::vector<DetourBalance::Pair> pairs;
  std::vector<GroupTraffic::Rate> rates;
  for (std::uint32_t d = 0; d < groups.size(); ++d) {
    offered.to(d, rates);
    for (const GroupTraffic::Rate& rate : rates) pairs.push_back({rate.group, d, rate.bps, 0});
  }
  std::vector<double> capacity;
  for (const topologies::Channel& c : topology.channels()) {
    capacity.push_back(static_cast<double>(c.rate.bps()));
  }
  constexpr std::uint32_t kRounds = 100;
  DetourBalance(topology, *model, groups, std::move(capacity)).balance(pairs, kRounds);
  DetourShares shares;
  for (const DetourBalance::Pair& pair : pairs) shares.set(pair.from, pair.to, pair.detoured);
  return link_load(topology, table, SharedPaths(std::move(model), groups, shares), traffic);
}

}  // namespace weft::routing
