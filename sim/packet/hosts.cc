#include "sim/packet/hosts.h"

#include <algorithm>
#include <utility>

#include "sim/units/long_times.h"
#include "sim/units/plugin_modules.h"

namespace weft::sim::packet {
namespace {

constexpr std::size_t kStateAlignment = 16;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kStateAlignment - 1) / kStateAlignment * kStateAlignment;
}

}  // namespace

Hosts::Hosts(std::span<Engine* const> engines, const topologies::Topology& topology,
             const routing::NicNetwork* nics_of_topology)
    : message_count(topology.hosts()),
      connection_count(topology.hosts()),
      copy_free_at_ps(topology.hosts()),
      picker(nics_of_topology, topology.hosts()) {
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    first_nic.push_back(static_cast<std::uint32_t>(nics.size()));
    for (const std::uint32_t channel : topology.out_channels(topology.host(host))) {
      nics.emplace_back().channel = ChannelId(channel);
    }
  }
  first_nic.push_back(static_cast<std::uint32_t>(nics.size()));
  const routing::NicNetwork* const network = picker.network();
  const bool unfolded = network != nullptr && network->unfolded();
  if (unfolded) nic_of_endpoint.resize(nics.size());
  for (HostId host{0}; unfolded && host < topology.hosts(); ++host) {
    for (NicId nic{first_nic[host]}; nic < first_nic[host + 1]; ++nic) {
      nic_of_endpoint[network->endpoint(host, nic - first_nic[host])] = nic;
    }
  }
  EntityId first = 0;
  for (Engine* engine : engines) first = engine->add_entities(static_cast<std::uint32_t>(nics.size()));
  for (std::uint32_t nic = 0; nic < nics.size(); ++nic) nics[nic].entity = first + nic;
}

TransportCounters& TransportCounters::operator+=(const TransportCounters& other) {
  messages += other.messages;
  bytes += other.bytes;
  retransmissions += other.retransmissions;
  timeouts += other.timeouts;
  duplicates += other.duplicates;
  redundant += other.redundant;
  given_up += other.given_up;
  nacks += other.nacks;
  connections += other.connections;
  notifications += other.notifications;
  credits += other.credits;
  pauses += other.pauses;
  pauses_expired += other.pauses_expired;
  out_of_order_packets += other.out_of_order_packets;
  out_of_order_messages += other.out_of_order_messages;
  overtaken_packets += other.overtaken_packets;
  max_reorder_distance = std::max(max_reorder_distance, other.max_reorder_distance);
  return *this;
}

TransportSetup::TransportSetup(const Modules& modules, const PacketConfig& config_, Time longest_round_trip_,
                               Time longest_queue)
    : policy(modules.policy),
      make_selector(policy.make_path_selectors == nullptr
                        ? routing::PathSelectorMaker()
                        : made_by("routing policy", policy.info.name, "make_path_selectors",
                                  [&] { return policy.make_path_selectors(modules.routing); })),
      control(modules.control),
      senders(made_by("congestion control", control.info.name, "make_factory",
                      [&] { return control.make_factory(modules.control_parameters); })),
      receivers(control.make_receivers == nullptr
                    ? nullptr
                    : made_by("congestion control", control.info.name, "make_receivers",
                              [&] { return control.make_receivers(modules.control_parameters); })),
      recovery_kind(modules.recovery),
      recoveries(made_by("loss recovery", recovery_kind.info.name, "make_factory",
                         [&] { return modules.recovery.make_factory(modules.recovery_parameters); })),
      recovery_bytes(aligned(recoveries->recovery_bytes())),
      slot_bytes(recovery_bytes + aligned(senders->sender_bytes())),
      config(config_),
      longest_round_trip(longest_round_trip_ + config_.host_round_trip()),
      timer_grain(longest_round_trip) {
  if (policy.all_nics) config.nic_choice = NicChoice::kSpray;
  // A timeout must not fire while queues merely are full: out and back, no path crosses more queues than
  // this allows for in practice.
  constexpr int kFullQueues = 8;
  recovery.min_timeout =
      std::max(config.min_timeout, timer_grain + std::min(longest_queue, kLongestDelay) * kFullQueues);
  if (config.ack_every > 1) recovery.min_timeout = recovery.min_timeout + config.ack_delay;
  recovery.reordering = !policy.keeps_order() || config.nic_choice == NicChoice::kSpray;
  recovery.jitter = config.timeout_jitter;
  idle = config.connections.idle > Time() ? config.connections.idle : recovery.min_timeout;
  idle = std::min(idle, kEndOfTime - Time::ps(1));  // so that it can be added to any moment
}

}  // namespace weft::sim::packet
