#include "sim/routing/policies/conga.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "sim/routing/parts/flowlet_table.h"
#include "sim/routing/parts/load_estimate.h"
#include "sim/routing/parts/port_choice.h"
#include "sim/units/input_error.h"

namespace weft::routing {
namespace {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

[[noreturn]] void refuse_conga(const Topology& topology, const std::string& why) {
  throw InputError(
      fmt::format("flowlet:choice=congestion is for two tiers, leaves with hosts and spines that "
                  "link them, as in leaf_spine and fat_tree2: in {} {}",
                  topology.name(), why));
}

// The leaves of two tiers, numbered.
class Leaves {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;  // a spine

  explicit Leaves(const Topology& topology) : leaf_of_(topology.switches(), kNone) {
    for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
      const auto nics = topology.out_channels(topology.host(h));
      for (const std::uint32_t c : nics) {
        const Vertex end = topology.channels()[c].to;
        if (end == topology.channels()[nics[0]].to && topology.node(end).kind == NodeKind::kSwitch) continue;
        refuse_conga(topology, topology.node(topology.host(h)).name + " isn't on one switch");
      }
      std::uint32_t& leaf = leaf_of_[topology.node(topology.channels()[nics[0]].to).index];
      if (leaf == kNone) leaf = leaves_++;
      of_host_.push_back(leaf);
    }
    for (const topologies::Edge& edge : topology.edges()) {
      const topologies::Node &a = topology.node(edge.from), &b = topology.node(edge.to);
      if (a.kind == NodeKind::kHost || b.kind == NodeKind::kHost) continue;
      if ((leaf_of_[a.index] == kNone) != (leaf_of_[b.index] == kNone)) continue;
      refuse_conga(topology,
                   fmt::format("{} is linked to {}, and {}", a.name, b.name,
                               leaf_of_[a.index] == kNone ? "neither has hosts" : "both have hosts"));
    }
  }
  std::uint32_t leaves() const { return leaves_; }
  std::uint32_t of_switch(std::uint32_t s) const { return leaf_of_[s]; }
  std::uint32_t of_host(std::uint32_t h) const { return of_host_[h]; }

 private:
  std::vector<std::uint32_t> leaf_of_, of_host_;
  std::uint32_t leaves_ = 0;
};

// What a packet carries, in its RouteNote: `tag` the uplink's port at its leaf, `via` the rest.
struct Tag {
  // RouteNote::phase
  static constexpr std::uint8_t kTagged = 1, kAnswers = 2;

  std::uint16_t answered_port = 0;  // at the destination's leaf, with kAnswers
  std::uint8_t answer = 0;          // the level of its way
  std::uint8_t level = 0;           // the highest so far

  static Tag of(const RouteNote& note) {
    return {static_cast<std::uint16_t>(note.via >> 16), static_cast<std::uint8_t>(note.via >> 8),
            static_cast<std::uint8_t>(note.via)};
  }
  void put(RouteNote& note) const {
    note.via = std::uint32_t{answered_port} << 16 | std::uint32_t{answer} << 8 | level;
  }
};

class Conga final : public SwitchPolicy {
 public:
  Conga(const Leaves& leaves, const CongaSettings& settings, const Topology& topology,
        std::uint32_t switch_index)
      : leaves_(leaves),
        settings_(settings),
        leaf_(leaves.of_switch(switch_index)),
        flowlets_of_(settings.gap) {
    for (const std::uint32_t c : topology.out_channels(topology.switch_at(switch_index))) {
      loads_.emplace_back(topology.channels()[c].rate, settings.tau);
    }
    if (leaf_ == Leaves::kNone) return;
    to_.resize(leaves.leaves());
    from_.resize(leaves.leaves());
  }

  Output choose(const PacketView& packet, RouteNote& note, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    const std::uint32_t from = leaves_.of_host(packet.source), to = leaves_.of_host(packet.destination);
    if (to == leaf_) {
      if (note.phase & Tag::kTagged) arrive(from, note, here.now());
      return {.port = any_port(minimal, here)};
    }
    std::uint32_t port = minimal.front();
    if (from == leaf_ && !(note.phase & Tag::kTagged)) {
      port = port_of_flowlet(packet, to, minimal, here);
      note.phase = Tag::kTagged;
      note.tag = static_cast<std::uint16_t>(port);
      Tag tag;
      if (answer(to, here.now(), tag)) note.phase |= Tag::kAnswers;
      tag.put(note);
    } else if (minimal.size() > 1) {
      port = any_port(minimal, here);  // parallel links, or a detour
    }
    Tag tag = Tag::of(note);
    loads_[port].add(packet.bytes, here.now());
    tag.level = std::max(tag.level, loads_[port].level(here.now(), settings_.levels));
    tag.put(note);
    return {.port = port};
  }
  Signals signals() const override { return {{"flowlet", flowlets_}}; }

 private:
  // A leaf was told this of a way to another leaf.
  struct Told {
    Time at;
    std::uint8_t level = 0;
  };
  // A leaf has seen this of a way from another leaf.
  struct Seen {
    Told last;
    bool known = false, changed = false;
  };
  struct From {
    std::vector<Seen> ports;  // by uplink of that leaf
    std::size_t turn = 0;
  };

  std::uint32_t port_of_flowlet(const PacketView& packet, std::uint32_t to,
                                std::span<const std::uint32_t> minimal, ActiveSwitch& here) {
    const Time now = here.now();
    FlowletTable::Entry& entry = flowlets_of_.of(packet, now);
    const bool known = std::find(minimal.begin(), minimal.end(), entry.port) != minimal.end();
    if (!known || flowlets_of_.is_over(entry, now)) {
      entry.port = least_congested(to, minimal, known ? entry.port : FlowletTable::kNoPort, here);
      ++flowlets_;
    }
    entry.last = now;
    return entry.port;
  }
  std::uint32_t least_congested(std::uint32_t to, std::span<const std::uint32_t> minimal, std::uint32_t last,
                                ActiveSwitch& here) {
    best_.clear();
    std::uint32_t least = UINT32_MAX;
    for (const std::uint32_t port : minimal) {
      const std::uint32_t level = std::max<std::uint32_t>(loads_[port].level(here.now(), settings_.levels),
                                                          told(to, port, here.now()));
      if (level < least) best_.clear();
      if (level > least) continue;
      least = level;
      best_.push_back(port);
    }
    if (std::find(best_.begin(), best_.end(), last) != best_.end()) return last;
    return any_port(best_, here);
  }
  std::uint32_t told(std::uint32_t to, std::uint32_t port, Time now) const {
    if (port >= to_[to].size()) return 0;
    return aged(to_[to][port], now);
  }
  std::uint8_t aged(const Told& told, Time now) const {
    const std::int64_t halvings = (now - told.at).ps() / settings_.age.ps();
    return static_cast<std::uint8_t>(halvings < 8 ? told.level >> halvings : 0);
  }

  // At the destination's leaf.
  void arrive(std::uint32_t from, const RouteNote& note, Time now) {
    const Tag tag = Tag::of(note);
    std::vector<Seen>& ports = from_[from].ports;
    if (note.tag >= ports.size()) ports.resize(note.tag + 1u);
    Seen& seen = ports[note.tag];
    const bool changed = seen.changed || !seen.known || seen.last.level != tag.level;
    seen = {.last = {.at = now, .level = tag.level}, .known = true, .changed = changed};
    if (!(note.phase & Tag::kAnswers)) return;
    if (tag.answered_port >= to_[from].size()) to_[from].resize(tag.answered_port + 1u);
    to_[from][tag.answered_port] = {.at = now, .level = tag.answer};
  }
  // What a packet to a leaf tells of one of its uplinks. False: nothing is known.
  bool answer(std::uint32_t to, Time now, Tag& tag) {
    From& row = from_[to];
    const std::size_t count = row.ports.size();
    std::size_t chosen = count;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t port = (row.turn + i) % count;
      if (!row.ports[port].known) continue;
      if (chosen == count) chosen = port;
      if (!row.ports[port].changed) continue;
      chosen = port;
      break;
    }
    if (chosen == count) return false;
    row.turn = (chosen + 1) % count;
    row.ports[chosen].changed = false;
    tag.answered_port = static_cast<std::uint16_t>(chosen);
    tag.answer = aged(row.ports[chosen].last, now);
    return true;
  }

  const Leaves& leaves_;
  const CongaSettings settings_;
  const std::uint32_t leaf_;
  std::vector<LoadEstimate> loads_;    // by port
  std::vector<std::vector<Told>> to_;  // by leaf and port
  std::vector<From> from_;             // by leaf
  FlowletTable flowlets_of_;
  std::vector<std::uint32_t> best_;
  std::uint64_t flowlets_ = 0;
};

class CongaPlan final : public SwitchPlan {
 public:
  CongaPlan(const PlanSetup& setup, const CongaSettings& settings)
      : topology_(setup.topology), leaves_(setup.topology), settings_(settings) {}
  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream) const override {
    return std::make_unique<Conga>(leaves_, settings_, topology_, switch_index);
  }

 private:
  const Topology& topology_;
  const Leaves leaves_;
  const CongaSettings settings_;
};

}  // namespace

std::unique_ptr<SwitchPlan> make_conga(const PlanSetup& setup, const CongaSettings& settings) {
  return std::make_unique<CongaPlan>(setup, settings);
}

}  // namespace weft::routing
