#include "topologies/scale_up.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"
#include "topologies/composed.h"
#include "topologies/families.h"
#include "topologies/families/cabling.h"
#include "topologies/node_presets.h"

namespace weft::topologies {
namespace {

std::vector<ParameterSpec> parameters_of_scale_up() {
  std::vector<ParameterSpec> all = with_inner_network({
      {"node", ParameterType::kText, "", "A kind of node (below), whose figures the others have if auto."},
      {"accelerators", ParameterType::kInteger, "auto", "Accelerators of a node; auto: the node's, or 8."},
      {"switches", ParameterType::kInteger, "auto",
       "Switches of a node; 0: accelerators are linked in pairs; auto: the node's, or 4."},
      {"inner_links", ParameterType::kInteger, "auto",
       "Links of an accelerator to the node's switches, or in pairs to each other one; auto: the node's, or "
       "one to each."},
      {"striping", ParameterType::kBoolean, "true",
       "Bytes of a pair go over all links alike: switches are one, and links one of their joint rate; false: "
       "they are apart."},
      {"nics", ParameterType::kInteger, "auto",
       "Links for each link of the host that the node stands for; auto: until it has the node's NICs, or 1."},
      {"outer_links", ParameterType::kInteger, "auto",
       "Links for each link between switches of `of`; auto: as many as a host's become, or 1 where `nics` is "
       "given or `of` says how fast its links are."},
      {"inner_link", ParameterType::kBandwidth, "auto",
       "Rate of a link inside a node; auto: the node's payload rate, or 400Gbps."},
      {"inner_latency", ParameterType::kTime, "auto",
       "Propagation time of a link inside a node; auto: the node's, or 100ns."},
      {"inner_switch_latency", ParameterType::kTime, "0ns", "As switch_latency, of a node's switches."},
      {"relay", ParameterType::kBoolean, "true",
       "Messages to other nodes cross to the accelerator whose NIC saves links, at the sender (NCCL's PXN); "
       "of "
       "mi300x from 64 accelerators on, as RCCL has it."},
  });
  all.front().help = "The network between nodes, written like [fat_tree:k=8]; empty: one node alone.";
  return all;
}

const ModuleInfo& scale_up_info() {
  static const ModuleInfo info = {
      .name = "scale_up",
      .summary = "Nodes of several accelerators with an inner network (DGX, NVL72) as the hosts of another.",
      .source = "NVIDIA DGX H100 and GB200 NVL72 system architecture, 2023 and 2024",
      .parameters = parameters_of_scale_up(),
  };
  return info;
}

struct Domain {
  const NodePreset* preset = nullptr;
  std::uint32_t accelerators = 0, switches = 0, inner_links = 0;
  bool striping = true, relays = true;
  Link link;
  Time switch_latency;

  // Those that are built: the ones there are, or, striped over, one.
  std::uint32_t built_switches() const { return striping ? std::min(switches, 1u) : switches; }
  std::uint32_t built_links() const { return striping ? 1 : inner_links; }
  Link built_link() const {
    Link built = link;
    if (striping) built.rate = Bandwidth::bps(link.rate.bps() * inner_links);
    return built;
  }
  // What the kind of node has for so many accelerators. REQUIRES: preset.
  std::uint32_t nics_of_kind() const {
    return (preset->nics * accelerators + preset->accelerators - 1) / preset->accelerators;
  }
  // What an accelerator can send inside.
  Bandwidth rate() const {
    return Bandwidth::bps(link.rate.bps() * inner_links *
                          (switches > 0 ? 1 : std::max(accelerators - 1, 1u)));
  }
};

std::uint32_t switches_of(const Parameters& parameters, const NodePreset* preset) {
  if (parameters.automatic("switches")) return preset != nullptr ? preset->switches : 4;
  const std::int64_t switches = parameters.integer("switches");
  if (switches < 0 || switches > 1024) {
    parameters.fail("switches",
                    fmt::format("it must be from 0 to 1024; the nearest is {}", switches < 0 ? 0 : 1024));
  }
  return static_cast<std::uint32_t>(switches);
}

const NodePreset* preset_of(const Parameters& parameters) {
  const std::string& name = parameters.text("node");
  try {
    return name.empty() ? nullptr : &node_preset(name);
  } catch (const InputError& error) {
    parameters.fail("node", error.what());
  }
}

Domain read_domain(const Parameters& parameters) {
  Domain domain;
  domain.preset = preset_of(parameters);
  const NodePreset* const preset = domain.preset;
  domain.accelerators = count_parameter(parameters, "accelerators", 1024, preset ? preset->accelerators : 8);
  domain.switches = switches_of(parameters, preset);
  const bool as_preset = preset != nullptr && (preset->switches == 0) == (domain.switches == 0);
  domain.inner_links = count_parameter(parameters, "inner_links", 1024,
                                       as_preset ? preset->links : std::max(domain.switches, 1u));
  domain.striping = parameters.boolean("striping");
  domain.relays = parameters.boolean("relay");
  domain.link.rate = !parameters.automatic("inner_link") ? rate_parameter(parameters, "inner_link")
                     : preset != nullptr                 ? preset->payload
                                                         : Bandwidth::gbps(400);
  domain.link.latency = !parameters.automatic("inner_latency") ? parameters.time("inner_latency")
                        : preset != nullptr                    ? preset->latency
                                                               : Time::ns(100);
  domain.link.cable = CableKind::kBackplane;
  domain.switch_latency = parameters.time("inner_switch_latency");
  return domain;
}

// RCCL turns PXN on for many GPUs alone.
void settle_relays(Topology& topology, Domain& domain, std::uint32_t nodes) {
  if (!domain.relays || domain.preset == nullptr) return;
  const std::uint64_t all = std::uint64_t{domain.accelerators} * nodes;
  domain.relays = all >= domain.preset->relays_from;
  if (domain.relays || nodes == 1) return;
  topology.add_note(
      fmt::format("messages leave by their own accelerator's NIC: the library of {} relays them "
                  "(PXN) from {} accelerators on, and here are {}",
                  domain.preset->name, domain.preset->relays_from, all));
}

// What is assumed of the inside of a node, for the user.
void add_notes(Topology& topology, const Domain& domain) {
  if (domain.preset != nullptr) {
    topology.add_note(fmt::format("a node is {} ({}): {} ({})", domain.preset->name, domain.preset->summary,
                                  domain.preset->source, domain.preset->sure));
  }
  if (!domain.striping || domain.inner_links * std::max(domain.switches, 1u) == 1) return;
  const std::string each = fmt::format("{} links of {}", domain.inner_links, to_string(domain.link.rate));
  const std::string joint = to_string(domain.built_link().rate);
  topology.add_note(
      domain.switches == 0
          ? fmt::format("inside a node the {} between two accelerators are one of {}, as bytes "
                        "are striped over them; striping=false keeps them apart",
                        each, joint)
          : fmt::format("inside a node {} from an accelerator to {} switches are one of {} to one "
                        "switch, as bytes are striped over them; striping=false keeps them apart",
                        each, domain.switches, joint));
}

// The accelerators' routers, node by node, each with its host.
std::vector<Vertex> add_accelerators(Topology& topology, const Domain& domain, std::uint32_t nodes) {
  std::vector<Vertex> routers;
  Link inside;
  inside.rate = domain.rate();
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t a = 0; a < domain.accelerators; ++a) {
      routers.push_back(topology.add_host_router(fmt::format("accelerator {}.{}", node, a), node));
      add_hosts(topology, routers.back(), 1, inside);
      topology.set_domain(routers.back(), node, domain.relays);
      topology.set_domain(topology.host(topology.hosts() - 1), node, domain.relays);
    }
  }
  return routers;
}

void add_inner_networks(Topology& topology, const Domain& domain, const std::vector<Vertex>& routers) {
  const Link link = domain.built_link();
  for (std::uint32_t node = 0; node < routers.size() / domain.accelerators; ++node) {
    const Vertex* const on = &routers[std::size_t{node} * domain.accelerators];
    std::vector<Vertex> hubs;
    for (std::uint32_t s = 0; s < domain.built_switches(); ++s) {
      hubs.push_back(
          topology.add_switch(fmt::format("inner switch {}.{}", node, s), 2, node, domain.switch_latency));
      topology.set_domain(hubs.back(), node, domain.relays);
    }
    for (std::uint32_t a = 0; a < domain.accelerators; ++a) {
      for (std::uint32_t l = 0; l < domain.built_links(); ++l) {
        if (!hubs.empty()) topology.add_link(on[a], hubs[l % hubs.size()], link);
        for (std::uint32_t b = a + 1; hubs.empty() && b < domain.accelerators; ++b) {
          topology.add_link(on[a], on[b], link);
        }
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

// For each link of a host, and for each between switches.
struct Widths {
  std::uint32_t nics = 1, outer_links = 1;
};

// The switches of `outer` and its links, those of its hosts as links of accelerators.
void add_outer(Topology& topology, const Domain& domain, const std::vector<Vertex>& routers,
               const Topology& outer, const Widths& widths) {
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
      for (std::uint32_t i = 0; i < widths.outer_links; ++i) {
        topology.add_link(copy[a], copy[b], edge.link);
      }
      continue;
    }
    const std::uint32_t node = outer.node(a).index;
    Link link = edge.link;
    if (domain.preset != nullptr) link.rate = std::min(link.rate, domain.preset->slot);
    for (std::uint32_t i = 0; i < widths.nics; ++i) {
      const std::uint32_t accelerator = next[node]++ % domain.accelerators;
      topology.add_link(routers[node * domain.accelerators + accelerator], copy[b], link);
    }
  }
}

// How many links each link of a host becomes.
std::uint32_t nics_for_a_link(const Parameters& parameters, const Domain& domain, const Topology& outer) {
  if (!parameters.automatic("nics") || domain.preset == nullptr) {
    return count_parameter(parameters, "nics", 1024, 1);
  }
  const auto links = static_cast<std::uint32_t>(outer.out_channels(outer.host(0)).size());
  return std::max(1u, (domain.nics_of_kind() + links - 1) / links);
}

void note_nics(Topology& topology, const Domain& domain, const Topology& outer, std::uint32_t nics) {
  const std::span<const std::uint32_t> links = outer.out_channels(outer.host(0));
  const Bandwidth rate = outer.channels()[links.front()].rate;
  if (domain.preset == nullptr) {
    // `nics` multiplies what the network brings: eight of a rail network's eight are 64.
    if (nics > 1 && links.size() > 1) {
      topology.add_note(
          fmt::format("a node has {} NICs of {}: nics={} for each of the {} links of a host of the "
                      "network between nodes",
                      links.size() * nics, to_string(rate), nics, links.size()));
    }
    if (links.size() * nics >= domain.accelerators) return;
    return topology.add_note(fmt::format(
        "a node has {} NIC{} of {} for {} accelerators; nics=... has more, and node=... those of a machine",
        links.size() * nics, links.size() * nics == 1 ? "" : "s", to_string(rate), domain.accelerators));
  }
  const Bandwidth slot = domain.preset->slot;
  const std::size_t all = links.size() * nics;
  const auto several = [](std::size_t count) {
    return fmt::format("{} NIC{}", count, count == 1 ? "" : "s");
  };
  const auto bps = [](std::size_t count, Bandwidth each) {
    return static_cast<double>(count) * static_cast<double>(each.bps());
  };
  const double of_kind = bps(domain.nics_of_kind(), std::min(domain.preset->nic, slot));
  const bool differs = std::abs(bps(all, std::min(rate, slot)) / of_kind - 1) > 0.01;
  topology.add_note(fmt::format(
      "a node has {} of {}{}{}", several(all), to_string(std::min(rate, slot)),
      rate > slot ? fmt::format(", as a PCIe slot lets no more of {} through", to_string(rate)) : "",
      differs ? fmt::format("; its kind has {} of {}", several(domain.nics_of_kind()),
                            to_string(domain.preset->nic))
              : ""));
}

bool has_parameter(const ModuleChoice& network, std::string_view name) {
  return std::ranges::any_of(families(), [&](const Family& family) {
    return family.info.name == network.name &&
           std::ranges::find(family.info.parameters, name, &ParameterSpec::name) !=
               family.info.parameters.end();
  });
}

// Rails and planes are NICs of a host: as many as the node has, where the user doesn't say.
void take_rails_of_node(ModuleChoice& network, const Domain& domain) {
  for (const char* const name : {"rails", "planes"}) {
    if (has_parameter(network, name) && !network.given.contains(name))
      network.given[name] = std::to_string(domain.nics_of_kind());
  }
}

// Does neither the user say how fast the links of this network are, nor its family?
bool is_left_open(const ModuleChoice& network) {
  const std::string general = with_cabling({}).front().default_value;
  if (network.given.contains("link")) return false;
  return std::ranges::any_of(families(), [&](const Family& family) {
    const auto link = std::ranges::find(family.info.parameters, "link", &ParameterSpec::name);
    return family.info.name == network.name && link != family.info.parameters.end() &&
           link->default_value == general;
  });
}

// The network between nodes. Its links are as fast as the node's NICs where that is left open.
Topology build_outer(const Parameters& parameters, const Domain& domain) {
  ModuleChoice choice = read_inner_network(parameters);
  if (domain.preset != nullptr) {
    if (is_left_open(choice)) choice.given["link"] = to_string(domain.preset->nic);
    take_rails_of_node(choice, domain);
  }
  return build(choice);
}

// A network is as wide for nodes of many NICs as its family makes it for hosts of one.
Widths read_widths(const Parameters& parameters, const Domain& domain, const Topology& outer) {
  const std::uint32_t nics = nics_for_a_link(parameters, domain, outer);
  const bool is_wide = parameters.automatic("nics") && is_left_open(read_inner_network(parameters));
  return {nics, count_parameter(parameters, "outer_links", 1024, is_wide ? nics : 1)};
}

// What hosts bring to a switch, and what its links to others carry, where the former is most of the latter.
struct Load {
  double hosts = 0, others = 0;
};
Load fullest_switch(const Topology& outer, const Widths& widths) {
  std::vector<Load> loads(outer.nodes());
  for (const Channel& channel : outer.channels()) {
    const bool is_host = outer.node(channel.to).kind == NodeKind::kHost;
    const auto rate = static_cast<double>(channel.rate.bps());
    (is_host ? loads[channel.from].hosts : loads[channel.from].others) +=
        rate * (is_host ? widths.nics : widths.outer_links);
  }
  Load fullest;
  for (const Load& load : loads) {
    if (load.others > 0 && load.hosts * fullest.others >= fullest.hosts * load.others) fullest = load;
  }
  return fullest;
}

// What several links for each of the network's mean for its width.
void note_widths(Topology& topology, const Topology& outer, const Widths& widths) {
  if (widths.nics == widths.outer_links) {
    if (widths.nics == 1 || fullest_switch(outer, widths).others == 0) return;
    return topology.add_note(
        fmt::format("a host of the network between nodes has {0} NICs on its switch, so there are {0} links "
                    "for each link "
                    "between switches, too; outer_links=1 has one, in the same switches",
                    widths.nics));
  }
  const Load full = fullest_switch(outer, widths);
  if (full.others == 0 || full.hosts <= full.others * 1.2) return;
  topology.add_note(fmt::format(
      "nodes bring {} to a switch whose links to other switches carry {}: {:.1f} to 1; outer_links={} has as "
      "many for each link between switches as for a host's",
      to_string(Bandwidth::bps(static_cast<std::int64_t>(full.hosts))),
      to_string(Bandwidth::bps(static_cast<std::int64_t>(full.others))), full.hosts / full.others,
      widths.nics));
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

Topology build_scale_up(const Parameters& parameters) {
  Domain domain = read_domain(parameters);
  Topology topology(to_short_form(scale_up_info().name, parameters));
  add_notes(topology, domain);
  if (parameters.text("of").empty()) {
    std::vector<std::string> unused = {"nics", "outer_links"};
    for (const ParameterSpec& spec : with_cabling({})) unused.push_back(spec.name);
    for (const std::string& name : unused) {
      if (!parameters.automatic(name)) parameters.fail(name, "there is no network between nodes: give `of`");
    }
    add_inner_networks(topology, domain, add_accelerators(topology, domain, 1));
  } else {
    const Topology outer = build_outer(parameters, domain);
    for (const std::string& note : outer.notes()) topology.add_note(note);
    check_outer(parameters, outer, domain);
    settle_relays(topology, domain, outer.hosts());
    const std::vector<Vertex> routers = add_accelerators(topology, domain, outer.hosts());
    add_inner_networks(topology, domain, routers);
    set_sites(topology, outer);
    const Widths widths = read_widths(parameters, domain, outer);
    add_outer(topology, domain, routers, outer, widths);
    note_nics(topology, domain, outer, widths.nics);
    note_widths(topology, outer, widths);
    if (outer.linked_groups()) topology.set_linked_groups();
  }
  topology.finish();
  return topology;
}

}  // namespace

Family scale_up_family() {
  return {.info = scale_up_info(), .build = build_scale_up, .has_accelerators = true};
}

}  // namespace weft::topologies
