// Progressive filling that begins with the flows that came and what others left, and takes in more of them in
// the order of levels, each once. As the level rises, what has been given rates stays as it is: a change at
// one level has no effect below it.
#include <algorithm>
#include <bit>
#include <functional>

#include "sim/flow/max_min.h"

namespace weft::sim::flow {
namespace {

// Rounding down to so many digits never puts a higher level below a lower one, so filling stays exact.
Rate rounded(std::uint64_t level, int digits) {
  const int excess = static_cast<int>(std::bit_width(level)) - digits;
  if (excess <= 0) return static_cast<Rate>(level);
  return static_cast<Rate>(level >> excess << excess);
}

}  // namespace

// What each gets of what is left.
Rate MaxMin::level_of(Rate left, Demand demand) {
  if (left <= 0) return 0;
  const auto whole = static_cast<std::uint64_t>(demand >> 30);
  if (static_cast<Demand>(whole) << 30 == demand) [[likely]]
    return rounded(static_cast<std::uint64_t>(left) / whole, kLevelBits);
  const auto level = static_cast<unsigned __int128>(left) * kWhole / demand;
  constexpr auto kMost = static_cast<unsigned __int128>(kMostRate);
  return level > kMost ? kMostRate : rounded(static_cast<std::uint64_t>(level), kLevelBits);
}

MaxMin::Changes MaxMin::solve() {
  begin();
  while (!queue_.empty()) {
    fix_capped(queue_.front().level);
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const Key key = queue_.back();
    queue_.pop_back();
    const std::uint32_t r = key.next - 1;
    if (resources_[r].queued != key.level) continue;  // a lower one came after it
    resources_[r].queued = -1;
    visit(r);
  }
  fix_capped(kMostRate);
  return changes();
}

void MaxMin::begin() {
  ++stamp_;
  ++batch_number_;
  part_.clear();
  open_.clear();
  regrouped_.clear();
  for (const std::uint32_t r : touched_) {
    is_touched_[r] = false;
    if (resources_[r].group > 0) meet(r);
  }
  for (const std::uint32_t r : resized_) {
    for (const Member& member : members_[r]) {
      if (!flows_[member.flow].open) open(member.flow);
    }
  }
  for (const std::uint32_t flow : added_) {
    if (!flows_[flow].open) open(flow);
  }
  resized_.clear();
  touched_.clear();
  added_.clear();
  queue_batch();
}

void MaxMin::meet(std::uint32_t r) {
  Resource& resource = resources_[r];
  if (resource.batch == batch_number_) return;
  resource.batch = batch_number_;
  batch_.push_back(r);
  if (resource.stamp == stamp_) return;
  resource.stamp = stamp_;
  resource.first_open = kNone;
  resource.queued = -1;
}

// From here on its rate is open: resources are without it.
void MaxMin::open(std::uint32_t number) {
  Flow& flow = flows_[number];
  const std::uint32_t before = flow.bottleneck;
  const Rate given = level(flow) * flow.weight;
  part_.push_back({number, before});
  for (std::uint32_t e = flow.first; e < flow.first + flow.count; ++e) {
    const Entry& entry = entries_[e];
    if (resources_[entry.resource].batch != batch_number_) meet(entry.resource);
    if (entry.resource == before) leave_group(before, e, flow);
    Resource& resource = resources_[entry.resource];
    resource.load -= part_of(given, entry.share);
    resource.open_demand += demand_of(flow, entry);
    open_.push_back({number, e, resource.first_open});
    resource.first_open = static_cast<std::uint32_t>(open_.size() - 1);
  }
  flow.bottleneck = kNone;
  flow.open = true;
  if (!flow.capped) return;
  caps_.push_back({flow.cap_level, number});
  std::push_heap(caps_.begin(), caps_.end(), std::greater<>());
}

// Each that flows were opened at may be full at a lower level now, or have room for its group.
void MaxMin::queue_batch() {
  for (const std::uint32_t r : batch_) {
    const Resource& resource = resources_[r];
    const Rate full = full_level(resource);
    if (resource.open_demand == 0 && full == resource.level) continue;
    const Rate level = next_level(resource, full);
    if (resource.queued < 0 || level < resource.queued) enqueue(r, level);
  }
  batch_.clear();
  ++batch_number_;
}

void MaxMin::enqueue(std::uint32_t r, Rate level) {
  resources_[r].queued = level;
  queue_.push_back({level, r + 1});
  std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
}

// At which it is full, if its group and all that is open there go on rising.
Rate MaxMin::full_level(const Resource& resource) {
  return level_of(resource.capacity - resource.load + resource.group_load,
                  resource.open_demand + resource.group_demand);
}

// Is nothing else to happen before this?
bool MaxMin::is_first(Key key) const {
  if (!queue_.empty() && queue_.front() < key) return false;
  return caps_.empty() || caps_.front().level > key.level;
}

void MaxMin::visit(std::uint32_t r) {
  const Resource& resource = resources_[r];
  if (resource.open_demand == 0 && resource.group == 0) return;
  const Rate full = full_level(resource);
  const Rate next = next_level(resource, full);
  if (!is_first({next, r + 1})) return enqueue(r, next);
  if (resource.group > 0 && full != resource.level) {
    // Its group rises above, or stays below, the level it had.
    while (resource.group > 0) open(members_[r][resource.group - 1].flow);
    return queue_batch();
  }
  if (resource.open_demand == 0) return;
  if (open_faster(r, {full, r + 1})) return queue_batch();
  freeze(r, full);
}

// Opens the flows that have got their rates later than this. False: there are none.
bool MaxMin::open_faster(std::uint32_t r, Key than) {
  Resource& resource = resources_[r];
  if (resource.most <= than) return false;
  Key most;
  bool found = false;
  const std::vector<Member>& members = members_[r];
  for (std::size_t i = resource.group; i < members.size(); ++i) {
    const Flow& flow = flows_[members[i].flow];
    if (flow.open) continue;
    const Key key = key_of(flow);
    if (key > than) {
      open(members[i].flow);
      found = true;
    } else {
      most = std::max(most, key);
    }
  }
  resource.most = most;
  return found;
}

// What is open there has its bottleneck there.
void MaxMin::freeze(std::uint32_t r, Rate level) {
  Resource& resource = resources_[r];
  resource.level = level;
  if (!resource.regrouped) regrouped_.push_back(r);
  resource.regrouped = true;
  for (std::uint32_t i = resource.first_open; i != kNone; i = open_[i].next) {
    const auto [number, entry, next] = open_[i];
    if (!flows_[number].open) continue;
    fix(flows_[number], {level, r + 1});
    flows_[number].bottleneck = r;
    join_group(r, entry, flows_[number]);
  }
}

void MaxMin::fix(Flow& flow, Key key) {
  ++work_;
  flow.open = false;
  const Rate rate = key.level * flow.weight;
  for (const Entry& entry : entries(flow)) {
    Resource& resource = resources_[entry.resource];
    resource.load += part_of(rate, entry.share);
    resource.open_demand -= demand_of(flow, entry);
    if (entry.resource + 1 != key.next) resource.most = std::max(resource.most, key);
  }
}

void MaxMin::fix_capped(Rate up_to) {
  while (!caps_.empty() && caps_.front().level <= up_to) {
    std::pop_heap(caps_.begin(), caps_.end(), std::greater<>());
    Flow& flow = flows_[caps_.back().next];
    caps_.pop_back();
    if (!flow.open) continue;
    fix(flow, {flow.cap_level, 0});
    flow.bottleneck = kOwnCap;
  }
}

MaxMin::Changes MaxMin::changes() {
  groups_.clear();
  moves_.clear();
  for (const std::uint32_t r : regrouped_) {
    Resource& resource = resources_[r];
    resource.regrouped = false;
    if (resource.group == 0 || resource.level == resource.told) continue;
    resource.told = resource.level;
    groups_.push_back(r);
  }
  for (const auto [flow, before] : part_) {
    if (flows_[flow].bottleneck != before) moves_.push_back({flow, flows_[flow].bottleneck});
  }
  return {groups_, moves_};
}

}  // namespace weft::sim::flow
