#include "sim/packet/packet_network.h"

#include <algorithm>
#include <limits>

namespace weft::sim::packet {
namespace {

Time find_longest_round_trip(const Fabric& fabric, const topologies::Topology& topology,
                             std::uint32_t bytes) {
  Time longest;
  const std::uint32_t nic = topology.out_channels(topology.host(0)).front();
  for (std::uint32_t host = 1; host < topology.hosts(); ++host) {
    longest = std::max(longest, fabric.round_trip(nic, host, 0, bytes));
  }
  return longest;
}

// Queues are sized by the longest round trip, so it must be known between the two.
Time prepare(Fabric& fabric, const PacketSetup& setup) {
  const std::uint32_t bytes = setup.config.mtu_bytes + setup.config.header_bytes;
  const Time longest = find_longest_round_trip(fabric, setup.topology, bytes);
  fabric.set_queues(setup.queue, setup.queue_parameters, longest, bytes);
  return longest;
}

}  // namespace

const ModuleInfo& packet_module() {
  static const ModuleInfo info{
      .name = "packet",
      .summary = "Every packet and ACK through output-queued switches, with marking, loss and recovery.",
      .source = "store-and-forward output queueing; RFC 8985, RFC 6298 for loss recovery",
      .parameters = {
          {"mtu", ParameterType::kBytes, "4096", "Payload of a full packet, 1 byte to 1 MiB."},
          {"header", ParameterType::kBytes, "64", "Bytes added to each data packet on the wire."},
          {"ack", ParameterType::kBytes, "64", "Size of an ACK on the wire, at least 1 byte."},
          {"min_timeout", ParameterType::kTime, "100us",
           "Least retransmission timeout; raised to what full queues may take."},
          {"local_bandwidth", ParameterType::kBandwidth, "800Gbps",
           "Rate of copies within a host, one at a time."},
          {"local_latency", ParameterType::kTime, "200ns", "Latency of a copy within a host."},
      }};
  return info;
}

PacketConfig packet_config(const Parameters& parameters) {
  constexpr std::uint64_t kMost = 1 << 20;
  for (const char* name : {"mtu", "header", "ack"}) {
    if (parameters.bytes(name) > kMost) parameters.fail(name, "it must be at most 1MiB");
  }
  if (parameters.bytes("mtu") == 0) parameters.fail("mtu", "it must be at least 1 byte");
  if (parameters.bytes("ack") == 0) parameters.fail("ack", "it must be at least 1 byte");
  if (parameters.bandwidth("local_bandwidth") < kLeastRate) {
    parameters.fail("local_bandwidth", "it must be at least " + to_string(kLeastRate));
  }
  if (parameters.time("min_timeout") == Time()) parameters.fail("min_timeout", "it must be above 0");
  return {
      .mtu_bytes = static_cast<std::uint32_t>(parameters.bytes("mtu")),
      .header_bytes = static_cast<std::uint32_t>(parameters.bytes("header")),
      .ack_bytes = static_cast<std::uint32_t>(parameters.bytes("ack")),
      .min_timeout = parameters.time("min_timeout"),
      .local_bandwidth = parameters.bandwidth("local_bandwidth"),
      .local_latency = parameters.time("local_latency"),
  };
}

PacketNetwork::PacketNetwork(Engine& engine, NetworkClient& client, const PacketSetup& setup)
    : topology_(setup.topology),
      engine_(engine),
      client_(client),
      fabric_(engine, setup.topology, setup.table, setup.policy, setup.policy_parameters,
              setup.config.ack_bytes),
      longest_round_trip_(prepare(fabric_, setup)),
      transport_(engine, client, fabric_, setup.topology, setup.policy, setup.policy_parameters,
                 setup.control.make_factory(setup.control_parameters), setup.config, longest_round_trip_) {}

StopReason PacketNetwork::run(RunControl& control) {
  // A hop reads the packet; then what the packet names, the flow or an entry of the routing table; then what
  // is found there.
  const auto far = [this](const Event& event) {
    if (event.kind == kHop) fabric_.packets().prefetch(event.payload);
  };
  const auto middle = [this](const Event& event) {
    if (event.kind != kHop) return;
    const std::uint32_t end = fabric_.end_of(event.source - fabric_.first_channel_entity());
    if (end & Fabric::kHostBit) {
      transport_.prefetch_flow(event.payload);
    } else {
      fabric_.prefetch_route(end, event.payload);
    }
  };
  const auto near = [this](const Event& event) {
    if (event.kind != kHop) return;
    const std::uint32_t end = fabric_.end_of(event.source - fabric_.first_channel_entity());
    if (end & Fabric::kHostBit) {
      transport_.prefetch_state(event.payload);
    } else {
      fabric_.foresee(end, event.payload);
    }
  };
  const auto handle = [this](const Event& event) {
    if (series_ != nullptr && engine_.now() >= series_->next()) [[unlikely]]
      series_->advance(engine_.now(), *this);
    if (event.kind == kHop) [[likely]] {
      const std::uint32_t channel = event.source - fabric_.first_channel_entity();
      const std::uint32_t end = fabric_.end_of(channel);
      fabric_.note_arrival(channel, event.payload);
      if (end & Fabric::kHostBit) {
        transport_.packet_at_host(event.payload);
      } else {
        fabric_.forward(end, event.payload);
      }
      return;
    }
    switch (event.kind) {
      case kNicReady:
        transport_.nic_ready(event.payload);
        break;
      case kNicTimer:
        transport_.nic_timer(event.payload);
        break;
      case kPace:
        transport_.pace(event.payload, event.detail);
        break;
      case kLocalCopy:
        transport_.local_copy_done(event.payload);
        break;
      default:
        client_.on_event(event);
    }
  };
  const StopReason reason = engine_.run(control, handle, far, middle, near);
  if (series_ != nullptr) series_->finish(engine_.now(), *this);
  return reason;
}

results::NetworkState PacketNetwork::network_state() const {
  const FabricCounters& fabric = fabric_.counters();
  return {.packets_injected = fabric.packets_injected,
          .packets_delivered = fabric.packets_delivered,
          .packets_dropped = fabric.packets_dropped,
          .bytes_delivered = fabric.bytes_delivered,
          .ecn_marks = fabric.marks};
}

void PacketNetwork::link_states(Time now, std::span<const std::uint32_t> links,
                                std::span<results::LinkState> states) const {
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::uint64_t bytes = fabric_.channel_bytes(links[i]);
    const std::uint64_t queued = std::min(bytes, fabric_.channel_queue_bytes(links[i], now));
    states[i] = {.bytes = bytes - queued, .queue_bytes = queued};
  }
}

results::NetworkTotals PacketNetwork::totals() const {
  const FabricCounters& fabric = fabric_.counters();
  const TransportCounters& transport = transport_.counters();
  results::NetworkTotals totals{.messages = transport.messages,
                                .bytes = transport.bytes,
                                .packets_injected = fabric.packets_injected,
                                .packets_delivered = fabric.packets_delivered,
                                .packets_dropped = fabric.packets_dropped,
                                .bytes_injected = fabric.bytes_injected,
                                .bytes_delivered = fabric.bytes_delivered,
                                .bytes_dropped = fabric.bytes_dropped};
  for (std::uint32_t c = 0; c < topology_.channels().size(); ++c) {
    totals.packet_hops += fabric_.channel_packets(c);
  }
  totals.signals = {{"ecn_mark", fabric.marks},
                    {"drop", fabric.packets_dropped},
                    {"retransmit", transport.retransmissions},
                    {"timeout", transport.timeouts},
                    {"duplicate", transport.duplicates}};
  return totals;
}

std::vector<results::Link> PacketNetwork::links() const {
  std::vector<results::Link> links;
  const auto& channels = topology_.channels();
  links.reserve(channels.size());
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    links.push_back({.from = topology_.node(channels[c].from).name,
                     .to = topology_.node(channels[c].to).name,
                     .rate = channels[c].rate,
                     .bytes = fabric_.channel_bytes(c),
                     .packets = fabric_.channel_packets(c),
                     .drops = fabric_.channel_drops(c),
                     .ecn_marks = fabric_.channel_marks(c),
                     .max_queue_bytes = fabric_.channel_max_queue_bytes(c),
                     .busy = channels[c].rate.serialization(fabric_.channel_bytes(c))});
  }
  return links;
}

}  // namespace weft::sim::packet
