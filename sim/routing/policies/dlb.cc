#include "sim/routing/policies/dlb.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/routing/parts/flowlet_table.h"
#include "sim/routing/parts/load_estimate.h"
#include "sim/routing/parts/port_choice.h"

namespace weft::routing {
namespace {

enum class Mode : std::uint8_t { kFlowlet, kPerPacket, kFixed };

constexpr std::uint32_t kBands = 8;

struct DlbSettings {
  Mode mode = Mode::kFlowlet;
  Time gap, sample, tau, band;
  double load_weight = 0;
};

Mode mode_of(const Parameters& parameters) {
  const std::string& mode = parameters.text("mode");
  if (mode == "flowlet") return Mode::kFlowlet;
  if (mode == "per_packet") return Mode::kPerPacket;
  return Mode::kFixed;
}

DlbSettings dlb_settings_of(const Parameters& parameters) {
  const double weight = parameters.real("load_weight");
  return {.mode = mode_of(parameters),
          .gap = mode_of(parameters) == Mode::kFixed ? Time::max() : parameters.time("gap"),
          .sample = parameters.time("sample"),
          .tau = parameters.time("tau"),
          .band = parameters.time("band"),
          .load_weight = weight};
}

class Dlb final : public SwitchPolicy {
 public:
  Dlb(const DlbSettings& settings, const topologies::Topology& topology, std::uint32_t switch_index)
      : settings_(settings), table_(settings.gap) {
    for (const std::uint32_t c : topology.out_channels(topology.switch_at(switch_index))) {
      ports_.push_back({.load = LoadEstimate(topology.channels()[c].rate, settings.tau)});
    }
  }

  Foreseen foresee(const Coming& packet) const override {
    if (settings_.mode != Mode::kPerPacket) table_.prefetch(packet);
    return {};
  }
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    const std::uint32_t port =
        settings_.mode == Mode::kPerPacket ? best(minimal, here) : port_of_flow(packet, minimal, here);
    ports_[port].load.add(packet.bytes, here.now());
    return {.port = port};
  }
  Signals signals() const override { return {{"assignment", assignments_}}; }

 private:
  struct Port {
    LoadEstimate load;
    std::int64_t sampled = -1;  // in which interval
    std::uint32_t badness = 0;
  };

  std::uint32_t port_of_flow(const PacketView& packet, std::span<const std::uint32_t> minimal,
                             ActiveSwitch& here) {
    const Time now = here.now();
    FlowletTable::Entry& entry = table_.of(packet, now);
    const bool known = std::find(minimal.begin(), minimal.end(), entry.port) != minimal.end();
    if (!known || table_.is_over(entry, now)) entry.port = best(minimal, here);
    entry.last = now;
    return entry.port;
  }
  std::uint32_t best(std::span<const std::uint32_t> minimal, ActiveSwitch& here) {
    ++assignments_;
    best_.clear();
    std::uint32_t least = UINT32_MAX;
    for (const std::uint32_t port : minimal) {
      const std::uint32_t badness = badness_of(port, here);
      if (badness < least) best_.clear();
      if (badness > least) continue;
      least = badness;
      best_.push_back(port);
    }
    return any_port(best_, here);
  }
  // 0 is the best; what nothing can leave is worse than all others.
  std::uint32_t badness_of(std::uint32_t port, ActiveSwitch& here) {
    Port& state = ports_[port];
    const std::int64_t interval = here.now().ps() / settings_.sample.ps();
    if (state.sampled == interval) return state.badness;
    state.sampled = interval;
    if (here.held(port)) return state.badness = kBands;
    const double queue =
        std::min<double>(static_cast<double>(here.backlog(port).ps() / settings_.band.ps()), kBands - 1);
    const double load = state.load.level(here.now(), kBands);
    return state.badness =
               static_cast<std::uint32_t>(settings_.load_weight * load + (1 - settings_.load_weight) * queue);
  }

  const DlbSettings settings_;
  std::vector<Port> ports_;
  FlowletTable table_;
  std::vector<std::uint32_t> best_;
  std::uint64_t assignments_ = 0;
};

}  // namespace

Policy dlb() {
  return {
      .info =
          {.name = "dlb",
           .summary = "Each flow, flowlet or packet takes the port of the best quality, by bands of load "
                      "and queue that are looked at now and then.",
           .source = "Broadcom, Dynamic load balancing (Trident and Tomahawk switches; public "
                     "documentation of SONiC and Junos)",
           .parameters = {{"mode", ParameterType::kText, "flowlet",
                           "What takes a port: flowlet, per_packet, or fixed, a flow for good.",
                           one_of({"flowlet", "per_packet", "fixed"})},
                          {"gap", ParameterType::kTime, "20us",
                           "With mode=flowlet: time without a packet of the flow after which it may "
                           "change its port."},
                          {"sample", ParameterType::kTime, "1us",
                           "Between two looks at a port's load and queue.", above("0").up_to("3600s")},
                          {"tau", ParameterType::kTime, "20us",
                           "Over what time loads are estimated; from 0 to the port's rate in eight bands.",
                           above("0").up_to("3600s")},
                          {"band", ParameterType::kTime, "1us",
                           "What a band of the queue takes to be sent; the last of eight has no end.",
                           above("0").up_to("3600s")},
                          {"load_weight", ParameterType::kReal, "0.5",
                           "Of the load in the quality; the rest is the queue's.", from_to("0", "1")}}},
      .configure =
          [](const Parameters& parameters, Policy& policy) {
            policy.order = mode_of(parameters) == Mode::kFixed ? KeepsOrder::kYes : KeepsOrder::kNo;
          },
      .make_plan = [](const PlanSetup& setup) -> std::unique_ptr<SwitchPlan> {
        const DlbSettings settings = dlb_settings_of(setup.parameters);
        return each_switch([settings, &topology = setup.topology](std::uint32_t s, sim::RandomStream) {
          return std::make_unique<Dlb>(settings, topology, s);
        });
      },
      .on_slow_links = "loads stay relative to the rates that links were built with",
      .asks = {.foresees = true},
      .order = KeepsOrder::kNo};
}

}  // namespace weft::routing
