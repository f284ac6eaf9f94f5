#include "sim/routing/policies/flowlet.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/routing/parts/flowlet_table.h"
#include "sim/routing/parts/port_choice.h"
#include "sim/routing/policies/conga.h"

namespace weft::routing {
namespace {

struct FlowletSettings {
  Time gap;
  bool least_loaded = false;
};

class Flowlet final : public SwitchPolicy {
 public:
  explicit Flowlet(const FlowletSettings& settings) : settings_(settings), table_(settings.gap) {}

  Foreseen foresee(const Coming& packet) const override {
    table_.prefetch(packet);
    return {};
  }
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    const Time now = here.now();
    FlowletTable::Entry& entry = table_.of(packet, now);
    const bool known = std::find(minimal.begin(), minimal.end(), entry.port) != minimal.end();
    if (!known || table_.is_over(entry, now)) {
      entry.port = settings_.least_loaded ? least_loaded(minimal, here) : any_port(minimal, here);
      ++flowlets_;
    }
    entry.last = here.now();
    return {.port = entry.port};
  }
  Signals signals() const override { return {{"flowlet", flowlets_}}; }

 private:
  const FlowletSettings settings_;
  FlowletTable table_;
  std::uint64_t flowlets_ = 0;
};

CongaSettings conga_settings(const Parameters& parameters) {
  const std::int64_t bits = parameters.integer("bits");
  return {.gap = parameters.time("gap"),
          .tau = parameters.time("tau"),
          .age = parameters.time("age"),
          .levels = std::uint32_t{1} << bits};
}

std::unique_ptr<SwitchPlan> make_flowlet(const PlanSetup& setup) {
  const std::string& choice = setup.parameters.text("choice");
  if (choice == "congestion") return make_conga(setup, conga_settings(setup.parameters));
  const FlowletSettings settings{.gap = setup.parameters.time("gap"),
                                 .least_loaded = choice == "least_loaded"};
  return each_switch(
      [settings](std::uint32_t, sim::RandomStream) { return std::make_unique<Flowlet>(settings); });
}

}  // namespace

Policy flowlet() {
  return {.info = {.name = "flowlet",
                   .summary = "A flow may change its port at a switch after a gap between its packets.",
                   .source = "E. Vanini et al., Let it flow: resilient asymmetric load balancing with "
                             "flowlet switching, NSDI 2017",
                   .parameters = {{"gap", ParameterType::kTime, "20us",
                                   "Time without a packet of the flow after which it may change its port: "
                                   "above what paths differ by, no packet overtakes another; smaller ones "
                                   "balance better."},
                                  {"choice", ParameterType::kText, "random",
                                   "The port of a new flowlet: random; least_loaded, that with the least "
                                   "backlog; or congestion, that with the least congested way (CONGA: M. "
                                   "Alizadeh et al., SIGCOMM 2014; leaves and spines only).",
                                   one_of({"random", "least_loaded", "congestion"})},
                                  {"tau", ParameterType::kTime, "160us",
                                   "With choice=congestion: over what time the loads of links are estimated.",
                                   above("0").up_to("3600s")},
                                  {"bits", ParameterType::kInteger, "3", "With choice=congestion: of a load.",
                                   from_to("1", "6")},
                                  {"age", ParameterType::kTime, "10ms",
                                   "With choice=congestion: after each such time without news of a way, what "
                                   "is known of it counts half as much.",
                                   above("0").up_to("3600s")}}},
          .configure =
              [](const Parameters& parameters, Policy& policy) {
                const bool looks_ahead = parameters.text("choice") == "congestion";
                policy.asks.single = policy.asks.notes = looks_ahead;
                policy.asks.foresees = !looks_ahead;
                if (looks_ahead)
                  policy.on_slow_links = "loads stay relative to the rates that links were built with";
              },
          .make_plan = make_flowlet,
          .no_fluid = "at gaps between the packets of a flow",
          .order = KeepsOrder::kNo};
}

}  // namespace weft::routing
