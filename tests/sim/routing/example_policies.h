// Small policies, each for one part of the seam of switches.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "sim/routing/parts/port_choice.h"
#include "sim/routing/policies/flowlet.h"
#include "sim/routing/routing.h"

namespace weft::routing {

// Makes objects without parameters.
template <typename Made>
std::unique_ptr<SwitchPlan> make_plain(const PlanSetup&) {
  return each_switch([](std::uint32_t, sim::RandomStream random) { return std::make_unique<Made>(random); });
}

// Each packet through the port of least backlog.
class LeastQueue final : public SwitchPolicy {
 public:
  explicit LeastQueue(sim::RandomStream) {}
  Output choose(const PacketView&, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    return {.port = least_loaded(minimal, here)};
  }
};
inline Policy least_queue() { return {.info = {.name = "least_queue"}, .make_plan = make_plain<LeastQueue>}; }

// L. G. Valiant, A scheme for fast parallel communication, SIAM J. Comput. 11(2), 1982: first to any host's
// switch, then to the destination; a virtual channel for each of the two parts.
class Valiant final : public SwitchPolicy {
 public:
  static inline std::uint32_t hosts = 0;  // of the network

  explicit Valiant(sim::RandomStream random) : random_(random) {}
  Output choose(const PacketView& packet, RouteNote& note, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    if (packet.in_port != PacketView::kMadeHere && here.to_host(packet.in_port)) {
      note.via = static_cast<std::uint32_t>(random_.below(hosts));
    }
    if (note.phase == 0 && note.via != RouteNote::kNowhere) {
      const auto there = here.minimal(note.via);
      if (!there.empty() && !here.to_host(there.front())) {
        return {.port = there[random_.below(there.size())], .channel = 0};
      }
      note.phase = 1;
    }
    return {.port = minimal[random_.below(minimal.size())], .channel = 1};
  }

 private:
  sim::RandomStream random_;
};
inline Policy valiant() {
  return {.info = {.name = "valiant"},
          .make_plan = make_plain<Valiant>,
          .asks = {.control = false, .single = true, .notes = true},
          .longest_path = 2};
}

// The built-in rule, but a flow whose packet finds a long queue is paused for a time; or for good.
template <bool kForGood = false>
class Pausing final : public SwitchPolicy {
 public:
  explicit Pausing(sim::RandomStream) {}
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch& here) override {
    const std::uint32_t port = minimal[packet.flow.identity() % minimal.size()];
    if (here.backlog(port) > Time::us(2) && paused_.emplace(packet.flow.identity(), packet.flow).second) {
      here.pause(packet.flow);
      cookies_[++paused_ever_] = packet.flow.identity();
      if (!kForGood) here.set_timer(here.now() + Time::us(40), paused_ever_);
    }
    return {.port = port};
  }
  void timer(std::uint32_t cookie, ActiveSwitch& here) override {
    const auto found = paused_.find(cookies_.at(cookie));
    here.resume(found->second);
    paused_.erase(found);
    cookies_.erase(cookie);
  }

 private:
  std::map<std::uint64_t, FlowRef> paused_;
  std::map<std::uint32_t, std::uint64_t> cookies_;
  std::uint32_t paused_ever_ = 0;
};
inline Policy pausing() {
  return {.info = {.name = "pausing"},
          .make_plan = make_plain<Pausing<>>,
          .asks = {.control = false, .single = true},
          .order = KeepsOrder::kYes};
}
inline Policy pausing_for_good() {
  Policy policy = pausing();
  policy.make_plan = make_plain<Pausing<true>>;
  return policy;
}

// Any port; ACKs go back as their data came.
class Retracing final : public SwitchPolicy {
 public:
  explicit Retracing(sim::RandomStream random) : random_(random) {}
  Output choose(const PacketView&, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch&) override {
    return {.port = minimal[random_.below(minimal.size())]};
  }

 private:
  sim::RandomStream random_;
};
inline Policy retracing() {
  return {.info = {.name = "retracing"}, .make_plan = make_plain<Retracing>, .asks = {.acks_retrace = true}};
}

// Keeps an account of what it has sent out, and goes by what others have told of theirs.
class Telling final : public SwitchPolicy {
 public:
  explicit Telling(sim::RandomStream) {}
  Output choose(const PacketView& packet, RouteNote&, std::span<const std::uint32_t> minimal,
                ActiveSwitch&) override {
    ++chosen_;
    return {.port = minimal[(heard_ + packet.entropy) % minimal.size()]};
  }
  void departed(const PacketView&, std::uint32_t, ActiveSwitch&) override { ++departed_; }
  void dropped(const PacketView&, std::uint32_t, ActiveSwitch&) override { ++dropped_; }
  void trimmed(const PacketView&, std::uint32_t, ActiveSwitch&) override { ++trimmed_; }
  Snapshot publish(OwnSwitch& here) override {
    Snapshot snapshot;
    snapshot.words = {chosen_, departed_, dropped_, trimmed_,
                      static_cast<std::uint32_t>(here.backlog(0).ps())};
    return snapshot;
  }
  void heard(std::uint32_t from, const Snapshot& snapshot) override {
    for (const std::uint32_t word : snapshot.words) heard_ += word * (from + 1);
  }

 private:
  std::uint32_t chosen_ = 0, departed_ = 0, dropped_ = 0, trimmed_ = 0, heard_ = 0;
};
inline Policy telling() {
  return {.info = {.name = "telling"},
          .make_plan = make_plain<Telling>,
          .asks = {.single = true,
                   .departures = true,
                   .losses = true,
                   .snapshot_period = Time::us(3),
                   .snapshot_delay = Time::us(2)}};
}

}  // namespace weft::routing
