// Flowcut switching in switches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/routing/parts/flow_table.h"
#include "sim/routing/parts/random_route.h"
#include "sim/routing/policies/flowcut_settings.h"
#include "sim/routing/switch_plan.h"
#include "sim/routing/switch_policy.h"

namespace weft::routing {

// Shared by all switches. With `whole_ways` a source's switch names the rest of the way, and others have no
// say.
class FlowcutPlan final : public SwitchPlan {
 public:
  FlowcutPlan(const PlanSetup& setup, const FlowcutSettings& settings, bool whole_ways)
      : topology(setup.topology),
        seed(setup.seed),
        settings(settings),
        whole_ways(whole_ways),
        original_(setup.table) {}

  std::unique_ptr<SwitchPolicy> make(std::uint32_t switch_index, sim::RandomStream random) const override;
  void reconverge(const std::vector<bool>& down_links) override {
    ++epoch_;
    if (!whole_ways) return;
    if (!repaired_) repaired_.emplace(original_);
    repaired_->repair(topology, down_links);
  }
  // Routes were worked out anew so often, modulo 256.
  std::uint8_t epoch() const { return epoch_; }
  const RoutingTable& table() const { return repaired_ ? *repaired_ : original_; }

  const topologies::Topology& topology;
  const std::uint64_t seed;
  const FlowcutSettings settings;
  const bool whole_ways;

 private:
  const RoutingTable& original_;
  std::optional<RoutingTable> repaired_;
  std::uint8_t epoch_ = 0;
};

class FlowcutSwitch final : public SwitchPolicy {
 public:
  FlowcutSwitch(const FlowcutPlan& plan, std::uint32_t switch_index);

  Output choose(const PacketView& packet, RouteNote& note, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override;
  Foreseen foresee(const Coming& packet) const override {
    table_.prefetch(packet.flow);
    return {};
  }
  void retraced(const PacketView& packet, std::uint32_t port, ActiveSwitch& here) override;
  void timer(std::uint32_t cookie, ActiveSwitch& here) override;
  Signals signals() const override;

 private:
  // Entries that nobody has asked for in so many lifetimes of a packet may go: their flow is over, and what
  // would have told this switch is lost.
  static constexpr std::int64_t kForgottenAfter = 64;
  static constexpr std::uint32_t kNoRoute = UINT32_MAX;

  enum State : std::uint8_t {
    kOpen = 1,      // a flowcut: packets may be under way
    kAtSource = 2,  // they come from a host
    kChoice = 4,    // there was another path
    kPaused = 8,    // its source was asked to send no more, until all is there
    kCutOff = 16,   // its path isn't there any more, or not minimal: the same
    kBadRoute = 32,
    kTimed = 64,  // a timer is under way
  };
  struct alignas(64) Entry {
    std::uint64_t flow = UINT64_MAX;
    std::int64_t last_ps = 0;    // when a packet was forwarded
    std::int64_t paused_ps = 0;  // when its source was paused
    std::int64_t acked_ps = 0;   // when an ACK came by (kRate)
    std::uint32_t end = 0;       // behind the highest number that was forwarded
    std::uint32_t bytes = 0;     // of the flowcut, up to 4 GiB
    std::uint32_t receiver = 0, receive_slot = 0;
    std::uint32_t route = kNoRoute;
    // The flow's least round trip and its mean, ps; kRate: mean times between packets, and between ACKs;
    // kQueue: the limit of the queue.
    float least = 0, mean = 0;
    std::uint16_t port = 0;
    std::uint8_t state = 0;
    std::uint8_t epoch = 0;  // the route was looked at
  };
  static_assert(sizeof(Entry) == 64);

  static FlowRef flow_of(const Entry& entry);
  static bool is_stopped(const Entry& entry) { return entry.state & (kPaused | kCutOff); }
  Time idle(const OwnSwitch& here) const;
  Entry& entry_of(const PacketView& packet, const OwnSwitch& here);
  // Whether the flowcut goes on; if not, nothing of it is under way.
  bool goes_on(Entry& entry, const PacketView& packet, std::span<const std::uint32_t> minimal,
               ActiveSwitch& here);
  bool is_usable(Entry& entry, std::uint32_t destination, std::span<const std::uint32_t> minimal);
  void begin(Entry& entry, const PacketView& packet, std::span<const std::uint32_t> minimal,
             ActiveSwitch& here);
  void draw_way(Entry& entry, const PacketView& packet, OwnSwitch& here);
  void note_forwarded(Entry& entry, const PacketView& packet, ActiveSwitch& here);
  void watch_data(Entry& entry, const PacketView& packet, ActiveSwitch& here);
  void watch_ack(Entry& entry, const PacketView& packet, ActiveSwitch& here);
  void drain(Entry& entry, ActiveSwitch& here);
  void cut_off(Entry& entry, ActiveSwitch& here);
  void expire(Entry& entry, ActiveSwitch& here);
  // The source may go on.
  void release(Entry& entry, ActiveSwitch& here);

  const FlowcutPlan& plan_;
  const FlowcutSettings& settings_;
  const topologies::Vertex vertex_;
  const std::uint64_t salt_;
  FlowTable<Entry> table_;
  std::vector<SourceRoute> routes_;
  std::vector<std::uint32_t> unused_routes_;
  std::vector<std::uint64_t> timed_;  // flows, by cookie
  std::vector<std::uint32_t> unused_cookies_;
  std::uint64_t flowcuts_ = 0, drains_ = 0, abandoned_ = 0, cut_off_ = 0, expired_ = 0;
};

}  // namespace weft::routing
