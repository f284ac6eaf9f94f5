#include "sim/routing/paths/host_groups.h"

#include <algorithm>
#include <numeric>

#include "sim/routing/table/host_classes.h"

namespace weft::routing {

HostGroups::HostGroups(const topologies::Topology& topology, const RoutingTable& table, bool apart)
    : HostGroups(topology, table, apart, false) {}

HostGroups HostGroups::between_homes(const topologies::Topology& topology, const RoutingTable& table,
                                     bool apart) {
  return HostGroups(topology, table, apart, true);
}

HostGroups::HostGroups(const topologies::Topology& topology, const RoutingTable& table, bool apart,
                       bool by_home)
    : topology_(topology), table_(table), homes_(topology), between_homes_(by_home && homes_.outer()) {
  std::vector<std::uint32_t> all(topology.hosts());
  std::iota(all.begin(), all.end(), 0u);
  group_of_ = all;
  if (between_homes_) {
    homes_.classify(group_of_);
  } else if (!apart) {
    classify(topology, {}, all, group_of_);
  }
  for (const std::uint32_t h : all) {
    if (group_of_[h] == hosts_.size()) hosts_.emplace_back();
    hosts_[group_of_[h]].push_back(h);
  }
  for (const std::vector<std::uint32_t>& hosts : hosts_) find_nics(hosts);
  find_near();
}

void HostGroups::find_nics(std::span<const std::uint32_t> hosts) {
  std::vector<Entry>& nics = nics_.emplace_back();
  if (between_homes_) {
    for (const std::uint32_t home : homes_.of(hosts[0])) {
      nics.push_back({static_cast<std::uint32_t>(nics.size()), home});
    }
    one_way_.push_back(true);
    return;
  }
  for (const std::uint32_t c : topology_.out_channels(topology_.host(hosts[0]))) {
    nics.push_back({static_cast<std::uint32_t>(nics.size()), topology_.channels()[c].to});
  }
  const bool same = std::ranges::all_of(nics, [&](const Entry& nic) { return nic.to == nics[0].to; });
  one_way_.push_back(same && topology_.node(nics[0].to).kind == topologies::NodeKind::kSwitch);
}

bool HostGroups::leaves_out(const topologies::Channel& channel) const {
  return between_homes_ && (topology_.node(channel.from).domain != topologies::kNoDomain ||
                            topology_.node(channel.to).domain != topologies::kNoDomain);
}

void HostGroups::find_near() {
  std::vector<std::vector<std::uint32_t>> at(topology_.nodes());
  for (std::uint32_t g = 0; g < size(); ++g) {
    for (const std::uint32_t home : homes(g)) {
      if (at[home].empty() || at[home].back() != g) at[home].push_back(g);
    }
  }
  near_.resize(size());
  for (std::uint32_t g = 0; g < size(); ++g) {
    std::vector<std::uint32_t>& near = near_[g];
    near.push_back(g);
    for (const std::uint32_t home : homes(g)) near.insert(near.end(), at[home].begin(), at[home].end());
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
  }
}

bool HostGroups::is_near(std::uint32_t a, std::uint32_t b) const {
  return std::binary_search(near_[a].begin(), near_[a].end(), b);
}

std::uint32_t HostGroups::hosts_near(std::uint32_t a, std::uint32_t b) const {
  std::size_t count = 0;
  for (const std::uint32_t g : near_[a]) count += hosts_[g].size();
  for (const std::uint32_t g : near_[b]) count += is_near(a, g) ? 0 : hosts_[g].size();
  return static_cast<std::uint32_t>(count);
}

std::span<const Entry> HostGroups::entries(std::uint32_t from, std::uint32_t to,
                                           std::vector<Entry>& scratch) const {
  if (one_way_[from]) return nics_[from];
  scratch.clear();
  const topologies::Vertex at = topology_.host(source(from, to));
  const auto nics = topology_.out_channels(at);
  const Candidates candidates = table_.candidates(at, destination(to));
  for (const std::uint32_t c : candidates) {
    const auto nic = static_cast<std::uint32_t>(std::find(nics.begin(), nics.end(), c) - nics.begin());
    scratch.push_back({nic, topology_.channels()[c].to});
  }
  return scratch;
}

}  // namespace weft::routing
