#include "sim/replay/collectives.h"

#include <algorithm>

namespace weft::sim {
namespace {

bool is_message(const goal::CollectiveCall& call, const goal::Step& step, std::uint32_t place) {
  return step.signal || call.bytes(step, step.peer_at(place, call.size)) > 0;
}

bool has_own_sizes(const goal::CollectiveCall& call, const goal::Step& step) {
  return step.by_peer && !call.collective->counts.empty();
}

// A copy that takes time counts as one.
std::uint32_t messages_of(const goal::CollectiveCall& call, const goal::Step& step, TimePerByte copy) {
  if (step.kind == goal::StepKind::kCopy) return copy.of(step.bytes) > Time() ? 1 : 0;
  if (!has_own_sizes(call, step)) return is_message(call, step, 0) ? step.count : 0;
  std::uint32_t messages = 0;
  for (std::uint32_t i = 0; i < step.count; ++i) messages += is_message(call, step, i);
  return messages;
}

bool has_channels(const goal::ChosenAlgorithm& chosen) {
  const std::vector<ParameterSpec>& parameters = chosen.algorithm->info.parameters;
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const ParameterSpec& parameter) { return parameter.name == "channels"; });
}

// Does it go in rounds of blocking calls? Not pipelines of segments, NCCL's channels, and windows of calls
// that don't block.
bool blocks(const goal::ChosenAlgorithm& chosen) {
  return chosen.options.segment_bytes == 0 && chosen.options.parallel == 0 && !has_channels(chosen);
}

// 0: it isn't divided into channels.
std::uint32_t lanes_of_channel(const goal::ChosenAlgorithm& chosen, std::uint32_t lanes) {
  return has_channels(chosen) ? lanes / chosen.options.channels : 0;
}

}  // namespace

// ---- From group to group ----

void Collectives::begin(std::uint32_t local, goal::OpIndex op) {
  RankState& rank = with_.ranks[local];
  const goal::Op call = rank.view.op(op);
  const goal::ProgramFacts& program = plan_.program.facts();
  const goal::Collective& collective = program.collectives[call.peer];
  const std::uint32_t me = plan_.position_in(collective.comm, rank.view.rank(), op);
  with_.progress.start(rank, op);
  const std::uint32_t size = program.communicator_size(collective.comm);
  if (size == 1) return with_.work.finish_op(rank, op);
  calls_.add(collective.comm, me, call.tag, plan_.signatures[call.peer]);
  if (trails_ != nullptr) trails_->begin_collective(rank, call, engine_.now());
  if (overlap_ != nullptr) overlap_->begin(local, engine_.now());
  const goal::ChosenAlgorithm* chosen = plan_.choices[call.peer];
  begin_lanes(with_.open.add(rank, {.call = {&collective, size, me, &chosen->options},
                                    .chosen = chosen,
                                    .local = local,
                                    .op = op,
                                    .number = call.tag,
                                    .comm = collective.comm,
                                    .reduction = plan_.reductions[call.peer],
                                    .copy = plan_.copies[call.peer],
                                    .launched = after(engine_.now(), chosen->options.lane_costs.launch)}));
}

void Collectives::begin_lanes(std::uint32_t index) {
  ActiveCollective& active = with_.open[index];
  const std::uint32_t lanes = active.chosen->lanes(active.call);
  if (plan_.rails.by_channel) active.lanes_of_channel = lanes_of_channel(*active.chosen, lanes);
  with_.open.add_lanes(index, lanes);
  if (lanes == 0) return finish(index);
  for (std::uint32_t lane = active.first_lane; lane != kNone;) {
    const std::uint32_t next = with_.open.lane(lane).next;
    next_group(lane);
    lane = next;
  }
}

void Collectives::next_group(std::uint32_t handle) {
  CollectiveLane& lane = with_.open.lane(handle);
  const bool has_own_processor = with_.open.of_lane(handle).call.options->lane_costs.given;
  Time work;  // of the lane's own processor, on what has come
  if (has_own_processor) work = work_of_lane(handle, goal::StepKind::kRecv);
  with_.open.close_group(handle);
  do {
    if (!expand(handle)) return work == Time() ? finish_lane(handle) : schedule_lane(handle, work);
  } while (lane.left == 0);
  with_.open.open_group(handle);
  if (has_own_processor) lane.busy = std::max(work, work_of_lane(handle, goal::StepKind::kSend));
  with_.progress.add_group(rank_of(handle), handle);
}

// The steps of the next group that have messages. False if there is no such group.
bool Collectives::expand(std::uint32_t handle) {
  CollectiveLane& lane = with_.open.lane(handle);
  const ActiveCollective& active = with_.open.of_lane(handle);
  group_.clear();
  if (!active.chosen->algorithm->expand(active.call, lane.number, lane.groups, group_)) return false;
  ++lane.groups;
  for (const goal::Step& step : group_.steps()) {
    const std::uint32_t messages = messages_of(active.call, step, active.copy);
    if (messages == 0) continue;
    lane.steps.push_back({.step = step, .left = messages});
    lane.left += messages;
  }
  return true;
}

// No message of the group finishes for good before its last step has begun, as that has messages too.
void Collectives::begin_group(std::uint32_t handle) {
  if (with_.open.of_lane(handle).call.options->lane_costs.given) return begin_group_of_own_processor(handle);
  const auto steps = static_cast<std::uint32_t>(with_.open.lane(handle).steps.size());
  for (std::uint32_t i = 0, next = 0; i < steps; i = next) {
    const std::vector<OpenStep>& all = with_.open.lane(handle).steps;
    next = i + 1;
    if (!all[i].is_send()) {
      all[i].is_receive() ? begin_receives(handle, i) : give_copy(handle, i);
      continue;
    }
    // The others in turn come as each finishes, and the last of them may end the group.
    while (all[i].step.in_turn && next < steps && all[next].step.in_turn) ++next;
    give_train(handle, i);
  }
}

// Receives have their buffers; sends wait for the processor.
void Collectives::begin_group_of_own_processor(std::uint32_t handle) {
  const CollectiveLane& lane = with_.open.lane(handle);
  const ActiveCollective& active = with_.open.of_lane(handle);
  const std::size_t steps = lane.steps.size();
  if (with_.ranks[active.local].early > 0) early_.prefetch(active, lane.steps);
  const auto is_send = [](const OpenStep& open) { return open.is_send(); };
  if (std::any_of(lane.steps.begin(), lane.steps.end(), is_send)) {
    const Time launched = active.launched;
    const Time wait = launched > engine_.now() ? launched - engine_.now() : Time();
    schedule_lane(handle, after(wait, lane.busy));
  }
  for (std::uint32_t i = 0; i < steps; ++i) {
    if (with_.open.lane(handle).steps[i].is_receive()) begin_receives(handle, i);
  }
}

// For the sends of a group, or after the last one.
void Collectives::end_work_of_lane(std::uint32_t handle) {
  const CollectiveLane& lane = with_.open.lane(handle);
  if (lane.steps.empty()) return finish_lane(handle);
  // The last message to be sent may bring the steps of the next group.
  auto sends = std::count_if(lane.steps.begin(), lane.steps.end(),
                             [](const OpenStep& open) { return open.is_send(); });
  for (std::uint32_t i = 0; sends > 0; ++i) {
    if (!with_.open.lane(handle).steps[i].is_send()) continue;
    --sends;
    give_train(handle, i);
  }
}

// Copying or combining the longest of the messages, all of which go through at once.
Time Collectives::work_of_lane(std::uint32_t handle, goal::StepKind kind) const {
  const goal::CollectiveCall& call = with_.open.of_lane(handle).call;
  const goal::LaneCosts& costs = call.options->lane_costs;
  Time work;
  for (const OpenStep& open : with_.open.lane(handle).steps) {
    if (open.step.kind != kind) continue;
    const std::uint64_t bytes = call.bytes(open.step, open.step.peer_at(0, call.size));
    const Time step = open.step.goes_on                      ? Time()
                      : bytes > goal::LaneCosts::kShortBytes ? costs.step
                                                             : costs.short_step;
    const TimePerByte rate = open.step.combine > 0 ? costs.combine : costs.copy;
    work =
        std::max(work, after(costs.of_rounds(step, open.step), rate.of(std::min(bytes, costs.copied_bytes))));
  }
  return work;
}

void Collectives::schedule_lane(std::uint32_t handle, Time duration) {
  if (trails_ != nullptr) {
    trails_->on_lane(handle);
    note_step(PathSteps::Place::kLane, handle, handle, duration);
  }
  with_.work.schedule(rank_of(handle), duration, RankWork::kLaneDone, handle);
}

// Notes the work of a lane, which is kept at this place and takes so long from now on.
void Collectives::note_step(PathSteps::Place place, std::uint32_t index, std::uint32_t lane, Time duration) {
  if (trails_->steps() == nullptr) return;
  const RankState& rank = rank_of(lane);
  trails_->note_step(place, index, rank.view.rank(), rank.view.op(with_.open.of_lane(lane).op),
                     after(engine_.now(), duration));
}

void Collectives::finish_lane(std::uint32_t handle) {
  const std::uint32_t index = with_.open.lane(handle).active;
  if (--with_.open[index].lanes_left == 0) finish(index);
}

void Collectives::finish(std::uint32_t index) {
  const goal::OpIndex op = with_.open[index].op;
  const std::uint32_t local = with_.open[index].local;
  RankState& rank = with_.ranks[local];
  with_.open.remove(rank, index);
  if (overlap_ != nullptr) overlap_->end(local, engine_.now());
  if (trails_ != nullptr) trails_->end_collective(rank, rank.view.op(op), engine_.now());
  with_.work.finish_op(rank, op);
}

// ---- Sends: a train of messages ----

// One piece of work for the cpu: nothing else gets between its messages.
void Collectives::give_train(std::uint32_t lane, std::uint32_t step) {
  const ActiveCollective& active = with_.open.of_lane(lane);
  with_.work.give_task(with_.tasks.add(
      {.local = active.local, .op = step, .lane = lane, .nic = nic_of(active), .state = TaskState::kTrain}));
}

void Collectives::give_copy(std::uint32_t lane, std::uint32_t step) {
  const ActiveCollective& active = with_.open.of_lane(lane);
  with_.work.give_task(with_.tasks.add({.bytes = with_.open.lane(lane).steps[step].step.bytes,
                                        .local = active.local,
                                        .op = step,
                                        .lane = lane,
                                        .peer = with_.ranks[active.local].view.rank(),
                                        .nic = nic_of(active),
                                        .state = TaskState::kCombine}));
}

// Gives the cpu the next of the sends in turn, after the one that has finished.
void Collectives::give_next_in_turn(std::uint32_t lane, std::uint32_t after) {
  const std::vector<OpenStep>& steps = with_.open.lane(lane).steps;
  const std::uint32_t next = after + 1;
  if (next < steps.size() && steps[next].step.in_turn) give_train(lane, next);
}

bool Collectives::asks_first(const ReplayTask& train) const {
  const goal::ChosenAlgorithm& chosen = *with_.open.of_lane(train.lane).chosen;
  if (chosen.options.lane_costs.given) return false;
  if (with_.handshakes.asks_first(train.bytes)) return true;
  return train.bytes > plan_.hosts.collective_limit_bytes && with_.open.step(train).step.count == 1 &&
         blocks(chosen);
}

// Makes the train's task that of its next message.
void Collectives::point_train(ReplayTask& train) {
  OpenStep& open = with_.open.step(train);
  const ActiveCollective& active = with_.open.of_lane(train.lane);
  while (!is_message(active.call, open.step, open.next)) ++open.next;
  const std::uint32_t peer = open.step.peer_at(open.next++, active.call.size);
  train.bytes = active.call.wire_bytes(open.step, peer);
  train.peer = plan_.program.facts().world_rank(active.comm, peer);
}

// The eager message that the train points to, or (task != kNone) its request and what goes with that.
void Collectives::send(const ReplayTask& train, std::uint32_t task) {
  const ActiveCollective& active = with_.open.of_lane(train.lane);
  RankState& rank = with_.ranks[train.local];
  const MessageRoute route{train.peer, train.nic, with_.departures.next_connection(rank),
                           with_.open.channel_of(train)};
  Message message = with_.departures.message(rank.view.rank(), route);
  message.bytes = train.bytes;
  wire::FirstOfStep words{.ends = {rank.view.rank(), train.peer},
                          .sender = task,
                          .place = active.call.me,
                          .collective = active.number,
                          .communicator = active.comm,
                          .tag = with_.open.step(train).step.tag};
  if (task != kNone) {
    with_.handshakes.make_request(task, route.connection, message);
    words.kind = wire::Kind::kRequestToSend;
  }
  words.encode(message);
  hand_over(train, message);
}

// Between nodes by way of the rank's proxy thread, if it has one.
void Collectives::hand_over(const ReplayTask& train, Message& message) {
  const ActiveCollective& active = with_.open.of_lane(train.lane);
  const goal::LaneCosts& costs = active.call.options->lane_costs;
  if (!costs.given || same_node(active, train.peer)) return with_.departures.inject(message);
  const goal::Step& step = with_.open.step(train).step;
  const Time proxy = step.goes_on ? Time() : costs.of_rounds(costs.proxy, step);
  const Time between =
      after(costs.of_rounds(costs.between_nodes, step), costs.of_rounds(costs.way, step) - costs.way);
  const Time ready = after(proxy_is_done(train.local, proxy, costs.bundle), between);
  if (ready == engine_.now()) return with_.departures.inject(message);
  const std::uint32_t place = with_.held.hold(message);
  if (trails_ != nullptr) {
    trails_->hold(place);
    note_step(PathSteps::Place::kHeld, place, train.lane, ready - engine_.now());
  }
  with_.work.schedule(with_.ranks[train.local], ready - engine_.now(), RankWork::kMessageReady, place);
}

// It takes up messages in turn; when it has worked on the first of a bundle, that is on its way.
Time Collectives::proxy_is_done(std::uint32_t local, Time each, std::uint32_t bundle) {
  if (proxies_.empty()) proxies_.resize(with_.ranks.size());
  Time& proxy = proxies_[local];
  const Time first = after(std::max(proxy, engine_.now()), each);
  proxy = first;
  for (std::uint32_t i = 1; i < bundle; ++i) proxy = after(proxy, each);
  return first;
}

bool Collectives::same_node(const ActiveCollective& active, std::uint32_t peer) const {
  const goal::NodePlaces nodes = active.call.nodes();
  const std::uint32_t its = active.call.place_of(plan_.position_in(active.comm, peer, active.op));
  return nodes.node_of(active.call.place()) == nodes.node_of(its);
}

Time Collectives::end_of_message(std::uint32_t handle) {
  for (;;) {
    const ReplayTask train = with_.tasks[handle];
    with_.work.count_sent(with_.ranks[train.local], train.bytes);
    const bool is_last = --with_.open.step(train).left == 0;
    const bool asks = asks_first(train);
    send(train, asks ? with_.handshakes.begin_send(train) : kNone);
    if (is_last) with_.tasks.remove(handle);
    if (is_last && !asks) finish_message(train.lane, train.op);
    if (is_last) return Time();
    if (!asks) --with_.open.lane(train.lane).left;
    point_train(with_.tasks[handle]);
    const Time duration = with_.work.overhead(with_.tasks[handle].bytes);
    if (duration > Time()) return duration;
  }
}

// ---- Receives ----

// Takes the messages that are there already, in the order of their arrival.
void Collectives::begin_receives(std::uint32_t lane, std::uint32_t step) {
  const ActiveCollective& active = with_.open.of_lane(lane);
  RankState& rank = with_.ranks[active.local];
  if (rank.early == 0) return;
  for (const std::uint32_t entry : early_.find(rank, active, with_.open.lane(lane).steps[step].step)) {
    matched({lane, step}, early_.take(rank, entry));
  }
}

void Collectives::arrive(std::uint32_t local, const Message& message) {
  const auto first = wire::FirstOfStep::decode(message);
  const StepKey key{local, first.place, first.collective, first.communicator, first.tag};
  RankState& rank = with_.ranks[local];
  const OpenCollectives::Place place = with_.open.receive_of(rank, key);
  const ArrivedMessage there = with_.handshakes.arrived(message);
  if (place.lane != kNone) return matched(place, there);
  early_.push(rank, key, there);
}

void Collectives::matched(OpenCollectives::Place place, const ArrivedMessage& message) {
  --with_.open.lane(place.lane).steps[place.step].left;
  const ActiveCollective& active = with_.open.of_lane(place.lane);
  const std::uint32_t task = with_.handshakes.begin_receive(
      message, {.local = active.local, .op = place.step, .lane = place.lane, .nic = nic_of(active)});
  if (task != kNone) with_.work.give_task(task);
}

Time Collectives::combine_duration(const ReplayTask& task) const {
  const goal::Step& step = with_.open.step(task).step;
  if (step.kind == goal::StepKind::kCopy) return with_.open.of_lane(task.lane).copy.of(task.bytes);
  if (step.format == goal::WireFormat::kInSwitch) return {};  // the switch added it up
  std::uint64_t bytes;
  const std::uint64_t data = goal::data_bytes(step.format, task.bytes);
  if (__builtin_mul_overflow(data, std::uint64_t{step.combine}, &bytes)) bytes = UINT64_MAX;
  return with_.open.of_lane(task.lane).reduction.of(bytes);
}

void Collectives::expect(std::uint32_t local, const Message& message, int look) const {
  const auto first = wire::FirstOfStep::decode(message);
  if (with_.open.expect(with_.ranks[local], first.tag, look)) return;
  early_.prefetch({local, first.place, first.collective, first.communicator, first.tag});
}

}  // namespace weft::sim
