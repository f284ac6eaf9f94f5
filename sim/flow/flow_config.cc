#include "sim/flow/flow_config.h"

#include <string>

#include "sim/units/long_times.h"

namespace weft::sim::flow {

const ModuleInfo& flow_module() {
  static const ModuleInfo info{
      .name = "flow",
      .summary = "Flow level: messages are fluids that share the links of their paths max-min fairly.",
      .source = "Bertsekas, Gallager, Data networks, 1992, §6.5; Casanova et al., SimGrid, UKSim 2008",
      .parameters = {
          {"mtu", ParameterType::kBytes, "4096", "Payload of a full packet.", from_to("1B", "1MiB")},
          {"header", ParameterType::kBytes, "64", "Bytes that each packet takes on the wire beside it.",
           at_most("1MiB")},
          {"local_bandwidth", ParameterType::kBandwidth, "800Gbps",
           "Rate of copies within a host, one at a time.", at_least("1Mbps")},
          {"local_latency", ParameterType::kTime, "200ns", "Latency of a copy within a host."},
          {"send_delay", ParameterType::kTime, "0ns",
           "In the NIC that a message leaves, before its first bit."},
          {"receive_delay", ParameterType::kTime, "0ns",
           "In the NIC that it comes to, between its last bit and its effect."},
          {"host_delay", ParameterType::kTime, "0ns", "What the host adds to that."},
          routing::nic_choice_parameter(false),
          {"switching", ParameterType::kText, "store_and_forward",
           "What each hop adds to a message's latency.", one_of({"store_and_forward", "cut_through"})},
          {"reconvergence", ParameterType::kTime, "1ms",
           "From a link's failure or return until routes everywhere know; its own switches know at once."},
          {"max_rate", ParameterType::kBandwidth, "0",
           "Most rate of one message, headers included; 0: as its links allow."},
          {"window", ParameterType::kBytes, "0",
           "Most bytes of one message, headers included, in a round trip without queues; 0: no limit."},
          {"fairness", ParameterType::kText, "equal",
           "Shares of messages with the same bottleneck: equal, or rtt: in inverse proportion to their round "
           "trips.",
           one_of({"equal", "rtt"})},
          {"tolerance", ParameterType::kReal, "0",
           "By which part a full link's shares may be off, up or down, before they are worked out "
           "anew; 0: never.",
           from_to("0", "0.1")},
      }};
  return info;
}

FlowConfig flow_config(const Parameters& parameters) {
  const Bandwidth most = parameters.bandwidth("max_rate");
  if (most.bps() != 0 && most < kLeastRate) {
    parameters.fail("max_rate", "it must be 0 or at least " + to_string(kLeastRate));
  }
  require_short(parameters, {"local_latency", "send_delay", "receive_delay", "host_delay"});
  return {
      .mtu_bytes = static_cast<std::uint32_t>(parameters.bytes("mtu")),
      .header_bytes = static_cast<std::uint32_t>(parameters.bytes("header")),
      .local_bandwidth = parameters.bandwidth("local_bandwidth"),
      .local_latency = parameters.time("local_latency"),
      .send_delay = parameters.time("send_delay"),
      .receive_delay = parameters.time("receive_delay"),
      .host_delay = parameters.time("host_delay"),
      .nic_choice = routing::nic_choice_of(parameters),
      .cut_through = parameters.text("switching") == "cut_through",
      .reconvergence = parameters.time("reconvergence"),
      .max_rate = most,
      .window_bytes = parameters.bytes("window"),
      .equal_shares = parameters.text("fairness") == "equal",
      .tolerance = parameters.real("tolerance"),
  };
}

}  // namespace weft::sim::flow
