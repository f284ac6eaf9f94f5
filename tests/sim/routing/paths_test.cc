// What every policy that chooses in switches says of its paths, and that packets keep to it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/units/random.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/routing/registered.h"
#include "topologies/analysis/partition.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

using routing::PathModel;
using routing::PathStart;
using routing::PathState;
using routing::PathStep;
using topologies::Topology;
using topologies::Vertex;

struct Case {
  const char* policy;
  const char* topology;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"wcmp", "fat_tree:k=4"},
      {"wcmp", "jellyfish:n=12,r=4,hosts=2"},
      {"d_mod_k", "fat_tree:k=4"},
      {"d_mod_k", "leaf_spine:leaves=4,spines=3,hosts_per_leaf=3"},
      {"s_mod_k", "fat_tree:k=4"},
      {"dimension_order", "torus:dims=4x5"},
      {"dimension_order", "mesh:dims=3x4"},
      {"dimension_order", "hyperx:dims=3x4,hosts=2"},
      {"up_down", "fat_tree:k=4"},
      {"up_down", "jellyfish:n=12,r=4,hosts=2"},
      {"up_down:root=3", "torus:dims=4x4"},
      {"dfsssp", "torus:dims=4x4"},
      {"dfsssp", "dragonfly:p=2"},
      {"lash", "jellyfish:n=12,r=4,hosts=2"},
      {"nue:vcs=2", "torus:dims=4x4"},
      {"switch_spray", "fat_tree:k=4"},
      {"switch_spray:choice=round_robin", "torus:dims=4x4"},
      {"switch_spray:choice=weighted", "fat_tree:k=4"},
      {"minimal_adaptive", "dragonfly:p=2"},
      {"power_of_two", "fat_tree:k=4"},
      {"drill", "fat_tree:k=4"},
      {"drill:d=1,m=3", "fat_tree:k=4"},
      {"valiant", "dragonfly:p=2"},
      {"valiant", "torus:dims=4x4"},
      {"valiant:per=flow", "slim_fly:q=5,hosts=2"},
      {"valiant:intermediate=group", "dragonfly:p=2"},
      {"minimal", "dragonfly:p=2"},
      {"minimal", "megafly:p=2,h=2"},
      {"minimal", "fat_tree:k=4"},
      {"ugal", "dragonfly:p=2"},
      {"ugal", "slim_fly:q=5,hosts=2"},
      {"ugal_g", "dragonfly:p=2"},
      {"par", "dragonfly:p=2"},
      {"par", "hyperx:dims=4x4,hosts=2"},
      {"slingshot", "megafly:p=2,h=2"},
      {"flowlet:choice=congestion,gap=100ns,tau=2us,age=5us",
       "leaf_spine:leaves=4,spines=3,hosts_per_leaf=3"},
      {"dlb:gap=100ns", "fat_tree:k=4"},
      {"dlb:mode=per_packet", "torus:dims=4x4"},
      {"dlb:mode=fixed", "dragonfly:p=2"},
      {"hammingmesh", "hammingmesh:a=2,b=3,x=3,y=2"},
      {"hammingmesh", "hammingmesh:a=3,b=1,x=4,y=2,radix=4"},
      {"fatpaths:gap=0us", "slim_fly:q=5,hosts=2"},
      {"fatpaths:layers=16,rho=0.5,gap=0us", "jellyfish:n=16,r=4,hosts=2"},
      {"fatpaths:gap=0us", "fat_tree:k=4"},
      {"k_shortest", "jellyfish:n=16,r=4,hosts=2"},
      {"k_shortest:k=12,per=packet", "torus:dims=4x4"},
      {"edge_disjoint", "slim_fly:q=5,hosts=2"},
      {"edge_disjoint:k=3,per=packet", "dragonfly:p=2"},
  };
  return all;
}

std::unique_ptr<PathModel> model_of(const routing::Policy& policy, const routing::PlanSetup& setup) {
  if (policy.make_paths == nullptr) return std::make_unique<routing::MinimalPaths>(setup.table);
  return policy.make_paths(setup);
}

// Walks all that a model allows between two hosts, and gives the share of packets that each channel carries.
class Spread {
 public:
  Spread(const Topology& topology, const PathModel& model) : topology_(topology), model_(model) {}

  // All channels that can be used, also with share 0. Checks shares on the way.
  std::map<std::uint32_t, double> of(std::uint32_t source, std::uint32_t destination) {
    loads_.clear();
    if (model_.names_ways()) return named(source, destination);
    const Vertex first = topology_.channels()[topology_.out_channels(topology_.host(source))[0]].to;
    std::vector<PathStart> starts;
    model_.starts(source, destination, starts);
    double sum = 0;
    for (const PathStart& start : starts) {
      REQUIRE(start.state < model_.states());
      sum += start.share;
      if (!start.by_detour) {
        walk(first, start.state, destination, start.share);
        continue;
      }
      for (std::uint32_t via = 0; via < topology_.hosts(); ++via) {
        const Vertex there = leg(first, start.state, via, start.share / topology_.hosts());
        walk(there, model_.behind_detour(start.state), destination, start.share / topology_.hosts());
      }
    }
    REQUIRE(sum == Approx(1));
    return loads_;
  }

 private:
  Vertex end(std::uint32_t c) const { return topology_.channels()[c].to; }
  bool is_host(Vertex v) const { return topology_.node(v).kind == topologies::NodeKind::kHost; }

  std::map<std::uint32_t, double> named(std::uint32_t source, std::uint32_t destination) {
    std::vector<routing::NamedWay> ways;
    model_.ways(source, destination, ways);
    double sum = 0;
    for (const routing::NamedWay& way : ways) {
      Vertex at = topology_.host(source);
      for (const std::uint32_t c : way.channels) {
        REQUIRE(topology_.channels()[c].from == at);
        at = end(c);
        loads_[c] += way.share;
      }
      REQUIRE(at == topology_.host(destination));
      sum += way.share;
    }
    REQUIRE(sum == Approx(1));
    return loads_;
  }
  void walk(Vertex from, PathState state, std::uint32_t host, double share) {
    REQUIRE(go(from, state, host, share, true) == Approx(share).margin(1e-12));
  }
  // To the only switch that the host is cabled to.
  Vertex leg(Vertex from, PathState state, std::uint32_t host, double share) {
    (void)go(from, state, host, share, false);
    return end(topology_.out_channels(topology_.host(host))[0]);
  }
  // Returns what has arrived.
  double go(Vertex from, PathState state, std::uint32_t host, double share, bool to_host) {
    std::map<std::pair<Vertex, PathState>, double> here{{{from, state}, share}};
    double arrived = 0;
    for (int hops = 0; !here.empty(); ++hops) {
      REQUIRE(hops < 64);  // else packets go in circles
      std::map<std::pair<Vertex, PathState>, double> next;
      for (const auto& [place, part] : here) {
        std::vector<PathStep> steps;
        model_.steps(place.first, place.second, host, steps);
        REQUIRE(!steps.empty());
        double sum = 0;
        for (const PathStep& step : steps) {
          REQUIRE(topology_.channels()[step.channel].from == place.first);
          REQUIRE(step.state < model_.states());
          sum += step.share;
          if (is_host(end(step.channel))) {
            REQUIRE(end(step.channel) == topology_.host(host));
            arrived += part * step.share;
            if (to_host) loads_[step.channel] += part * step.share;
            continue;
          }
          loads_[step.channel] += part * step.share;
          next[{end(step.channel), step.state}] += part * step.share;
        }
        REQUIRE(sum == Approx(1));
      }
      here = std::move(next);
    }
    return arrived;
  }

  const Topology& topology_;
  const PathModel& model_;
  std::map<std::uint32_t, double> loads_;
};

// Which channels carry data between which hosts.
class Used final : public Observer {
 public:
  void on_inject(Time, const Sighting&) override {}
  void on_enqueue(Time, std::uint32_t channel, const Sighting& packet, Time) override {
    if (!packet.ack) used.insert({packet.source, packet.destination, channel});
  }
  void on_drop(Time, std::uint32_t, const Sighting&) override {}
  void on_arrive(Time, std::uint32_t, const Sighting&) override {}
  void on_deliver(Time, const Sighting&) override {}
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> used;
};

std::vector<Message> random_messages(const Topology& topology, int each, std::uint64_t bytes) {
  std::vector<Message> messages;
  RandomStream random(3, 3);
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    for (int i = 0; i < each; ++i) {
      messages.push_back({.source = host,
                          .destination = static_cast<std::uint32_t>(random.below(topology.hosts())),
                          .notify_sent = true,
                          .bytes = bytes,
                          .client = {static_cast<std::uint32_t>(messages.size())}});
    }
  }
  return messages;
}

}  // namespace

TEST_CASE("packets go where their policy's paths say, and shares add up") {
  for (const Case& each : cases()) {
    INFO(each.policy << " on " << each.topology);
    const Topology topology = topologies::build(parse_module_choice(each.topology));
    const routing::Policy policy = routing::registered(each.policy);
    const routing::RoutingTable table(topology);
    const Parameters parameters(policy.info, std::map<std::string, std::string>());
    const auto model = model_of(policy, {parameters, topology, table, 1});
    Used used;
    const auto messages = random_messages(topology, 2, 100'000);
    const Account account =
        run_divided(topology, {.control = "fixed_window:packets=40", .policy = policy}, messages,
                    {.of_vertex = {}, .parts = 1}, 1, StopEvery::kNever, nullptr, &used);
    REQUIRE(account.delivered == messages.size());
    Spread spread(topology, *model);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, double>> known;
    // A diversion behind the first switch is no start: par's paths leave it out, and say so.
    const bool begins_later = policy.info.name == "par";
    for (const auto& [source, destination, channel] : used.used) {
      if (begins_later) break;
      if (topology.channels()[channel].from == topology.host(source)) continue;
      auto found = known.find({source, destination});
      if (found == known.end()) {
        found = known.emplace(std::pair{source, destination}, spread.of(source, destination)).first;
      }
      INFO(source << " to " << destination << " over channel " << channel);
      REQUIRE(found->second.contains(channel));
    }
    REQUIRE((begins_later || known.size() > topology.hosts()));
  }
}

TEST_CASE("registered policies give one account, however the network is divided") {
  RandomStream random(5, 5);
  for (const Case& each : cases()) {
    const Topology topology = topologies::build(parse_module_choice(each.topology));
    const auto messages = random_messages(topology, 2, 60'000);
    // Hosts and routers that are one can't be parted: nothing lies between them.
    const bool joined = std::ranges::any_of(
        topology.channels(), [](const topologies::Channel& channel) { return channel.latency == Time(); });
    for (const char* queue : {"ecn", "credit:vcs=12"}) {
      INFO(each.policy << " on " << each.topology << " with " << queue);
      const Options options{
          .control = "fixed_window:packets=40", .queue = queue, .policy = routing::registered(each.policy)};
      const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
      REQUIRE(whole.delivered == messages.size());
      const auto division =
          joined ? topologies::partition(topology, 3) : random_division(topology, 3, random);
      REQUIRE(run_divided(topology, options, messages, division, 2) == whole);
    }
  }
}

TEST_CASE("policies that say so keep the order of flows, others don't") {
  const auto late_packets = [](const Case& each) {
    const Topology topology = topologies::build(parse_module_choice(each.topology));
    Simulation simulation(topology,
                          {.control = "fixed_window:packets=40", .policy = routing::registered(each.policy)});
    simulation.send_at_random(topology.hosts());
    simulation.run();
    REQUIRE(simulation.verdict() == "");
    return simulation.network.totals().out_of_order_packets;
  };
  for (const Case& each : cases()) {
    INFO(each.policy << " on " << each.topology);
    const bool keeps =
        routing::registered(each.policy).keeps_order() || std::string(each.policy) == "valiant:per=flow";
    REQUIRE((late_packets(each) == 0) == keeps);
  }
}

}  // namespace weft::sim::packet
