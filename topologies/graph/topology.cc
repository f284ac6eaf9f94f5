#include "topologies/graph/topology.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::topologies {

Vertex Topology::add_node(Node node) {
  std::vector<Vertex>& of_kind = node.kind == NodeKind::kHost ? hosts_ : switches_;
  node.index = static_cast<std::uint32_t>(of_kind.size());
  has_domains_ |= node.domain != kNoDomain;
  of_kind.push_back(nodes_.size());
  nodes_.push_back(std::move(node));
  return of_kind.back();
}

Vertex Topology::add_host(std::string name, std::uint32_t group) {
  Node node;
  node.kind = NodeKind::kHost;
  node.group = group;
  node.name = std::move(name);
  return add_node(std::move(node));
}

Vertex Topology::add_switch(std::string name, std::uint8_t tier, std::uint32_t group, Time latency,
                            std::uint16_t plane) {
  Node node;
  node.tier = tier;
  node.plane = plane;
  node.group = group;
  node.switch_latency = latency;
  node.name = std::move(name);
  return add_node(std::move(node));
}

Vertex Topology::add_host_router(std::string name, std::uint32_t group, std::uint16_t plane) {
  const Vertex v = add_switch(std::move(name), 1, group, {}, plane);
  nodes_[v].in_host = true;
  return v;
}

void Topology::add_assumption(const std::string& note) {
  notes_.push_back(note);
  assumptions_.push_back(note);
}

void Topology::add_unread(const std::string& note) {
  notes_.push_back(note);
  unread_.push_back(note);
}

void Topology::add_link(Vertex a, Vertex b, const Link& link) {
  edges_.push_back({static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), link});
}

void Topology::finish(bool in_parts) {
  in_parts_ = in_parts;
  const auto fail = [&](const std::string& what) { throw InputError(fmt::format("{}: {}", name_, what)); };
  if (hosts_.empty()) fail("the network has no host");
  for (const Node& node : nodes_) {
    if (node.switch_latency < Time()) {
      fail(fmt::format("'{}' has switch latency {} ns, but it must be 0 or more", node.name,
                       static_cast<double>(node.switch_latency.ps()) / 1000));
    }
  }

  channels_.clear();
  channels_.reserve(2 * edges_.size());
  out_begin_.assign(nodes() + 1, 0);
  for (const auto& [a, b, link] : edges_) {
    if (std::max(a, b) >= nodes()) {
      fail(fmt::format("a link joins nodes {} and {}, but there are {}", a, b, nodes()));
    }
    if (a == b) fail(fmt::format("a link joins '{}' to itself", nodes_[a].name));
    if (link.rate <= Bandwidth() || link.back_rate < Bandwidth()) {
      fail(fmt::format("the link between '{}' and '{}' has {}", nodes_[a].name, nodes_[b].name,
                       link.rate == Bandwidth() ? "rate 0" : "a rate below 0"));
    }
    if (link.latency < Time()) {
      fail(fmt::format("the link between '{}' and '{}' has latency {} ns, but it must be 0 or more",
                       nodes_[a].name, nodes_[b].name, static_cast<double>(link.latency.ps()) / 1000));
    }
    if (!(link.loss >= 0 && link.loss < 1)) {
      fail(
          fmt::format("the link between '{}' and '{}' loses packets with probability {}, but it must be 0 or "
                      "more and below 1",
                      nodes_[a].name, nodes_[b].name, link.loss));
    }
    channels_.push_back({a, b, link.rate, link.latency, link.loss});
    channels_.push_back(
        {b, a, link.back_rate > Bandwidth() ? link.back_rate : link.rate, link.latency, link.loss});
    ++out_begin_[a + 1];
    ++out_begin_[b + 1];
  }
  for (std::uint32_t v = 0; v < nodes(); ++v) out_begin_[v + 1] += out_begin_[v];
  out_channels_.resize(channels_.size());
  std::vector<std::uint32_t> next(out_begin_.begin(), out_begin_.end() - 1);
  for (std::uint32_t c = 0; c < channels_.size(); ++c) out_channels_[next[channels_[c].from]++] = c;

  for (const Vertex host : hosts_) {
    if (out_channels(host).empty()) fail(fmt::format("'{}' has no link", nodes_[host].name));
  }
  if (in_parts) return;
  // What host 0 reaches through switches; hosts do not forward.
  std::vector<bool> reached(nodes(), false);
  std::vector<Vertex> frontier = {hosts_[0]};
  reached[hosts_[0]] = true;
  while (!frontier.empty()) {
    const Vertex v = frontier.back();
    frontier.pop_back();
    if (nodes_[v].kind == NodeKind::kHost && v != hosts_[0]) continue;
    for (const std::uint32_t c : out_channels(v)) {
      if (reached[channels_[c].to]) continue;
      reached[channels_[c].to] = true;
      frontier.push_back(channels_[c].to);
    }
  }
  for (const Vertex host : hosts_) {
    if (!reached[host]) {
      fail(fmt::format("'{}' cannot be reached from '{}'", nodes_[host].name, nodes_[hosts_[0]].name));
    }
  }
}

void Topology::rescale(double rates, double latencies) {
  const auto faster = [&](Bandwidth rate) {
    return Bandwidth::bps(static_cast<std::int64_t>(static_cast<double>(rate.bps()) * rates + 0.5));
  };
  const auto later = [&](Time latency) {
    return Time::ps(static_cast<std::int64_t>(static_cast<double>(latency.ps()) * latencies + 0.5));
  };
  for (Edge& edge : edges_) {
    edge.link.rate = faster(edge.link.rate);
    edge.link.back_rate = faster(edge.link.back_rate);
    edge.link.latency = later(edge.link.latency);
  }
  for (Channel& channel : channels_) {
    channel.rate = faster(channel.rate);
    channel.latency = later(channel.latency);
  }
  for (Node& node : nodes_) node.switch_latency = later(node.switch_latency);
}

}  // namespace weft::topologies
