#include "sim/replay/open_collectives.h"

namespace weft::sim {

std::uint32_t OpenCollectives::add(RankState& rank, const ActiveCollective& active) {
  std::uint32_t index = free_active_;
  if (index == kNone) {
    index = static_cast<std::uint32_t>(actives_.size());
    actives_.push_back(active);
  } else {
    free_active_ = actives_[index].next;
    actives_[index] = active;
  }
  actives_[index].next = rank.first_active;
  rank.first_active = index;
  return index;
}

void OpenCollectives::add_lanes(std::uint32_t index, std::uint32_t lanes) {
  ActiveCollective& active = actives_[index];
  active.lanes = active.lanes_left = lanes;
  for (std::uint32_t i = lanes; i-- > 0;) {
    const std::uint32_t handle = new_lane();
    CollectiveLane& lane = lanes_[handle];
    lane.active = index;
    lane.number = i;
    lane.groups = lane.left = 0;
    lane.steps.clear();
    lane.next = active.first_lane;
    active.first_lane = handle;
  }
}

void OpenCollectives::remove(RankState& rank, std::uint32_t index) {
  ActiveCollective& active = actives_[index];
  for (std::uint32_t lane = active.first_lane; lane != kNone;) {
    const std::uint32_t next = lanes_[lane].next;
    lanes_[lane].next = free_lane_;
    free_lane_ = lane;
    lane = next;
  }
  std::uint32_t* link = &rank.first_active;
  while (*link != index) link = &actives_[*link].next;
  *link = active.next;
  active.next = free_active_;
  free_active_ = index;
}

std::uint32_t OpenCollectives::new_lane() {
  if (free_lane_ == kNone) {
    lanes_.emplace_back();
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }
  const std::uint32_t handle = free_lane_;
  free_lane_ = lanes_[handle].next;
  return handle;
}

void OpenCollectives::open_group(std::uint32_t handle) {
  const CollectiveLane& lane = lanes_[handle];
  if (!is_indexed(actives_[lane.active])) return;
  for (const OpenStep& open : lane.steps) {
    if (open.is_receive()) open_receives_.add(lane.active, open.step.tag, handle);
  }
}

void OpenCollectives::close_group(std::uint32_t handle) {
  CollectiveLane& lane = lanes_[handle];
  if (is_indexed(actives_[lane.active])) {
    for (const OpenStep& open : lane.steps) {
      if (open.is_receive()) open_receives_.remove(lane.active, open.step.tag);
    }
  }
  lane.steps.clear();
}

OpenCollectives::Place OpenCollectives::receive_of(const RankState& rank, const StepKey& key) const {
  for (std::uint32_t i = rank.first_active; i != kNone; i = actives_[i].next) {
    const ActiveCollective& active = actives_[i];
    if (active.number != key.number || active.comm != key.comm) continue;
    const Place place = receive_in(i, key.source, key.tag);
    if (place.lane != kNone) return place;
  }
  return {};
}

OpenCollectives::Place OpenCollectives::receive_in(std::uint32_t index, std::uint32_t source,
                                                   std::uint32_t tag) const {
  const ActiveCollective& active = actives_[index];
  std::uint32_t only = OpenReceives::kSeveral;
  if (is_indexed(active)) only = open_receives_.lane(index, tag);
  if (only == OpenReceives::kNone) return {};
  const bool is_known = only != OpenReceives::kSeveral;
  for (std::uint32_t lane = is_known ? only : active.first_lane; lane != kNone; lane = lanes_[lane].next) {
    const std::vector<OpenStep>& steps = lanes_[lane].steps;
    for (std::uint32_t s = 0; s < steps.size(); ++s) {
      const OpenStep& open = steps[s];
      if (!open.is_receive() || open.step.tag != tag || open.left == 0) continue;
      if (covers(open.step, source, active.call.size)) return {lane, s};
    }
    if (is_known) break;
  }
  return {};
}

bool OpenCollectives::expect(const RankState& rank, std::uint32_t tag, int look) const {
  if (rank.first_active == kNone) return true;
  const ActiveCollective& active = actives_[rank.first_active];
  if (!is_indexed(active)) {
    if (look == 2) __builtin_prefetch(&lanes_[active.first_lane], 1);
    return true;
  }
  if (look == 1) {
    open_receives_.prefetch(rank.first_active, tag);
    return true;
  }
  const std::uint32_t lane = open_receives_.lane(rank.first_active, tag);
  if (lane >= OpenReceives::kSeveral) return false;
  __builtin_prefetch(&lanes_[lane], 1);
  return true;
}

std::uint64_t OpenCollectives::memory_bytes() const {
  std::uint64_t bytes = open_receives_.memory_bytes() + actives_.capacity() * sizeof(ActiveCollective) +
                        lanes_.capacity() * sizeof(CollectiveLane);
  for (const CollectiveLane& lane : lanes_) bytes += lane.steps.capacity() * sizeof(OpenStep);
  return bytes;
}

}  // namespace weft::sim
