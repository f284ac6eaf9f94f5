// The flow-level network: messages are fluids that share links max-min fairly, over the paths that the packet
// network would give them.
//
// Sources: H. Casanova, A. Legrand, M. Quinson, "SimGrid: a generic framework for large-scale distributed
// experiments", UKSim 2008; P. Velho, L. Schnorr, H. Casanova, A. Legrand, "On the validity of flow-level TCP
// network models for grid and cloud simulations", ACM TOMACS 23(4), 2013. The rules are in MODEL.md.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/flow/connections.h"
#include "sim/flow/flow_balance.h"
#include "sim/flow/flow_config.h"
#include "sim/flow/flow_pool.h"
#include "sim/flow/flow_records.h"
#include "sim/flow/fluids.h"
#include "sim/flow/link_changes.h"
#include "sim/flow/paths.h"
#include "sim/flow/sender_notices.h"
#include "sim/flow/trips.h"
#include "sim/flow/way_terms.h"
#include "sim/results/records.h"
#include "sim/results/series.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

class FlowNetwork final : public Network, public results::Reporter, public results::SeriesSource {
 public:
  // Throws InputError for a policy whose paths can't be told without packets.
  FlowNetwork(Engine& engine, NetworkClient& client, const FlowSetup& setup);
  FlowNetwork(const FlowNetwork&) = delete;
  FlowNetwork& operator=(const FlowNetwork&) = delete;

  void inject(const Message& message) override;
  bool delivers_in_order() const override { return !config_.connections.per_message; }
  // Executes all events, the client's too, until none is left or `control` stops it. May be called again
  // after more messages were injected.
  StopReason run(RunControl& control);

  results::NetworkTotals totals() const override;
  std::vector<results::Link> links() const override;
  // What links carry is counted by job, from now on, before anything is sent. `job_of_host`: below `jobs`.
  void divide_bytes(std::span<const std::uint32_t> job_of_host, std::uint32_t jobs);
  std::vector<std::uint64_t> job_bytes() const override;
  std::vector<results::Flow> flows() const override { return records_.flows(); }
  results::FlowStatistics flow_statistics() const override { return records_.statistics(); }

  // Takes samples while it runs; may be set before run(). Not owned.
  void set_series(results::Series* series) { series_ = series; }
  results::NetworkState network_state() const override;
  void link_states(Time now, std::span<const std::uint32_t> links,
                   std::span<results::LinkState> states) const override;

  // Messages that are under way with no link left for them, or part of them.
  std::uint64_t cut_off() const;
  std::uint64_t open_flows() const { return open_flows_; }
  // What the solver has done: calls, and flows that were given rates in them.
  std::uint64_t solves() const { return fluids_.solves(); }
  std::uint64_t solver_work() const { return fluids_.work(); }

 private:
  enum EventKind : std::uint16_t {
    kDrained = 1,  // the last byte of some flows has left; no payload
    kDelivered,    // a message is there: its slot
    kLocalCopy,    // a message within a host is there: its slot
    kTaken,        // a send buffer has taken all of a message: its slot
    kAnswered,     // the sender of a delivered message has its acknowledgement: its slot
  };

  void handle(const Event& event);
  // What is needed soon (flow_expect.cc).
  void expect(const Event& event, int look) const;
  void sort_drained();
  void start_local(const Message& message, std::uint32_t slot);
  void add_resources();
  void join(std::uint32_t slot);
  void drain();
  void leave(std::uint32_t slot, Time arrival);
  // These act on connections (flow_connections.cc).
  void queue(std::uint32_t slot);
  void begin(std::uint32_t connection);
  void follow(Connection& connection, Flow& head);
  void begin_next(std::uint32_t connection);
  void step(Connection& connection);
  // A fluid is a message, or a connection with what is at its head.
  std::uint32_t fluid_of(std::uint32_t slot) const { return connected_ ? flows_[slot].connection : slot; }
  std::uint32_t head_of(std::uint32_t fluid) const { return connected_ ? connections_[fluid].head : fluid; }
  void deliver(std::uint32_t slot, bool local);
  void interrupt(std::uint32_t slot, Time now);
  void resume(std::uint32_t slot);
  std::vector<std::uint32_t> flowing() const;
  void balance(Time now);
  void adopt_balance();
  void forget_balance();
  void arm();
  Time next_change() const;
  void change_links(Time now);
  void note_all_sent(Time now) const;
  std::vector<std::uint64_t> carried(Time now) const;
  void note_sent(Flow& flow, std::uint64_t bytes) const;
  void note_share(Flow& flow, std::uint64_t bytes) const;
  StopReason run_events(Time now, RunWatch& watch);

  const topologies::Topology& topology_;
  const FlowConfig config_;
  Engine& engine_;
  NetworkClient& client_;
  const bool connected_;         // are there connections? Else each message is a fluid by itself
  const EntityId first_entity_;  // host h; after them, the network
  Trips trips_;
  mutable Paths paths_;  // note_all_sent() brings it and flows_ up to date, in what links have carried
  std::vector<std::uint32_t> job_of_host_;  // empty: what links carry isn't counted by job
  mutable FlowPool flows_;
  Fluids fluids_;
  Connections connections_;
  SenderNotices notices_;
  WayTerms terms_;
  LinkChanges changes_;
  FlowBalance balance_;
  FlowRecords records_;
  std::vector<std::uint32_t> flow_count_;  // by host: flows so far
  std::vector<Time> copy_free_at_;         // by host
  Time clock_, tick_ = Time::max();
  Way way_;  // of the flow at hand
  struct Drained {
    std::uint32_t source = 0, number = 0;  // of the message at its head
    std::uint32_t fluid = 0;
    auto operator<=>(const Drained&) const = default;
  };
  std::vector<std::uint32_t> due_;  // fluids
  std::vector<Drained> drained_;    // these, in the order in which they are seen to

  results::Series* series_ = nullptr;
  std::uint64_t open_flows_ = 0, under_way_ = 0, next_poll_ = 0;
  std::uint64_t packets_injected_ = 0, packets_delivered_ = 0;
  std::uint64_t wire_bytes_ = 0;  // of messages that were delivered
};

}  // namespace weft::sim::flow
