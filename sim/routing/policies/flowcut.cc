#include "sim/routing/policies/flowcut.h"

#include <fmt/core.h>

#include <iterator>
#include <string>
#include <utility>

#include "sim/routing/parts/random_route.h"
#include "sim/routing/policies/flowcut_nic.h"
#include "sim/routing/policies/flowcut_settings.h"
#include "sim/routing/policies/flowcut_switch.h"

namespace weft::routing {
namespace {

enum class Deployment : std::uint8_t { kAll, kIngress, kNic };

Deployment deployment(const Parameters& parameters) {
  const std::string& name = parameters.text("deployment");
  if (name == "all") return Deployment::kAll;
  if (name == "ingress") return Deployment::kIngress;
  return Deployment::kNic;
}

FlowcutDrain drain(const Parameters& parameters) {
  const std::pair<const char*, FlowcutDrain> known[] = {{"none", FlowcutDrain::kNone},
                                                        {"bytes", FlowcutDrain::kBytes},
                                                        {"queue", FlowcutDrain::kQueue},
                                                        {"rtt", FlowcutDrain::kRtt},
                                                        {"rtt_gradient", FlowcutDrain::kRttGradient},
                                                        {"rate", FlowcutDrain::kRate}};
  FlowcutDrain found = FlowcutDrain::kNone;
  for (const auto& [name, each] : known) {
    if (parameters.text("drain") == name) found = each;
  }
  if (deployment(parameters) == Deployment::kNic && found != FlowcutDrain::kNone &&
      found != FlowcutDrain::kRtt) {
    parameters.fail("drain", "with deployment=nic it must be none or rtt: NICs see nothing but round trips");
  }
  return found;
}

// ACKs tell the way of 15 switches, and routes name as many.
void check_ways(const PlanSetup& setup) {
  constexpr std::uint32_t kMost = SourceRoute::kMost;
  static_assert(kMost == Trail::kMost);
  if (most_switches(setup.topology, kMost) <= kMost) return;
  setup.parameters.fail("deployment",
                        fmt::format("no deployment works here: some hosts have more than {} switches between "
                                    "them, and a packet keeps no more of its way",
                                    kMost));
}

std::unique_ptr<SwitchPlan> make_flowcut_plan(const PlanSetup& setup) {
  check_ways(setup);
  return std::make_unique<FlowcutPlan>(setup, flowcut_settings(setup.parameters),
                                       deployment(setup.parameters) == Deployment::kIngress);
}

PathSelectorMaker make_path_selectors(const PlanSetup& setup) {
  check_ways(setup);
  return flowcut_selectors(setup, flowcut_settings(setup.parameters));
}

void configure_flowcut(const Parameters& parameters, Policy& policy) {
  switch (deployment(parameters)) {
    case Deployment::kAll:
      policy.asks = {
          .single_if_links_change = true, .foresees = true, .no_detours = true, .acks_retrace = true};
      break;
    case Deployment::kIngress:
      policy.asks = {.placement = Placement::kIngress,
                     .single = true,
                     .no_detours = true,
                     .names_routes = true,
                     .acks_retrace = true};
      break;
    case Deployment::kNic:
      policy.make_plan = nullptr;
      policy.make_path_selectors = make_path_selectors;
      policy.source_routes = true;
      policy.selectors_hold = true;
      policy.path_signals.assign(std::begin(kFlowcutPathSignals), std::end(kFlowcutPathSignals));
      break;
  }
}

std::vector<ParameterSpec> parameters() {
  return {
      {"deployment", ParameterType::kText, "all",
       "Who chooses: all, every switch its port; ingress, the source's switch the whole way; nic, the "
       "sending "
       "NIC the whole way.",
       one_of({"all", "ingress", "nic"})},
      {"choice", ParameterType::kText, "least_loaded",
       "The port of a new flowcut at a switch: least_loaded, that with the least backlog, or random.",
       one_of({"least_loaded", "random"})},
      {"drain", ParameterType::kText, "rtt",
       "What ends a flowcut by pausing its source: none; bytes (MFD), more than max_bytes; queue (MQL), more "
       "than max_queue packets at the port; rtt (MPR), a mean round trip above max_ratio times the least; "
       "rtt_gradient (MPRG), one that differs from the mean by max_gradient times; rate (MRM), ACKs that "
       "come "
       "max_rate_ratio times slower than data. NICs: none or rtt.",
       one_of({"none", "bytes", "queue", "rtt", "rtt_gradient", "rate"})},
      {"gain", ParameterType::kReal, "0",
       "The newest round trip's share in the mean; 0: 0.7 in switches, 0.125 in NICs.", from_to("0", "1")},
      {"max_ratio", ParameterType::kReal, "0",
       "Of the mean round trip to the least, for drain=rtt; 0: 6 in switches, 3 in NICs."},
      {"from_bytes", ParameterType::kBytes, "20000",
       "In switches, with drain=rtt: bytes of a flowcut before its round trips count."},
      {"max_bytes", ParameterType::kBytes, "10000", "Of a flowcut on the wire, for drain=bytes."},
      {"max_queue", ParameterType::kInteger, "10", "Packets at the flowcut's port, for drain=queue.",
       from_to("0", "1000000")},
      {"max_gradient", ParameterType::kReal, "10",
       "Of the newest round trip to the mean, or of the mean to it, for drain=rtt_gradient.", at_least("1")},
      {"rate_gain", ParameterType::kReal, "0.3", "The newest interval's share in the mean, for drain=rate.",
       above("0").up_to("1")},
      {"max_rate_ratio", ParameterType::kReal, "2",
       "Of the mean interval between ACKs to that between packets, for drain=rate.", at_least("1")},
      {"idle", ParameterType::kTime, "auto",
       "Packets that were sent so long ago have arrived or are lost: a path that is gone is given up then. "
       "Default: the network's least retransmission timeout.",
       above("0")}};
}

}  // namespace

FlowcutSettings flowcut_settings(const Parameters& parameters) {
  const bool nic = deployment(parameters) == Deployment::kNic;
  FlowcutSettings settings{.random_choice = parameters.text("choice") == "random",
                           .drain = drain(parameters)};
  const auto real = [&](const char* name) { return static_cast<float>(parameters.real(name)); };
  settings.gain = real("gain") == 0 ? (nic ? 0.125F : 0.7F) : real("gain");
  settings.max_ratio = real("max_ratio") == 0 ? (nic ? 3.0F : 6.0F) : real("max_ratio");
  if (!(settings.max_ratio >= 1)) parameters.fail("max_ratio", "it must be 0, or at least 1");
  settings.from_bytes = parameters.bytes("from_bytes");
  settings.max_bytes = parameters.bytes("max_bytes");
  settings.max_queue = static_cast<std::uint64_t>(parameters.integer("max_queue"));
  settings.max_gradient = real("max_gradient");
  settings.rate_gain = real("rate_gain");
  settings.max_rate_ratio = real("max_rate_ratio");
  if (!parameters.automatic("idle")) settings.idle = parameters.time("idle");
  return settings;
}

Policy flowcut() {
  return {.info = {.name = "flowcut",
                   .summary = "A flow changes its path only when none of its packets is under way, and is "
                              "paused for that where its path is slow: packets keep their order.",
                   .source = "T. Bonato et al., Flowcut switching: high-performance adaptive routing with "
                             "in-order delivery guarantees, arXiv 2506.21406",
                   .parameters = parameters()},
          .configure = configure_flowcut,
          .make_plan = make_flowcut_plan,
          .no_fluid = "when all packets of a flow have arrived",
          .order = KeepsOrder::kYes};
}

}  // namespace weft::routing
