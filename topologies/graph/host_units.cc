#include "topologies/graph/host_units.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weft::topologies {
namespace {

// Numbers keys in the order in which they first come.
template <typename Key>
HostUnits numbered(const std::vector<Key>& keys) {
  HostUnits units;
  std::map<Key, std::uint32_t> number;
  for (const Key& key : keys) units.of.push_back(number.emplace(key, number.size()).first->second);
  units.count = static_cast<std::uint32_t>(number.size());
  return units;
}

// The switches a host is linked to, ascending, each once.
std::vector<Vertex> switches_of(const Topology& topology, std::uint32_t host) {
  std::vector<Vertex> list;
  for (const std::uint32_t c : topology.out_channels(topology.host(host)))
    list.push_back(topology.channels()[c].to);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

template <typename Read>
HostUnits by_host(const Topology& topology, Read&& read) {
  std::vector<decltype(read(0U))> keys;
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) keys.push_back(read(h));
  return numbered(keys);
}

HostUnits by_switch(const Topology& topology) {
  HostUnits units = by_host(topology, [&](std::uint32_t h) { return switches_of(topology, h); });
  if (units.count == 1) {
    units.missing = "all hosts are on the same switches";
  } else if (units.count == topology.hosts()) {
    units.missing = "every host has a switch of its own";
  }
  return units;
}

HostUnits by_group(const Topology& topology) {
  HostUnits units = by_host(topology, [&](std::uint32_t h) { return topology.node(topology.host(h)).group; });
  if (units.count == 1) {
    units.missing = "all hosts are in one group";
  } else if (units.count == topology.hosts()) {
    units.missing = "every host is a group of its own";
  }
  return units;
}

HostUnits by_rack(const Topology& topology) {
  HostUnits units = by_host(topology, [&](std::uint32_t h) {
    const std::uint32_t own = topology.node(topology.host(h)).rack;
    return own != kNoRack ? own : topology.node(switches_of(topology, h).front()).rack;
  });
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    const Node& host = topology.node(topology.host(h));
    if (host.rack == kNoRack && topology.node(switches_of(topology, h).front()).rack == kNoRack) {
      units.missing = "it doesn't say which racks hosts stand in";
      return units;
    }
  }
  if (units.count == 1) units.missing = "all hosts stand in one rack";
  return units;
}

HostUnits by_plane(const Topology& topology) {
  bool several = false;
  HostUnits units = by_host(topology, [&](std::uint32_t h) {
    std::vector<std::uint16_t> planes;
    for (const Vertex v : switches_of(topology, h)) planes.push_back(topology.node(v).plane);
    std::sort(planes.begin(), planes.end());
    several |= planes.front() != planes.back();
    return planes.front();
  });
  if (several) {
    units.missing = "hosts have links to several planes";
  } else if (units.count == 1) {
    units.missing = "all hosts are in one plane";
  }
  return units;
}

}  // namespace

const std::vector<std::string>& host_unit_names() {
  static const std::vector<std::string> names = {"switch", "group", "rack", "plane", "site"};
  return names;
}

std::vector<std::vector<std::uint32_t>> HostUnits::members() const {
  std::vector<std::vector<std::uint32_t>> lists(count);
  for (std::uint32_t h = 0; h < of.size(); ++h) lists[of[h]].push_back(h);
  return lists;
}

HostUnits host_units(const Topology& topology, HostUnit unit) {
  switch (unit) {
    case HostUnit::kSwitch:
      return by_switch(topology);
    case HostUnit::kGroup:
      return by_group(topology);
    case HostUnit::kRack:
      return by_rack(topology);
    case HostUnit::kPlane:
      return by_plane(topology);
    case HostUnit::kSite:
      break;
  }
  HostUnits units = by_host(topology, [&](std::uint32_t h) { return topology.node(topology.host(h)).site; });
  if (units.count == 1) units.missing = "it has one site";
  return units;
}

}  // namespace weft::topologies
