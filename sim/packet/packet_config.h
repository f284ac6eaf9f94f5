// The packet network as users name it, `--network packet:mtu=4096`, and its settings.
#pragma once

#include <cstdint>

#include "sim/core/network.h"
#include "sim/routing/nics/nic_choice.h"
#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::sim::packet {

// Which of a host's links, its NICs, a connection takes, and which one its ACKs take.
using routing::NicChoice;

// Sizes and host-side settings. Defaults are those of the module's parameters (packet_module()).
struct PacketConfig {
  std::uint32_t mtu_bytes = 4096;   // payload of a full packet
  std::uint32_t header_bytes = 64;  // added to every data packet on the wire
  std::uint32_t ack_bytes = 64;     // size of an ACK on the wire
  Time min_timeout = Time::us(100);
  Bandwidth local_bandwidth = Bandwidth::gbps(800);  // copy between processes of one host
  Time local_latency = Time::ns(200);
  Time send_delay;     // in the NIC that a packet leaves, data or ACK
  Time receive_delay;  // in the one it arrives at
  Time host_delay;     // behind that, data only: until the packet is taken in and answered
  std::uint32_t ack_every = 1;
  Time ack_delay = Time::us(5);  // no ACK waits longer for more packets to acknowledge
  NicChoice nic_choice = NicChoice::kLibrary;
  double timeout_jitter = 0.1;  // congestion::RecoveryConfig::jitter
  bool cut_through = false;
  Time reconvergence = Time::us(1000);
  bool record_flows = true;     // keep a row per message (64 bytes each)
  ConnectionRules connections;  // how messages share them

  // A message's last packet spends the former in hosts, a packet and its ACK the latter.
  bool takes_time_in_host() const { return receive_delay > Time() || host_delay > Time(); }
  Time host_one_way() const { return send_delay + receive_delay + host_delay; }
  Time host_round_trip() const { return host_one_way() + send_delay + receive_delay; }
};

// What users may set. Its defaults are PacketConfig's.
const ModuleInfo& packet_module();
// Settings from checked parameters. Throws InputError for sizes that make no sense.
PacketConfig packet_config(const Parameters& parameters);
// How many partitions a run on so many threads is to have. Large networks have more than threads, so that
// what a partition touches in one window stays in the cache. Throws InputError for a number out of range.
std::uint32_t partitions(const Parameters& parameters, std::uint32_t threads, std::uint32_t hosts);

}  // namespace weft::sim::packet
