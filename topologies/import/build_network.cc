#include "topologies/import/build_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "topologies/families/cabling.h"
#include "topologies/import/lines.h"
#include "topologies/import/node_kinds.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kUnreached = UINT32_MAX;

// Light takes 5 ns for a metre of glass, and signals about as long for one of copper.
Time in_glass(float metres) { return Time::ps(std::llround(static_cast<double>(metres) * 5000)); }

class Builder {
 public:
  Builder(ImportedGraph graph, const Parameters& parameters)
      : graph_(std::move(graph)), parameters_(parameters) {
    find_kinds();
    check_names();
    check_links();
    index_links();
    check_kinds();
    check_connected();
    place_hosts();
    find_tiers();
    find_groups();
    read_defaults();
  }

  Topology build(const std::string& name);

 private:
  [[noreturn]] void fail(std::int64_t line, const std::string& message) const {
    throw InputError({graph_.file, line}, message);
  }
  const std::string& name(std::uint32_t node) const { return graph_.nodes[node].name; }
  bool is_host(std::uint32_t node) const { return graph_.nodes[node].kind == NodeKind::kHost; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(graph_.nodes.size()); }

  void find_kinds();
  void check_names();
  void check_links() const;
  void index_links();
  void check_kinds() const;
  void check_connected() const;
  // The distance of each node from the nearest of `from`; with `forwarding_hosts` also on ways through hosts.
  std::vector<std::uint32_t> distances(const std::vector<std::uint32_t>& from, bool forwarding_hosts) const;
  std::uint64_t hosts_given() const;
  void place_hosts();
  void find_tiers();
  void find_groups();
  void read_defaults();
  void check_defaults() const;
  void note_defaults(Topology& topology) const;
  void set_shape(Topology& topology) const;
  Link cable(const ImportedLink& imported);

  ImportedGraph graph_;
  const Parameters& parameters_;
  std::uint32_t hosts_ = 0;                     // of the file
  std::vector<std::uint32_t> begin_, next_to_;  // the neighbours of a node, from begin_[node] on
  std::uint32_t hosts_each_ = 0;                // put on each of the following
  std::vector<bool> with_hosts_;
  Cabling defaults_;
  std::uint64_t without_rate_ = 0, without_latency_ = 0, latency_by_length_ = 0;  // links of the file
  bool used_link_ = false, used_host_link_ = false, used_latency_ = false, used_switch_latency_ = false;
};

// `hosts` is a number for files without hosts, or the pattern of their names.
void Builder::find_kinds() {
  const bool pattern = !parameters_.automatic("hosts") && !whole_number(parameters_.text("hosts"));
  try {
    hosts_ = topologies::find_kinds(graph_, pattern ? parameters_.text("hosts") : "");
  } catch (const InputError& error) {
    parameters_.fail("hosts", error.what());
  }
}

void Builder::check_names() {
  std::unordered_map<std::string_view, std::int64_t> lines;
  std::unordered_map<std::string, std::string_view> any_case;  // the first name of each, in lower case
  std::uint64_t alike = 0;
  std::string example;
  for (const ImportedNode& node : graph_.nodes) {
    const bool odd = std::any_of(node.name.begin(), node.name.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (node.name.empty() || odd) {
      fail(node.line, fmt::format("a node is called '{}', but a name must be one line of text",
                                  shortened(node.name.substr(0, node.name.find('\n')))));
    }
    const auto [other, added] = lines.emplace(node.name, node.line);
    if (!added) {
      fail(node.line, fmt::format("a second node is called '{}'; the first is in line {}",
                                  shortened(node.name), other->second));
    }
    const auto [first, alone] = any_case.emplace(lower_case(node.name), node.name);
    if (alone || alike++ > 0) continue;
    example = fmt::format("'{}' and '{}'", shortened(std::string(first->second)), shortened(node.name));
  }
  if (alike == 0) return;
  graph_.assumed.push_back(fmt::format(
      "{} names differ from others in capital letters only, like {}; they are taken for different "
      "nodes",
      alike, example));
}

void Builder::check_links() const {
  for (const ImportedLink& link : graph_.links) {
    if (link.from == link.to) fail(link.line, fmt::format("a link joins '{}' to itself", name(link.from)));
    if (is_host(link.from) && is_host(link.to)) {
      fail(link.line, fmt::format("a link joins the hosts '{}' and '{}', but hosts are linked to switches",
                                  name(link.from), name(link.to)));
    }
  }
}

void Builder::index_links() {
  begin_.assign(size() + 1, 0);
  for (const ImportedLink& link : graph_.links) {
    ++begin_[link.from + 1];
    ++begin_[link.to + 1];
  }
  for (std::uint32_t n = 0; n < size(); ++n) begin_[n + 1] += begin_[n];
  next_to_.resize(2 * graph_.links.size());
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (const ImportedLink& link : graph_.links) {
    next_to_[next[link.from]++] = link.to;
    next_to_[next[link.to]++] = link.from;
  }
}

void Builder::check_kinds() const {
  for (std::uint32_t n = 0; n < size(); ++n) {
    const ImportedNode& node = graph_.nodes[n];
    if (is_host(n) && begin_[n] == begin_[n + 1]) {
      fail(node.line, fmt::format("the host '{}' has no link", node.name));
    }
    if (is_host(n) && node.in_host) {
      fail(node.line,
           fmt::format("'{}' is a host and in_host, but in_host is for routers inside hosts", node.name));
    }
    if (node.tier && is_host(n) != (*node.tier == 0)) {
      fail(node.line,
           fmt::format("the {} '{}' is of tier {}, but hosts are of tier 0 and switches of 1 or more",
                       is_host(n) ? "host" : "switch", node.name, *node.tier));
    }
  }
  if (hosts_ > kMostHosts) {
    fail(0, fmt::format("{} hosts are more than {}, the most a network may have", hosts_, kMostHosts));
  }
}

std::vector<std::uint32_t> Builder::distances(const std::vector<std::uint32_t>& from,
                                              bool forwarding_hosts) const {
  std::vector<std::uint32_t> distance(size(), kUnreached), queue = from;
  for (const std::uint32_t node : from) distance[node] = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const std::uint32_t node = queue[at];
    if (is_host(node) && !forwarding_hosts && distance[node] > 0) continue;
    for (std::uint32_t i = begin_[node]; i < begin_[node + 1]; ++i) {
      if (distance[next_to_[i]] != kUnreached) continue;
      distance[next_to_[i]] = distance[node] + 1;
      queue.push_back(next_to_[i]);
    }
  }
  return distance;
}

void Builder::check_connected() const {
  std::uint32_t first = 0;
  while (hosts_ > 0 && !is_host(first)) ++first;
  const std::vector<std::uint32_t> any = distances({first}, true);
  const std::vector<std::uint32_t> forwarded = distances({first}, false);
  for (std::uint32_t n = 0; n < size(); ++n) {
    if (any[n] == kUnreached) {
      fail(graph_.nodes[n].line,
           fmt::format("'{}' is not connected with '{}': the network is in parts", name(n), name(first)));
    }
  }
  for (std::uint32_t n = 0; n < size(); ++n) {
    if (is_host(n) && forwarded[n] == kUnreached) {
      fail(graph_.nodes[n].line,
           fmt::format(
               "from '{}' to '{}' there is no way but through hosts, and hosts don't forward: make what "
               "forwards a switch (with in_host, if it is a server) and link a host to it",
               name(first), name(n)));
    }
  }
}

// A pattern adds none.
std::uint64_t Builder::hosts_given() const {
  const std::optional<std::uint64_t> number = whole_number(parameters_.text("hosts"));
  return number ? *number : 0;
}

void Builder::place_hosts() {
  with_hosts_.assign(size(), false);
  const bool automatic = parameters_.automatic("hosts");
  const std::uint64_t each = automatic ? (hosts_ > 0 ? 0 : 1) : hosts_given();
  if (hosts_ > 0) {
    if (each != 0)
      parameters_.fail("hosts", fmt::format("{} has {} hosts of its own; leave it out", graph_.file, hosts_));
    for (std::uint32_t n = 0; n < size(); ++n) {
      for (std::uint32_t i = begin_[n]; i < begin_[n + 1]; ++i) {
        if (is_host(next_to_[i])) with_hosts_[n] = true;
      }
    }
    return;
  }
  std::uint64_t routers = 0;
  for (std::uint32_t n = 0; n < size(); ++n) {
    with_hosts_[n] = !graph_.nodes[n].tier || graph_.nodes[n].tier == 1;
    routers += with_hosts_[n] ? 1 : 0;
  }
  if (routers == 0) fail(0, "the file has no host, and no switch of tier 1 to put hosts on");
  const std::uint64_t most = kMostHosts / routers;
  if (most == 0)
    fail(0, fmt::format("{} routers with a host each are more than {} hosts", routers, kMostHosts));
  if (each < 1 || each > most) {
    parameters_.fail("hosts",
                     fmt::format("{} has no host of its own, so it must be from 1 to {}; the nearest is {}",
                                 graph_.file, most, each < 1 ? 1 : most));
  }
  hosts_each_ = static_cast<std::uint32_t>(each);
  if (automatic) {
    graph_.assumed.push_back(fmt::format(
        "no node is a host: one was put on each of {} switches (graph_file:hosts=NUMBER puts more "
        "there, hosts=PATTERN says which nodes are hosts)",
        routers));
  }
}

// A switch without a tier is of 1 with hosts, and else of one more than the nearest that has.
void Builder::find_tiers() {
  std::vector<std::uint32_t> from;
  for (std::uint32_t n = 0; n < size(); ++n) {
    if (with_hosts_[n] && !is_host(n)) from.push_back(n);
  }
  const std::vector<std::uint32_t> distance = distances(from, true);
  for (std::uint32_t n = 0; n < size(); ++n) {
    ImportedNode& node = graph_.nodes[n];
    if (is_host(n)) node.tier = 0;
    if (!node.tier)
      node.tier = static_cast<std::uint8_t>(std::min(distance[n] + 1, std::uint32_t{UINT8_MAX}));
  }
}

// A switch without a group is one of its own, a host without is in that of its first switch.
void Builder::find_groups() {
  std::uint32_t next = 0;
  for (const ImportedNode& node : graph_.nodes) next = std::max(next, node.group.value_or(UINT32_MAX) + 1);
  for (std::uint32_t n = 0; n < size(); ++n) {
    if (!is_host(n) && !graph_.nodes[n].group) graph_.nodes[n].group = next++;
  }
  for (std::uint32_t n = 0; n < size(); ++n) {
    if (is_host(n) && !graph_.nodes[n].group) graph_.nodes[n].group = graph_.nodes[next_to_[begin_[n]]].group;
  }
}

void Builder::read_defaults() {
  const ModuleInfo plain = {
      .name = "graph_file", .summary = "", .source = "", .parameters = with_cabling({})};
  std::map<std::string, std::string> given;
  for (const ParameterSpec& spec : plain.parameters) {
    if (!parameters_.automatic(spec.name)) given[spec.name] = parameters_.text(spec.name);
  }
  defaults_ = read_cabling(Parameters(plain, given));
}

Link Builder::cable(const ImportedLink& imported) {
  const bool to_host = is_host(imported.from) || is_host(imported.to);
  const Link& standard = to_host ? defaults_.host : defaults_.fabric;
  if (!imported.rate) (to_host ? used_host_link_ : used_link_) = true;
  if (!imported.latency) used_latency_ = true;
  const bool by_length = !imported.latency && imported.length_m > 0 && parameters_.automatic("latency");
  const bool guessed = parameters_.automatic("link") && (!to_host || parameters_.automatic("host_link"));
  if (!imported.rate && guessed) ++without_rate_;
  if (!imported.latency) ++(by_length ? latency_by_length_ : without_latency_);
  return {.rate = imported.rate.value_or(standard.rate),
          .latency = imported.latency.value_or(by_length ? in_glass(imported.length_m) : standard.latency),
          .cable = imported.cable,
          .length_m = imported.length_m,
          .loss = imported.loss,
          .back_rate = imported.back_rate.value_or(Bandwidth())};
}

// What stands in for what the file leaves open, unless the user has said so.
void Builder::note_defaults(Topology& topology) const {
  const auto note = [&](std::uint64_t links, const char* what, const char* parameter,
                        const std::string& value) {
    if (links == 0 || !parameters_.automatic(parameter)) return;
    topology.add_assumption(
        fmt::format("{} of {} links have no {}, which is taken to be {} (graph_file:{}=…)", links,
                    graph_.links.size(), what, value, parameter));
  };
  for (const std::string& each : graph_.assumed) topology.add_assumption(each);
  note(without_rate_, "rate", "link", to_string(defaults_.fabric.rate));
  note(without_latency_, "latency", "latency", to_string(defaults_.fabric.latency));
  note(latency_by_length_, "latency", "latency", "5 ns for each metre of cable");
  for (const std::string& each : graph_.unread) topology.add_unread(each);
}

// A setting without effect is a mistake of someone's.
void Builder::check_defaults() const {
  const auto check = [&](const char* parameter, bool used, const char* what) {
    if (used || parameters_.automatic(parameter)) return;
    parameters_.fail(parameter, fmt::format("{} gives that of every {}; leave it out", graph_.file, what));
  };
  const bool host_follows = used_host_link_ && parameters_.automatic("host_link");
  check("link", used_link_ || host_follows, "link");
  check("host_link", used_host_link_, "host's link");
  check("latency", used_latency_, "link");
  check("switch_latency", used_switch_latency_, "switch");
}

// What the file says of the whole network. Placement and drawing count on the numbers; routing looks itself
// whether links are as a grid's.
void Builder::set_shape(Topology& topology) const {
  const auto check = [&](const char* what, std::uint64_t product, std::uint64_t there, const char* nodes) {
    if (product == there) return;
    fail(0, fmt::format("{} of the graph is for {} {}, but there are {}", what, product, nodes, there));
  };
  if (!graph_.grid.empty()) {
    std::uint64_t points = 1;
    for (const std::uint32_t size : graph_.grid) points *= size;
    check("grid", points, topology.switches(), "switches");
    topology.set_grid(graph_.grid);
  }
  if (const BoardGrid& boards = graph_.boards; !boards.empty()) {
    check("boards", std::uint64_t{boards.x} * boards.y * boards.a * boards.b, topology.hosts(), "hosts");
    topology.set_boards(boards);
  }
  if (graph_.linked_groups) topology.set_linked_groups();
}

Topology Builder::build(const std::string& name) {
  Topology topology(name);
  std::vector<Vertex> vertices;
  std::vector<std::pair<Vertex, Vertex>> added;  // hosts, and their switches
  std::set<std::string_view> names;
  if (hosts_each_ > 0) {
    for (const ImportedNode& imported : graph_.nodes) names.insert(imported.name);
  }
  for (std::uint32_t n = 0; n < size(); ++n) {
    ImportedNode& imported = graph_.nodes[n];
    Node node;
    node.kind = *imported.kind;
    node.tier = *imported.tier;
    node.plane = imported.plane;
    node.site = imported.site;
    node.group = *imported.group;
    node.rack = imported.rack;
    node.domain = imported.domain;
    node.relays = imported.relays;
    node.in_host = imported.in_host;
    if (!is_host(n) && !imported.switch_latency && !imported.in_host) used_switch_latency_ = true;
    if (!is_host(n)) {
      node.switch_latency =
          imported.switch_latency.value_or(imported.in_host ? Time() : defaults_.switch_latency);
    }
    node.name = imported.name;
    vertices.push_back(topology.add_node(std::move(node)));
    for (std::uint32_t h = 0; h < hosts_each_ && with_hosts_[n]; ++h) {
      Node host;
      host.kind = NodeKind::kHost;
      host.site = imported.site;
      host.group = *imported.group;
      host.domain = imported.domain;
      host.relays = imported.relays;
      host.name = fmt::format("host {}", topology.hosts());
      // A node of the file may be called so.
      while (names.contains(host.name)) host.name = "added " + host.name;
      added.emplace_back(topology.add_node(std::move(host)), vertices.back());
    }
  }
  for (const auto& [host, on] : added) topology.add_link(host, on, defaults_.host);
  if (!added.empty()) used_host_link_ = used_latency_ = true;
  for (const ImportedLink& link : graph_.links) {
    topology.add_link(vertices[link.from], vertices[link.to], cable(link));
  }
  check_defaults();
  note_defaults(topology);
  set_shape(topology);
  topology.finish();
  return topology;
}

}  // namespace

Topology build_network(ImportedGraph graph, const Parameters& parameters, const std::string& name) {
  return Builder(std::move(graph), parameters).build(name);
}

}  // namespace weft::topologies
