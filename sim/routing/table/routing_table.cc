#include "sim/routing/table/routing_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "sim/routing/table/table_base.h"
#include "sim/units/input_error.h"

namespace weft::routing {

using topologies::Topology;
using topologies::Vertex;

namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

}  // namespace

RoutingTable::RoutingTable(const Topology& topology, const std::vector<bool>& down_links)
    : RoutingTable(topology) {
  repair(topology, down_links);
}

void RoutingTable::add_set(const std::vector<std::uint32_t>& channels) {
  const std::size_t count = channels.size();
  if (count > UINT16_MAX) {
    throw InputError(
        fmt::format("a node has {} next links towards a host; at most {} can be had", count, UINT16_MAX));
  }
  const std::uint32_t stride = count > 1 ? channels[1] - channels[0] : 0;
  bool regular = count > 0 && stride <= UINT16_MAX;
  // Cables of a switch to the next tier mostly have consecutive numbers.
  for (std::size_t i = 1; i < count; ++i) regular &= channels[i] - channels[i - 1] == stride;
  if (regular) {
    sets_.push_back({channels[0], static_cast<std::uint16_t>(count), static_cast<std::uint16_t>(stride)});
  } else {
    sets_.push_back({.first = count > 0 ? static_cast<std::uint32_t>(pool_.size()) : 0,
                     .stride = static_cast<std::uint16_t>(count)});
    pool_.insert(pool_.end(), channels.begin(), channels.end());
  }
}

void RoutingTable::add_last_hops(std::uint32_t host, const HostClass& host_class,
                                 const std::vector<bool>& down_links, const Base& base) {
  std::vector<std::uint32_t> channels;
  for (const std::uint32_t neighbour : host_class.neighbours) {
    channels.clear();
    for (const SwitchLink& nic : base.nics(host)) {
      // The two directions of a cable are numbered 2e and 2e + 1.
      if (nic.to == neighbour && !is_down(down_links, nic.channel)) channels.push_back(nic.channel ^ 1);
    }
    add_set(channels);
  }
}

void RoutingTable::expand(const Set& set, Vertex at, std::uint32_t destination_host, Candidates& out) const {
  if (is_computed(set)) {
    compute(at, destination_host, out);
  } else {
    expand_stored(set, out);
  }
}

void RoutingTable::expand_stored(const Set& set, Candidates& out) const {
  if (set.count == 0) return out.take(pool_.data() + set.first, set.stride);
  if (set.count == 1) return out.take(&set.first, 1);
  std::uint32_t* const to = out.room(set.count);
  for (std::uint32_t i = 0; i < set.count; ++i) to[i] = set.first + i * set.stride;
  out.take(to, set.count);
}

std::uint32_t RoutingTable::class_of(std::uint32_t host) const {
  return repairs_.class_of.empty() ? base_->class_of[host] : repairs_.class_of[host];
}

const std::vector<std::uint32_t>& RoutingTable::neighbours_of(std::uint32_t host_class) const {
  const std::size_t built = base_->classes.size();
  return host_class < built ? base_->classes[host_class].neighbours
                            : repairs_.cut_classes[host_class - built].neighbours;
}

std::uint32_t RoutingTable::domain_of(std::uint32_t host_class) const {
  const std::size_t built = base_->classes.size();
  return host_class < built ? base_->classes[host_class].domain
                            : repairs_.cut_classes[host_class - built].domain;
}

std::uint32_t RoutingTable::cost(std::uint32_t s, std::uint32_t domain, std::uint32_t destination) const {
  return base_->costs == nullptr
             ? 1
             : base_->costs->of_link(base_->costs->domain_of_switch(s), domain, destination);
}

void RoutingTable::compute(Vertex at, std::uint32_t destination_host, Candidates& out) const {
  const std::uint32_t host_class = class_of(destination_host);
  const std::vector<std::uint32_t>& neighbours = neighbours_of(host_class);
  for (std::uint32_t i = 0; i < neighbours.size(); ++i) {
    if (neighbours[i] != at) continue;
    return expand_stored(sets_[destinations_[destination_host].first_direct_set + i], out);
  }
  if (base_->is_host(at)) return compute_at_host(at, destination_host, out);
  compute_at_switch(base_->number[at], host_class, out);
}

void RoutingTable::compute_at_switch(std::uint32_t s, std::uint32_t host_class, Candidates& out) const {
  if (host_class < repairs_.columns.size() && !repairs_.columns[host_class].empty()) {
    return gather(s, host_class, repairs_.columns[host_class].data(), repairs_.down_links, out);
  }
  if (host_class >= base_->classes.size()) return;  // hosts without a link
  original(s, host_class, out);
  if (repairs_.down_links.empty()) return;
  // Its distance is what it was, so those that are left are all there are.
  out.keep_if([&](std::uint32_t channel) { return !is_down(repairs_.down_links, channel); });
}

void RoutingTable::original(std::uint32_t s, std::uint32_t host_class, Candidates& out) const {
  const Node& node = base_->switch_nodes[s];
  const Set& set = sets_[node.first_set + code_at(node, {.column = host_class})];
  if (!is_computed(set)) return expand_stored(set, out);
  if (const std::uint8_t* column = base_->column(host_class)) return gather(s, host_class, column, {}, out);
  const std::span<const SwitchLink> links = base_->links.of(s);
  const std::uint32_t end = base_->number[base_->classes[host_class].neighbours.front()];
  std::uint32_t* const to = out.room(links.size());
  out.take(to, base_->grid->next(s, end, links, to));
}

void RoutingTable::gather(std::uint32_t s, std::uint32_t host_class, const std::uint8_t* column,
                          const std::vector<bool>& down_links, Candidates& out) const {
  const std::span<const SwitchLink> links = base_->links.of(s);
  std::uint32_t* const to = out.room(links.size());
  std::size_t count = 0;
  const auto take_if = [&](auto&& is_nearer) {
    for (const SwitchLink& link : links) {
      to[count] = link.channel;
      count += is_nearer(link.to);
    }
  };
  if (base_->costs != nullptr) {
    const std::uint32_t own = cost_in(column, s), domain = domain_of(host_class);
    take_if([&](std::uint32_t t) {
      return is_on_way(own, cost_in(column, t), cost(s, base_->costs->domain_of_switch(t), domain));
    });
  } else if (const std::uint32_t own = distance_in(column, s); own != kNoWay) {
    const std::uint32_t nearer = own == 0 ? 2 : own - 1;
    take_if([&](std::uint32_t t) { return distance_in(column, t) == nearer; });
  }
  out.take(to, count);
  if (!down_links.empty()) out.keep_if([&](std::uint32_t channel) { return !is_down(down_links, channel); });
}

// Those of its NICs whose switches are nearest; within its domain those inside, if they lead there.
void RoutingTable::compute_at_host(Vertex at, std::uint32_t destination_host, Candidates& out) const {
  const std::span<const SwitchLink> nics = base_->nics(base_->host_number(at));
  std::uint32_t* const to = out.room(nics.size());
  std::size_t count = 0;
  std::uint32_t least = kFar, last = kFar, last_distance = kFar;
  const auto distance_over = [&](std::uint32_t s) {
    const std::uint32_t further = distance(s, destination_host);
    if (further == kFar || base_->costs == nullptr) return further;
    return base_->costs->from_host(base_->host_number(at), s, further, destination_host);
  };
  for (const SwitchLink& nic : nics) {
    if (base_->is_host(nic.to) || is_down(repairs_.down_links, nic.channel)) continue;
    if (nic.to != last) last_distance = distance_over(base_->number[nic.to]);
    last = nic.to;
    if (last_distance > least || last_distance == kFar) continue;
    if (last_distance < least) count = 0;
    least = last_distance;
    to[count++] = nic.channel;
  }
  out.take(to, count);
}

// Along one of the minimal paths. Only for hosts that choose among NICs while links are down.
std::uint32_t RoutingTable::distance(std::uint32_t s, std::uint32_t destination_host) const {
  const std::uint32_t host_class = class_of(destination_host);
  const std::vector<std::uint32_t>& neighbours = neighbours_of(host_class);
  const auto is_last = [&](std::uint32_t number) {
    return std::any_of(neighbours.begin(), neighbours.end(),
                       [&](std::uint32_t v) { return !base_->is_host(v) && base_->number[v] == number; });
  };
  const std::uint32_t domain = domain_of(host_class);
  std::uint32_t steps = 0;
  while (!is_last(s)) {
    const Candidates next([&](Candidates& out) { compute_at_switch(s, host_class, out); });
    if (next.empty()) return kFar;
    const std::span<const SwitchLink> links = base_->links.of(s);
    const std::uint32_t from = s;
    s = std::find_if(links.begin(), links.end(), [&](const SwitchLink& link) {
          return link.channel == next.front();
        })->to;
    steps += base_->costs == nullptr ? 1 : cost(from, base_->costs->domain_of_switch(s), domain);
  }
  return steps + cost(s, domain, domain);
}

RoutingTable::Forms RoutingTable::forms() const {
  const auto rows = std::count_if(base_->switch_nodes.begin(), base_->switch_nodes.end(),
                                  [&](const Node& node) { return node.codes != base_->computed().codes; });
  return {static_cast<std::uint32_t>(rows), !base_->columns.empty(), base_->grid != nullptr};
}

std::size_t RoutingTable::Base::memory_bytes() const {
  std::size_t bytes =
      links.memory_bytes() + columns.capacity() + (grid ? grid->memory_bytes() : 0) +
      (costs ? costs->memory_bytes() : 0) + host_links.capacity() * sizeof(SwitchLink) +
      switch_nodes.capacity() * sizeof(Node) + rows.capacity() * sizeof(rows.front()) +
      classes.capacity() * sizeof(HostClass) +
      (number.capacity() + host_begin.capacity() + class_of.capacity()) * sizeof(std::uint32_t);
  for (const std::vector<std::uint8_t>& row : rows) bytes += row.capacity();
  for (const HostClass& host_class : classes)
    bytes += host_class.neighbours.capacity() * sizeof(std::uint32_t);
  return bytes;
}

std::size_t RoutingTable::memory_bytes() const {
  std::size_t bytes = base_->memory_bytes() + nodes_.capacity() * sizeof(Node) +
                      destinations_.capacity() * sizeof(Destination) + sets_.capacity() * sizeof(Set) +
                      pool_.capacity() * sizeof(std::uint32_t) +
                      repairs_.columns.capacity() * sizeof(repairs_.columns.front()) +
                      repairs_.class_of.capacity() * sizeof(std::uint32_t) +
                      repairs_.down_links.capacity() / 8;
  for (const std::vector<std::uint8_t>& column : repairs_.columns) bytes += column.capacity();
  return bytes;
}

}  // namespace weft::routing
