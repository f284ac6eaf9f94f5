#include "sim/replay/path_steps.h"

#include <set>
#include <string>
#include <utility>

#include "goal/graph/axis.h"

namespace weft::sim {

// ---- While the replay runs ----

std::uint32_t& PathSteps::slot(Place place, std::uint32_t index) {
  std::vector<std::uint32_t>& slots = places_[static_cast<int>(place)];
  if (slots.size() <= index) slots.resize(std::size_t{index} + 1, kNone);
  return slots[index];
}

void PathSteps::set(std::uint32_t& place, std::uint32_t step) {
  if (step != kNone) ++steps_[step].uses;
  drop(std::exchange(place, step));
}

// With all before it that nothing else leads through.
void PathSteps::drop(std::uint32_t step) {
  while (step != kNone && --steps_[step].uses == 0) {
    free_.push_back(step);
    step = steps_[step].before;
  }
}

// It follows that of the event at hand.
std::uint32_t PathSteps::make(const results::CriticalPath& path, std::uint32_t rank) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(steps_.size()));
    steps_.emplace_back();
  }
  const std::uint32_t made = free_.back();
  free_.pop_back();
  steps_[made] = {.path = path, .before = now_, .rank = rank};
  if (now_ != kNone) ++steps_[now_].uses;
  return made;
}

void PathSteps::learn(Step& step, const goal::Op& op) {
  step.is_known = true;
  step.kind = op.kind;
  step.peer = op.peer;
  step.comm = op.comm;
  step.tag = op.tag;
}

void PathSteps::at_message(Place place, std::uint32_t index, const results::CriticalPath& path,
                           std::uint32_t from, std::uint32_t to, bool is_handshake) {
  at(place, index);
  set(slot(place, index), kNone);
  const std::uint32_t step = make(path, to);
  steps_[step].from = from;
  steps_[step].is_handshake = is_handshake;
  set_now(step);
}

void PathSteps::settle(const goal::Op& op) {
  if (now_ != kNone && !steps_[now_].is_known) learn(steps_[now_], op);
}

void PathSteps::work(Place place, std::uint32_t index, const results::CriticalPath& path, std::uint32_t rank,
                     const goal::Op& op) {
  const std::uint32_t step = make(path, rank);
  learn(steps_[step], op);
  set(slot(place, index), step);
}

// ---- Afterwards ----

results::PathShares::Activity PathSteps::activity_of(const goal::ProgramFacts& program, const Step& step) {
  if (step.kind == goal::OpKind::kCalc) return {"computation", ""};
  results::PathShares::Activity activity{"point to point", ""};
  std::uint32_t comm = step.comm;
  if (step.kind == goal::OpKind::kCollective) {
    activity.kind = goal::name(program.collectives[step.peer].kind);
    comm = program.collectives[step.peer].comm;
  }
  if (comm == goal::kWorld) return activity;
  const std::string& name = program.communicators[comm].name;
  activity.communicator = goal::axis_of(name);
  if (activity.communicator.empty()) activity.communicator = name;
  return activity;
}

results::PathShares PathSteps::shares(const goal::ProgramFacts& program) const {
  results::PathShares shares;
  std::set<std::pair<std::uint32_t, std::uint32_t>> calls;  // communicators, and which call on them
  Step of;  // a message of which nobody knew is of what came next
  for (std::uint32_t at = last_; at != kNone; at = steps_[at].before) {
    const Step& step = steps_[at];
    if (step.is_known) of = step;
    const results::CriticalPath before =
        step.before == kNone ? results::CriticalPath{} : steps_[step.before].path;
    const Time time = step.path.total() - before.total();
    const bool is_message = step.from != kNone;
    shares.ranks[step.rank] += time;
    results::PathShares::Spent& spent = shares.activities[activity_of(program, of)];
    spent.time += time;
    if (of.kind == goal::OpKind::kCollective) {
      spent.count += calls.emplace(program.collectives[of.peer].comm, of.tag).second ? 1 : 0;
    } else if (!step.is_handshake) {
      spent.count += is_message == (of.kind != goal::OpKind::kCalc) ? 1 : 0;
    }
    const Time on_links = step.path.bandwidth + step.path.queueing - before.bandwidth - before.queueing;
    if (is_message && on_links > Time()) shares.messages[{step.from, step.rank}] += on_links;
  }
  return shares;
}

}  // namespace weft::sim
