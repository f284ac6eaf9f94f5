#include "sim/flow/flow_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "sim/routing/path_draws.h"
#include "sim/routing/table/uneven_choices.h"
#include "sim/units/input_error.h"
#include "sim/units/long_times.h"

namespace weft::sim::flow {
namespace {

constexpr Time kNever = Time::max();
// Few events may mean much work, so limits and interrupts are also looked at after so many rates given.
constexpr std::uint64_t kPollWork = 1 << 18;

// Where no link changes, and those to choose among are alike, there is nothing to go around.
routing::FluidPaths kind_of(const FlowSetup& setup) {
  using routing::FluidPaths;
  const FluidPaths fluid = setup.policy.fluid;
  if (fluid != FluidPaths::kAround) return fluid;
  const bool around = !setup.changes.empty() || routing::has_uneven_choices(setup.routed(), setup.routes());
  return around ? FluidPaths::kModel : FluidPaths::kEven;
}

}  // namespace

FlowNetwork::FlowNetwork(Engine& engine, NetworkClient& client, const FlowSetup& setup)
    : topology_(setup.topology),
      config_(setup.config),
      engine_(engine),
      client_(client),
      connected_(!config_.connections.per_message || config_.connections.send_buffer_bytes > 0),
      first_entity_(engine.add_entities(setup.topology.hosts() + 1)),
      trips_(setup, engine.seed()),
      paths_(setup.routed(), setup.routes(), kind_of(setup), engine.seed(), setup.make_paths,
             {setup.policy.one_salt, setup.policy.all_nics, setup.policy.rate_news}),
      fluids_(config_.tolerance),
      notices_(engine, first_entity_, kTaken, config_.connections.send_buffer_bytes, flows_, fluids_),
      terms_(topology_, config_, paths_, fluids_),
      changes_(setup),
      balance_(setup.routed(), config_.max_rate.bps() > 0 ? to_rate(config_.max_rate) : kMostRate),
      records_(config_.record_flows),
      flow_count_(setup.topology.hosts()),
      copy_free_at_(setup.topology.hosts()) {
  if (setup.policy.fluid == routing::FluidPaths::kUnknown) {
    const char* const why = setup.policy.no_fluid;
    throw InputError(fmt::format(
        "routing policy {} chooses {}, and network model flow has no packets; choose ecmp or spray",
        setup.policy.info.name, why != nullptr ? why : "for each packet by what it sees"));
  }
  add_resources();
}

// ---- Messages come ----

void FlowNetwork::inject(const Message& message) {
  const std::uint32_t slot = flows_.take();
  const std::uint64_t packets = std::max<std::uint64_t>(
      1, message.bytes / config_.mtu_bytes + (message.bytes % config_.mtu_bytes != 0 ? 1 : 0));
  if (packets > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError(
        fmt::format("a message of {} bytes has more than 2^32 packets of {} bytes; expected a larger mtu or "
                    "smaller messages",
                    message.bytes, config_.mtu_bytes));
  }
  Flow& flow = flows_[slot];
  flow = {.message = message,
          .start = engine_.now(),
          .wire_bytes = message.bytes + packets * config_.header_bytes,
          .number = flow_count_[message.source]++,
          .packets = static_cast<std::uint32_t>(packets)};
  ++open_flows_;
  if (message.source == message.destination) return start_local(message, slot);
  flow.left = kBytePs * flow.wire_bytes;
  packets_injected_ += flow.packets;
  ++under_way_;
  if (connected_) return queue(slot);
  flow.trip = trips_.make(message, routing::flow_identity(message.source, flow.number));
  join(slot);
}

// A message within a host is copied: one copy at a time per host, in order, then the latency.
void FlowNetwork::start_local(const Message& message, std::uint32_t slot) {
  const Time copy = serialization_to_end(config_.local_bandwidth, message.bytes);
  Time& free_at = copy_free_at_[message.source];
  free_at = after(std::max(free_at, engine_.now()), copy);
  flows_[slot].ideal = copy + config_.local_latency;
  flows_[slot].state = Flow::State::kDrained;
  engine_.schedule(after(free_at, config_.local_latency), first_entity_ + message.source, kLocalCopy, slot);
}

void FlowNetwork::add_resources() { fluids_.set_resources(paths_.resources(), paths_.detours() != nullptr); }

// Finds the flow's way through the network as it is now, and lets it take part in the next solve().
void FlowNetwork::join(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  const Terms terms = terms_.find(flow, way_);
  if (!way_.open) {
    flow.state = Flow::State::kCutOff;
    return;
  }
  if (flow.message.control) return leave(slot, after(clock_, flow.ideal));
  flow.state = Flow::State::kFlowing;
  const std::uint32_t fluid = fluid_of(slot);
  fluids_.enter(fluid, way_.uses, terms);
  flow.through = 0;
  fluids_.aim(flow, fluid, clock_);
  if (flow.is_offer()) balance_.came();
}

// ---- Time goes on ----

// One event for the earliest end. One that turns out to be too early does nothing.
void FlowNetwork::arm() {
  const Time next = fluids_.next_due();
  if (next >= tick_) return;
  tick_ = after(clock_, next - clock_);
  engine_.schedule(tick_, first_entity_ + topology_.hosts(), kDrained, 0);
}

void FlowNetwork::drain() {
  const Time now = engine_.now();
  if (now == tick_) tick_ = kNever;
  due_.clear();
  fluids_.take_due(now, due_);
  sort_drained();
  notices_.begin_gathering();
  for (const auto& [source, number, fluid] : drained_) {
    const std::uint32_t slot = head_of(fluid);
    if (connected_ && flows_[slot].target > 0) {
      notices_.aim(connections_[fluid], fluid, clock_);
      continue;
    }
    leave(slot, after(now, flows_[slot].latency));
    if (connected_) {
      begin_next(fluid);
    } else {
      fluids_.leave(fluid, now);
      if (flows_[slot].is_offer()) balance_.went();
    }
  }
  for (const std::uint32_t slot : notices_.end_gathering()) {
    const Message message = flows_[slot].message;  // the callback may start flows, which moves them
    client_.on_sent(message);
  }
}

// The last byte has left. A handshake leaves at once: its few bytes change nobody's rate by much, but every
// change of rates costs work.
void FlowNetwork::leave(std::uint32_t slot, Time arrival) {
  Flow& flow = flows_[slot];
  note_sent(flow, flow.wire_bytes);
  flow.state = Flow::State::kDrained;
  --under_way_;
  if (connected_) {
    // What was sent later can't arrive sooner.
    Time& last = connections_[flow.connection].arrival;
    arrival = last = std::max(last, arrival);
  }
  engine_.schedule(arrival, first_entity_ + flow.message.source, kDelivered, slot);
}

void FlowNetwork::deliver(std::uint32_t slot, bool local) {
  const Flow& flow = flows_[slot];
  Message message = flow.message;
  message.alone_ps = static_cast<float>(flow.ideal.ps());
  --open_flows_;
  if (!local) {
    wire_bytes_ += flow.wire_bytes;
    packets_delivered_ += flow.packets;
    if (connected_ && --connections_[flow.connection].open == 0) connections_.remove(flow.connection);
  }
  if (!message.control) {
    const results::Flow record{.source = message.source,
                               .destination = message.destination,
                               .bytes = message.bytes,
                               .start = flow.start,
                               .finish = engine_.now(),
                               .ideal = flow.ideal};
    records_.add(flow.number, record);
  }
  if (notices_.is_acknowledged(message)) {
    engine_.schedule(after(engine_.now(), flow.answer), first_entity_ + message.source, kAnswered, slot);
  } else {
    flows_.give_back(slot);
    if ((local || message.control) && message.notify_sent) client_.on_sent(message);
  }
  client_.on_delivered(message);
}

void FlowNetwork::handle(const Event& event) {
  switch (event.kind) {
    case kDrained:
      drain();
      break;
    case kDelivered:
      deliver(event.payload, false);
      break;
    case kLocalCopy:
      deliver(event.payload, true);
      break;
    case kTaken: {
      const Message message = flows_[event.payload].message;
      client_.on_sent(message);
      break;
    }
    case kAnswered: {
      const Flow& flow = flows_[event.payload];
      Message message = flow.message;
      message.alone_ps = static_cast<float>(flow.ideal.ps());
      flows_.give_back(event.payload);
      client_.on_sent(message);
      break;
    }
    default:
      client_.on_event(event);
  }
}

// All that happens at one moment.
StopReason FlowNetwork::run_events(Time now, RunWatch& watch) {
  do {
    Time limit = now + Time::ps(1);
    const StopReason reason = watch.before(now, engine_.executed(), &limit);
    if (reason != StopReason::kNone) return reason;
    engine_.run_before(
        limit, watch.most(engine_.executed()), [this](const Event& event) { handle(event); },
        [this](const Event& event) { expect(event, 0); }, [this](const Event& event) { expect(event, 1); },
        [this](const Event& event) { expect(event, 2); });
  } while (engine_.next_time() == now);
  return StopReason::kNone;
}

StopReason FlowNetwork::run(RunControl& control) {
  StopReason reason = StopReason::kNone;
  engine_.heed(control);
  RunWatch watch(control, engine_.executed());
  while (reason == StopReason::kNone) {
    if (fluids_.changed()) {
      if (paths_.detours() != nullptr && balance_.is_due()) balance(clock_);
      fluids_.solve(clock_);
    }
    if (fluids_.work() >= next_poll_) {
      next_poll_ = fluids_.work() + kPollWork;
      reason = control.answer(clock_, engine_.executed());
      if (reason != StopReason::kNone) break;
    }
    arm();
    const Time event = engine_.next_time(), change = next_change();
    if (event == kNever && change == kNever) break;
    const Time next = std::min(event, change);
    if (next > control.bounds().time) {
      clock_ = control.bounds().time;
      reason = StopReason::kTimeLimit;
      break;
    }
    if (series_ != nullptr && next >= series_->next()) series_->advance(next, *this);
    clock_ = next;
    if (change <= event) {
      change_links(change);
    } else {
      reason = run_events(event, watch);
    }
    forget_balance();
  }
  if (series_ != nullptr) series_->finish(clock_, *this);
  return reason;
}

// ---- Links change ----

// Changes are of no interest once nothing is left to happen.
Time FlowNetwork::next_change() const {
  return under_way_ == 0 && engine_.pending() == 0 ? kNever : changes_.next();
}

// Before anything else happens at this moment.
void FlowNetwork::change_links(Time now) {
  std::vector<std::uint32_t> under_way;
  for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
    Flow& flow = flows_[slot];
    if (flow.state == Flow::State::kFlowing || flow.state == Flow::State::kCutOff) under_way.push_back(slot);
    if (flow.state != Flow::State::kFlowing) continue;
    interrupt(slot, now);
    note_sent(flow, flow.shared);
  }
  changes_.apply(now, paths_);
  add_resources();
  for (const std::uint32_t slot : under_way) resume(slot);
}

// A flow leaves its way.
void FlowNetwork::interrupt(std::uint32_t slot, Time now) {
  Flow& flow = flows_[slot];
  const std::uint32_t fluid = fluid_of(slot);
  fluids_.settle(flow, fluid, now);
  note_share(flow, fluids_.sent_bytes(flow, fluid, now));
  fluids_.leave(fluid, now);
  if (connected_) connections_[fluid].flows = false;
}

// It is told its way anew.
void FlowNetwork::resume(std::uint32_t slot) {
  if (connected_) {
    begin(flows_[slot].connection);
  } else {
    join(slot);
  }
}

std::uint64_t FlowNetwork::cut_off() const {
  std::uint64_t count = 0;
  for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
    if (flows_[slot].state == Flow::State::kCutOff) ++count;
  }
  return count;
}

// ---- Shares of detours follow the traffic ----

// The slots of flows with a rate, ascending. Many more messages may wait in connections.
std::vector<std::uint32_t> FlowNetwork::flowing() const {
  std::vector<std::uint32_t> slots;
  const std::uint32_t fluids = connected_ ? connections_.end() : flows_.size();
  for (std::uint32_t fluid = 0; fluid < fluids; ++fluid) {
    const std::uint32_t slot = head_of(fluid);
    if (slot != Connection::kNone && flows_[slot].state == Flow::State::kFlowing) slots.push_back(slot);
  }
  std::ranges::sort(slots);
  return slots;
}

void FlowNetwork::balance(Time now) {
  const std::vector<std::uint32_t> slots = flowing();
  const std::vector<bool> changed = balance_.balance(flows_, slots, *paths_.detours());
  std::vector<std::uint32_t> moved;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (changed[i]) moved.push_back(slots[i]);
  }
  for (const std::uint32_t slot : moved) interrupt(slot, now);
  adopt_balance();
  constexpr std::size_t kAhead = 4;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    if (i + 2 * kAhead < moved.size()) paths_.fetch_place(flows_[moved[i + 2 * kAhead]].trip);
    if (i + kAhead < moved.size()) paths_.fetch(flows_[moved[i + kAhead]].trip);
    resume(moved[i]);
  }
  balance_.restart();
}

void FlowNetwork::adopt_balance() {
  paths_.adopt_balance();
  fluids_.set_capacities(paths_.resources());
}

void FlowNetwork::forget_balance() {
  if (paths_.detours() == nullptr || fluids_.count() > 0) return;
  if (balance_.forget(*paths_.detours())) adopt_balance();
}

// ---- Results ----

// Up to `now`. What flows under way have sent is told to paths_ only when somebody asks, or links change.
void FlowNetwork::note_all_sent(Time now) const {
  for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
    Flow& flow = flows_[slot];
    if (flow.state == Flow::State::kFlowing) note_sent(flow, fluids_.sent_bytes(flow, fluid_of(slot), now));
  }
}

std::vector<std::uint64_t> FlowNetwork::carried(Time now) const {
  note_all_sent(now);
  return paths_.carried();
}

void FlowNetwork::divide_bytes(std::span<const std::uint32_t> job_of_host, std::uint32_t jobs) {
  job_of_host_.assign(job_of_host.begin(), job_of_host.end());
  paths_.divide_by_job(jobs);
}

std::vector<std::uint64_t> FlowNetwork::job_bytes() const {
  if (job_of_host_.empty()) return {};
  note_all_sent(clock_);
  return paths_.carried_by_job();
}

void FlowNetwork::note_sent(Flow& flow, std::uint64_t bytes) const {
  note_share(flow, bytes);
  const std::uint64_t news = bytes - flow.carried;
  if (news == 0) return;
  const std::uint32_t job = job_of_host_.empty() ? 0 : job_of_host_[flow.message.source];
  paths_.carry(flow.trip, news, flow.detoured / static_cast<double>(news), job);
  flow.carried = bytes;
  flow.detoured = 0;
}

// So much has gone with the share that it has now, and before.
void FlowNetwork::note_share(Flow& flow, std::uint64_t bytes) const {
  if (const Detours* const detours = paths_.detours()) {
    flow.detoured +=
        detours->share(flow.trip.source, flow.trip.destination) * static_cast<double>(bytes - flow.shared);
  }
  flow.shared = bytes;
}

results::NetworkTotals FlowNetwork::totals() const {
  results::NetworkTotals totals = records_.totals();
  totals.bytes_injected = totals.bytes_delivered = wire_bytes_;
  return totals;
}

// Counts whole messages, by the packets that they are made of.
results::NetworkState FlowNetwork::network_state() const {
  return {.packets_injected = packets_injected_,
          .packets_delivered = packets_delivered_,
          .bytes_delivered = wire_bytes_};
}

void FlowNetwork::link_states(Time now, std::span<const std::uint32_t> links,
                              std::span<results::LinkState> states) const {
  const std::vector<std::uint64_t> bytes = carried(now);
  for (std::size_t i = 0; i < links.size(); ++i) {
    states[i] = {.bytes = bytes[links[i]], .busy = changes_.busy(links[i], bytes[links[i]])};
  }
}

std::vector<results::Link> FlowNetwork::links() const {
  std::vector<results::Link> links;
  const auto& channels = topology_.channels();
  const std::vector<std::uint64_t> bytes = carried(clock_);
  links.reserve(channels.size());
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    links.push_back({.from = topology_.node(channels[c].from).name,
                     .to = topology_.node(channels[c].to).name,
                     .rate = channels[c].rate,
                     .highest = changes_.highest_rate(c),
                     .bytes = bytes[c],
                     .busy = changes_.busy(c, bytes[c]),
                     .leaves_host = topology_.node(channels[c].from).kind == topologies::NodeKind::kHost});
  }
  return links;
}

}  // namespace weft::sim::flow
