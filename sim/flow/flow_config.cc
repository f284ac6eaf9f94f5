// What users set of the flow-level network.
#include <string>

#include "sim/flow/flow_network.h"
#include "sim/units/long_times.h"

namespace weft::sim::flow {

const ModuleInfo& flow_module() {
  static const ModuleInfo info{
      .name = "flow",
      .summary = "Flow level: messages are fluids that share the links of their paths max-min fairly.",
      .source = "Bertsekas, Gallager, Data networks, 1992, §6.5; Casanova et al., SimGrid, UKSim 2008",
      .parameters = {
          {"mtu", ParameterType::kBytes, "4096", "Payload of a full packet, 1 byte to 1 MiB."},
          {"header", ParameterType::kBytes, "64", "Bytes that each packet takes on the wire beside it."},
          {"local_bandwidth", ParameterType::kBandwidth, "800Gbps",
           "Rate of copies within a host, one at a time."},
          {"local_latency", ParameterType::kTime, "200ns", "Latency of a copy within a host."},
          {"send_delay", ParameterType::kTime, "0ns",
           "In the NIC that a message leaves, before its first bit."},
          {"receive_delay", ParameterType::kTime, "0ns",
           "In the NIC that it comes to, between its last bit and its effect."},
          {"host_delay", ParameterType::kTime, "0ns", "What the host adds to that."},
          routing::nic_choice_parameter(false),
          {"switching", ParameterType::kText, "store_and_forward",
           "Either store_and_forward or cut_through: what each hop adds to a message's latency."},
          {"reconvergence", ParameterType::kTime, "1ms",
           "From a link's failure or return until routes everywhere know; its own switches know at once."},
          {"max_rate", ParameterType::kBandwidth, "0",
           "Most rate of one message, headers included; 0: as its links allow."},
          {"window", ParameterType::kBytes, "0",
           "Most bytes of one message, headers included, in a round trip without queues; 0: no limit."},
          {"fairness", ParameterType::kText, "equal",
           "Shares of messages with the same bottleneck: equal, or rtt: in inverse proportion to their round "
           "trips."},
          {"tolerance", ParameterType::kReal, "0",
           "By which part, 0 to 0.1, a full link's shares may be off, up or down, before they are worked out "
           "anew; 0: never."},
      }};
  return info;
}

FlowConfig flow_config(const Parameters& parameters) {
  constexpr std::uint64_t kMost = 1 << 20;
  for (const char* name : {"mtu", "header"}) {
    if (parameters.bytes(name) > kMost) parameters.fail(name, "it must be at most 1MiB");
  }
  if (parameters.bytes("mtu") == 0) parameters.fail("mtu", "it must be at least 1 byte");
  if (parameters.bandwidth("local_bandwidth") < kLeastRate) {
    parameters.fail("local_bandwidth", "it must be at least " + to_string(kLeastRate));
  }
  const Bandwidth most = parameters.bandwidth("max_rate");
  if (most.bps() != 0 && most < kLeastRate) {
    parameters.fail("max_rate", "it must be 0 or at least " + to_string(kLeastRate));
  }
  require_short(parameters, {"local_latency", "send_delay", "receive_delay", "host_delay"});
  const std::string& switching = parameters.text("switching");
  if (switching != "store_and_forward" && switching != "cut_through") {
    parameters.fail("switching", "it must be store_and_forward or cut_through");
  }
  const std::string& fairness = parameters.text("fairness");
  if (fairness != "equal" && fairness != "rtt") parameters.fail("fairness", "it must be equal or rtt");
  const double tolerance = parameters.real("tolerance");
  if (!(tolerance >= 0 && tolerance <= 0.1)) parameters.fail("tolerance", "it must be from 0 to 0.1");
  return {
      .mtu_bytes = static_cast<std::uint32_t>(parameters.bytes("mtu")),
      .header_bytes = static_cast<std::uint32_t>(parameters.bytes("header")),
      .local_bandwidth = parameters.bandwidth("local_bandwidth"),
      .local_latency = parameters.time("local_latency"),
      .send_delay = parameters.time("send_delay"),
      .receive_delay = parameters.time("receive_delay"),
      .host_delay = parameters.time("host_delay"),
      .nic_choice = routing::nic_choice_of(parameters, false),
      .cut_through = switching == "cut_through",
      .reconvergence = parameters.time("reconvergence"),
      .max_rate = most,
      .window_bytes = parameters.bytes("window"),
      .equal_shares = fairness == "equal",
      .tolerance = tolerance,
  };
}

}  // namespace weft::sim::flow
