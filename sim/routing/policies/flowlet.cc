#include "sim/routing/policies/flowlet.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/routing/policies/port_choice.h"

namespace weft::routing {
namespace {

struct Settings {
  Time gap;
  bool least_loaded = false;
};

class Flowlet final : public SwitchPolicy {
 public:
  explicit Flowlet(const Settings& settings) : settings_(settings), entries_(kEntries) {}

  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    Entry& entry = entry_of(packet);
    const bool known = std::find(minimal.begin(), minimal.end(), entry.port) != minimal.end();
    if (!known || here.now() - entry.last > settings_.gap) {
      entry.port = settings_.least_loaded ? least_loaded(minimal, here) : any_port(minimal, here);
      ++flowlets_;
    }
    entry.last = here.now();
    return {.port = entry.port};
  }
  Signals signals() const override { return {{"flowlet", flowlets_}}; }

 private:
  static constexpr int kBits = 12;
  static constexpr std::size_t kEntries = 1 << kBits;
  // A table as in switches: flows that fall on one entry share it.
  struct Entry {
    Time last;
    std::uint32_t port = UINT32_MAX;
  };

  Entry& entry_of(const PacketView& packet) {
    const std::uint64_t key = packet.flow.identity() * 2 + (packet.control ? 1 : 0);
    return entries_[key * 0x9E3779B97F4A7C15ULL >> (64 - kBits)];
  }

  const Settings settings_;
  std::vector<Entry> entries_;
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
          .order = KeepsOrder::kNo};
}

}  // namespace weft::routing
