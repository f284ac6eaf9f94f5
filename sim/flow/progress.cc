#include "sim/flow/progress.h"

namespace weft::sim::flow {
namespace {

// When this is reached in virtual time; Time::max(): never, at this level.
Time time_of(Amount end, Amount virtual_time, Rate level, Time now) {
  if (end <= virtual_time) return now;
  if (level == 0) return Time::max();
  const Time time = time_for(end - virtual_time, level);
  constexpr Time kLast = Time::ps(Time::max().ps() - 1);
  return time > kLast - now ? kLast : now + time;
}

}  // namespace

void Progress::enter(std::uint32_t number, std::uint32_t weight) {
  if (number >= fluids_.size()) fluids_.resize(number + 1);
  fluids_[number] = {.weight = weight};
}

void Progress::leave(std::uint32_t number, Time now) {
  stop(number, now);
  fluids_[number].has_aim = false;
}

void Progress::aim(std::uint32_t number, Amount amount, Time now) {
  Fluid& fluid = fluids_[number];
  fluid.aim = amount;
  fluid.has_aim = true;
  start(number, now);
}

Amount Progress::virtual_time(const Fluid& fluid, Time now) const {
  if (fluid.group == kOwn) return moved(fluid.level, now);
  const Group& group = groups_[fluid.group];
  return group.virtual_time + moved(group.level, now - group.since);
}

Amount Progress::through(std::uint32_t number, Time now) const {
  const Fluid& fluid = fluids_[number];
  return fluid.through + (virtual_time(fluid, now) - fluid.joined) * fluid.weight;
}

void Progress::set_level(std::uint32_t number, Rate level, Time now) {
  Group& group = groups_[number];
  group.virtual_time += moved(group.level, now - group.since);
  group.since = now;
  group.level = level;
  schedule(number, now);
}

void Progress::move(std::uint32_t number, std::uint32_t group, Time now) {
  Fluid& fluid = fluids_[number];
  fluid.through = through(number, now);
  stop(number, now);
  fluid.group = group;
  fluid.joined = virtual_time(fluid, now);
  start(number, now);
}

void Progress::move_out(std::uint32_t number, Rate level, Time now) {
  Fluid& fluid = fluids_[number];
  fluid.through = through(number, now);
  stop(number, now);
  fluid.group = kOwn;
  fluid.level = level;
  fluid.joined = virtual_time(fluid, now);
  start(number, now);
}

// From here on it will be due.
void Progress::start(std::uint32_t number, Time now) {
  const Fluid& fluid = fluids_[number];
  if (!fluid.has_aim) return;
  const Amount rest = fluid.aim > fluid.through ? fluid.aim - fluid.through : 0;
  const Amount end = fluid.joined + (fluid.weight == 1 ? rest : (rest + (fluid.weight - 1)) / fluid.weight);
  if (fluid.group == kOwn) {
    set_due(fluid_name(number), time_of(end, virtual_time(fluid, now), fluid.level, now));
    return;
  }
  Heap& heap = groups_[fluid.group].heap;
  const bool was_first = !heap.empty() && heap.first() == number;
  heap.set(number, end, place());
  if (was_first || heap.first() == number) schedule(fluid.group, now);
}

// No more.
void Progress::stop(std::uint32_t number, Time now) {
  const Fluid& fluid = fluids_[number];
  if (fluid.group == kOwn) return due_.erase(fluid_name(number));
  if (fluid.place == Heap::kOut) return;
  Heap& heap = groups_[fluid.group].heap;
  const bool was_first = heap.first() == number;
  heap.erase(number, place());
  if (was_first) schedule(fluid.group, now);
}

void Progress::schedule(std::uint32_t number, Time now) {
  const Group& group = groups_[number];
  if (group.heap.empty()) return due_.erase(group_name(number));
  const Amount virtual_now = group.virtual_time + moved(group.level, now - group.since);
  set_due(group_name(number), time_of(group.heap.first_key(), virtual_now, group.level, now));
}

void Progress::set_due(std::uint32_t name, Time time) {
  if (time == Time::max()) {
    due_.erase(name);
  } else {
    due_.set(name, time);
  }
}

void Progress::take_due(Time now, std::vector<std::uint32_t>& fluids) {
  while (next() <= now) {
    const std::uint32_t name = due_.pop();
    if (name % 2 == 1) {
      fluids_[name / 2].has_aim = false;
      fluids.push_back(name / 2);
      continue;
    }
    Group& group = groups_[name / 2];
    const Amount virtual_now = group.virtual_time + moved(group.level, now - group.since);
    while (!group.heap.empty() && group.heap.first_key() <= virtual_now) {
      const std::uint32_t fluid = group.heap.first();
      group.heap.erase(fluid, place());
      fluids_[fluid].has_aim = false;
      fluids.push_back(fluid);
    }
    schedule(name / 2, now);
  }
}

}  // namespace weft::sim::flow
