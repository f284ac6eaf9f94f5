#include "sim/packet/packet_network.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/core/windows.h"
#include "sim/packet/channel_choice.h"
#include "sim/packet/fabric.h"
#include "sim/packet/look_ahead.h"
#include "sim/packet/mailbox.h"
#include "sim/packet/message_rows.h"
#include "sim/routing/path_draws.h"
#include "sim/routing/paths/dependencies.h"
#include "sim/units/input_error.h"
#include "sim/units/long_times.h"
#include "sim/units/plugin_modules.h"

namespace weft::sim::packet {
namespace {

// Throws InputError where it would take so long that sums of such times run over.
Time find_longest_round_trip(const Channels& channels, std::uint32_t bytes) {
  const topologies::Topology& topology = channels.topology;
  for (const topologies::Channel& wire : topology.channels()) {
    const topologies::Node &from = topology.node(wire.from), &to = topology.node(wire.to);
    for (const Time time : {wire.latency, to.switch_latency}) {
      if (time > kLongestDelay) fail_too_slow(fmt::format("the link {} -> {}", from.name, to.name), time);
    }
  }
  Time longest;
  for (HostId from{0}; from < topology.hosts(); ++from) {
    if (channels.host_of(from) != 0) continue;
    const ChannelId nic{topology.out_channels(topology.host(from)).front()};
    for (HostId to{1}; to < topology.hosts(); ++to) {
      if (channels.host_of(to) == 0 || !channels.leads_to(nic, to)) continue;
      longest = std::max(longest, channels.path_times(nic, to, 0, bytes, 1, bytes).round_trip);
    }
  }
  if (longest > kLongestDelay) fail_too_slow("the longest round trip", longest);
  return longest;
}

// A network that delivers nothing for so long is looked at more closely. Senders that lost all they sent come
// back earlier, the first few times.
constexpr std::int64_t kLivelockTimeouts = 8;

// With what the control's own header takes.
PacketConfig config_of(const PacketSetup& setup) {
  PacketConfig config = setup.config;
  constexpr std::uint32_t kMost = 1 << 16;
  const auto factory = made_by("congestion control", setup.control.info.name, "make_factory",
                               [&] { return setup.control.make_factory(setup.control_parameters); });
  const std::uint32_t bytes = factory->header_bytes();
  if (bytes > kMost) {
    throw InputError("congestion control " + setup.control.info.name + " makes headers longer by " +
                     std::to_string(bytes) + " bytes; expected at most " + std::to_string(kMost));
  }
  config.header_bytes += bytes;
  config.ack_bytes += bytes;
  return config;
}

// How much longer queues may take than those of the network as it was built.
std::int64_t slowdown(std::span<const LinkChange> changes) {
  double least = 1;
  for (const LinkChange& change : changes) {
    if (change.rate_share > 0) least = std::min(least, change.rate_share);
  }
  return static_cast<std::int64_t>(1 / least + 0.999);
}

// With virtual channels where they are left to the network, of which a scenario's have been settled before.
Parameters queue_parameters(const PacketSetup& setup, const routing::Policy& policy, std::uint64_t seed) {
  const auto choice = choose_channels(policy, {setup.policy_parameters, setup.topology, setup.table, seed},
                                      setup.queue, setup.queue_parameters, routing::kCheckWork);
  return choice ? with_channels(setup.queue, setup.queue_parameters, *choice) : setup.queue_parameters;
}

// Queues are sized by the longest round trip, so it must be known between the two.
Time prepare(Channels& channels, const PacketSetup& setup, const routing::Policy& policy,
             const PacketConfig& config, std::span<Engine* const> engines) {
  if (config.cut_through) {
    if (!setup.queue.offers.always.has(Capability::kCutThrough)) {  // the resolver sees to that
      throw InputError(
          "network.packet.switching: cut_through is for queues that are FIFO, such as droptail and ecn; " +
          setup.queue.info.name + " decides packet by packet");
    }
    channels.cut_through();
  }
  const std::uint32_t bytes = config.mtu_bytes + config.header_bytes;
  const auto scales = [](const LinkChange& change) { return change.queue_share != 1; };
  if (setup.queue.rule == nullptr && !setup.queue.scales_limits &&
      std::ranges::any_of(setup.changes, scales)) {
    throw InputError(
        "fault.scale_queue: limits of " + setup.queue.info.name +
        " are not of a port alone and don't follow its rate; choose a queue whose limits do, such "
        "as ecn or composite, or leave scale_queue out");
  }
  const Time longest = find_longest_round_trip(channels, bytes);
  channels.delay_sends(config.send_delay);
  if (policy.one_salt) std::ranges::fill(channels.salts, routing::switch_salt(engines.front()->seed(), 0));
  channels.set_queues(setup.queue, queue_parameters(setup, policy, engines.front()->seed()),
                      longest + config.host_round_trip(), bytes);
  if (policy.asks.departures || policy.asks.losses) channels.report_ports();
  if (setup.control.needs.noticed().has(Capability::kTelemetry)) channels.stamp_packets(engines);
  channels.links_change = !setup.changes.empty();
  channels.undisturbed = policy.make_plan == nullptr && !channels.links_change;
  channels.join_room();
  return longest * policy.longest_path;
}

}  // namespace

// One partition: an engine, and all that its events touch.
class PacketNetwork::Part final : public Network {
 public:
  Part(Engine& engine, NetworkClient& client, PacketNetwork& network, std::uint32_t number)
      : engine(engine),
        outbox(network.partition_.parts),
        fabric(engine, network.channels_, network.policies_, number, outbox),
        transport(engine, client, fabric, network.channels_, network.hosts_, network.transport_setup_, number,
                  outbox),
        look_ahead(fabric, transport, network.channels_),
        client_(client),
        network_(network),
        channels_(network.channels_) {}

  // on_delivered comes with the last packet's last bit, on_sent when everything is acknowledged. Throws
  // InputError for a message of more than 2^32 packets. NIC numbers are taken modulo the host's links.
  void inject(const Message& message) override { transport.start(message); }
  // What shares a connection keeps its order; connections don't among each other.
  bool delivers_in_order() const override {
    const PacketConfig& config = network_.transport_setup_.config;
    return !config.connections.per_message &&
           (routing::asks_messages(config.nic_choice) || config.nic_choice == NicChoice::kHash ||
            config.nic_choice == NicChoice::kSpray);
  }

  void take_in(std::uint32_t from, Mail& mail) {
    for (const FlowStart& flow : mail.flows) transport.expect(from, flow);
    fabric.take_in(mail);
    mail.clear();
  }

  void run_before(Time limit, std::uint64_t most) {
    if (fabric.is_simple() && look_ahead.is_simple()) {
      run_before_as<true>(limit, most);
    } else {
      run_before_as<false>(limit, most);
    }
  }

  // When something happens next, here or by what was sent to others. All before `limit` has happened, as far
  // as others see it.
  Time next_time(Time limit) {
    const Time decision = fabric.settle_watched(std::min(limit, engine.next_time()));
    return std::min({engine.next_time(), Time::ps(outbox.earliest_ps()), decision});
  }

  Engine& engine;
  Outbox outbox;
  Fabric fabric;
  Transport transport;
  LookAhead look_ahead;

 private:
  // `kSimple`: no hop needs what most runs have no use for, so that isn't even looked at.
  template <bool kSimple>
  void run_before_as(Time limit, std::uint64_t most) {
    const ChannelEnd* const ends = channels_.ends.data();
    const EntityId first = channels_.first_entity;
    const auto handle = [this, ends, first](const Event& event) {
      if (event.kind == kHop) [[likely]] {
        const ChannelId channel{event.source - first};
        std::uint32_t end = ends[channel].vertex;
        const PacketHandle packet{event.payload};
        if constexpr (!kSimple) {
          if (end & kCutBit) [[unlikely]] {
            if (fabric.lost_on_wire(channel, event)) return;
            end &= ~kCutBit;
          }
          fabric.note_arrival(channel, packet);
        }
        if (end & kHostBit) {
          transport.packet_at_host(channel, packet);
        } else {
          fabric.forward<kSimple>(NodeId(end), channel, packet, look_ahead.take(packet));
        }
        return;
      }
      seldom(event);
    };
    look_ahead.run_before<kSimple>(engine, limit, most, handle);
  }

  // All events but hops. Not inlined, so that hops are.
  [[gnu::noinline]] void seldom(const Event& event) {
    if (fabric.observed()) fabric.settle_in_order();
    switch (event.kind) {
      case kNicReady:
        transport.turns().nic_ready(NicId(event.payload));
        break;
      case kNicTimer:
        transport.answers().nic_timer(NicId(event.payload));
        break;
      case kPace:
        transport.turns().pace(SlotId(event.payload), event.detail);
        break;
      case kLocalCopy:
        transport.local_copy_done(event.payload);
        break;
      case kReceive:
        transport.received(PacketHandle(event.payload), PortId(event.detail));
        break;
      case kAckTimer:
        transport.receiving().ack_timer(NicId(event.payload));
        break;
      case kSenderTimer:
        transport.turns().sender_timer(SlotId(event.payload), event.detail);
        break;
      case kTaken:
        transport.answers().tell_taken(SlotId(event.payload), event.detail);
        break;
      case kReceiverTimer:
        transport.receiving().receiver_timer(NicId(event.payload));
        break;
      case kServe:
        engine.discount(event);
        nic_ready(fabric.serve(ChannelId(event.payload)));
        break;
      case kLook:
        engine.discount(event);
        fabric.look(ChannelId(event.payload));
        break;
      case kPolicyTimer:
        fabric.policy_timer(network_.policies_.switch_of(event.source), event.payload);
        break;
      case kDeparted:
        fabric.departed(event.payload);
        break;
      case kStart:
        fabric.start(ChannelId(event.source - channels_.first_start), event.payload);
        break;
      case kFrame:
        nic_ready(fabric.frame_arrived(ChannelId(event.source - channels_.first_entity), event.payload));
        break;
      default:
        client_.on_event(event);
    }
  }
  // A NIC with queues of its own, or kNoChannel.
  void nic_ready(ChannelId channel) {
    if (channel != kNoChannel) transport.turns().nic_ready(network_.nic_of_channel(channel));
  }

  NetworkClient& client_;
  PacketNetwork& network_;
  const Channels& channels_;
};

// The partitions in windows.
class PacketNetwork::Run final : public Partitioned {
 public:
  Run(PacketNetwork& network, RunControl& control)
      : network_(network), first_window_(network.windows_), watch_(control, events_executed()) {}

  std::uint32_t partitions() const override { return static_cast<std::uint32_t>(network_.parts_.size()); }
  Time run_window(std::uint32_t p, std::uint32_t window, Time limit) override {
    Part& part = *network_.parts_[p];
    const std::uint32_t number = first_window_ + window;
    if (p == 0) network_.windows_ = number + 1;
    part.outbox.open(number);
    for (std::uint32_t from = 0; from < partitions(); ++from) {
      if (from != p) part.take_in(from, network_.parts_[from]->outbox.sent_before(number, p));
    }
    part.run_before(limit, most_);
    return part.next_time(limit);
  }
  std::uint64_t events_executed() const override {
    std::uint64_t events = 0;
    for (const auto& part : network_.parts_) events += part->engine.executed();
    return events;
  }
  StopReason between_windows(Time now, Time* limit) override {
    if (results::Series* series = network_.series_; series != nullptr) {
      if (now >= series->next()) {
        network_.settle(now);
        series->advance(now, network_);
      }
      *limit = std::min(*limit, series->next());
    }
    LinkSchedule& links = network_.link_schedule_;
    while (now >= links.next()) {
      network_.settle(links.next());
      links.advance(links.next(), network_.channels_, network_.policies_);
      for (const auto& part : network_.parts_) part->look_ahead.forget();
    }
    *limit = std::min(*limit, links.next());
    if (network_.deadlock_watch_ != nullptr) {
      if (now >= network_.next_look_ && network_.look_for_deadlock(now)) return StopReason::kDeadlock;
      *limit = std::min(*limit, network_.next_look_);
    }
    SwitchPolicies& policies = network_.policies_;
    while (now >= policies.next()) {
      const Time moment = policies.next();
      network_.settle(moment);
      policies.tell(moment, [&](SwitchId s) -> routing::OwnSwitch& {
        const std::uint32_t part = network_.channels_.part_of(network_.channels_.node_of(s));
        return network_.parts_[part]->fabric.view(s, moment);
      });
      policies.skip_idle(now);
      const StopReason reason = watch_.if_asked(moment, events_executed());
      if (reason != StopReason::kNone) return reason;
    }
    *limit = std::min(*limit, policies.next());
    if (network_.look_for_livelock(now)) return StopReason::kDeadlock;
    *limit = std::min(*limit, network_.livelock_watch_.next());
    const std::uint64_t events = events_executed();
    most_ = watch_.most(events);
    return watch_.before(now, events, limit);
  }

 private:
  PacketNetwork& network_;
  const std::uint32_t first_window_;
  RunWatch watch_;
  std::uint64_t most_ = 0;  // events of a partition in the next window
};

PacketNetwork::PacketNetwork(Engine& engine, NetworkClient& client, const PacketSetup& setup)
    : PacketNetwork(std::array{&engine}, std::array{&client}, setup,
                    topologies::Partitioning{.of_vertex = {}, .parts = 1}) {}

PacketNetwork::PacketNetwork(std::span<Engine* const> engines, std::span<NetworkClient* const> clients,
                             const PacketSetup& setup, topologies::Partitioning partition)
    : topology_(setup.topology),
      partition_(std::move(partition)),
      config_(config_of(setup)),
      policy_parameters_(setup.policy_parameters),
      policy_(setup.policy.configured(policy_parameters_)),
      channels_(engines, setup.routed(), setup.routes(), partition_, config_.ack_bytes, setup.nics),
      policies_(engines, policy_,
                {policy_parameters_, setup.routed(), setup.routes(), engines.front()->seed()}),
      longest_round_trip_(prepare(channels_, setup, policy_, config_, engines)),
      transport_setup_({policy_,
                        {policy_parameters_, setup.routed(), setup.routes(), engines.front()->seed()},
                        setup.control,
                        setup.control_parameters,
                        setup.recovery,
                        setup.recovery_parameters},
                       config_, longest_round_trip_, channels_.longest_queue()),
      hosts_(engines, setup.topology, setup.nics),
      link_schedule_(setup.changes, setup.config.reconvergence),
      livelock_watch_(channels_, transport_setup_.recovery.min_timeout * kLivelockTimeouts) {
  channels_.packet_lifetime = times_to_end(transport_setup_.recovery.min_timeout, slowdown(setup.changes));
  if (setup.queue.offers.always.has(Capability::kLossless))
    deadlock_watch_ = std::make_unique<DeadlockWatch>(channels_);
  for (std::uint32_t p = 0; p < engines.size(); ++p) {
    parts_.push_back(std::make_unique<Part>(*engines[p], *clients[p], *this, p));
  }
}

PacketNetwork::~PacketNetwork() = default;

Network& PacketNetwork::part(std::uint32_t partition) { return *parts_[partition]; }

void PacketNetwork::inject(const Message& message) {
  parts_[channels_.part_of(topology_.host(message.source))]->inject(message);
}

StopReason PacketNetwork::run(RunControl& control, std::uint32_t threads) {
  const RunControl::Bounds& bounds = control.bounds();
  // Where a run is sure to be cut off, nothing is worked out before its time.
  if (bounds.time < Time::max() || control.counts_events()) channels_.undisturbed = false;
  for (const auto& part : parts_) part->engine.heed(control);
  Run run(*this, control);
  Time first = Time::max();
  for (const auto& part : parts_) {
    first = std::min(first, part->next_time(Time()));
  }
  StopReason reason = run_windows(run, first, partition_.lookahead, threads);
  // Where nothing is left to happen, no frame is under way, and two looks need no time between.
  if (reason == StopReason::kNone && deadlock_watch_ != nullptr &&
      deadlock_watch_->look(kEndOfTime, kEndOfTime) && look_for_deadlock(kEndOfTime)) {
    reason = StopReason::kDeadlock;
  }
  Time last;
  for (const auto& part : parts_) last = std::max(last, part->engine.now());
  if (reason == StopReason::kTimeLimit) last = bounds.time;
  cut_off_ = Time::max();
  if (reason != StopReason::kNone) {
    cut_off_ = last;
    settle(reason == StopReason::kTimeLimit ? last + Time::ps(1) : last);
  }
  if (series_ != nullptr) {
    settle(last);
    series_->finish(last, *this);
  }
  return reason;
}

void PacketNetwork::set_observer(Observer* observer) { parts_.front()->fabric.set_observer(observer); }

std::uint64_t PacketNetwork::open_flows() const {
  std::uint64_t flows = 0;
  for (const auto& part : parts_) flows += part->transport.open_flows();
  return flows;
}

std::vector<results::Flow> PacketNetwork::flows() const {
  std::vector<DeliveredMessage> delivered;
  for (const auto& part : parts_) {
    delivered.insert(delivered.end(), part->transport.delivered().begin(), part->transport.delivered().end());
  }
  MessageRows rows(std::move(delivered));
  for (const auto& part : parts_) rows.add_sent(part->transport.sent());
  return rows.take();
}

// Once in ten longest round trips: more than any cable's latency, and seldom enough to cost nothing.
bool PacketNetwork::look_for_deadlock(Time now) {
  if (now < kEndOfTime) next_look_ = now + transport_setup_.longest_round_trip * 10;
  if (!deadlock_watch_->look(now, now < kEndOfTime ? next_look_ : now)) return false;
  deadlock_ = deadlock_watch_->describe();
  return true;
}

void PacketNetwork::settle(Time now) {
  for (const auto& part : parts_) part->fabric.settle_all(now);
}

bool PacketNetwork::look_for_livelock(Time now) {
  if (now < livelock_watch_.next()) return false;
  settle(livelock_watch_.next());
  if (livelock_watch_.look(counters())) {
    deadlock_ = livelock_watch_.describe();
    return true;
  }
  livelock_watch_.rest_until(now);
  return false;
}

std::uint64_t PacketNetwork::given_up() const {
  std::uint64_t sum = 0;
  for (const auto& part : parts_) sum += part->transport.counters().given_up;
  return sum;
}

FabricCounters PacketNetwork::counters() const {
  FabricCounters sum;
  for (const auto& part : parts_) sum += part->fabric.counters();
  return sum;
}

results::NetworkState PacketNetwork::network_state() const {
  const FabricCounters fabric = counters();
  return {.packets_injected = fabric.packets_injected,
          .packets_delivered = fabric.packets_delivered,
          .packets_dropped = fabric.packets_dropped,
          .bytes_delivered = fabric.bytes_delivered,
          .ecn_marks = fabric.marks};
}

void PacketNetwork::link_states(Time now, std::span<const std::uint32_t> links,
                                std::span<results::LinkState> states) const {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const ChannelId channel{links[i]};
    states[i] = {.bytes = channels_.hot[channel].bytes - channels_.unsent_bytes(channel, now),
                 .queue_bytes = channels_.queue_bytes(channel, now),
                 .busy = channels_.busy(channel, now)};
  }
}

results::FlowStatistics PacketNetwork::flow_statistics() const {
  results::FlowStatistics statistics;
  for (const auto& part : parts_) part->transport.add_to(statistics);
  return statistics;
}

results::NetworkTotals PacketNetwork::totals() const {
  const FabricCounters fabric = counters();
  TransportCounters transport;
  for (const auto& part : parts_) transport += part->transport.counters();
  results::NetworkTotals totals{.messages = transport.messages,
                                .bytes = transport.bytes,
                                .packets_injected = fabric.packets_injected,
                                .packets_delivered = fabric.packets_delivered,
                                .packets_dropped = fabric.packets_dropped,
                                .bytes_injected = fabric.bytes_injected,
                                .bytes_delivered = fabric.bytes_delivered,
                                .bytes_dropped = fabric.bytes_dropped,
                                .bytes_trimmed = fabric.bytes_trimmed,
                                .out_of_order_packets = transport.out_of_order_packets,
                                .overtaken_packets = transport.overtaken_packets,
                                .out_of_order_flows = transport.out_of_order_messages,
                                .max_reorder_distance = transport.max_reorder_distance};
  for (ChannelId c{0}; c < topology_.channels().size(); ++c) {
    totals.packet_hops += channels_.hot[c].packets;
  }
  totals.signals = {{"ecn_mark", fabric.marks},
                    {"drop", fabric.packets_dropped},
                    {"retransmit", transport.retransmissions},
                    {"timeout", transport.timeouts},
                    {"duplicate", transport.duplicates}};
  if (!transport_setup_.config.connections.per_message) {
    totals.signals.emplace_back("connection", transport.connections);
  }
  if (transport.nacks > 0) totals.signals.emplace_back("nack", transport.nacks);
  if (transport.notifications > 0) totals.signals.emplace_back("notification", transport.notifications);
  if (transport.credits > 0) totals.signals.emplace_back("credit", transport.credits);
  if (transport.pauses > 0) totals.signals.emplace_back("paused_flow", transport.pauses);
  if (transport.pauses_expired > 0) totals.signals.emplace_back("expired_pause", transport.pauses_expired);
  if (fabric.packets_trimmed > 0) totals.signals.emplace_back("trim", fabric.packets_trimmed);
  const std::pair<const char*, std::uint64_t> others[] = {
      {"corrupt", fabric.corrupted},      {"link_down_loss", fabric.lost_to_down_links},
      {"no_route", fabric.without_route}, {"detour", fabric.detours},
      {"redundant", transport.redundant}, {"given_up", transport.given_up}};
  for (const auto& [name, count] : others) {
    if (count > 0) totals.signals.emplace_back(name, count);
  }
  if (fabric.headers_returned > 0) totals.signals.emplace_back("return", fabric.headers_returned);
  add_module_signals(totals.signals);
  return totals;
}

// Adds up all objects of a module. Each kind of node has its own list; what comes and goes with connections
// is counted where they are.
void PacketNetwork::add_module_signals(Signals& signals) const {
  for (const NodeBuffers* buffers : channels_.buffers) {
    if (buffers == nullptr) continue;
    for (const auto& [name, count] : buffers->signals()) add_signal(name, count, signals);
  }
  policies_.add_signals(signals);
  // Receivers are made when they are needed, so a part may have none.
  for (const auto what : {Transport::Counting::kControl, Transport::Counting::kReceivers,
                          Transport::Counting::kRecovery, Transport::Counting::kPaths}) {
    for (const auto& part : parts_) part->transport.add_signals(what, signals);
  }
}

NicId PacketNetwork::nic_of_channel(ChannelId channel) const {
  const topologies::Topology& routed = channels_.topology;
  return hosts_.nic_at(routed.node(routed.channels()[channel].from).index, channels_.places[channel].port);
}

std::vector<results::Link> PacketNetwork::links() const {
  std::vector<results::Link> links;
  const auto& channels = topology_.channels();
  links.reserve(channels.size());
  for (ChannelId c{0}; c < channels.size(); ++c) {
    const std::uint64_t unsent = cut_off_ == Time::max() ? 0 : channels_.unsent_bytes(c, cut_off_);
    const std::uint64_t bytes = channels_.hot[c].bytes - unsent;
    links.push_back({.from = topology_.node(channels[c].from).name,
                     .to = topology_.node(channels[c].to).name,
                     .rate = channels[c].rate,
                     .highest = channels_.highest_rate(c),
                     .bytes = bytes,
                     .packets = channels_.hot[c].packets,
                     .drops = channels_.drops(c),
                     .ecn_marks = channels_.cold[c].marks,
                     .max_queue_bytes = channels_.max_queue_bytes(c),
                     .busy = channels_.busy(c, cut_off_),
                     .leaves_host = topology_.node(channels[c].from).kind == topologies::NodeKind::kHost});
  }
  return links;
}

}  // namespace weft::sim::packet
