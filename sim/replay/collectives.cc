// Collective operations of a share: their groups of steps, worked out when they are needed.
#include <algorithm>

#include "sim/replay/share.h"

namespace weft::sim {
namespace {

// Does the step receive from this place of the communicator?
bool covers(const goal::Step& step, std::uint32_t source, std::uint32_t ranks) {
  const std::uint32_t there = step.down ? step.peer + ranks - source : source + ranks - step.peer;
  return (there >= ranks ? there - ranks : there) < step.count;
}

bool is_message(const goal::CollectiveCall& call, const goal::Step& step, std::uint32_t place) {
  return step.signal || call.bytes(step, step.peer_at(place, call.size)) > 0;
}

bool has_own_sizes(const goal::CollectiveCall& call, const goal::Step& step) {
  return step.by_peer && !call.collective->counts.empty();
}

std::uint32_t messages_of(const goal::CollectiveCall& call, const goal::Step& step) {
  if (!has_own_sizes(call, step)) return is_message(call, step, 0) ? step.count : 0;
  std::uint32_t messages = 0;
  for (std::uint32_t i = 0; i < step.count; ++i) messages += is_message(call, step, i);
  return messages;
}

// 0: it isn't divided into channels.
std::uint32_t lanes_of_channel(const goal::ChosenAlgorithm& chosen, std::uint32_t lanes) {
  const std::vector<ParameterSpec>& parameters = chosen.algorithm->info.parameters;
  const bool has_channels =
      std::any_of(parameters.begin(), parameters.end(),
                  [](const ParameterSpec& parameter) { return parameter.name == "channels"; });
  return has_channels ? lanes / chosen.options.channels : 0;
}

}  // namespace

// ---- From group to group ----

void ReplayShare::begin_collective(std::uint32_t local, goal::OpIndex op) {
  const goal::Op call = view(local).op(op);
  const goal::Collective& collective = program_.collectives[call.peer];
  RankState& rank = ranks_[local];
  const std::uint32_t me = plan_.position_in(collective.comm, rank.view.rank(), op);
  progress_.start(rank, op);
  const std::uint32_t size = program_.communicator_size(collective.comm);
  if (size == 1) return finish_op(rank, op);
  const goal::ChosenAlgorithm* chosen = plan_.choices[call.peer];
  const std::uint32_t index = new_active();
  actives_[index] = {.call = {&collective, size, me, &chosen->options},
                     .chosen = chosen,
                     .local = local,
                     .op = op,
                     .number = call.tag,
                     .comm = collective.comm,
                     .next = rank.first_active};
  rank.first_active = index;
  actives_[index].launched = after(engine_.now(), chosen->options.lane_costs.launch);
  const std::uint32_t lanes = chosen->lanes(actives_[index].call);
  actives_[index].lanes = actives_[index].lanes_left = lanes;
  if (plan_.rails.by_channel) actives_[index].lanes_of_channel = lanes_of_channel(*chosen, lanes);
  if (lanes == 0) return finish_active(index);
  for (std::uint32_t i = lanes; i-- > 0;) {
    const std::uint32_t handle = new_lane();
    Lane& lane = lanes_[handle];
    lane.active = index;
    lane.number = i;
    lane.groups = lane.left = 0;
    lane.steps.clear();
    lane.next = actives_[index].first_lane;
    actives_[index].first_lane = handle;
  }
  for (std::uint32_t lane = actives_[index].first_lane; lane != kNone;) {
    const std::uint32_t next = lanes_[lane].next;
    next_group(lane);
    lane = next;
  }
}

void ReplayShare::next_group(std::uint32_t handle) {
  Lane& lane = lanes_[handle];
  const Active& active = actives_[lane.active];
  const goal::LaneCosts& costs = active.call.options->lane_costs;
  Time work;  // of the lane's own processor, on what has come
  if (costs.given) work = work_of_lane(active, lane.steps, goal::StepKind::kRecv);
  close_receives(lane);
  do {
    group_.clear();
    if (!active.chosen->algorithm->expand(active.call, lane.number, lane.groups, group_)) {
      if (work == Time()) return finish_lane(handle);
      return schedule_lane(ranks_[active.local], work, handle);
    }
    ++lane.groups;
    for (const goal::Step& step : group_.steps()) {
      const std::uint32_t messages = messages_of(active.call, step);
      if (messages == 0) continue;
      lane.steps.push_back({.step = step, .left = messages});
      lane.left += messages;
    }
  } while (lane.left == 0);
  open_receives(handle);
  if (costs.given) {
    lane.busy = std::max(work, work_of_lane(active, lane.steps, goal::StepKind::kSend));
  }
  progress_.add_group(ranks_[active.local], handle);
}

// Where lanes are few, looking at them all is as fast.
bool ReplayShare::is_indexed(const Active& active) {
  constexpr std::uint32_t kManyLanes = 8;
  return active.lanes >= kManyLanes;
}

void ReplayShare::open_receives(std::uint32_t handle) {
  const Lane& lane = lanes_[handle];
  if (!is_indexed(actives_[lane.active])) return;
  for (const OpenStep& open : lane.steps) {
    if (!is_send(open)) open_receives_.add(lane.active, open.step.tag, handle);
  }
}

void ReplayShare::close_receives(Lane& lane) {
  if (is_indexed(actives_[lane.active])) {
    for (const OpenStep& open : lane.steps) {
      if (!is_send(open)) open_receives_.remove(lane.active, open.step.tag);
    }
  }
  lane.steps.clear();
}

// The last message of a group to finish brings the steps of the next one. No message of the group finishes
// for good before its last step has begun, as that has messages too.
void ReplayShare::begin_group(std::uint32_t handle) {
  const Lane& lane = lanes_[handle];
  if (actives_[lane.active].call.options->lane_costs.given) return begin_group_of_own_processor(handle);
  const std::size_t steps = lane.steps.size();
  for (std::uint32_t i = 0; i < steps; ++i) {
    if (is_send(lanes_[handle].steps[i])) {
      begin_train(handle, i);
    } else {
      begin_receives(handle, i);
    }
  }
}

// Receives have their buffers; sends wait for the processor.
void ReplayShare::begin_group_of_own_processor(std::uint32_t handle) {
  RankState& rank = ranks_[actives_[lanes_[handle].active].local];
  const std::size_t steps = lanes_[handle].steps.size();
  fetch_early(lanes_[handle]);
  if (std::any_of(lanes_[handle].steps.begin(), lanes_[handle].steps.end(), is_send)) {
    const Time launched = actives_[lanes_[handle].active].launched;
    const Time wait = launched > engine_.now() ? launched - engine_.now() : Time();
    schedule_lane(rank, after(wait, lanes_[handle].busy), handle);
  }
  for (std::uint32_t i = 0; i < steps; ++i) {
    if (!is_send(lanes_[handle].steps[i])) begin_receives(handle, i);
  }
}

// The lane's own processor has done its work: for the sends of a group, or after the last one.
void ReplayShare::end_work_of_lane(std::uint32_t handle) {
  if (lanes_[handle].steps.empty()) return finish_lane(handle);
  const Lane& lane = lanes_[handle];
  // The last message to be sent may bring the steps of the next group.
  auto sends = std::count_if(lane.steps.begin(), lane.steps.end(), is_send);
  for (std::uint32_t i = 0; sends > 0; ++i) {
    if (!is_send(lanes_[handle].steps[i])) continue;
    --sends;
    begin_train(handle, i);
  }
}

// Copying or combining the longest of the messages, all of which go through at once.
Time ReplayShare::work_of_lane(const Active& active, const std::vector<OpenStep>& steps,
                               goal::StepKind kind) const {
  const goal::LaneCosts& costs = active.call.options->lane_costs;
  Time work;
  for (const OpenStep& open : steps) {
    if (open.step.kind != kind) continue;
    const std::uint64_t bytes = active.call.bytes(open.step, open.step.peer_at(0, active.call.size));
    const Time step = bytes > goal::LaneCosts::kShortBytes ? costs.step : costs.short_step;
    work = std::max(work, after(step, (open.step.combine > 0 ? costs.combine : costs.copy).of(bytes)));
  }
  return work;
}

void ReplayShare::finish_message(std::uint32_t lane) {
  if (--lanes_[lane].left == 0) next_group(lane);
}

void ReplayShare::finish_lane(std::uint32_t lane) {
  const std::uint32_t index = lanes_[lane].active;
  if (--actives_[index].lanes_left == 0) finish_active(index);
}

void ReplayShare::finish_active(std::uint32_t index) {
  Active& active = actives_[index];
  for (std::uint32_t lane = active.first_lane; lane != kNone;) {
    const std::uint32_t next = lanes_[lane].next;
    lanes_[lane].next = free_lane_;
    free_lane_ = lane;
    lane = next;
  }
  std::uint32_t* link = &ranks_[active.local].first_active;
  while (*link != index) link = &actives_[*link].next;
  *link = active.next;
  active.next = free_active_;
  free_active_ = index;
  finish_op(ranks_[active.local], active.op);
}

// ---- Sends: a train of messages ----

// One piece of work for the cpu: nothing else gets between its messages.
void ReplayShare::begin_train(std::uint32_t lane, std::uint32_t step) {
  const Active& active = actives_[lanes_[lane].active];
  give_task(tasks_.add({.local = active.local,
                        .op = step,
                        .lane = lane,
                        .nic = view(active.local).nic(active.op),
                        .state = TaskState::kTrain}));
}

// Makes the train's task that of its next message.
void ReplayShare::point_train(Task& train) {
  OpenStep& open = lanes_[train.lane].steps[train.op];
  const Active& active = actives_[lanes_[train.lane].active];
  while (!is_message(active.call, open.step, open.next)) ++open.next;
  const std::uint32_t peer = open.step.peer_at(open.next++, active.call.size);
  train.bytes = active.call.wire_bytes(open.step, peer);
  train.peer = program_.world_rank(active.comm, peer);
}

// The eager message that the train points to, or (task != kNone) its request and what goes with that.
void ReplayShare::send_first_of_step(const Task& train, std::uint32_t task) {
  const Lane& lane = lanes_[train.lane];
  const Active& active = actives_[lane.active];
  const MessageRoute route{train.peer, train.nic, departures_.next_connection(ranks_[train.local]),
                           channel_of(train)};
  const std::uint32_t rank = view(train.local).rank();
  Message message = departures_.message(rank, route);
  message.bytes = task == kNone ? train.bytes : first_fragment(train.bytes);
  wire::FirstOfStep words{.ends = {rank, train.peer},
                          .sender = task,
                          .place = active.call.me,
                          .collective = active.number,
                          .communicator = active.comm,
                          .tag = lane.steps[train.op].step.tag};
  if (task != kNone) {
    tasks_[task].connection = route.connection;
    message.control = message.bytes == 0;
    words.kind = wire::Kind::kRequestToSend;
  }
  words.encode(message);
  const goal::LaneCosts& costs = active.call.options->lane_costs;
  if (!costs.given || same_node(active, train.peer)) return departures_.inject(message);
  if (proxies_.empty()) proxies_.resize(ranks_.size());
  Time& proxy = proxies_[train.local];
  const Time first = after(std::max(proxy, engine_.now()), costs.proxy);
  proxy = first;
  for (std::uint32_t i = 1; i < costs.bundle; ++i) proxy = after(proxy, costs.proxy);
  const Time ready = after(first, costs.between_nodes);
  if (ready == engine_.now()) return departures_.inject(message);
  const std::uint32_t place = held_.hold(message);
  if (trails_) trails_->hold(place, ready - engine_.now());
  schedule_own(ranks_[train.local], ready - engine_.now(), kMessageReady, place);
}

bool ReplayShare::same_node(const Active& active, std::uint32_t peer) const {
  const std::uint32_t per_node = active.call.options->ranks_per_node;
  return active.call.me / per_node == plan_.position_in(active.comm, peer, active.op) / per_node;
}

// The cpu's work on the message that the train points to has ended. True if it has more.
bool ReplayShare::end_of_train_message(Cpu& cpu, std::uint32_t handle) {
  for (;;) {
    Task train = tasks_[handle];
    count_sent(ranks_[train.local], train.bytes);
    const bool is_last = --lanes_[train.lane].steps[train.op].left == 0;
    const Active& active = actives_[lanes_[train.lane].active];
    const bool has_room = active.call.options->lane_costs.given;
    if (has_room || train.bytes <= hosts_.eager_limit_bytes) {
      send_first_of_step(train, kNone);
      if (is_last) {
        finish_task(handle);
        return false;
      }
      --lanes_[train.lane].left;
    } else {
      train.state = TaskState::kAwaitClear;
      const std::uint32_t rendezvous = tasks_.add(train);
      send_first_of_step(train, rendezvous);
      if (is_last) {
        tasks_.remove(handle);
        return false;
      }
    }
    point_train(tasks_[handle]);
    const Time duration = overhead(tasks_[handle].bytes);
    if (duration > Time()) {
      schedule_done(ranks_[train.local], cpu, duration);
      return true;
    }
  }
}

// ---- Receives ----

// Where begin_receives() will look for what has come, step after step.
void ReplayShare::fetch_early(const Lane& lane) const {
  const Active& active = actives_[lane.active];
  if (ranks_[active.local].early == 0) return;
  for (const OpenStep& open : lane.steps) {
    if (is_send(open)) continue;
    const std::uint32_t source = open.step.peer_at(0, active.call.size);
    early_.prefetch({active.local, source, active.number, active.comm, open.step.tag});
  }
}

// Takes the messages that are there already, in the order of their arrival.
void ReplayShare::begin_receives(std::uint32_t lane, std::uint32_t step_index) {
  const Active& active = actives_[lanes_[lane].active];
  const RankState& rank = ranks_[active.local];
  if (rank.early == 0) return;
  const goal::Step step = lanes_[lane].steps[step_index].step;
  const goal::CollectiveCall& call = active.call;
  EarlyKey key{active.local, step.peer, active.number, active.comm, step.tag};
  found_.clear();
  if (step.count <= rank.early) {
    for (std::uint32_t i = 0; i < step.count; ++i) {
      key.source = step.peer_at(i, call.size);
      const std::uint32_t entry = early_.front(key);
      if (entry != kNone) found_.push_back(entry);
    }
    std::sort(found_.begin(), found_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return early_.entry(a).stamp < early_.entry(b).stamp;
    });
  } else {
    for (std::uint32_t i = early_.first_of_rank(active.local); i != kNone; i = early_.entry(i).rank_next) {
      EarlyKey there = early_.entry(i).key;
      if (!covers(step, there.source, call.size)) continue;
      there.source = key.source;
      if (there == key) found_.push_back(i);
    }
  }
  for (const std::uint32_t entry : found_) {
    --ranks_[active.local].early;
    matched_in_step(lane, step_index, early_.take(entry));
  }
}

// The step of a collective that is under way which takes a message of this tag from this place; kNone: there
// is none so far.
std::pair<std::uint32_t, std::uint32_t> ReplayShare::receive_of(std::uint32_t index, std::uint32_t source,
                                                                std::uint32_t tag) const {
  const Active& active = actives_[index];
  std::uint32_t only = OpenReceives::kSeveral;
  if (is_indexed(active)) only = open_receives_.lane(index, tag);
  if (only == OpenReceives::kNone) return {kNone, 0};
  const bool is_known = only != OpenReceives::kSeveral;
  for (std::uint32_t lane = is_known ? only : active.first_lane; lane != kNone; lane = lanes_[lane].next) {
    const std::vector<OpenStep>& steps = lanes_[lane].steps;
    for (std::uint32_t s = 0; s < steps.size(); ++s) {
      const OpenStep& open = steps[s];
      if (is_send(open) || open.step.tag != tag || open.left == 0) continue;
      if (covers(open.step, source, active.call.size)) return {lane, s};
    }
    if (is_known) break;
  }
  return {kNone, 0};
}

void ReplayShare::arrive_in_collective(const Message& message) {
  const auto first = wire::FirstOfStep::decode(message);
  const EarlyKey key{local_[first.ends.destination], first.place, first.collective, first.communicator,
                     first.tag};
  RankState& rank = ranks_[key.rank];
  for (std::uint32_t i = rank.first_active; i != kNone; i = actives_[i].next) {
    const Active& active = actives_[i];
    if (active.number != key.number || active.comm != key.comm) continue;
    const auto [lane, step] = receive_of(i, key.source, key.tag);
    if (lane != kNone) return matched_in_step(lane, step, arrived(message));
  }
  ++rank.early;
  early_.push(key, arrived(message));
}

void ReplayShare::matched_in_step(std::uint32_t lane, std::uint32_t step, const ArrivedMessage& message) {
  --lanes_[lane].steps[step].left;
  const Active& active = actives_[lanes_[lane].active];
  begin_task(message, {.local = active.local,
                       .op = step,
                       .lane = lane,
                       .peer = message.source,
                       .nic = view(active.local).nic(active.op),
                       .state = TaskState::kReceiveCpu});
}

Time ReplayShare::combine_duration(const Task& task) const {
  std::uint64_t bytes;
  const goal::Step& step = lanes_[task.lane].steps[task.op].step;
  if (step.format == goal::WireFormat::kInSwitch) return {};  // the switch added it up
  const std::uint64_t data = goal::data_bytes(step.format, task.bytes);
  if (__builtin_mul_overflow(data, std::uint64_t{step.combine}, &bytes)) bytes = UINT64_MAX;
  return hosts_.reduction_per_byte.of(bytes);
}

// ---- Pools ----

std::uint32_t ReplayShare::new_active() {
  if (free_active_ == kNone) {
    actives_.emplace_back();
    return static_cast<std::uint32_t>(actives_.size() - 1);
  }
  const std::uint32_t index = free_active_;
  free_active_ = actives_[index].next;
  return index;
}

std::uint32_t ReplayShare::new_lane() {
  if (free_lane_ == kNone) {
    lanes_.emplace_back();
    return static_cast<std::uint32_t>(lanes_.size() - 1);
  }
  const std::uint32_t index = free_lane_;
  free_lane_ = lanes_[index].next;
  return index;
}

}  // namespace weft::sim
