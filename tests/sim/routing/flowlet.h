// The worked example of a policy with state: flowlet switching. A flow keeps its port while its packets
// follow each other closely; after a gap it may change, as then no packet overtakes another. No timer is
// needed: a gap is noticed when the next packet comes.
//
// Source: E. Vanini et al., Let it flow: resilient asymmetric load balancing with flowlet switching, NSDI
// 2017; the port of least backlog as in CONGA's leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/routing/routing.h"

namespace weft::routing {

// The port with the least backlog that isn't held; by lot among equals.
inline std::uint32_t least_loaded(std::span<const std::uint32_t> ports, OwnSwitch& here) {
  std::vector<std::uint32_t> best;
  Time least = Time::max();
  for (const std::uint32_t port : ports) {
    const Time backlog = here.held(port) ? Time::max() : here.backlog(port);
    if (backlog < least) best.clear();
    if (backlog <= least) best.push_back(port);
    least = std::min(least, backlog);
  }
  return best[here.random().below(best.size())];
}

class Flowlet final : public SwitchPolicy {
 public:
  explicit Flowlet(Time gap) : gap_(gap), entries_(kEntries) {}

  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    // A table as in switches: flows that fall on one entry share it.
    const std::uint64_t key = packet.flow.identity() * 2 + (packet.control ? 1 : 0);
    Entry& entry = entries_[key * 0x9E3779B97F4A7C15ULL >> (64 - kBits)];
    const bool known = std::find(minimal.begin(), minimal.end(), entry.port) != minimal.end();
    if (!known || here.now() - entry.last > gap_) {
      entry.port = least_loaded(minimal, here);
      ++flowlets_;
    }
    entry.last = here.now();
    return {.port = entry.port};
  }
  Signals signals() const override { return {{"flowlet", flowlets_}}; }

 private:
  static constexpr int kBits = 12;
  static constexpr std::size_t kEntries = 1 << kBits;
  struct Entry {
    std::uint32_t port = UINT32_MAX;
    Time last;
  };
  const Time gap_;
  std::vector<Entry> entries_;
  std::uint64_t flowlets_ = 0;
};

inline Policy flowlet() {
  return {.info = {.name = "flowlet",
                   .summary = "A flow may change its port after a gap.",
                   .parameters = {{"gap", ParameterType::kTime, "20us",
                                   "Above what paths differ by, so that no packet overtakes another."}}},
          .make_plan =
              [](const PlanSetup& setup) {
                return each_switch([gap = setup.parameters.time("gap")](std::uint32_t, sim::RandomStream) {
                  return std::make_unique<Flowlet>(gap);
                });
              },
          .order = KeepsOrder::kYes};
}

}  // namespace weft::routing
