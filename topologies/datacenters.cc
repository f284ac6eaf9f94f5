#include "topologies/datacenters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "topologies/composed.h"
#include "topologies/families.h"
#include "topologies/families/cabling.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kMostSites = 256, kMostBorders = 1024, kMostLinks = 65536;
// So many hosts of a network of one tier share a link to a border switch.
constexpr std::uint32_t kHostsPerBorderLink = 16;
// Light in fibre, at a group index of 1.468 (ITU-T G.652 fibre at 1,550 nm).
constexpr double kMetersPerSecond = 299'792'458.0 / 1.468;

using Pair = std::pair<std::uint32_t, std::uint32_t>;

std::vector<ParameterSpec> parameters_of_datacenters() {
  std::vector<ParameterSpec> all = with_inner_network({
      {"sites", ParameterType::kInteger, "auto", "Datacenters; auto: as many as `of` names, or 2.",
       at_least("2")},
      {"shape", ParameterType::kText, "full",
       "Which sites are joined: full (every two), ring, chain, or star (all with site 0).",
       one_of({"full", "ring", "chain", "star"})},
      {"borders", ParameterType::kInteger, "1", "Border switches of a site."},
      {"border_links", ParameterType::kInteger, "auto",
       "Links of a border switch into its site; auto: one to each switch of the highest tier, but in a "
       "network "
       "of one tier one for each 16 hosts."},
      {"long_links", ParameterType::kInteger, "auto",
       "Links between two joined sites; auto: as many as border switches."},
      {"long_rate", ParameterType::kBandwidth, "400Gbps", "Rate of a long link."},
      {"long_latency", ParameterType::kTime, "1ms",
       "Propagation time of a long link: 200 km take about 1 ms."},
      {"loss", ParameterType::kReal, "0", "Probability that a long link loses a packet.",
       at_least("0").under("1")},
      {"border_latency", ParameterType::kTime, "0ns", "As switch_latency, of border switches."},
  });
  all.front().help =
      "The network of every site, written like [fat_tree:k=8], or one for each: [fat_tree:k=8; "
      "slim_fly:q=5].";
  return all;
}

const ModuleInfo& datacenters_info() {
  static const ModuleInfo info = {
      .name = "datacenters",
      .summary = "Two or more networks joined by long links with a latency, rate and loss of their own.",
      .source =
          "T. Bonato et al., Uno: a one-stop solution for inter- and intra-data center congestion control "
          "and "
          "reliable connectivity, SC 2025",
      .parameters = parameters_of_datacenters(),
  };
  return info;
}

struct Shape {
  std::string_view name;
  bool (*joined)(std::uint32_t a, std::uint32_t b, std::uint32_t sites);  // REQUIRES: a < b
};
constexpr std::array kShapes = {
    Shape{"full", [](std::uint32_t, std::uint32_t, std::uint32_t) { return true; }},
    Shape{"ring", [](std::uint32_t a, std::uint32_t b,
                     std::uint32_t sites) { return a + 1 == b || (a == 0 && b + 1 == sites); }},
    Shape{"chain", [](std::uint32_t a, std::uint32_t b, std::uint32_t) { return a + 1 == b; }},
    Shape{"star", [](std::uint32_t a, std::uint32_t, std::uint32_t) { return a == 0; }},
};

std::vector<Pair> joined_sites(const Parameters& parameters, std::uint32_t sites) {
  const Shape& shape = *std::ranges::find(kShapes, parameters.text("shape"), &Shape::name);
  std::vector<Pair> pairs;
  for (std::uint32_t a = 0; a < sites; ++a) {
    for (std::uint32_t b = a + 1; b < sites; ++b) {
      if (shape.joined(a, b, sites)) pairs.emplace_back(a, b);
    }
  }
  return pairs;
}

// The networks that `of` names, each once.
std::vector<Topology> named_networks(const Parameters& parameters) {
  std::vector<Topology> networks;
  for (const ModuleChoice& choice : read_inner_networks(parameters)) networks.push_back(build(choice));
  return networks;
}

std::uint32_t count_sites(const Parameters& parameters, std::size_t named) {
  const auto automatic = std::max<std::uint32_t>(2, static_cast<std::uint32_t>(named));
  const std::uint32_t sites = count_parameter(parameters, "sites", kMostSites, automatic);
  if (named > 1 && sites != named) {
    parameters.fail("sites", fmt::format("`of` names {} networks, which is that many sites", named));
  }
  return sites;
}

class Builder {
 public:
  Builder(const Parameters& parameters, std::uint32_t borders, Topology& topology)
      : topology_(topology),
        parameters_(parameters),
        borders_(borders),
        border_latency_(parameters.time("border_latency")) {}

  void add_site(const Topology& network) {
    const auto site = static_cast<std::uint16_t>(border_.size());
    const auto first = static_cast<Vertex>(topology_.nodes());
    std::uint32_t last_group = 0, last_rack = 0, domains = 0;
    bool racks = false;
    for (Vertex v = 0; v < network.nodes(); ++v) {
      Node node = network.node(v);
      last_group = std::max(last_group, node.group);
      node.group += groups_;
      if (node.rack != kNoRack) {
        last_rack = std::max(last_rack, node.rack);
        racks = true;
        node.rack += racks_;
      }
      if (node.domain != kNoDomain) {
        domains = std::max(domains, node.domain + 1);
        node.domain += domains_;
      }
      node.name = node.kind == NodeKind::kHost ? fmt::format("host {}", topology_.hosts())
                                               : fmt::format("site {} {}", site, node.name);
      node.site = site;
      topology_.add_node(std::move(node));
    }
    for (const Edge& edge : network.edges()) {
      topology_.add_link(first + edge.from, first + edge.to, edge.link);
    }
    groups_ += last_group + 1;
    domains_ += domains;
    if (racks) racks_ += last_rack + 1;
    add_borders(network, site, first);
    ++groups_;
  }

  void join(const Pair& sites, std::uint32_t links, const Link& link) {
    for (std::uint32_t i = 0; i < links; ++i) {
      topology_.add_link(border_[sites.first][i % borders_], border_[sites.second][i % borders_], link);
    }
  }

 private:
  void add_borders(const Topology& network, std::uint16_t site, Vertex first) {
    std::uint8_t tier = 0;
    for (std::uint32_t s = 0; s < network.switches(); ++s) {
      tier = std::max(tier, network.node(network.switch_at(s)).tier);
    }
    std::vector<Vertex> top;
    for (std::uint32_t s = 0; s < network.switches(); ++s) {
      const Vertex v = network.switch_at(s);
      if (network.node(v).tier == tier) top.push_back(v);
    }
    if (top.empty()) parameters_.fail("of", "it has no switch that a border switch could be linked to");
    const auto automatic = tier > 1 ? static_cast<std::uint32_t>(top.size())
                                    : (network.hosts() + kHostsPerBorderLink - 1) / kHostsPerBorderLink;
    const std::uint32_t links = count_parameter(parameters_, "border_links", kMostLinks, automatic);

    border_.emplace_back();
    for (std::uint32_t b = 0; b < borders_; ++b) {
      Node node;
      node.tier = static_cast<std::uint8_t>(tier + 1);
      node.group = groups_;
      node.site = site;
      node.switch_latency = border_latency_;
      node.name = fmt::format("border {}.{}", site, b);
      border_.back().push_back(topology_.add_node(std::move(node)));
      for (std::uint32_t i = 0; i < links; ++i) {
        // Spread over all; several border switches start at different ones.
        const std::uint64_t place = std::uint64_t{i} * top.size() / links + b * top.size() / borders_;
        const Vertex v = top[place % top.size()];
        const Channel& pattern = network.channels()[network.out_channels(v).front()];
        Link link;
        link.rate = pattern.rate;
        link.latency = pattern.latency;
        topology_.add_link(first + v, border_.back().back(), link);
      }
    }
  }

  Topology& topology_;
  const Parameters& parameters_;
  std::uint32_t borders_;
  Time border_latency_;
  std::uint32_t groups_ = 0, racks_ = 0, domains_ = 0;  // so far
  std::vector<std::vector<Vertex>> border_;             // the border switches of each site
};

Link read_long_link(const Parameters& parameters) {
  Link link;
  link.rate = rate_parameter(parameters, "long_rate");
  link.latency = parameters.time("long_latency");
  link.cable = CableKind::kLongHaul;
  link.length_m = static_cast<float>(static_cast<double>(link.latency.ps()) * 1e-12 * kMetersPerSecond);
  link.loss = parameters.real("loss");
  return link;
}

Topology build_datacenters(const Parameters& parameters) {
  const Link link = read_long_link(parameters);
  const std::vector<Topology> networks = named_networks(parameters);
  const std::uint32_t sites = count_sites(parameters, networks.size());
  const std::uint32_t borders = count_parameter(parameters, "borders", kMostBorders);
  const std::uint32_t links = count_parameter(parameters, "long_links", kMostLinks, borders);
  const std::vector<Pair> pairs = joined_sites(parameters, sites);
  std::uint64_t hosts = 0;
  for (std::uint32_t s = 0; s < sites; ++s) hosts += networks[s % networks.size()].hosts();
  if (hosts > kMostHosts) {
    parameters.fail("sites", fmt::format("{} sites have more than {} hosts then", sites, kMostHosts));
  }

  Topology topology(to_short_form(datacenters_info().name, parameters));
  for (const Topology& network : networks) {
    for (const std::string& note : network.notes()) topology.add_note(note);
  }
  Builder builder(parameters, borders, topology);
  for (std::uint32_t s = 0; s < sites; ++s) builder.add_site(networks[s % networks.size()]);
  for (const Pair& pair : pairs) builder.join(pair, links, link);
  topology.finish();
  return topology;
}

}  // namespace

Family datacenters_family() { return {datacenters_info(), build_datacenters}; }

}  // namespace weft::topologies
