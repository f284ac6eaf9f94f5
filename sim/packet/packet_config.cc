#include "sim/packet/packet_config.h"

#include <algorithm>
#include <string>

#include "sim/units/input_error.h"
#include "sim/units/long_times.h"
#include "topologies/analysis/partition.h"

namespace weft::sim::packet {
const ModuleInfo& packet_module() {
  static const ModuleInfo info{
      .name = "packet",
      .summary = "Every packet and ACK through output-queued switches, with marking, loss and recovery.",
      .source = "store-and-forward output queueing; RFC 8985, RFC 6298 for loss recovery",
      .parameters = {
          {"mtu", ParameterType::kBytes, "4096", "Payload of a full packet.", from_to("1B", "1MiB")},
          {"header", ParameterType::kBytes, "64", "Bytes added to each data packet on the wire.",
           at_most("1MiB")},
          {"ack", ParameterType::kBytes, "64", "Size of an ACK on the wire.", from_to("1B", "1MiB")},
          {"min_timeout", ParameterType::kTime, "100us",
           "Least retransmission timeout; raised to what full queues may take.", above("0")},
          {"local_bandwidth", ParameterType::kBandwidth, "800Gbps",
           "Rate of copies within a host, one at a time.", at_least("1Mbps")},
          {"local_latency", ParameterType::kTime, "200ns", "Latency of a copy within a host."},
          {"send_delay", ParameterType::kTime, "0ns",
           "In the NIC that a packet leaves, data or ACK, before its first bit; of many at a time."},
          {"receive_delay", ParameterType::kTime, "0ns",
           "In the NIC that a packet comes to, data or ACK, between its last bit and its effect."},
          {"host_delay", ParameterType::kTime, "0ns",
           "What the host adds to that for data, until it is delivered and answered."},
          {"ack_every", ParameterType::kInteger, "1",
           "One ACK for so many packets of a flow; some are acknowledged at once all the same.",
           from_to("1", "64")},
          {"ack_delay", ParameterType::kTime, "5us", "An ACK is never held back for longer.", above("0")},
          routing::nic_choice_parameter(true),
          {"timeout_jitter", ParameterType::kReal, "0.1",
           "Random share, up to this one, by which each timeout is longer.", from_to("0", "1")},
          {"switching", ParameterType::kText, "store_and_forward",
           "With cut_through, switches pass a packet on as soon as its header is "
           "there.",
           one_of({"store_and_forward", "cut_through"})},
          {"reconvergence", ParameterType::kTime, "1ms",
           "From a link's failure or return until routes everywhere know; its own switches know at once."},
          {"partitions", ParameterType::kInteger, "0",
           "Parts that the network is simulated in; 0: one per thread, and at least one per 512 hosts up to "
           "128 in runs of 128 packets a host and more. Results never depend on it.",
           from_to("0", std::to_string(topologies::kMostParts))},
      }};
  return info;
}

PacketConfig packet_config(const Parameters& parameters) {
  require_short(parameters,
                {"min_timeout", "local_latency", "send_delay", "receive_delay", "host_delay", "ack_delay"});
  return {
      .mtu_bytes = static_cast<std::uint32_t>(parameters.bytes("mtu")),
      .header_bytes = static_cast<std::uint32_t>(parameters.bytes("header")),
      .ack_bytes = static_cast<std::uint32_t>(parameters.bytes("ack")),
      .min_timeout = parameters.time("min_timeout"),
      .local_bandwidth = parameters.bandwidth("local_bandwidth"),
      .local_latency = parameters.time("local_latency"),
      .send_delay = parameters.time("send_delay"),
      .receive_delay = parameters.time("receive_delay"),
      .host_delay = parameters.time("host_delay"),
      .ack_every = parameters.whole("ack_every"),
      .ack_delay = parameters.time("ack_delay"),
      .nic_choice = routing::nic_choice_of(parameters),
      .timeout_jitter = parameters.real("timeout_jitter"),
      .cut_through = parameters.text("switching") == "cut_through",
      .reconvergence = parameters.time("reconvergence"),
  };
}

std::uint32_t partitions(const Parameters& parameters, std::uint32_t threads, std::uint32_t hosts) {
  constexpr std::uint32_t kHostsInCache = 512;  // measured: tools/bench/packet/README.md
  const std::int64_t given = parameters.integer("partitions");
  if (given == 0) {
    // In each window every partition looks for mail of every other.
    constexpr std::uint32_t kMostOfItself = 128;
    const std::uint32_t blocks =
        hosts / kHostsInCache > 2 ? std::min(hosts / kHostsInCache, kMostOfItself) : 1;
    return std::min(std::max(threads, blocks), topologies::kMostParts);
  }
  return static_cast<std::uint32_t>(given);
}

}  // namespace weft::sim::packet
