// The flow-level network: messages are fluids that share links max-min fairly, over the paths that the packet
// network would give them.
//
// Sources: H. Casanova, A. Legrand, M. Quinson, "SimGrid: a generic framework for large-scale distributed
// experiments", UKSim 2008; P. Velho, L. Schnorr, H. Casanova, A. Legrand, "On the validity of flow-level TCP
// network models for grid and cloud simulations", ACM TOMACS 23(4), 2013. The rules are in MODEL.md.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/flow/connections.h"
#include "sim/flow/max_min.h"
#include "sim/flow/paths.h"
#include "sim/flow/progress.h"
#include "sim/results/records.h"
#include "sim/results/series.h"
#include "sim/routing/nics/nic_choice.h"
#include "sim/routing/nics/nic_network.h"
#include "sim/routing/routing.h"
#include "sim/routing/table/routing_table.h"
#include "sim/units/module.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

using routing::NicChoice;  // which of a host's links, its NICs, a message takes; not kLeastLoaded

// Defaults are those of the module's parameters (flow_module()).
struct FlowConfig {
  std::uint32_t mtu_bytes = 4096;
  std::uint32_t header_bytes = 64;
  Bandwidth local_bandwidth = Bandwidth::gbps(800);
  Time local_latency = Time::ns(200);
  Time send_delay, receive_delay, host_delay;  // as of the packet network
  NicChoice nic_choice = NicChoice::kLibrary;
  bool cut_through = false;
  Time reconvergence = Time::us(1000);
  Bandwidth max_rate;              // of one message, headers included; 0: no limit
  std::uint64_t window_bytes = 0;  // at most so much in a round trip; 0: no limit
  bool equal_shares = true;        // false: in inverse proportion to round trips
  double tolerance = 0;            // of the level of a link's flows, 0 to 0.1
  bool record_flows = true;
  ConnectionRules connections;
};

// The model as users name it, and its settings from checked parameters. Throws InputError for sizes that make
// no sense.
const ModuleInfo& flow_module();
FlowConfig flow_config(const Parameters& parameters);

// From `at` on a link has this share of the rate it was built with; 0: it is down.
struct LinkShare {
  Time at;
  std::uint32_t link = 0;
  double share = 1;
  std::uint8_t directions = 3;  // bit d: channel 2 × link + d
};

// Topology, table and policy must outlive the network.
struct FlowSetup {
  const topologies::Topology& topology;
  const routing::RoutingTable& table;
  const routing::Policy& policy;
  FlowConfig config;
  std::vector<LinkShare> changes = {};  // in the order of time
  PathMaker make_paths = {};            // for a policy with a path model of its own
  // Of the topology, where it is to say which NICs lead where; null: they all do. It must outlive the
  // network.
  const routing::NicNetwork* nics = nullptr;

  // What messages are routed over.
  const topologies::Topology& routed() const { return nics != nullptr ? nics->topology() : topology; }
  const routing::RoutingTable& routes() const { return nics != nullptr ? nics->table() : table; }
};

inline Rate to_rate(Bandwidth bandwidth) {
  return bandwidth.bps() > kMostRate >> kRateBits ? kMostRate : bandwidth.bps() << kRateBits;
}

class FlowNetwork final : public Network, public results::Reporter, public results::SeriesSource {
 public:
  // Throws InputError for a policy whose paths can't be told without packets.
  FlowNetwork(Engine& engine, NetworkClient& client, const FlowSetup& setup);

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
  std::vector<results::Flow> flows() const override;
  results::FlowStatistics flow_statistics() const override { return statistics_; }

  // Takes samples while it runs; may be set before run(). Not owned.
  void set_series(results::Series* series) { series_ = series; }
  results::NetworkState network_state() const override;
  void link_states(Time now, std::span<const std::uint32_t> links,
                   std::span<results::LinkState> states) const override;

  // Messages that are under way with no link left for them, or part of them.
  std::uint64_t cut_off() const;
  std::uint64_t open_flows() const { return open_flows_; }
  // What the solver has done: calls, and flows that were given rates in them.
  std::uint64_t solves() const { return solves_; }
  std::uint64_t solver_work() const { return max_min_.work(); }

 private:
  enum EventKind : std::uint16_t {
    kDrained = 1,  // the last byte of some flows has left; no payload
    kDelivered,    // a message is there: its slot
    kLocalCopy,    // a message within a host is there: its slot
    kTaken,        // a send buffer has taken all of a message: its slot
  };
  // kWaiting: behind others of its connection.
  enum class State : std::uint8_t { kFree, kWaiting, kFlowing, kCutOff, kDrained };
  static constexpr Amount kBytePs = static_cast<Amount>(8) * 1'000'000'000'000 << kRateBits;

  struct Flow {
    Message message;
    Amount left = 0;  // when so much of its fluid was `through`
    Amount through = 0;
    Amount target = 0;  // what is left when a sender is to be told; 0: at the end
    Time start;
    Time latency;  // from the last byte's leaving to its arrival
    Time ideal;
    std::uint64_t wire_bytes = 0, carried = 0;  // carried: told to paths_
    std::uint32_t number = 0;                   // among its source's
    Trip trip;
    std::uint32_t connection = Connection::kNone, next = Connection::kNone;  // next: in its connection
    std::uint64_t end = 0;      // of its payload, counted from the connection's first byte
    std::uint32_t packets = 0;  // 2^32 - 1 at most
    State state = State::kFree;
  };

  void handle(const Event& event);
  // Fetch into the cache what is needed soon (flow_expect.cc).
  void fetch(std::uint32_t slot) const;
  void expect(const Event& event, int look) const;
  void sort_drained();
  void start_local(const Message& message, std::uint32_t slot);
  // How a flow takes part.
  struct Terms {
    std::uint32_t weight = 1;
    Rate cap = 0;
  };
  Terms find_way(Flow& flow);
  void join(std::uint32_t slot);
  Time latency_of(const Flow& flow) const;
  Time round_trip() const;
  Trip trip_of(const Message& message, std::uint64_t identity);
  void choose_nics(const Message& message, Trip& trip);
  std::uint32_t nics_of(std::uint32_t host) const {
    return static_cast<std::uint32_t>(topology_.out_channels(topology_.host(host)).size());
  }
  void drain();
  void leave(std::uint32_t slot, Time arrival);
  // Of connections (flow_connections.cc).
  void queue(std::uint32_t slot);
  void begin(std::uint32_t connection);
  void follow(Connection& connection, Flow& head);
  void begin_next(std::uint32_t connection);
  void step(Connection& connection);
  void aim(std::uint32_t connection);
  void tell(Connection& connection);
  static bool is_told(const Message& message);
  // A fluid is one for MaxMin and Progress: a message, or a connection with what is at its head.
  std::uint32_t fluid_of(std::uint32_t slot) const { return connected_ ? flows_[slot].connection : slot; }
  std::uint32_t head_of(std::uint32_t fluid) const { return connected_ ? connections_[fluid].head : fluid; }
  void deliver(std::uint32_t slot, bool local);
  void solve(Time now);
  void enter(std::uint32_t slot, const Terms& terms);
  void interrupt(std::uint32_t slot, Time now);
  void resume(std::uint32_t slot);
  // Of detours (flow_balance.cc).
  static bool is_offer(const Flow& flow) { return flow.packets > 1; }  // a single packet meets what it meets
  bool is_unbalanced() const;
  std::vector<std::uint32_t> flowing() const;
  void balance(Time now);
  void find_host_rates();
  void limit_to_nics();
  void adopt_balance();
  void add_resources();
  void forget_balance();
  void settle(std::uint32_t slot, Time now);
  std::uint64_t sent_bytes(std::uint32_t slot, Time now) const;
  void set_aim(std::uint32_t slot, Time now);
  void take_out(std::uint32_t fluid, Time now);
  void arm();
  Time next_change() const;
  void change_links(Time now);
  void note_all_sent(Time now) const;
  std::vector<std::uint64_t> carried(Time now) const;
  void note_sent(Flow& flow, std::uint64_t bytes) const;
  StopReason run_events(Time now, RunWatch& watch);

  const topologies::Topology& topology_;
  const FlowConfig config_;
  Engine& engine_;
  NetworkClient& client_;
  const std::uint64_t seed_;
  const bool connected_;               // are there connections? Else each message is a fluid by itself
  const EntityId first_entity_;        // host h; after them, the network
  const bool all_nics_, hears_rates_;  // of the policy: it takes all NICs; hears of rates with the routes
  routing::NicPicker nics_;            // of FlowSetup::nics
  mutable Paths paths_;  // note_all_sent() brings it and flows_ up to date, in what links have carried
  std::vector<std::uint32_t> job_of_host_;  // empty: what links carry isn't counted by job
  MaxMin max_min_;
  Progress progress_;
  Connections connections_;
  mutable std::vector<Flow> flows_;
  std::vector<std::uint32_t> unused_;
  std::vector<std::uint32_t> flow_count_;  // by host: flows so far
  std::vector<Time> copy_free_at_;         // by host
  Time clock_, tick_ = Time::max();
  Way way_, alone_;  // of the flow at hand; if it were alone
  struct Drained {
    std::uint32_t source = 0, number = 0;  // of the message at its head
    std::uint32_t fluid = 0;
    auto operator<=>(const Drained&) const = default;
  };
  std::vector<std::uint32_t> due_;         // fluids
  std::vector<Drained> drained_;           // these, in the order in which they are seen to
  std::vector<std::uint32_t> told_;        // messages whose senders are told next
  bool draining_ = false;                  // is told_ being filled?
  std::vector<Time> delay_, full_packet_;  // by channel: propagation and pipeline; a full packet on the wire

  std::vector<LinkShare> changes_;
  std::size_t next_change_ = 0;
  std::vector<Time> reroutes_;  // in the order of time
  std::size_t next_reroute_ = 0;
  std::vector<double> share_;                     // by channel: of the rate it was built with
  std::vector<bool> down_;                        // by link
  const topologies::Topology& routed_;            // FlowSetup::routed()
  const routing::RoutingTable& original_table_;   // with all links
  std::unique_ptr<routing::RoutingTable> table_;  // repaired; null: no link has failed

  results::Series* series_ = nullptr;
  results::NetworkTotals totals_;
  results::FlowStatistics statistics_;
  std::uint64_t open_flows_ = 0, under_way_ = 0, solves_ = 0, next_poll_ = 0;
  std::uint64_t packets_injected_ = 0, packets_delivered_ = 0;
  std::uint64_t wire_bytes_ = 0;                  // of messages that were delivered
  std::vector<double> host_rate_;                 // of routed_: of all its NICs
  std::size_t fluids_ = 0;                        // that have a rate
  std::size_t offers_ = 0, came_ = 0, went_ = 0;  // in the last balance; fluids since, about
  std::vector<std::pair<std::uint32_t, results::Flow>> delivered_;  // with the number among the source's
};

}  // namespace weft::sim::flow
