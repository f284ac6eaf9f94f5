#include "sim/routing/policies/flowlet.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sim/routing/policies/flow_table.h"
#include "sim/routing/policies/port_choice.h"

namespace weft::routing {
namespace {

struct Settings {
  Time gap;
  bool least_loaded = false;
};

class Flowlet final : public SwitchPolicy {
 public:
  explicit Flowlet(const Settings& settings) : settings_(settings) {}

  std::span<const std::uint32_t> foresee(const Coming& packet) const override {
    entries_.prefetch(key_of(packet.flow, packet.control));
    return {};
  }
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    const Time now = here.now();
    const auto is_over = [this, now](const Entry& entry) { return now - entry.last > settings_.gap; };
    Entry& entry = entries_.find_or_add(key_of(packet.flow.identity(), packet.control), is_over);
    const bool known = std::find(minimal.begin(), minimal.end(), entry.port) != minimal.end();
    if (!known || is_over(entry)) {
      entry.port = settings_.least_loaded ? least_loaded(minimal, here) : any_port(minimal, here);
      ++flowlets_;
    }
    entry.last = now;
    return {.port = entry.port};
  }
  Signals signals() const override { return {{"flowlet", flowlets_}}; }

 private:
  struct Entry {
    std::uint64_t flow = UINT64_MAX;
    Time last;
    std::uint32_t port = UINT32_MAX;
  };

  // A flow's ACKs that come by are another flow.
  static std::uint64_t key_of(std::uint64_t flow, bool control) { return flow * 2 + (control ? 1 : 0); }

  const Settings settings_;
  FlowTable<Entry> entries_;
  std::uint64_t flowlets_ = 0;
};

std::unique_ptr<SwitchPlan> make(const PlanSetup& setup) {
  const std::string& choice = setup.parameters.text("choice");
  if (choice != "random" && choice != "least_loaded") {
    setup.parameters.fail("choice", "it must be random or least_loaded");
  }
  const Settings settings{.gap = setup.parameters.time("gap"), .least_loaded = choice == "least_loaded"};
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
                                   "The port of a new flowlet: random, or least_loaded, that with the least "
                                   "backlog."}}},
          .make_plan = make,
          .asks = {.foresees = true},
          .order = KeepsOrder::kNo};
}

}  // namespace weft::routing
