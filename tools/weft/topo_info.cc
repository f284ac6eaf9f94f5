#include "tools/weft/topo_info.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tools/weft/standard_output.h"
#include "tools/weft/topo_commands.h"
#include "topologies/recommended_routing.h"

namespace weft::cli {
namespace {

using topologies::NodeKind;
using topologies::Topology;

// "4", or "3 to 5".
std::string range(std::uint64_t least, std::uint64_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

// What the switches of one tier (or the routers inside hosts) have in common.
struct Tier {
  std::uint64_t switches = 0, least_ports = UINT64_MAX, most_ports = 0;
  std::uint64_t hosts = 0;
};

// Cables of one kind: same ends, same rate, same latency.
using CableKey = std::tuple<bool, Bandwidth, Time>;

// Machines of several accelerators: what an accelerator can send inside, and its share of what leaves.
std::string domains_text(const Topology& topology) {
  std::map<std::uint32_t, std::uint64_t> hosts;  // by domain
  std::uint64_t leaving = 0, inside = 0, accelerators = 0;
  for (topologies::Vertex v = 0; v < topology.nodes(); ++v) {
    const topologies::Node& node = topology.node(v);
    if (node.domain == topologies::kNoDomain) continue;
    const bool is_host = node.kind == NodeKind::kHost;
    if (is_host) ++hosts[node.domain], ++accelerators;
    for (const std::uint32_t c : topology.out_channels(v)) {
      const topologies::Channel& channel = topology.channels()[c];
      const auto bps = static_cast<std::uint64_t>(channel.rate.bps());
      if (!topology.is_inside(v, channel.to)) {
        leaving += bps;
      } else if (is_host) {
        inside += bps;
      }
    }
  }
  if (accelerators == 0) return "";
  std::uint64_t least = UINT64_MAX, most = 0;
  for (const auto& [domain, count] : hosts) least = std::min(least, count), most = std::max(most, count);
  const auto each = [&](std::uint64_t bps) {
    return to_string(Bandwidth::bps(static_cast<std::int64_t>(bps / accelerators)));
  };
  return fmt::format("{} of {} accelerators; of each, {} inside and {} to other nodes", hosts.size(),
                     range(least, most), each(inside), each(leaving));
}

}  // namespace

std::string topology_text(const Topology& topology) {
  std::map<std::pair<bool, unsigned>, Tier> tiers;
  std::uint64_t host_links = 0, least_nics = UINT64_MAX, most_nics = 0;
  std::set<std::uint16_t> planes;
  for (topologies::Vertex v = 0; v < topology.nodes(); ++v) {
    const topologies::Node& node = topology.node(v);
    const auto channels = topology.out_channels(v);
    if (node.kind == NodeKind::kHost) {
      host_links += channels.size();
      least_nics = std::min<std::uint64_t>(least_nics, channels.size());
      most_nics = std::max<std::uint64_t>(most_nics, channels.size());
      continue;
    }
    planes.insert(node.plane);
    Tier& tier = tiers[{!node.in_host, node.tier}];
    ++tier.switches;
    tier.least_ports = std::min<std::uint64_t>(tier.least_ports, channels.size());
    tier.most_ports = std::max<std::uint64_t>(tier.most_ports, channels.size());
    for (const std::uint32_t c : channels) {
      tier.hosts += topology.node(topology.channels()[c].to).kind == NodeKind::kHost;
    }
  }
  std::map<CableKey, std::uint64_t> cables;
  for (std::size_t c = 0; c < topology.channels().size(); c += 2) {
    const topologies::Channel& channel = topology.channels()[c];
    const bool to_host = topology.node(channel.from).kind == NodeKind::kHost ||
                         topology.node(channel.to).kind == NodeKind::kHost;
    ++cables[{to_host, channel.rate, channel.latency}];
  }

  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<15} {}\n", name, value);
  };
  row("topology", topology.name());
  row("endpoints", fmt::format("{}, with {} link{} each", topology.hosts(), range(least_nics, most_nics),
                               most_nics == 1 ? "" : "s"));
  if (topology.has_domains()) row("nodes", domains_text(topology));
  row("routers", fmt::format("{}", topology.switches()));
  for (const auto& [key, tier] : tiers) {
    row(key.first ? fmt::format("  tier {}", key.second) : "  inside hosts",
        fmt::format("{} of {} ports{}", tier.switches, range(tier.least_ports, tier.most_ports),
                    tier.hosts == 0 ? "" : fmt::format(", {} to endpoints in all", tier.hosts)));
  }
  if (planes.size() > 1) row("planes", std::to_string(planes.size()));
  row("links", fmt::format("{} between routers, {} to endpoints", topology.channels().size() / 2 - host_links,
                           host_links));
  for (const auto& [key, count] : cables) {
    const auto& [to_host, rate, latency] = key;
    row(to_host ? "  to endpoints" : "  of routers",
        fmt::format("{} of {}, {}", count, to_string(rate), to_string(latency)));
  }
  for (const std::string& note : topology.notes()) row("note", note);
  return text;
}

void add_topo_info(Command& parent) {
  const auto argument = std::make_shared<TopologyArgument>();
  Command command = parent.add_subcommand("info", "Tell what a network is made of");
  argument->add_to(command);
  command.footer("Examples:\n  weft topo info slim_fly:q=5\n  weft topo info dragonfly --endpoints 1024");
  command.callback([argument] {
    std::string text = topology_text(argument->build());
    const topologies::RecommendedRouting best = topologies::recommended_routing(argument->choice().name);
    text += fmt::format("routing, if none is given: {}{}{}\n", best.policy, *best.source == 0 ? "" : ", by ",
                        best.source);
    print_text(text);
  });
}

}  // namespace weft::cli
