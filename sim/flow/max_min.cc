#include "sim/flow/max_min.h"

#include <algorithm>

namespace weft::sim::flow {

std::uint32_t MaxMin::add_resource(Rate capacity) {
  resources_.emplace_back().capacity = capacity;
  members_.emplace_back();
  places_.push_back(Queue::kOut);
  is_touched_.push_back(false);
  return static_cast<std::uint32_t>(resources_.size() - 1);
}

void MaxMin::set_capacity(std::uint32_t resource, Rate capacity) {
  resources_[resource].capacity = capacity;
  if (!members_[resource].empty()) resized_.push_back(resource);
}

void MaxMin::clear_resources() {
  resources_.clear();
  members_.clear();
  places_.clear();
  is_touched_.clear();
  touched_.clear();
  resized_.clear();
}

void MaxMin::touch(std::uint32_t resource) {
  if (is_touched_[resource]) return;
  is_touched_[resource] = true;
  touched_.push_back(resource);
}

std::uint32_t MaxMin::new_entries(std::uint32_t count) {
  if (count >= unused_entries_.size()) unused_entries_.resize(count + 1);
  if (!unused_entries_[count].empty()) {
    const std::uint32_t first = unused_entries_[count].back();
    unused_entries_[count].pop_back();
    return first;
  }
  const auto first = static_cast<std::uint32_t>(entries_.size());
  entries_.resize(entries_.size() + count);
  return first;
}

void MaxMin::add(std::uint32_t number, std::span<const Use> uses, std::uint32_t weight, Rate cap) {
  if (number >= flows_.size()) {
    flows_.resize(number + 1);
    tightest_.resize(number + 1);
  }
  Flow& flow = flows_[number];
  flow.weight = weight;
  flow.cap_level = cap / weight;
  flow.bottleneck = kNone;
  flow.count = static_cast<std::uint32_t>(uses.size());
  flow.first = new_entries(flow.count);
  bool whole = false;
  for (std::uint32_t i = 0; i < flow.count; ++i) {
    std::vector<Member>& members = members_[uses[i].resource];
    entries_[flow.first + i] = {uses[i].resource, uses[i].share, static_cast<std::uint32_t>(members.size())};
    members.push_back({number, flow.first + i});
    whole |= uses[i].share == kWhole;
  }
  // No resource has more than kMostRate, but parts of a flow may take less than the flow.
  flow.capped = cap < kMostRate || !whole;
  added_.push_back(number);
}

void MaxMin::remove(std::uint32_t number) {
  Flow& flow = flows_[number];
  const Rate given = rate(number);
  if (flow.bottleneck == kNone) {
    std::erase(added_, number);
  } else if (flow.bottleneck != kOwnCap) {
    const auto at = std::ranges::find(entries(flow), flow.bottleneck, &Entry::resource);
    leave_group(flow.bottleneck, static_cast<std::uint32_t>(&*at - entries_.data()), flow);
  }
  for (const Entry& entry : entries(flow)) {
    Resource& resource = resources_[entry.resource];
    resource.load -= part_of(given, entry.share);
    std::vector<Member>& members = members_[entry.resource];
    swap_members(entry.resource, entry.place, static_cast<std::uint32_t>(members.size() - 1));
    members.pop_back();
    // Others may have waited for what it had.
    if (resource.group > 0) touch(entry.resource);
  }
  unused_entries_[flow.count].push_back(flow.first);
  flow.count = 0;
}

void MaxMin::swap_members(std::uint32_t resource, std::uint32_t a, std::uint32_t b) {
  if (a == b) return;
  std::vector<Member>& members = members_[resource];
  std::swap(members[a], members[b]);
  entries_[members[a].entry].place = a;
  entries_[members[b].entry].place = b;
}

void MaxMin::join_group(std::uint32_t r, std::uint32_t entry, const Flow& flow) {
  Resource& resource = resources_[r];
  swap_members(r, entries_[entry].place, resource.group);
  ++resource.group;
  resource.group_load += part_of(resource.level * flow.weight, entries_[entry].share);
  resource.group_demand += demand_of(flow, entries_[entry]);
}

void MaxMin::leave_group(std::uint32_t r, std::uint32_t entry, const Flow& flow) {
  Resource& resource = resources_[r];
  --resource.group;
  swap_members(r, entries_[entry].place, resource.group);
  resource.group_load -= part_of(resource.level * flow.weight, entries_[entry].share);
  resource.group_demand -= demand_of(flow, entries_[entry]);
}

}  // namespace weft::sim::flow
