// Progressive filling that begins with the flows that came and what others left, and takes in more of them in
// the order of levels, each once. As the level rises, what has been given rates stays as it is: a change at
// one level has no effect below it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

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
  if (static_cast<Demand>(whole) << 30 == demand) [[likely]] {
    const auto all = static_cast<std::uint64_t>(left);
    return rounded(whole == 1 ? all : all / whole, kLevelBits);
  }
  const auto level = static_cast<unsigned __int128>(left) * kWhole / demand;
  constexpr auto kMost = static_cast<unsigned __int128>(kMostRate);
  return level > kMost ? kMostRate : rounded(static_cast<std::uint64_t>(level), kLevelBits);
}

MaxMin::Changes MaxMin::solve() {
  begin();
  while (!queue_.empty()) {
    const Key key = queue_.first_key();
    fix_capped(key.level);
    visit(key);
  }
  fix_capped(kMostRate);
  return changes();
}

void MaxMin::begin() {
  ++stamp_;
  ++batch_number_;
  part_.clear();
  open_.clear();
  covered_.clear();
  regrouped_.clear();
  for (const std::uint32_t r : touched_) {
    is_touched_[r] = false;
    if (resources_[r].group > 0) meet(r);
  }
  for (const std::uint32_t r : resized_) {
    // Where nobody waits, and nobody has to from now on, it makes no difference. Slack is for what others
    // change.
    if (resources_[r].group > 0) {
      meet(r);
      resources_[r].exact = true;
    } else if (resources_[r].load > resources_[r].capacity) {
      for (const Member& member : members_[r]) {
        if (!flows_[member.flow].open) open(member.flow);
      }
    }
  }
  for (const std::uint32_t flow : added_) {
    if (flows_[flow].open) continue;
    if (is_alone(flows_[flow])) {
      settle_alone(flow);
    } else {
      open(flow);
    }
  }
  resized_.clear();
  touched_.clear();
  added_.clear();
  queue_batch();
}

bool MaxMin::is_alone(const Flow& flow) const {
  for (std::uint32_t e = flow.first; e < flow.first + flow.count; ++e) {
    if (members_[entries_[e].resource].size() > 1) return false;
  }
  return true;
}

// It concerns nobody, so there is nothing to wait for.
void MaxMin::settle_alone(std::uint32_t number) {
  Flow& flow = flows_[number];
  Key least = flow.capped ? Key{flow.cap_level, 0} : Key{kMostRate, kNone};
  std::uint32_t tightest = kNone;
  for (std::uint32_t e = flow.first; e < flow.first + flow.count; ++e) {
    const Entry& entry = entries_[e];
    const Key key{level_of(resources_[entry.resource].capacity, demand_of(flow, entry)), entry.resource + 1};
    if (key >= least) continue;
    least = key;
    tightest = e;
  }
  ++work_;
  part_.push_back({number, kNone});
  const Rate rate = least.level * flow.weight;
  for (const Entry& entry : entries(flow)) {
    Resource& resource = resources_[entry.resource];
    resource.load += part_of(rate, entry.share);
    if (entry.resource + 1 != least.next) resource.most = least;
  }
  if (tightest == kNone) {
    flow.bottleneck = kOwnCap;
    return;
  }
  flow.bottleneck = least.next - 1;
  set_level(flow.bottleneck, least.level);
  join_group(flow.bottleneck, tightest, flow);
}

void MaxMin::meet(std::uint32_t r) {
  Resource& resource = resources_[r];
  if (resource.batch == batch_number_) return;
  resource.batch = batch_number_;
  batch_.push_back(r);
  if (resource.stamp == stamp_) return;
  resource.stamp = stamp_;
  resource.first_open = resource.first_covered = kNone;
  resource.waits = resource.exact = false;
  resource.tries = 0;
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
  tightest_[number] = {};
  if (!flow.capped) return;
  caps_.push_back({flow.cap_level, number});
  std::push_heap(caps_.begin(), caps_.end(), std::greater<>());
}

// Its flows lie scattered in memory, so those to come are fetched meanwhile.
void MaxMin::open_group(std::uint32_t r) {
  constexpr std::uint32_t kAhead = 4;
  const std::vector<Member>& members = members_[r];
  for (std::uint32_t n = resources_[r].group; n > 0; --n) {
    if (n > 2 * kAhead) __builtin_prefetch(&flows_[members[n - 1 - 2 * kAhead].flow]);
    if (n > kAhead) {
      const Entry* const entries = &entries_[flows_[members[n - 1 - kAhead].flow].first];
      __builtin_prefetch(entries);
      __builtin_prefetch(entries + 5);
    }
    open(members[n - 1].flow);
  }
}

// With slack a group gets another level late, and then mostly as a whole. If so, this gives it that level and
// returns true; nothing is opened. All that has a lower level is settled by then. A lower level makes room
// elsewhere, a higher one must leave all other links of these flows below full, or with more for their
// groups. For other resources, flows would get the same rates but for the last digit, by which of two equal
// bottlenecks has them. Flows that can't rise so far are opened; the others wait for the level of then.
bool MaxMin::shift_group(std::uint32_t r, Rate level) {
  Resource& resource = resources_[r];
  const Rate before = resource.level;
  const bool rises = level > before;
  // What is faster would get less.
  if (!rises && resource.most > Key{level, r + 1}) return false;
  const Rate group_load = move_loads(r, before, level);
  held_up_.clear();
  if (rises) find_held_up(r, level);
  // What is open there rises too, or is held up first.
  if (!held_up_.empty() || (rises && resource.open_demand > 0 && !resource.waits)) {
    move_loads(r, level, before);
    return false;
  }
  for (std::uint32_t i = 0; i < resource.group; ++i) {
    for (const Entry& entry : entries(flows_[members_[r][i].flow])) {
      Resource& other = resources_[entry.resource];
      if (rises && entry.resource != r) other.most = std::max(other.most, Key{level, r + 1});
      if (entry.resource != r && (other.group > 0 || other.open_demand > 0)) meet(entry.resource);
    }
  }
  resource.load += group_load - resource.group_load;
  resource.group_load = group_load;
  set_level(r, level);
  work_ += resource.group;
  return true;
}

// The flows of the group have this level instead of that one on all their other links. Returns what they have
// of their own then.
Rate MaxMin::move_loads(std::uint32_t r, Rate from, Rate to) {
  Rate group_load = 0;
  for (std::uint32_t i = 0; i < resources_[r].group; ++i) {
    const Flow& flow = flows_[members_[r][i].flow];
    for (const Entry& entry : entries(flow)) {
      const Rate part = part_of(to * flow.weight, entry.share);
      if (entry.resource == r) {
        group_load += part;
      } else {
        resources_[entry.resource].load += part - part_of(from * flow.weight, entry.share);
      }
    }
  }
  return group_load;
}

// Those of the group that can't have such a level, now that loads are as if they had.
void MaxMin::find_held_up(std::uint32_t r, Rate level) {
  const auto is_full = [&](const Entry& entry) {
    if (entry.resource == r) return false;
    const Resource& other = resources_[entry.resource];
    if (other.group > 0 || other.open_demand > 0) return full_level(other) <= level;
    return other.capacity - other.load <= other.capacity >> (kLevelBits - 4);  // but for rounding
  };
  for (std::uint32_t i = 0; i < resources_[r].group; ++i) {
    const std::uint32_t number = members_[r][i].flow;
    const Flow& flow = flows_[number];
    if ((flow.capped && flow.cap_level <= level) || std::ranges::any_of(entries(flow), is_full))
      held_up_.push_back(number);
  }
}

// So that this comes to an end, only the first times in a solve() may leave the group together.
void MaxMin::change_level(std::uint32_t r, Rate level) {
  constexpr std::uint8_t kMostTries = 4;
  Resource& resource = resources_[r];
  if (resource.slack == 0 || resource.tries == kMostTries) {
    resource.waits = resource.exact = false;
    return open_group(r);
  }
  ++resource.tries;
  if (level < resource.level && open_faster(r, {level, r + 1})) return;
  if (shift_group(r, level)) {
    resource.waits = resource.exact = false;
    if (resource.open_demand > 0) freeze(r, level);
    return;
  }
  resource.waits = true;
  for (const std::uint32_t flow : held_up_) open(flow);
  meet(r);
}

// Each that flows were opened at may be full at a lower level now, or have room for its group. Of those where
// a flow alone is open only the tightest can be its bottleneck. It covers the others: they wait outside of
// the queue until it turns out to be full at a higher level. Where a whole group is opened, most of its flows
// get their rates together again, before any of them is held up alone; so the first of these covers the
// others.
void MaxMin::queue_batch() {
  singles_.clear();
  leading_.clear();
  for (const std::uint32_t r : batch_) {
    const Resource& resource = resources_[r];
    if (resource.open_demand == 0 && resource.group == 0) continue;
    const Rate full = full_level(resource);
    if (resource.open_demand == 0 && full == resource.level) continue;
    const std::uint32_t only = only_open(resource);
    if (only == kNone) {
      enqueue(r, next_level(resource, full));
      continue;
    }
    const Key key{full, r + 1};
    singles_.push_back(key);
    Key& tightest = tightest_[only];
    if (tightest.next == 0 || key < tightest) tightest = key;
  }
  for (const Key& key : singles_) {
    const std::uint32_t r = key.next - 1;
    const Key tightest = tightest_[only_open(resources_[r])];
    if (tightest == key) {
      leading_.push_back(key);
    } else {
      cover(r, tightest.next - 1);
    }
  }
  constexpr std::size_t kMany = 8;
  const Key first = leading_.size() < kMany ? Key() : std::ranges::min(leading_);
  for (const Key& key : leading_) {
    if (first.next == 0 || key == first) {
      enqueue(key.next - 1, key.level);
    } else {
      cover(key.next - 1, first.next - 1);
    }
  }
  batch_.clear();
  ++batch_number_;
}

std::uint32_t MaxMin::only_open(const Resource& resource) const {
  if (resource.group > 0 || resource.first_open == kNone) return kNone;
  const Open& open = open_[resource.first_open];
  return open.next == kNone && flows_[open.flow].open ? open.flow : kNone;
}

// Nothing, if it waits with a lower level.
void MaxMin::enqueue(std::uint32_t r, Rate level) {
  const Key key{level, r + 1};
  const std::uint32_t at = places_[r];
  if (at != Queue::kOut && queue_.key(at) <= key) return;
  queue_.set(r, key, place());
}

void MaxMin::cover(std::uint32_t r, std::uint32_t by) {
  covered_.push_back({r, resources_[by].first_covered});
  resources_[by].first_covered = static_cast<std::uint32_t>(covered_.size() - 1);
}

void MaxMin::uncover(std::uint32_t r) {
  for (std::uint32_t i = std::exchange(resources_[r].first_covered, kNone); i != kNone;
       i = covered_[i].next) {
    const std::uint32_t covered = covered_[i].resource;
    if (resources_[covered].open_demand > 0) enqueue(covered, full_level(resources_[covered]));
  }
}

// At which it is full, if its group and all that is open there go on rising. With slack that is the level of
// its group if it is near: still never lower where more is left.
Rate MaxMin::full_level(const Resource& resource) {
  const Rate full = level_of(resource.capacity - resource.load + resource.group_load,
                             resource.open_demand + resource.group_demand);
  if (resource.slack == 0 || resource.group == 0 || resource.exact) [[likely]]
    return full;
  const double most = static_cast<double>(resource.level) * static_cast<double>(resource.slack);
  return std::abs(static_cast<double>(full - resource.level)) <= most ? resource.level : full;
}

// REQUIRES: it is the first of the queue, with this key.
void MaxMin::visit(Key key) {
  const std::uint32_t r = key.next - 1;
  const Resource& resource = resources_[r];
  if (resource.open_demand == 0 && resource.group == 0) {
    queue_.erase(r, place());
    return uncover(r);
  }
  const Rate full = full_level(resource);
  const Rate next = next_level(resource, full);
  if (next != key.level) {
    queue_.set(r, {next, r + 1}, place());
    if (resource.first_covered != kNone) uncover(r);
    if (queue_.first() != r || (!caps_.empty() && caps_.front().level <= next)) return;
  }
  queue_.erase(r, place());
  if (resource.group > 0 && full != resource.level) {
    change_level(r, full);
  } else if (resource.open_demand > 0 && !open_faster(r, {full, r + 1})) {
    freeze(r, full);
  }
  uncover(r);
  if (!batch_.empty()) queue_batch();
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

void MaxMin::set_level(std::uint32_t r, Rate level) {
  Resource& resource = resources_[r];
  resource.level = level;
  if (!resource.regrouped) regrouped_.push_back(r);
  resource.regrouped = true;
}

// What is open there has its bottleneck there.
void MaxMin::freeze(std::uint32_t r, Rate level) {
  set_level(r, level);
  for (std::uint32_t i = resources_[r].first_open; i != kNone; i = open_[i].next) {
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
