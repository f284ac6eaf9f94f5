#include "topologies/scale_up.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "topologies/composed.h"
#include "topologies/families.h"
#include "topologies/families/cabling.h"

namespace weft::topologies {
namespace {

std::vector<ParameterSpec> parameters_of_scale_up() {
  std::vector<ParameterSpec> all = with_inner_network({
      {"accelerators", ParameterType::kInteger, "8", "Accelerators of a node."},
      {"switches", ParameterType::kInteger, "4", "Switches of a node; 0: accelerators are linked in pairs."},
      {"inner_links", ParameterType::kInteger, "auto",
       "Links of an accelerator to the node's switches; auto: one to each."},
      {"nics", ParameterType::kInteger, "1", "Links for each link of the host that the node stands for."},
      {"inner_link", ParameterType::kBandwidth, "400Gbps", "Rate of a link inside a node."},
      {"inner_latency", ParameterType::kTime, "100ns", "Propagation time of a link inside a node."},
      {"inner_switch_latency", ParameterType::kTime, "0ns", "As switch_latency, of a node's switches."},
  });
  all.front().help = "The network between nodes, written like [fat_tree:k=8]; empty: one node alone.";
  return all;
}

const ModuleInfo& info() {
  static const ModuleInfo info = {
      .name = "scale_up",
      .summary = "Nodes of several accelerators with an inner network (DGX, NVL72) as the hosts of another.",
      .source = "NVIDIA DGX H100 and GB200 NVL72 system architecture, 2023 and 2024",
      .parameters = parameters_of_scale_up(),
  };
  return info;
}

struct Domain {
  std::uint32_t accelerators = 0, switches = 0, inner_links = 0, nics = 0;
  Link link;
  Time switch_latency;
};

Domain read_domain(const Parameters& parameters) {
  Domain domain;
  domain.accelerators = count_parameter(parameters, "accelerators", 1024);
  const std::int64_t switches = parameters.integer("switches");
  if (switches < 0 || switches > 1024) {
    parameters.fail("switches",
                    fmt::format("it must be from 0 to 1024; the nearest is {}", switches < 0 ? 0 : 1024));
  }
  domain.switches = static_cast<std::uint32_t>(switches);
  domain.inner_links = count_parameter(parameters, "inner_links", 1024, domain.switches);
  if (domain.switches == 0 && !parameters.automatic("inner_links")) {
    parameters.fail("inner_links", "without switches there are links in pairs; leave it out");
  }
  domain.nics = count_parameter(parameters, "nics", 1024);
  domain.link.rate = rate_parameter(parameters, "inner_link");
  domain.link.latency = parameters.time("inner_latency");
  domain.link.cable = CableKind::kBackplane;
  domain.switch_latency = parameters.time("inner_switch_latency");
  return domain;
}

// The accelerators' routers, node by node, each with its host.
std::vector<Vertex> add_accelerators(Topology& topology, const Domain& domain, std::uint32_t nodes) {
  std::vector<Vertex> routers;
  const std::uint32_t ports = domain.switches > 0 ? domain.inner_links : domain.accelerators;
  Link inside;
  inside.rate = Bandwidth::bps(domain.link.rate.bps() * ports);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t a = 0; a < domain.accelerators; ++a) {
      routers.push_back(topology.add_host_router(fmt::format("accelerator {}.{}", node, a), node));
      add_hosts(topology, routers.back(), 1, inside);
    }
  }
  return routers;
}

void add_inner_networks(Topology& topology, const Domain& domain, const std::vector<Vertex>& routers) {
  const std::size_t nodes = routers.size() / domain.accelerators;
  for (std::size_t node = 0; node < nodes; ++node) {
    const Vertex* const on = &routers[node * domain.accelerators];
    std::vector<Vertex> hubs;
    for (std::uint32_t s = 0; s < domain.switches; ++s) {
      hubs.push_back(topology.add_switch(fmt::format("inner switch {}.{}", node, s), 2,
                                         static_cast<std::uint32_t>(node), domain.switch_latency));
    }
    for (std::uint32_t a = 0; a < domain.accelerators; ++a) {
      for (std::uint32_t l = 0; l < domain.inner_links && domain.switches > 0; ++l) {
        topology.add_link(on[a], hubs[l % domain.switches], domain.link);
      }
      for (std::uint32_t b = a + 1; b < domain.accelerators && domain.switches == 0; ++b) {
        topology.add_link(on[a], on[b], domain.link);
      }
    }
  }
}

// A node stands where the host did.
void set_sites(Topology& topology, const Topology& outer) {
  for (Vertex v = 0; v < topology.nodes(); ++v) {
    topology.set_site(v, outer.node(outer.host(topology.node(v).group)).site);
  }
}

// The switches of `outer` and its links, those of its hosts as `nics` links of accelerators.
void add_outer(Topology& topology, const Domain& domain, const std::vector<Vertex>& routers,
               const Topology& outer) {
  std::vector<Vertex> copy(outer.nodes());
  for (std::uint32_t s = 0; s < outer.switches(); ++s) {
    Node node = outer.node(outer.switch_at(s));
    ++node.tier;
    node.group += outer.hosts();
    node.rack = kNoRack;  // nodes of several accelerators fill racks in another way
    copy[outer.switch_at(s)] = topology.add_node(std::move(node));
  }
  std::vector<std::uint32_t> next(outer.hosts(), 0);  // of each node, the accelerator whose turn it is
  for (const Edge& edge : outer.edges()) {
    Vertex a = edge.from, b = edge.to;
    if (outer.node(b).kind == NodeKind::kHost) std::swap(a, b);
    if (outer.node(a).kind != NodeKind::kHost) {
      topology.add_link(copy[a], copy[b], edge.link);
      continue;
    }
    const std::uint32_t node = outer.node(a).index;
    for (std::uint32_t i = 0; i < domain.nics; ++i) {
      const std::uint32_t accelerator = next[node]++ % domain.accelerators;
      topology.add_link(routers[node * domain.accelerators + accelerator], copy[b], edge.link);
    }
  }
}

void check_outer(const Parameters& parameters, const Topology& outer, const Domain& domain) {
  if (std::uint64_t{outer.hosts()} * domain.accelerators > kMostHosts) {
    parameters.fail("accelerators",
                    fmt::format("{} nodes have more than {} accelerators then", outer.hosts(), kMostHosts));
  }
  for (std::uint32_t s = 0; s < outer.switches(); ++s) {
    if (outer.node(outer.switch_at(s)).in_host) {
      parameters.fail("of", "its hosts forward for others and can't be nodes of several accelerators");
    }
  }
  for (const Edge& edge : outer.edges()) {
    if (outer.node(edge.from).kind == NodeKind::kHost && outer.node(edge.to).kind == NodeKind::kHost) {
      parameters.fail("of", "two of its hosts are linked to each other");
    }
  }
}

Topology build_family(const Parameters& parameters) {
  const Domain domain = read_domain(parameters);
  Topology topology(to_short_form(info().name, parameters));
  if (parameters.text("of").empty()) {
    for (const ParameterSpec& spec : with_cabling({})) {
      if (!parameters.automatic(spec.name))
        parameters.fail(spec.name, "there is no network between nodes: give `of`");
    }
    add_inner_networks(topology, domain, add_accelerators(topology, domain, 1));
  } else {
    const Topology outer = build(read_inner_network(parameters));
    for (const std::string& note : outer.notes()) topology.add_note(note);
    check_outer(parameters, outer, domain);
    const std::vector<Vertex> routers = add_accelerators(topology, domain, outer.hosts());
    add_inner_networks(topology, domain, routers);
    set_sites(topology, outer);
    add_outer(topology, domain, routers, outer);
  }
  topology.finish();
  return topology;
}

}  // namespace

Family scale_up_family() { return {info(), build_family}; }

}  // namespace weft::topologies
