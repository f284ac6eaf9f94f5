#include "tools/weft/topo/topo_info.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/fabrics/fabrics.h"
#include "sim/run/default_routing.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/topo/topo_commands.h"
#include "topologies/composed.h"
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

// Cables of one kind: same ends, same rates, same latency, same loss.
using CableKey = std::tuple<bool, Bandwidth, Bandwidth, Time, double>;

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

// What a network is made of, counted.
struct Parts {
  std::map<std::pair<bool, unsigned>, Tier> tiers;  // by whether they are switches proper, and tier
  std::uint64_t host_links = 0, least_nics = UINT64_MAX, most_nics = 0;
  std::set<std::uint16_t> planes;
  std::map<CableKey, std::uint64_t> cables;
};

Parts parts_of(const Topology& topology) {
  Parts parts;
  for (topologies::Vertex v = 0; v < topology.nodes(); ++v) {
    const topologies::Node& node = topology.node(v);
    const auto channels = topology.out_channels(v);
    if (node.kind == NodeKind::kHost) {
      parts.host_links += channels.size();
      parts.least_nics = std::min<std::uint64_t>(parts.least_nics, channels.size());
      parts.most_nics = std::max<std::uint64_t>(parts.most_nics, channels.size());
      continue;
    }
    parts.planes.insert(node.plane);
    Tier& tier = parts.tiers[{!node.in_host, node.tier}];
    ++tier.switches;
    tier.least_ports = std::min<std::uint64_t>(tier.least_ports, channels.size());
    tier.most_ports = std::max<std::uint64_t>(tier.most_ports, channels.size());
    for (const std::uint32_t c : channels) {
      tier.hosts += topology.node(topology.channels()[c].to).kind == NodeKind::kHost;
    }
  }
  for (std::size_t c = 0; c < topology.channels().size(); c += 2) {
    const topologies::Channel &there = topology.channels()[c], &back = topology.channels()[c + 1];
    const bool to_host =
        topology.node(there.from).kind == NodeKind::kHost || topology.node(there.to).kind == NodeKind::kHost;
    ++parts.cables[{to_host, there.rate, back.rate, there.latency, there.loss}];
  }
  return parts;
}

nlohmann::json topology_json(const Topology& topology) {
  const Parts parts = parts_of(topology);
  nlohmann::json json = {{"topology", topology.name()},
                         {"endpoints", topology.hosts()},
                         {"routers", topology.switches()},
                         {"planes", parts.planes.size()},
                         {"links_per_endpoint", {parts.least_nics, parts.most_nics}},
                         {"links", topology.edges().size()},
                         {"links_to_endpoints", parts.host_links},
                         {"notes", topology.notes()},
                         {"assumed", topology.assumptions()},
                         {"unread", topology.unread()}};
  for (const auto& [key, tier] : parts.tiers) {
    json["tiers"].push_back({{"inside_hosts", !key.first},
                             {"tier", key.second},
                             {"routers", tier.switches},
                             {"ports", {tier.least_ports, tier.most_ports}},
                             {"links_to_endpoints", tier.hosts}});
  }
  for (const auto& [key, count] : parts.cables) {
    const auto& [to_host, rate, back, latency, loss] = key;
    json["cables"].push_back({{"to_endpoints", to_host},
                              {"links", count},
                              {"rate_bps", rate.bps()},
                              {"back_rate_bps", back.bps()},
                              {"latency_ps", latency.ps()},
                              {"loss", loss}});
  }
  return json;
}

// What simulations have on it where neither is chosen. Which network of the family it is can change the
// routing once more; runs tell that.
struct Defaults {
  fabrics::DefaultFabric fabric;
  sim::DefaultRouting routing;
  topologies::RecommendedRouting recommended;  // for the family, whatever the fabric

  explicit Defaults(const std::string& family)
      : fabric(fabrics::default_fabric(family, topologies::recommended_routing(family).policy)),
        routing(sim::wanted_routing(family, fabric.name)),
        recommended(topologies::recommended_routing(family)) {}

  std::string text() const {
    const std::string source = *recommended.source == 0 ? "" : fmt::format(", by {}", recommended.source);
    std::string told = fmt::format("fabric, if none is given: {}, {}\nrouting, if none is given: {}, {}",
                                   fabric.name, fabric.reason, routing.policy.name, routing.reason);
    const bool same = routing.policy.name == recommended.policy;
    return told + (same ? source : fmt::format("; without a fabric {}{}", recommended.policy, source)) + "\n";
  }
};

}  // namespace

std::string topology_text(const Topology& topology) {
  const Parts parts = parts_of(topology);
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<15} {}\n", name, value);
  };
  row("topology", topology.name());
  row("endpoints", fmt::format("{}, with {} link{} each", topology.hosts(),
                               range(parts.least_nics, parts.most_nics), parts.most_nics == 1 ? "" : "s"));
  if (topology.has_domains()) row("nodes", domains_text(topology));
  row("routers", fmt::format("{}", topology.switches()));
  for (const auto& [key, tier] : parts.tiers) {
    row(key.first ? fmt::format("  tier {}", key.second) : "  inside hosts",
        fmt::format("{} of {} ports{}", tier.switches, range(tier.least_ports, tier.most_ports),
                    tier.hosts == 0 ? "" : fmt::format(", {} to endpoints in all", tier.hosts)));
  }
  if (parts.planes.size() > 1) row("planes", std::to_string(parts.planes.size()));
  row("links", fmt::format("{} between routers, {} to endpoints", topology.edges().size() - parts.host_links,
                           parts.host_links));
  for (const auto& [key, count] : parts.cables) {
    const auto& [to_host, rate, back, latency, loss] = key;
    row(to_host ? "  to endpoints" : "  of routers",
        fmt::format("{} of {}{}, {}{}", count, to_string(rate), back == rate ? "" : "/" + to_string(back),
                    to_string(latency),
                    loss > 0 ? fmt::format(", {:.6g} of packets lost", loss) : std::string()));
  }
  for (const std::string& note : topology.notes()) row("note", note);
  return text;
}

void add_topo_info(Command& parent) {
  const auto argument = std::make_shared<TopologyArgument>();
  const auto as_json = std::make_shared<bool>(false);
  Command command = parent.add_subcommand("info", "Tell what a network is made of");
  argument->add_to(command);
  command.add_flag("--json", *as_json,
                   "A JSON object, with what was assumed and what of a file was not read");
  command.footer("Examples:\n  weft topo info slim_fly:q=5\n  weft topo info dragonfly --endpoints 1024");
  command.callback([argument, as_json] {
    const Topology topology = argument->build();
    const Defaults defaults(topologies::routed_family(argument->choice()));
    if (*as_json) {
      nlohmann::json json = topology_json(topology);
      json["fabric"] = defaults.fabric.name;
      json["routing"] = defaults.routing.policy.name;
      fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
      return;
    }
    print_text(topology_text(topology) + defaults.text());
  });
}

}  // namespace weft::cli
