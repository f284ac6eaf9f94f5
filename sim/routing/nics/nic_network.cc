#include "sim/routing/nics/nic_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;

namespace {

constexpr std::uint32_t kMostNics = 256;  // messages name them with 8 bits

// A rank has these of the NICs that are as good as each other.
struct Share {
  std::uint32_t first = 0, count = 1;
};
Share share_of(const sim::RankPlace& place, std::uint64_t nics) {
  const auto at = [&](std::uint64_t number) {
    return static_cast<std::uint32_t>(number * nics / place.ranks);
  };
  const std::uint32_t first = at(place.number);
  return {first, std::max(at(place.number + std::uint64_t{1}) - first, 1u)};
}

// The root of a node's tree, halving the way there.
std::uint32_t root(std::vector<std::uint32_t>& parents, std::uint32_t v) {
  for (; parents[v] != v; v = parents[v]) parents[v] = parents[parents[v]];
  return v;
}

}  // namespace

std::unique_ptr<NicNetwork> NicNetwork::make_folded(const Topology& topology, const RoutingTable& table,
                                                    std::span<const std::uint32_t> dead) {
  std::size_t most = 0;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    const std::size_t nics = topology.out_channels(topology.host(host)).size();
    if (nics > kMostNics) {
      throw InputError(fmt::format("{}: '{}' has {} links; a host may have {}", topology.name(),
                                   topology.node(topology.host(host)).name, nics, kMostNics));
    }
    most = std::max(most, nics);
  }
  if (most < 2) return nullptr;
  std::unique_ptr<NicNetwork> made(new NicNetwork(topology, table, dead));
  made->most_nics_ = static_cast<std::uint32_t>(most);
  return made;
}

std::unique_ptr<const NicNetwork> NicNetwork::make(const Topology& topology, const RoutingTable& table,
                                                   bool to_hosts, std::span<const std::uint32_t> dead) {
  std::unique_ptr<NicNetwork> made = make_folded(topology, table, dead);
  if (made != nullptr && !to_hosts && made->is_ambiguous()) made->unfold();
  return made;
}

std::unique_ptr<const NicNetwork> NicNetwork::make_unfolded(const Topology& topology,
                                                            const RoutingTable& table) {
  std::unique_ptr<NicNetwork> made = make_folded(topology, table, {});
  if (made != nullptr) made->unfold();
  return made;
}

NicNetwork::NicNetwork(const Topology& topology, const RoutingTable& table,
                       std::span<const std::uint32_t> dead)
    : given_(topology), given_table_(table), hosts_(topology.hosts()), own_topology_(topology.name()) {
  find_parts({});
  if (dead.empty()) return;
  whole_ = std::exchange(nics_, {});
  first_.clear();
  find_parts(dead);
  find_cut_off_hosts();
}

// Hosts don't forward, so the parts are those of the switches; a cable between two hosts is one of its own,
// and so is one that is dead.
void NicNetwork::find_parts(std::span<const std::uint32_t> dead) {
  std::vector<std::uint32_t> parents(given_.nodes());
  std::iota(parents.begin(), parents.end(), 0);
  const auto is_host = [&](std::uint32_t v) { return given_.node(v).kind == NodeKind::kHost; };
  const auto is_dead = [&](std::size_t e) {
    return std::binary_search(dead.begin(), dead.end(), static_cast<std::uint32_t>(e));
  };
  for (std::size_t e = 0; e < given_.edges().size(); ++e) {
    const topologies::Edge& edge = given_.edges()[e];
    if (is_host(edge.from) || is_host(edge.to) || is_dead(e)) continue;
    parents[root(parents, edge.from)] = root(parents, edge.to);
  }
  const std::uint32_t cables = given_.nodes(),
                      ends = cables + static_cast<std::uint32_t>(given_.edges().size());
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    first_.push_back(static_cast<std::uint32_t>(nics_.size()));
    for (const std::uint32_t c : given_.out_channels(given_.host(host))) {
      const topologies::Channel& cable = given_.channels()[c];
      const std::uint32_t part = is_dead(c / 2)      ? ends + c
                                 : is_host(cable.to) ? cables + c / 2
                                                     : root(parents, cable.to);
      nics_.push_back({.part = part, .bps = cable.rate.bps()});
    }
  }
  first_.push_back(static_cast<std::uint32_t>(nics_.size()));
  all_alike_ = std::ranges::all_of(
      nics_, [&](const Nic& nic) { return nic.part == nics_[0].part && nic.bps == nics_[0].bps; });
}

// What leads nowhere now may come back, and nothing else is left to these hosts.
void NicNetwork::find_cut_off_hosts() {
  std::map<std::uint32_t, std::uint32_t> hosts_in;
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    std::set<std::uint32_t> parts;
    for (const Nic& nic : of(nics_, host)) parts.insert(nic.part);
    for (const std::uint32_t part : parts) ++hosts_in[part];
  }
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    cut_off_.push_back(
        std::ranges::none_of(of(nics_, host), [&](const Nic& nic) { return hosts_in[nic.part] > 1; }));
  }
}

// Has a host two NICs in the same part?
bool NicNetwork::is_ambiguous() const {
  std::vector<std::uint32_t> parts;
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    parts.clear();
    for (const Nic& nic : of(whole_.empty() ? nics_ : whole_, host)) parts.push_back(nic.part);
    std::sort(parts.begin(), parts.end());
    if (std::adjacent_find(parts.begin(), parts.end()) != parts.end()) return true;
  }
  return false;
}

// Nodes and cables keep their numbers; the further NICs are nodes behind all others.
void NicNetwork::unfold() {
  for (std::uint32_t v = 0; v < given_.nodes(); ++v) own_topology_.add_node(given_.node(v));
  std::vector<std::uint32_t> leaves(given_.channels().size());  // by channel: its endpoint's vertex
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    topologies::Vertex vertex = given_.host(host);
    for (const std::uint32_t channel : given_.out_channels(given_.host(host))) {
      const bool is_first = channel == given_.out_channels(given_.host(host)).front();
      if (!is_first) {
        vertex = own_topology_.add_node(given_.node(given_.host(host)));
        host_of_.push_back(host);
      }
      leaves[channel] = static_cast<std::uint32_t>(vertex);
    }
  }
  const auto end = [&](std::uint32_t vertex, std::size_t channel) {
    return given_.node(vertex).kind == NodeKind::kHost ? leaves[channel] : vertex;
  };
  for (std::size_t e = 0; e < given_.edges().size(); ++e) {
    const topologies::Edge& edge = given_.edges()[e];
    own_topology_.add_link(end(edge.from, 2 * e), end(edge.to, 2 * e + 1), edge.link);
  }
  own_topology_.set_grid(given_.grid());
  own_topology_.set_boards(given_.boards());
  if (given_.linked_groups()) own_topology_.set_linked_groups();
  own_topology_.finish_in_parts();
  own_table_ = std::make_unique<const RoutingTable>(own_topology_);
}

sim::NicPair NicNetwork::nics(const sim::RankPlace& from, const sim::RankPlace& to,
                              std::uint32_t rail) const {
  const std::vector<Nic>& all = between(from.host, to.host);
  const std::span<const Nic> sends = of(all, from.host), takes = of(all, to.host);
  if (all_alike_) {
    const Share share = share_of(from, sends.size()), there = share_of(to, takes.size());
    const std::uint32_t k = rail % share.count;
    return {static_cast<std::uint8_t>(share.first + k),
            static_cast<std::uint8_t>(there.first + k % there.count),
            static_cast<std::uint16_t>(share.count)};
  }
  std::int64_t best = 0;
  for (const Nic& out : sends) {
    for (const Nic& in : takes) {
      if (in.part == out.part) best = std::max(best, std::min(in.bps, out.bps));
    }
  }
  const auto is_way = [&](const Nic& out, const Nic& in) {
    return in.part == out.part && std::min(in.bps, out.bps) == best;
  };
  std::array<std::uint8_t, kMostNics> fit;
  const auto find = [&fit](std::span<const Nic> nics, const auto& fits) {
    std::uint32_t count = 0;
    for (std::uint32_t nic = 0; nic < nics.size(); ++nic) {
      if (fits(nics[nic])) fit[count++] = static_cast<std::uint8_t>(nic);
    }
    return count;
  };
  const std::uint32_t ways = find(sends, [&](const Nic& out) {
    return std::ranges::any_of(takes, [&](const Nic& in) { return is_way(out, in); });
  });
  if (ways == 0) return {};
  const Share share = share_of(from, ways);
  const std::uint32_t place = share.first + rail % share.count;
  sim::NicPair pair{.source = fit[place], .own = static_cast<std::uint16_t>(share.count)};
  const Nic& out = sends[pair.source];
  std::uint32_t before = 0;  // of its own in the same part
  for (std::uint32_t i = share.first; i < place; ++i) before += sends[fit[i]].part == out.part;
  const Share there = share_of(to, find(takes, [&](const Nic& in) { return is_way(out, in); }));
  pair.destination = fit[there.first + before % there.count];
  return pair;
}

bool NicNetwork::leads_to(std::uint32_t host, std::uint32_t nic, std::uint32_t other) const {
  if (all_alike_) return true;
  const std::vector<Nic>& all = between(host, other);
  const std::uint32_t part = of(all, host)[nic].part;
  return std::ranges::any_of(of(all, other), [&](const Nic& in) { return in.part == part; });
}

void NicNetwork::fail_no_way(std::uint32_t host, std::uint32_t nic, std::uint32_t other) const {
  const std::uint32_t cable = given_.out_channels(given_.host(host))[nic];
  throw InputError(
      fmt::format("a message from {} to {} is to leave through NIC {}, the link to {}, from where there is "
                  "no way{}; name another in the graph, or let nic_choice=library choose",
                  given_.node(given_.host(host)).name, given_.node(given_.host(other)).name, nic,
                  given_.node(given_.channels()[cable].to).name,
                  !whole_.empty() ? " past the links that are down from the start" : ""));
}

std::uint32_t NicNetwork::arrival(std::uint32_t host, std::uint32_t nic, std::uint32_t other,
                                  std::uint32_t wanted) const {
  if (all_alike_) return wanted;
  const std::vector<Nic>& all = between(host, other);
  const std::span<const Nic> takes = of(all, other);
  const std::uint32_t part = of(all, host)[nic].part;
  if (takes[wanted].part == part) return wanted;
  if (nic < takes.size() && takes[nic].part == part) return nic;
  for (std::uint32_t in = 0; in < takes.size(); ++in) {
    if (takes[in].part == part) return in;
  }
  return wanted;
}

}  // namespace weft::routing
