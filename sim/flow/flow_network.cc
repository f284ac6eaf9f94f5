#include "sim/flow/flow_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "sim/routing/path_draws.h"
#include "sim/units/input_error.h"
#include "sim/units/long_times.h"

namespace weft::sim::flow {
namespace {

constexpr Time kNever = Time::max();
// Few events may mean much work, so limits and interrupts are also looked at after so many rates given.
constexpr std::uint64_t kPollWork = 1 << 18;

// Where no link changes there is nothing to go around.
routing::FluidPaths kind_of(const FlowSetup& setup) {
  using routing::FluidPaths;
  const FluidPaths fluid = setup.policy.fluid;
  if (fluid != FluidPaths::kAround) return fluid;
  return setup.changes.empty() ? FluidPaths::kEven : FluidPaths::kModel;
}

}  // namespace

FlowNetwork::FlowNetwork(Engine& engine, NetworkClient& client, const FlowSetup& setup)
    : topology_(setup.topology),
      config_(setup.config),
      engine_(engine),
      client_(client),
      seed_(engine.seed()),
      connected_(!config_.connections.per_message || config_.connections.send_buffer_bytes > 0),
      first_entity_(engine.add_entities(setup.topology.hosts() + 1)),
      all_nics_(setup.policy.all_nics),
      hears_rates_(setup.policy.rate_news == routing::RateNews::kWithRoutes),
      nics_(setup.nics, setup.topology.hosts()),
      paths_(setup.routed(), setup.routes(), kind_of(setup), engine.seed(), setup.make_paths,
             {setup.policy.one_salt, setup.policy.all_nics, setup.policy.rate_news}),
      flow_count_(setup.topology.hosts()),
      copy_free_at_(setup.topology.hosts()),
      changes_(setup.changes),
      share_(setup.topology.channels().size(), 1.0),
      down_(setup.topology.channels().size() / 2),
      routed_(setup.routed()),
      original_table_(setup.routes()) {
  if (setup.policy.fluid == routing::FluidPaths::kUnknown) {
    const char* const why = setup.policy.no_fluid;
    throw InputError(fmt::format(
        "routing policy {} chooses {}, and network model flow has no packets; choose ecmp or spray",
        setup.policy.info.name, why != nullptr ? why : "for each packet by what it sees"));
  }
  add_resources();
  for (const topologies::Channel& wire : topology_.channels()) {
    const topologies::Node& end = topology_.node(wire.to);
    const bool at_host = end.kind == topologies::NodeKind::kHost;
    delay_.push_back(at_host ? wire.latency : wire.latency + end.switch_latency);
    if (wire.latency > kLongestDelay || delay_.back() > kLongestDelay) {
      fail_too_slow(fmt::format("the link {} -> {}", topology_.node(wire.from).name, end.name), wire.latency);
    }
    full_packet_.push_back(wire.rate.serialization(config_.mtu_bytes + config_.header_bytes));
  }
}

// ---- Messages come ----

void FlowNetwork::inject(const Message& message) {
  std::uint32_t slot;
  if (unused_.empty()) {
    slot = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
  } else {
    slot = unused_.back();
    unused_.pop_back();
    if (!unused_.empty()) fetch(unused_.back());
  }
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
  flow.trip = trip_of(message, routing::flow_identity(message.source, flow.number));
  join(slot);
}

Trip FlowNetwork::trip_of(const Message& message, std::uint64_t identity) {
  Trip trip{.source = message.source,
            .destination = message.destination,
            .entropy = static_cast<std::uint32_t>(routing::flow_draws(seed_, identity).next())};
  choose_nics(message, trip);
  return trip;
}

// A message within a host is copied: one copy at a time per host, in order, then the latency.
void FlowNetwork::start_local(const Message& message, std::uint32_t slot) {
  const Time copy = serialization_to_end(config_.local_bandwidth, message.bytes);
  Time& free_at = copy_free_at_[message.source];
  free_at = after(std::max(free_at, engine_.now()), copy);
  flows_[slot].ideal = copy + config_.local_latency;
  flows_[slot].state = State::kDrained;
  engine_.schedule(after(free_at, config_.local_latency), first_entity_ + message.source, kLocalCopy, slot);
}

void FlowNetwork::choose_nics(const Message& message, Trip& trip) {
  const std::uint32_t count = nics_of(message.source);
  if (all_nics_ || config_.nic_choice == NicChoice::kSpray) {
    trip.nics = static_cast<std::uint8_t>(std::min<std::uint32_t>(count, UINT8_MAX));
    return;
  }
  const auto load = [](std::uint32_t) { return 0; };  // nothing is least loaded here
  const std::uint32_t nic = nics_.source(config_.nic_choice, message, trip.entropy, count, load);
  trip.first_nic = static_cast<std::uint8_t>(nic);
  nics_.require_way(message, nic);
  const routing::NicNetwork* const network = nics_.network();
  if (network == nullptr || !network->unfolded()) return;
  const std::uint32_t there =
      nics_.destination(config_.nic_choice, message, nic, nics_of(message.destination));
  trip.first_nic = 0;
  trip.source = network->endpoint(message.source, nic);
  trip.destination = network->endpoint(message.destination, there);
}

// Those of paths_. The pool, the last one, is an estimate: that each detour moved all others costs too much.
void FlowNetwork::add_resources() {
  constexpr double kPoolSlack = 1.0 / 128;
  const std::span<const Rate> capacities = paths_.resources();
  for (std::uint32_t i = 0; i < capacities.size(); ++i) {
    const bool is_pool = paths_.detours() != nullptr && i + 1 == capacities.size();
    max_min_.add_resource(capacities[i]);
    max_min_.set_slack(i, is_pool ? std::max(kPoolSlack, config_.tolerance) : config_.tolerance);
  }
  progress_.set_groups(max_min_.resources());
}

// Finds the flow's way through the network as it is now, and lets it take part in the next solve().
void FlowNetwork::join(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  const Terms terms = find_way(flow);
  if (!way_.open) {
    flow.state = State::kCutOff;
    return;
  }
  if (flow.message.control) return leave(slot, after(clock_, flow.ideal));
  flow.state = State::kFlowing;
  enter(slot, terms);
}

void FlowNetwork::enter(std::uint32_t slot, const Terms& terms) {
  max_min_.add(fluid_of(slot), way_.uses, terms.weight, terms.cap);
  progress_.enter(fluid_of(slot), terms.weight);
  flows_[slot].through = 0;
  set_aim(slot, clock_);
  ++fluids_;
  if (is_offer(flows_[slot])) ++came_;
}

// A fluid takes part no more.
void FlowNetwork::take_out(std::uint32_t fluid, Time now) {
  max_min_.remove(fluid);
  progress_.leave(fluid, now);
  --fluids_;
}

// Puts it into way_, and works out what follows from it.
FlowNetwork::Terms FlowNetwork::find_way(Flow& flow) {
  paths_.find(flow.trip, way_);
  if (!way_.open) return {};
  flow.latency = latency_of(flow);
  Rate cap = config_.max_rate.bps() > 0 ? to_rate(config_.max_rate) : kMostRate;
  if (config_.window_bytes > 0) {
    const auto amount = kBytePs * config_.window_bytes;
    const auto rate = amount / static_cast<std::uint64_t>(std::max<std::int64_t>(round_trip().ps(), 1));
    cap = static_cast<Rate>(std::min<Amount>(static_cast<Amount>(cap), std::max<Amount>(rate, 1)));
  }
  std::uint32_t weight = 1;
  if (!config_.equal_shares) {
    // A round trip of 100 ns, and any shorter one, has the most.
    const std::int64_t ps = std::max<std::int64_t>(round_trip().ps(), 100'000);
    weight = static_cast<std::uint32_t>(
        std::max<std::int64_t>(std::int64_t{MaxMin::kMostWeight} * 100'000 / ps, 1));
  }
  if (flow.ideal == Time() || flow.message.control) {
    Rate alone = cap;
    const bool balances = paths_.detours() != nullptr;
    if (balances) paths_.find_alone(flow.trip, alone_);
    for (const Use& use : balances ? alone_.uses : way_.uses) {
      const Rate whole = balances ? paths_.capacity(use.resource) : max_min_.capacity(use.resource);
      const auto through = static_cast<Amount>(whole) * kWhole / use.share;
      alone = static_cast<Rate>(std::min<Amount>(static_cast<Amount>(alone), through));
    }
    flow.ideal = after(time_for(kBytePs * flow.wire_bytes, std::max<Rate>(alone, 1)), flow.latency);
  }
  return {weight, cap};
}

// From the last byte's leaving to its arrival. The slowest link of the path sends all the while. The links
// before it add the time of the first packet, those after it that of the last one, which may have to wait
// there for the one before it, if that is longer.
Time FlowNetwork::latency_of(const Flow& flow) const {
  const std::uint32_t full = config_.mtu_bytes + config_.header_bytes;
  const auto last = static_cast<std::uint32_t>(flow.wire_bytes - std::uint64_t{flow.packets - 1} * full);
  const std::uint32_t first = flow.packets > 1 ? full : last;
  const auto& channels = topology_.channels();
  const auto wire_time = [&](std::uint32_t c, std::uint32_t bytes) {
    return bytes == full ? full_packet_[c] : channels[c].rate.serialization(bytes);
  };
  std::size_t slowest = 0;
  for (std::size_t i = 1; i < way_.hops.size(); ++i) {
    if (channels[way_.hops[i]].rate <= channels[way_.hops[slowest]].rate) slowest = i;
  }
  // Cables and pipelines delay all packets alike, so they are counted apart.
  Time delays = config_.send_delay + config_.receive_delay + config_.host_delay;
  Time sum, ahead;  // ahead: when the packet before the last has left
  for (std::size_t i = 0; i < way_.hops.size(); ++i) {
    const std::uint32_t c = way_.hops[i];
    delays = delays + delay_[c];
    if (config_.cut_through) {
      // Switches send on from the header; hosts wait for the rest.
      if (i + 1 < way_.hops.size()) sum = sum + wire_time(c, std::min(first, config_.header_bytes));
    } else if (i < slowest) {
      sum = sum + wire_time(c, first);
    } else if (i == slowest) {
      ahead = sum - wire_time(c, last);
    } else {
      ahead = ahead + full_packet_[c];
      if (flow.packets > 1) sum = std::max(sum, ahead);
      sum = sum + wire_time(c, last);
    }
  }
  return delays + sum;
}

// Of a full packet, and back of its acknowledgement, which is no larger than a header.
Time FlowNetwork::round_trip() const {
  Time sum = (config_.send_delay + config_.receive_delay) * 2 + config_.host_delay;
  for (const std::uint32_t c : way_.hops) {
    sum = sum + delay_[c] * 2 + full_packet_[c] +
          topology_.channels()[c].rate.serialization(config_.header_bytes);
  }
  return sum;
}

// ---- Time goes on ----

void FlowNetwork::settle(std::uint32_t slot, Time now) {
  Flow& flow = flows_[slot];
  const Amount through = progress_.through(fluid_of(slot), now);
  // In the last picosecond there may be room for more.
  flow.left -= std::min(flow.left, through - flow.through);
  flow.through = through;
}

std::uint64_t FlowNetwork::sent_bytes(std::uint32_t slot, Time now) const {
  const Flow& flow = flows_[slot];
  const Amount since = progress_.through(fluid_of(slot), now) - flow.through;
  const Amount left = flow.left > since ? flow.left - since : 0;
  return flow.wire_bytes - static_cast<std::uint64_t>((left + (kBytePs - 1)) / kBytePs);
}

// When something happens to the flow: its end, or what it aims at.
void FlowNetwork::set_aim(std::uint32_t slot, Time now) {
  const Flow& flow = flows_[slot];
  const Amount rest = flow.left > flow.target ? flow.left - flow.target : 0;
  progress_.aim(fluid_of(slot), flow.through + rest, now);
}

void FlowNetwork::solve(Time now) {
  ++solves_;
  const MaxMin::Changes changes = max_min_.solve();
  for (const std::uint32_t group : changes.groups) {
    progress_.set_level(group, max_min_.group_level(group), now);
  }
  for (const auto [fluid, bottleneck] : changes.moves) {
    if (bottleneck == MaxMin::kOwnCap) {
      progress_.move_out(fluid, max_min_.level(fluid), now);
    } else {
      progress_.move(fluid, bottleneck, now);
    }
  }
}

// One event for the earliest end. One that turns out to be too early does nothing.
void FlowNetwork::arm() {
  const Time next = progress_.next();
  if (next >= tick_) return;
  tick_ = after(clock_, next - clock_);
  engine_.schedule(tick_, first_entity_ + topology_.hosts(), kDrained, 0);
}

void FlowNetwork::drain() {
  const Time now = engine_.now();
  if (now == tick_) tick_ = kNever;
  due_.clear();
  progress_.take_due(now, due_);
  sort_drained();
  told_.clear();
  draining_ = true;
  for (const auto& [source, number, fluid] : drained_) {
    const std::uint32_t slot = head_of(fluid);
    if (connected_ && flows_[slot].target > 0) {
      aim(fluid);
      continue;
    }
    leave(slot, after(now, flows_[slot].latency));
    if (connected_) {
      begin_next(fluid);
    } else {
      take_out(fluid, now);
      if (is_offer(flows_[slot])) ++went_;
      if (flows_[slot].message.notify_sent) told_.push_back(slot);
    }
  }
  draining_ = false;
  for (std::size_t i = 0; i < told_.size(); ++i) {
    const Message message = flows_[told_[i]].message;  // the callback may start flows, which moves them
    client_.on_sent(message);
  }
}

// The last byte has left. A handshake leaves at once: its few bytes change nobody's rate by much, but every
// change of rates costs work.
void FlowNetwork::leave(std::uint32_t slot, Time arrival) {
  Flow& flow = flows_[slot];
  note_sent(flow, flow.wire_bytes);
  flow.state = State::kDrained;
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
    ++totals_.messages;
    totals_.bytes += message.bytes;
    statistics_.add(record);
    if (config_.record_flows) delivered_.emplace_back(flow.number, record);
  }
  flows_[slot].state = State::kFree;
  unused_.push_back(slot);
  if ((local || message.control) && message.notify_sent) client_.on_sent(message);
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
    if (max_min_.changed()) {
      if (is_unbalanced()) balance(clock_);
      solve(clock_);
    }
    if (max_min_.work() >= next_poll_) {
      next_poll_ = max_min_.work() + kPollWork;
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

// Of no interest once nothing is left to happen.
Time FlowNetwork::next_change() const {
  if (under_way_ == 0 && engine_.pending() == 0) return kNever;
  const Time change = next_change_ < changes_.size() ? changes_[next_change_].at : kNever;
  return next_reroute_ < reroutes_.size() ? std::min(change, reroutes_[next_reroute_]) : change;
}

// Before anything else happens at this moment.
void FlowNetwork::change_links(Time now) {
  std::vector<std::uint32_t> under_way;
  for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
    Flow& flow = flows_[slot];
    if (flow.state == State::kFlowing || flow.state == State::kCutOff) under_way.push_back(slot);
    if (flow.state == State::kFlowing) interrupt(slot, now);
  }
  for (; next_change_ < changes_.size() && changes_[next_change_].at == now; ++next_change_) {
    const LinkShare& change = changes_[next_change_];
    paths_.set_share(change.link, change.share, change.directions);
    bool new_rate = false;
    for (std::uint32_t d = 0; d < 2; ++d) {
      if (!(change.directions >> d & 1)) continue;
      new_rate |= std::exchange(share_[2 * change.link + d], change.share) != change.share;
    }
    const bool was_down = down_[change.link];
    down_[change.link] = change.share == 0;
    if (was_down == (change.share == 0) && !(hears_rates_ && new_rate)) continue;
    const Time known = after(now, config_.reconvergence);
    if (reroutes_.empty() || reroutes_.back() != known) reroutes_.push_back(known);
  }
  if (next_reroute_ < reroutes_.size() && reroutes_[next_reroute_] == now) {
    ++next_reroute_;
    if (table_ == nullptr) table_ = std::make_unique<routing::RoutingTable>(original_table_);
    table_->repair(routed_, down_);
    paths_.set_table(*table_);
    paths_.tell_rates();
  }
  paths_.refresh();
  max_min_.clear_resources();
  add_resources();
  for (const std::uint32_t slot : under_way) resume(slot);
}

// A flow leaves its way.
void FlowNetwork::interrupt(std::uint32_t slot, Time now) {
  Flow& flow = flows_[slot];
  const std::uint32_t fluid = fluid_of(slot);
  settle(slot, now);
  note_sent(flow, sent_bytes(slot, now));
  take_out(fluid, now);
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
  return static_cast<std::uint64_t>(std::count_if(
      flows_.begin(), flows_.end(), [](const Flow& flow) { return flow.state == State::kCutOff; }));
}

// ---- Results ----

// Up to `now`. What flows under way have sent is told to paths_ only when somebody asks, or links change.
void FlowNetwork::note_all_sent(Time now) const {
  for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
    Flow& flow = flows_[slot];
    if (flow.state == State::kFlowing) note_sent(flow, sent_bytes(slot, now));
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
  const std::uint32_t job = job_of_host_.empty() ? 0 : job_of_host_[flow.message.source];
  paths_.carry(flow.trip, bytes - flow.carried, job);
  flow.carried = bytes;
}

results::NetworkTotals FlowNetwork::totals() const {
  results::NetworkTotals totals = totals_;
  totals.bytes_injected = totals.bytes_delivered = wire_bytes_;
  return totals;
}

// Of whole messages: the packets they are made of.
results::NetworkState FlowNetwork::network_state() const {
  return {.packets_injected = packets_injected_,
          .packets_delivered = packets_delivered_,
          .bytes_delivered = wire_bytes_};
}

void FlowNetwork::link_states(Time now, std::span<const std::uint32_t> links,
                              std::span<results::LinkState> states) const {
  const std::vector<std::uint64_t> bytes = carried(now);
  for (std::size_t i = 0; i < links.size(); ++i) states[i] = {.bytes = bytes[links[i]]};
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
                     .bytes = bytes[c],
                     .busy = channels[c].rate.serialization(bytes[c]),
                     .leaves_host = topology_.node(channels[c].from).kind == topologies::NodeKind::kHost});
  }
  return links;
}

std::vector<results::Flow> FlowNetwork::flows() const {
  auto sorted = delivered_;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.start, a.second.source, a.first) <
           std::tie(b.second.start, b.second.source, b.first);
  });
  std::vector<results::Flow> rows;
  rows.reserve(sorted.size());
  for (const auto& [number, flow] : sorted) rows.push_back(flow);
  return rows;
}

}  // namespace weft::sim::flow
