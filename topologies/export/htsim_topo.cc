#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "sim/units/input_error.h"
#include "topologies/export/formats.h"

namespace weft::topologies {
namespace {

[[noreturn]] void refuse(const Topology& topology, const std::string& why) {
  throw InputError(fmt::format(
      "{} can't be written as a .topo file, which holds trees of two or three tiers that are all alike: {}",
      topology.name(), why));
}

// What all of the tier's nodes must agree on.
struct Tier {
  std::vector<Vertex> nodes;
  std::size_t up = 0, down = 0;  // links of each
  std::size_t bundle = 0;        // links between two neighbours, towards the tier below
  Bandwidth rate;                // of links down
  Time latency;                  // of links down
  Time switch_latency;
};

class Tree {
 public:
  explicit Tree(const Topology& topology) : topology_(topology) {
    sort_nodes();
    for (const Edge& edge : topology.edges()) read_link(edge);
    for (std::size_t t = 0; t < tiers_.size(); ++t) check_degrees(t);
    read_pods();
    if (tiers_.size() == 4) check_cores();
  }

  void write(TextSink& out) const {
    // Before the first line: this may refuse.
    std::vector<std::uint64_t> ratios;
    for (std::size_t t = 1; t + 1 < tiers_.size(); ++t) ratios.push_back(oversubscription(t));
    for (std::size_t t = 1; t < tiers_.size(); ++t) check_units(tiers_[t]);

    out.print("# {}\nNodes {}\nTiers {}\nPodsize {}\n", topology_.name(), topology_.hosts(),
              tiers_.size() - 1, pod_hosts_);
    for (std::size_t t = 1; t < tiers_.size(); ++t) {
      const Tier& tier = tiers_[t];
      out.print("\nTier {}\nDownlink_speed_Gbps {}\n", t - 1, tier.rate.bps() / 1'000'000'000);
      if (t + 1 < tiers_.size()) out.print("Radix_Up {}\n", tier.up);
      out.print("Radix_Down {}\nDownlink_Latency_ns {}\n", tier.down, tier.latency.ps() / 1000);
      out.print("Switch_Latency_ns {}\n", tier.switch_latency.ps() / 1000);
      if (tier.bundle > 1) out.print("Bundle {}\n", tier.bundle);
      if (t + 1 < tiers_.size() && ratios[t - 1] > 1) out.print("Oversubscribed {}\n", ratios[t - 1]);
    }
    out.finish();
  }

 private:
  void sort_nodes() {
    tiers_.resize(1);
    for (Vertex v = 0; v < topology_.nodes(); ++v) {
      const Node& node = topology_.node(v);
      if (node.in_host) refuse(topology_, fmt::format("'{}' is inside a host", node.name));
      if (node.plane != 0) refuse(topology_, "it has several planes");
      if (node.site != 0) refuse(topology_, "it has several sites");
      const std::size_t t = node.kind == NodeKind::kHost ? 0 : node.tier;
      if (t > 3) refuse(topology_, "it has more than three tiers");
      if (tiers_.size() <= t) tiers_.resize(t + 1);
      tiers_[t].nodes.push_back(v);
    }
    if (tiers_.size() < 3) refuse(topology_, "it has one tier");
  }

  std::size_t tier_of(Vertex v) const {
    return topology_.node(v).kind == NodeKind::kHost ? 0 : topology_.node(v).tier;
  }

  void read_link(const Edge& edge) {
    Vertex low = edge.from, high = edge.to;
    if (tier_of(low) > tier_of(high)) std::swap(low, high);
    if (tier_of(low) + 1 != tier_of(high)) {
      refuse(topology_, fmt::format("'{}' and '{}' are linked, but not one tier apart",
                                    topology_.node(low).name, topology_.node(high).name));
    }
    Tier& tier = tiers_[tier_of(high)];
    const Link& link = edge.link;
    if (link.loss != 0) refuse(topology_, "a link loses packets");
    if (tier.rate == Bandwidth()) {
      tier.rate = link.rate;
      tier.latency = link.latency;
      tier.switch_latency = topology_.node(high).switch_latency;
    }
    if (tier.rate != link.rate || tier.latency != link.latency ||
        tier.switch_latency != topology_.node(high).switch_latency) {
      refuse(topology_, fmt::format("links or switches of tier {} differ in rate or latency", tier_of(high)));
    }
    ++up_[low][high];
    ++down_[high];
  }

  void check_degrees(std::size_t t) {
    Tier& tier = tiers_[t];
    if (tier.nodes.empty()) refuse(topology_, fmt::format("tier {} is empty", t));
    const auto up = [&](Vertex v) {
      std::size_t links = 0;
      for (const auto& [high, count] : up_[v]) links += count;
      return links;
    };
    tier.up = up(tier.nodes[0]);
    tier.down = down_[tier.nodes[0]];
    for (const Vertex v : tier.nodes) {
      if (up(v) != tier.up || down_[v] != tier.down) {
        refuse(topology_, fmt::format("'{}' and '{}' differ in their numbers of links",
                                      topology_.node(tier.nodes[0]).name, topology_.node(v).name));
      }
      for (const auto& [high, count] : up_[v]) {
        Tier& above = tiers_[t + 1];
        if (above.bundle == 0) above.bundle = count;
        if (above.bundle != count) refuse(topology_, "some pairs of switches have more links than others");
      }
    }
    if (t == 0 && tier.up != 1) refuse(topology_, "a host has several links");
  }

  // A pod is a set of switches of tier 1 under the same switches of tier 2.
  void read_pods() {
    std::map<std::vector<Vertex>, std::size_t> switches_under;
    std::set<Vertex> taken;
    for (const Vertex v : tiers_[1].nodes) {
      std::vector<Vertex> above;
      for (const auto& [high, count] : up_[v]) above.push_back(high);
      ++switches_under[above];
    }
    for (const auto& [above, count] : switches_under) {
      pods_.push_back(above);
      for (const Vertex v : above) {
        if (!taken.insert(v).second) {
          refuse(topology_, fmt::format("'{}' is above two different pods", topology_.node(v).name));
        }
      }
      if (count != switches_under.begin()->second) refuse(topology_, "pods differ in size");
    }
    pod_hosts_ = switches_under.begin()->second * tiers_[1].down;
    if (tiers_.size() == 3 && pods_.size() > 1) refuse(topology_, "its parts are not linked");
  }

  // htsim links a switch of tier 2 to a set of cores, and exactly one switch of every other pod to the same.
  void check_cores() const {
    std::map<std::vector<Vertex>, std::size_t> users;
    std::set<Vertex> taken;
    for (const std::vector<Vertex>& pod : pods_) {
      std::set<std::vector<Vertex>> of_pod;
      for (const Vertex v : pod) {
        std::vector<Vertex> cores;
        for (const auto& [high, count] : up_.at(v)) cores.push_back(high);
        if (!of_pod.insert(cores).second) refuse(topology_, "two switches of a pod have the same cores");
        ++users[cores];
      }
    }
    for (const auto& [cores, count] : users) {
      if (count != pods_.size()) refuse(topology_, "pods are not linked to the same sets of cores");
      for (const Vertex v : cores) {
        if (!taken.insert(v).second) {
          refuse(topology_, fmt::format("'{}' is linked to two switches of a pod", topology_.node(v).name));
        }
      }
    }
  }

  // What comes in from below : what goes up, in bit/s.
  std::uint64_t oversubscription(std::size_t t) const {
    const Tier& tier = tiers_[t];
    const auto below = static_cast<std::uint64_t>(tier.rate.bps()) * tier.down;
    const auto above = static_cast<std::uint64_t>(tiers_[t + 1].rate.bps()) * tier.up;
    if (below % above != 0) {
      refuse(topology_, fmt::format("at tier {} {} come in from below for {} up, and that is no whole number",
                                    t, to_string(Bandwidth::bps(static_cast<std::int64_t>(below))),
                                    to_string(Bandwidth::bps(static_cast<std::int64_t>(above)))));
    }
    return below / above;
  }

  void check_units(const Tier& tier) const {
    if (tier.rate.bps() % 1'000'000'000 != 0) {
      refuse(topology_, fmt::format("a rate of {} is no whole number of Gb/s", to_string(tier.rate)));
    }
    for (const Time time : {tier.latency, tier.switch_latency}) {
      if (time.ps() % 1000 != 0) {
        refuse(topology_, fmt::format("a latency of {} is no whole number of ns", to_string(time)));
      }
    }
    if (tier.latency == Time()) refuse(topology_, "htsim takes no links without latency");
  }

  const Topology& topology_;
  std::vector<Tier> tiers_;  // 0: hosts
  std::map<Vertex, std::map<Vertex, std::size_t>> up_;
  std::map<Vertex, std::size_t> down_;
  std::vector<std::vector<Vertex>> pods_;  // the switches of tier 2 of each
  std::size_t pod_hosts_ = 0;
};

}  // namespace

void write_htsim_topo(const Topology& topology, TextSink& out) { Tree(topology).write(out); }

}  // namespace weft::topologies
