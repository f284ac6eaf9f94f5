#include "sim/routing/nics/nic_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "sim/units/input_error.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;

namespace {

constexpr std::uint32_t kMostNics = 256;  // messages name them with 8 bits

std::uint32_t share_of(const sim::RankPlace& place, std::uint64_t nics) {
  return static_cast<std::uint32_t>(place.number * nics / place.ranks);
}

// The root of a node's tree, halving the way there.
std::uint32_t root(std::vector<std::uint32_t>& parents, std::uint32_t v) {
  for (; parents[v] != v; v = parents[v]) parents[v] = parents[parents[v]];
  return v;
}

}  // namespace

std::unique_ptr<const NicNetwork> NicNetwork::make(const Topology& topology, const RoutingTable& table,
                                                   bool to_hosts) {
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
  std::unique_ptr<NicNetwork> made(new NicNetwork(topology, table));
  if (!to_hosts && made->is_ambiguous()) made->unfold();
  return made;
}

NicNetwork::NicNetwork(const Topology& topology, const RoutingTable& table)
    : given_(topology), given_table_(table), hosts_(topology.hosts()), own_topology_(topology.name()) {
  find_parts();
}

// Hosts don't forward, so the parts are those of the switches; a cable between two hosts is one of its own.
void NicNetwork::find_parts() {
  std::vector<std::uint32_t> parents(given_.nodes());
  std::iota(parents.begin(), parents.end(), 0);
  const auto is_host = [&](std::uint32_t v) { return given_.node(v).kind == NodeKind::kHost; };
  for (const topologies::Edge& edge : given_.edges()) {
    if (!is_host(edge.from) && !is_host(edge.to)) parents[root(parents, edge.from)] = root(parents, edge.to);
  }
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    first_.push_back(static_cast<std::uint32_t>(nics_.size()));
    for (const std::uint32_t c : given_.out_channels(given_.host(host))) {
      const topologies::Channel& cable = given_.channels()[c];
      nics_.push_back({.part = is_host(cable.to) ? given_.nodes() + c / 2 : root(parents, cable.to),
                       .bps = cable.rate.bps()});
    }
  }
  first_.push_back(static_cast<std::uint32_t>(nics_.size()));
  all_alike_ = std::ranges::all_of(
      nics_, [&](const Nic& nic) { return nic.part == nics_[0].part && nic.bps == nics_[0].bps; });
}

// Has a host two NICs in the same part?
bool NicNetwork::is_ambiguous() const {
  std::vector<std::uint32_t> parts;
  for (std::uint32_t host = 0; host < hosts_; ++host) {
    parts.clear();
    for (const Nic& nic : of(host)) parts.push_back(nic.part);
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
  if (given_.linked_groups()) own_topology_.set_linked_groups();
  own_topology_.finish_in_parts();
  own_table_ = std::make_unique<const RoutingTable>(own_topology_);
}

sim::NicPair NicNetwork::nics(const sim::RankPlace& from, const sim::RankPlace& to) const {
  const std::span<const Nic> sends = of(from.host), takes = of(to.host);
  std::int64_t best = 0;
  for (const Nic& out : sends) {
    if (all_alike_) break;
    for (const Nic& in : takes) {
      if (in.part == out.part) best = std::max(best, std::min(in.bps, out.bps));
    }
  }
  const auto pick = [](const sim::RankPlace& place, std::span<const Nic> nics, const auto& fits) {
    std::uint32_t left =
        share_of(place, static_cast<std::uint64_t>(std::count_if(nics.begin(), nics.end(), fits)));
    for (std::uint32_t nic = 0; nic < nics.size(); ++nic) {
      if (fits(nics[nic]) && left-- == 0) return static_cast<std::uint8_t>(nic);
    }
    return std::uint8_t{0};
  };
  if (all_alike_) {
    return {static_cast<std::uint8_t>(share_of(from, sends.size())),
            static_cast<std::uint8_t>(share_of(to, takes.size()))};
  }
  sim::NicPair pair;
  pair.source = pick(from, sends, [&](const Nic& out) {
    return std::ranges::any_of(
        takes, [&](const Nic& in) { return in.part == out.part && std::min(in.bps, out.bps) == best; });
  });
  const Nic& out = sends[pair.source];
  pair.destination = pick(
      to, takes, [&](const Nic& in) { return in.part == out.part && std::min(in.bps, out.bps) == best; });
  return pair;
}

bool NicNetwork::leads_to(std::uint32_t host, std::uint32_t nic, std::uint32_t other) const {
  if (all_alike_) return true;
  const std::uint32_t part = of(host)[nic].part;
  return std::ranges::any_of(of(other), [&](const Nic& in) { return in.part == part; });
}

void NicNetwork::fail_no_way(std::uint32_t host, std::uint32_t nic, std::uint32_t other) const {
  const std::uint32_t cable = given_.out_channels(given_.host(host))[nic];
  throw InputError(
      fmt::format("a message from {} to {} is to leave through NIC {}, the link to {}, from where there is "
                  "no way; name another in the graph, or let nic_choice=near choose",
                  given_.node(given_.host(host)).name, given_.node(given_.host(other)).name, nic,
                  given_.node(given_.channels()[cable].to).name));
}

std::uint32_t NicNetwork::arrival(std::uint32_t host, std::uint32_t nic, std::uint32_t other,
                                  std::uint32_t wanted) const {
  const std::span<const Nic> takes = of(other);
  if (all_alike_) return wanted;
  const std::uint32_t part = of(host)[nic].part;
  if (takes[wanted].part == part) return wanted;
  if (nic < takes.size() && takes[nic].part == part) return nic;
  for (std::uint32_t in = 0; in < takes.size(); ++in) {
    if (takes[in].part == part) return in;
  }
  return wanted;
}

}  // namespace weft::routing
