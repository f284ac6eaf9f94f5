#include "sim/flow/max_min.h"

#include <algorithm>
#include <functional>

namespace weft::sim::flow {

Rate MaxMin::level_of(Rate left, unsigned __int128 demand) {
  if (left <= 0) return 0;
  if (demand == kWhole) [[likely]]
    return left;
  const auto level = static_cast<unsigned __int128>(left) * kWhole / demand;
  return level > static_cast<unsigned __int128>(kMostRate) ? kMostRate : static_cast<Rate>(level);
}

std::uint32_t MaxMin::add_resource(Rate capacity) {
  resources_.emplace_back().capacity = capacity;
  is_touched_.push_back(false);
  return static_cast<std::uint32_t>(resources_.size() - 1);
}

void MaxMin::set_capacity(std::uint32_t resource, Rate capacity) {
  resources_[resource].capacity = capacity;
  touch(resource);
}

void MaxMin::clear_resources() {
  resources_.clear();
  is_touched_.clear();
  touched_.clear();
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
  if (number >= flows_.size()) flows_.resize(number + 1);
  Flow& flow = flows_[number];
  flow.rate = flow.level = 0;
  flow.cap = cap;
  flow.weight = weight;
  most_weight_ = std::max<std::uint64_t>(most_weight_, weight);
  flow.bottleneck = kNone;
  flow.count = static_cast<std::uint32_t>(uses.size());
  flow.first = new_entries(flow.count);
  for (std::uint32_t i = 0; i < flow.count; ++i) {
    std::vector<Member>& members = resources_[uses[i].resource].members;
    entries_[flow.first + i] = {uses[i].resource, uses[i].share, static_cast<std::uint32_t>(members.size())};
    members.push_back({number, flow.first + i});
  }
  added_.push_back(number);
}

void MaxMin::remove(std::uint32_t number) {
  Flow& flow = flows_[number];
  if (flow.bottleneck < kOwnCap) --resources_[flow.bottleneck].held_back;
  for (const Entry& entry : entries(flow)) {
    Resource& resource = resources_[entry.resource];
    resource.load -= part_of(flow.rate, entry.share);
    const Member last = resource.members.back();
    resource.members[entry.place] = last;
    entries_[last.entry].place = entry.place;
    resource.members.pop_back();
    // Others may have waited for what it had.
    if (resource.held_back > 0) touch(entry.resource);
  }
  if (flow.bottleneck == kNone) std::erase(added_, number);
  unused_entries_[flow.count].push_back(flow.first);
  flow.count = 0;
}

// ---- One solve() ----

std::span<const MaxMin::Change> MaxMin::solve() {
  ++stamp_;
  part_.clear();
  scratch_.clear();
  changes_.clear();
  for (const std::uint32_t r : touched_) {
    is_touched_[r] = false;
    const Resource& resource = resources_[r];
    if (resource.load > resource.capacity) {
      take_in_members(resource, kNone);
    } else if (resource.held_back > 0 && slack(resource, resource.capacity - resource.load) > 0) {
      take_in_members(resource, r);
    }
  }
  for (const std::uint32_t flow : added_) take_part(flow);
  touched_.clear();
  added_.clear();
  if (part_.empty()) return {};
  do {
    fill();
  } while (widen());
  commit();
  return changes_;
}

// From here on its rate is open: resources are without it.
void MaxMin::take_part(std::uint32_t number) {
  Flow& flow = flows_[number];
  if (flow.stamp == stamp_) return;
  flow.stamp = stamp_;
  part_.push_back(number);
  if (flow.bottleneck < kOwnCap) --resources_[flow.bottleneck].held_back;
  for (const Entry& entry : entries(flow)) {
    Resource& resource = resources_[entry.resource];
    resource.load -= part_of(flow.rate, entry.share);
    if (resource.stamp == stamp_) continue;
    resource.stamp = stamp_;
    resource.scratch = static_cast<std::uint32_t>(scratch_.size());
    scratch_.push_back({.resource = entry.resource});
  }
}

// Those whose bottleneck is this; kNone: all.
void MaxMin::take_in_members(const Resource& resource, std::uint32_t bottleneck) {
  for (const Member& member : resource.members) {
    if (bottleneck == kNone || flows_[member.flow].bottleneck == bottleneck) take_part(member.flow);
  }
}

// Progressive filling: gives max-min fair rates to the flows that take part, in what the others leave.
void MaxMin::fill() {
  work_ += part_.size();
  links_.clear();
  heap_.clear();
  caps_.clear();
  for (Scratch& scratch : scratch_) {
    const Resource& resource = resources_[scratch.resource];
    scratch = {.resource = scratch.resource, .left = resource.capacity - resource.load};
  }
  for (const std::uint32_t number : part_) {
    Flow& flow = flows_[number];
    flow.next_bottleneck = kNone;
    for (const Entry& entry : entries(flow)) {
      Scratch& scratch = scratch_[resources_[entry.resource].scratch];
      scratch.demand += std::uint64_t{entry.share} * flow.weight;
      links_.push_back({number, entry.share, scratch.first});
      scratch.first = static_cast<std::uint32_t>(links_.size() - 1);
    }
    if (flow.cap < kMostRate) {
      caps_.emplace_back(flow.cap / flow.weight, number);
    }
  }
  // Of the resources that a flow has for itself, only the one with the least level can be its bottleneck.
  for (const std::uint32_t number : part_) {
    std::pair<Rate, std::uint32_t> least{kMostRate, kNone};
    for (const Entry& entry : entries(flows_[number])) {
      const Scratch& scratch = scratch_[resources_[entry.resource].scratch];
      if (links_[scratch.first].next != kNone) continue;
      least = std::min(least, {level_of(scratch.left, scratch.demand), entry.resource});
    }
    if (least.second != kNone) heap_.push_back(least);
  }
  for (const Scratch& scratch : scratch_) {
    const bool shared = scratch.first != kNone && links_[scratch.first].next != kNone;
    if (shared) heap_.emplace_back(level_of(scratch.left, scratch.demand), scratch.resource);
  }
  // Ties go by number: never by the order of flows.
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  std::sort(caps_.begin(), caps_.end());
  std::size_t next_cap = 0;
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto [level, r] = heap_.back();
    heap_.pop_back();
    Scratch& scratch = scratch_[resources_[r].scratch];
    if (scratch.demand == 0) continue;
    // Levels only rise while others' flows are given less than theirs.
    const Rate now = level_of(scratch.left, scratch.demand);
    if (now > level) {
      heap_.emplace_back(now, r);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      continue;
    }
    if (next_cap < caps_.size() && caps_[next_cap].first <= now) {
      while (next_cap < caps_.size() && caps_[next_cap].first <= now) {
        const auto [cap_level, flow] = caps_[next_cap++];
        if (flows_[flow].next_bottleneck == kNone) fix(flow, cap_level, kOwnCap);
      }
      if (scratch.demand == 0) continue;
      heap_.emplace_back(level_of(scratch.left, scratch.demand), r);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      continue;
    }
    scratch.full = true;
    scratch.level = now;
    for (std::uint32_t link = scratch.first; link != kNone; link = links_[link].next) {
      if (flows_[links_[link].flow].next_bottleneck == kNone) fix(links_[link].flow, now, r);
    }
  }
}

void MaxMin::fix(std::uint32_t number, Rate level, std::uint32_t bottleneck) {
  Flow& flow = flows_[number];
  flow.next_level = level;
  flow.next_bottleneck = bottleneck;
  const Rate rate = rate_at(level, flow.weight);
  for (const Entry& entry : entries(flow)) {
    Scratch& scratch = scratch_[resources_[entry.resource].scratch];
    scratch.left -= part_of(rate, entry.share);
    scratch.demand -= std::uint64_t{entry.share} * flow.weight;
    scratch.most_level = std::max(scratch.most_level, level);
  }
}

// Takes in the flows that the property does not hold for any more. False: there are none.
bool MaxMin::widen() {
  const std::size_t before = part_.size(), known = scratch_.size();
  for (std::size_t i = 0; i < known; ++i) {
    const Scratch scratch = scratch_[i];
    Resource& resource = resources_[scratch.resource];
    if (resource.held_back > 0 && (slack(resource, scratch.left) > 0 ||
                                   scratch.most_level > resource.level + tolerance(resource.level))) {
      take_in_members(resource, scratch.resource);
    }
    if (scratch.full && resource.most_level > scratch.level + tolerance(scratch.level)) {
      take_in_faster(resource, scratch.level);
    }
  }
  return part_.size() > before;
}

// Those of a higher level than the flows whose bottleneck this is.
void MaxMin::take_in_faster(Resource& resource, Rate level) {
  Rate most = level;
  for (const Member& member : resource.members) {
    const Flow& flow = flows_[member.flow];
    if (flow.stamp == stamp_) continue;
    if (flow.level > level + tolerance(level)) {
      take_part(member.flow);
    } else {
      most = std::max(most, flow.level);
    }
  }
  // Whoever takes part is counted again in commit().
  resource.most_level = most;
}

void MaxMin::commit() {
  for (const std::uint32_t number : part_) {
    Flow& flow = flows_[number];
    const Rate rate = rate_at(flow.next_level, flow.weight);
    for (const Entry& entry : entries(flow)) {
      Resource& resource = resources_[entry.resource];
      resource.load += part_of(rate, entry.share);
      resource.most_level = std::max(resource.most_level, flow.next_level);
    }
    flow.level = flow.next_level;
    flow.bottleneck = flow.next_bottleneck;
    if (flow.bottleneck != kOwnCap) {
      Resource& resource = resources_[flow.bottleneck];
      ++resource.held_back;
      resource.level = flow.level;
    }
    if (rate == flow.rate) continue;
    changes_.push_back({number, flow.rate});
    flow.rate = rate;
  }
}

}  // namespace weft::sim::flow
