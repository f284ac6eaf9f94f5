// The state of all channels (one direction of a cable each) and what else the partitions of a packet network
// share. Every record is touched by one partition only: that of the node the channel leaves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/engine.h"
#include "sim/packet/ids.h"
#include "sim/packet/link_changes.h"
#include "sim/packet/queues/queues.h"
#include "sim/results/busy_times.h"
#include "sim/routing/nics/nic_network.h"
#include "sim/routing/table/routing_table.h"
#include "topologies/analysis/partition.h"
#include "topologies/graph/topology.h"

namespace weft::sim::packet {

// What makes a channel leave the fast path.
enum ChannelFlag : std::uint16_t {
  kScheduled = 1,   // its node's queues decide what goes next (NodeQueues)
  kCutThrough = 2,  // packets arrive as soon as their headers do, if its end is a switch
  kErrors = 4,      // it loses packets at random
  kDown = 8,        // it loses all packets
  kAdmits = 16,     // its switch decides what the queue takes (Admission)
  // From here to kListed they are of scheduled channels, see ScheduledServer.
  kWaiting = 32,     // packets wait, of which one leaves when the link is free
  kAsleep = 64,      // packets wait, of which none may leave
  kGuarded = 128,    // a kServe event is under way
  kWatched = 256,    // other partitions hear of what leaves
  kListed = 512,     // in the server's list of watched channels with packets
  kReports = 1024,   // its switch's policy hears of what leaves and what is lost
  kAwaited = 2048,   // of a NIC: flows wait until it takes data
  kStamps = 4096,    // it writes telemetry into data packets
  kTold = 8192,      // of a scheduled channel: a frame is on its way to it
  kDivided = 16384,  // what it carries is counted by job
};

// One cache line; all a hop touches. Limits are in time at the channel's rate.
struct alignas(64) Channel {
  std::int64_t free_at_ps = 0;               // the queue is empty from then on
  std::int64_t delay_ps = 0;                 // propagation, and what the nodes at its ends add
  std::int64_t mark_above_ps = INT64_MAX;    // backlogs above may be marked; -1: look at every packet
  std::int64_t capacity_ps = INT64_MAX / 4;  // a packet's departure is never further away
  std::uint64_t bytes = 0, packets = 0;
  std::int64_t max_backlog_ps = 0;
  std::uint32_t ps_per_byte = 0;    // 0: not a whole number, or too big
  std::uint16_t end_partition = 0;  // who owns the node at its end
  std::uint16_t flags = 0;          // ChannelFlag
};
static_assert(sizeof(Channel) == 64);

struct ColdChannel {
  Bandwidth rate;
  std::int64_t mark_from_ps = INT64_MAX, mark_all_above_ps = INT64_MAX;
  double mark_slope = 0;  // probability per picosecond above mark_from_ps
  std::uint64_t drops = 0, marks = 0, trims = 0;
  // Packets that were coming in over the cable's other direction when that was cut. They are missed where
  // they should have arrived, by the owner of this record.
  std::uint64_t lost_coming_in = 0;
  RandomStream random;
  RandomStream errors;                       // another one, so that errors leave marks as they are
  double loss = 0;                           // of the link itself, as Link::loss
  double queue_share = 1;                    // LinkChange::queue_share
  std::int64_t capacity_ps = INT64_MAX / 4;  // as in Channel, but for the full packet that must fit
  double bit_error_rate = 0;
  // A virtual queue that drains more slowly than the link, where the discipline has one.
  std::int64_t phantom_free_ps = 0;
  double phantom_stretch = 0;  // its time per byte over the link's; 0: there is none
  std::int64_t phantom_capacity_ps = 0, phantom_mark_from_ps = 0, phantom_mark_all_ps = 0;
  std::uint32_t lost_before =
      0;  // packets with lower event numbers were on the wire or queued when it was cut
  // These are for scheduled channels only.
  std::uint32_t frames = 0;    // sent so far
  std::uint32_t told = 0;      // frames on their way to it, within its partition
  std::int64_t frame_ps = 0;   // from sending one until it is there
  std::int64_t slack_ps = 0;   // how long after its time a decision may be worked out
  std::int64_t serve_ps = -1;  // time of the kServe event that counts
};

// The node that a channel leaves, and where among the channels that leave it.
struct alignas(32) PortPlace {
  NodeId vertex{0};
  PortId port{0};
  NodeBuffers* buffers = nullptr;  // of the node: its queues, or what FIFO ones have in common; or null
  NodeBuffers::Memory memory;      // of the port

  // REQUIRES: the channel is scheduled.
  NodeQueues& queues() const { return static_cast<NodeQueues&>(*buffers); }
};
static_assert(sizeof(PortPlace) == 32);

// The vertex at the end of a channel carries kHostBit if it is a host, and kCutBit if the link was down
// before: arrivals then have to be looked at.
inline constexpr std::uint32_t kHostBit = 0x80000000, kCutBit = 0x40000000;
struct ChannelEnd {
  std::uint32_t vertex = 0;

  NodeId node() const { return NodeId(vertex & (kCutBit - 1)); }
  bool is_host() const { return vertex & kHostBit; }
};

// Built once, before the run. REQUIRES: topology, table and partition outlive it.
class Channels {
 public:
  // `engines`: one for each partition; they reserve the same entity numbers.
  Channels(std::span<Engine* const> engines, const topologies::Topology& topology,
           const routing::RoutingTable& table, const topologies::Partitioning& partition,
           std::uint32_t control_bytes, const routing::NicNetwork* nics = nullptr);

  // Packets go from endpoint to endpoint: hosts, or the NICs of a NicNetwork, whose topology this is then.
  std::uint32_t host_of(std::uint32_t endpoint) const {
    return nics == nullptr ? endpoint : nics->host_of(endpoint);
  }
  // Is there a way from this NIC to the endpoint?
  bool leads_to(ChannelId nic_channel, HostId endpoint) const;

  // Sets the discipline of all switch ports, and of NICs if it has one for them: else NIC queues hold
  // anything and never mark.
  void set_queues(const Discipline& discipline, const Parameters& parameters, Time rtt,
                  std::uint32_t packet_bytes);

  std::uint32_t count() const { return static_cast<std::uint32_t>(hot.size()); }
  std::uint32_t part_of(topologies::Vertex v) const {
    return partition.of_vertex.empty() ? 0 : partition.of_vertex[v];
  }
  NodeId node_of(SwitchId s) const { return NodeId(static_cast<std::uint32_t>(topology.switch_at(s))); }
  // Time of `bytes` on the wire.
  std::int64_t serialization_ps(ChannelId c, const Channel& channel, std::uint32_t bytes) const {
    if (channel.ps_per_byte != 0) [[likely]]
      return std::int64_t{channel.ps_per_byte} * bytes;
    return cold[c].rate.serialization(bytes).ps();
  }

  // Gives the time on the wire of more bytes than a packet has.
  std::int64_t long_serialization_ps(ChannelId c, const Channel& channel, std::uint64_t bytes) const {
    if (channel.ps_per_byte != 0) [[likely]]
      return static_cast<std::int64_t>(channel.ps_per_byte * bytes);
    return cold[c].rate.serialization(bytes).ps();
  }

  // These hold for a path without queueing, and follow from the topology alone.
  struct PathTimes {
    Time round_trip;         // of a full packet, and its ACK back over the same cables
    Time answer_wait;        // of that ACK, if each link on its way is just sending a full packet
    Time one_way;            // of the whole message: from its first bit to its last
    std::uint32_t hops = 0;  // links
  };
  bool cuts_through() const { return cut_through_; }
  // Gives them for a message that needs `packets` packets on the wire, all `bytes` long but the last, on the
  // path that the built-in rule takes with this entropy. Throws InputError if none leads there from this NIC.
  // REQUIRES: packets > 0.
  PathTimes path_times(ChannelId nic_channel, HostId destination_host, std::uint32_t entropy,
                       std::uint32_t bytes, std::uint32_t packets, std::uint32_t last_bytes) const;
  // Gives how much longer so many bytes take on the built-in rule's path at the rates of the moment than at
  // those that links were built with; nothing if a link is down there.
  Time slowed_by(ChannelId nic_channel, HostId destination_host, std::uint32_t entropy,
                 std::uint64_t bytes) const;

  // Packets lost in the queue of a channel and on its wire. REQUIRES: no partition runs.
  std::uint64_t drops(ChannelId c) const { return cold[c].drops + cold[opposite(c)].lost_coming_in; }
  std::uint64_t max_queue_bytes(ChannelId c) const;
  // The first tells what of Channel::bytes has not left at `now`, the second what waits then, with what
  // remains of the packet being sent. REQUIRES: all events before `now` executed, here and below.
  std::uint64_t unsent_bytes(ChannelId c, Time now) const;
  std::uint64_t queue_bytes(ChannelId c, Time now) const;
  // How long the wire was occupied up to then.
  Time busy(ChannelId c, Time now) const;
  Bandwidth highest_rate(ChannelId c) const { return busy_times_.highest(c, cold[c].rate); }
  // The longest any queue can make a packet wait; NIC queues aside.
  Time longest_queue() const { return longest_queue_; }

  // What leaves switches is reported, at its time. To be called after set_queues().
  void report_ports();
  // What channels carry is counted by job. `job_of_host`: below `jobs`, of each host that sends.
  void divide_bytes(std::span<const std::uint32_t> job_of_host, std::uint32_t jobs);
  // A packet from this endpoint, or to it, goes on the wire. REQUIRES: the channel has kDivided.
  void count_by_job(ChannelId c, std::uint32_t endpoint, std::uint32_t bytes) {
    job_bytes_[std::size_t{c} * jobs_ + job_of_endpoint_[endpoint]] += bytes;
  }
  // By channel, and for each by job; empty if they are not counted.
  std::span<const std::uint64_t> job_bytes() const { return job_bytes_; }
  // Queues learn where they find what room others give back. To be called last of what concerns queues.
  void join_room();
  // Switches write telemetry into data packets. To be called once, `engines` as for the constructor.
  void stamp_packets(std::span<Engine* const> engines);
  bool stamps() const { return stamps_; }
  // What leaves a host is so late at the cable's other end. To be called before set_queues().
  void delay_sends(Time delay);
  // Switches forward a packet as soon as its header is there. REQUIRES: FIFO queues with a rule.
  void cut_through();
  // A link is changed, at a moment when no partition runs. It is as if nothing had happened yet at `at`.
  // True: a rate is another now.
  bool apply(const LinkChange& change);
  // From now on routes avoid the links that are down.
  void reroute();
  const std::vector<bool>& down_links() const { return down_links_; }  // by link
  // By channel: of the rate it was built with; 0: it is down.
  const std::vector<double>& rate_shares() const { return rate_shares_; }

  const topologies::Topology& topology;
  const routing::NicNetwork* const nics;        // whose topology it is, or null
  const routing::RoutingTable* table;           // of the moment
  const routing::RoutingTable& original_table;  // with all links
  const topologies::Partitioning& partition;
  const std::uint32_t control_bytes;  // size of an ACK or a bare header on the wire
  EntityId first_entity = 0;
  EntityId first_start = 0;  // with kStamps: of a packet's start, which precedes all arrivals at that moment
  std::vector<Channel> hot;
  std::vector<ColdChannel> cold;
  std::vector<PortPlace> places;
  // What is returned for channels that are cut, told by mail; null elsewhere, and empty if there is none.
  std::vector<std::unique_ptr<RoomReturns>> mailed_room;
  std::vector<ChannelEnd> ends;
  std::vector<PortId> end_ports;     // of the node at its end: where the cable's other direction leaves
  std::vector<std::uint64_t> salts;  // by vertex
  std::uint32_t reroutes = 0;        // so far
  std::uint32_t link_changes = 0;    // likewise
  bool degraded = false;             // some link is or was down: look before you forward
  bool undisturbed = false;          // links never change, and no policy looks at queues
  bool links_change = false;         // at some time of the run
  // What links between switches have in common.
  struct SwitchLinks {
    bool alike = true;  // all have this rate, and this delay with the pipeline behind it
    Bandwidth rate;
    Time delay;
    Bandwidth slowest;  // of all that leave a switch, hosts' too
  };
  SwitchLinks switch_links;
  Time packet_lifetime;  // see routing::OwnSwitch
  // By vertex; null where queues are FIFO with a rule. Empty if that is everywhere.
  std::vector<std::unique_ptr<NodeQueues>> queues;
  std::vector<NodeBuffers*> buffers;                   // either of these two
  std::vector<std::unique_ptr<Admission>> admissions;  // the same for where FIFO queues share a buffer

 private:
  std::vector<std::uint32_t> job_of_endpoint_;
  std::size_t jobs_ = 0;
  std::vector<std::uint64_t> job_bytes_;
  // Do all have kCutThrough? Flags of another partition's channels may be changing.
  bool cut_through_ = false;

  bool leaves_host(ChannelId c) const { return ends[opposite(c)].is_host(); }
  // Gives the delay of a cable and the pipeline of the switch at its end, without what hosts add.
  std::int64_t way_ps(ChannelId c) const { return hot[c].delay_ps - (leaves_host(c) ? send_delay_.ps() : 0); }
  // Belongs it to a node of several hosts, without being one?
  bool is_switch_in_node(topologies::Vertex v) const {
    const topologies::Node& node = topology.node(v);
    return node.domain != topologies::kNoDomain && node.kind != topologies::NodeKind::kHost;
  }
  [[noreturn]] void fail_no_way(ChannelId nic_channel, HostId destination_host) const;
  void make_queues(const Discipline& discipline, const Parameters& parameters, Time rtt,
                   std::uint32_t packet_bytes);
  void schedule_ports(NodeId v);
  // What a queue holds that takes so long to send.
  std::uint64_t backlog_bytes(ChannelId c, std::int64_t backlog_ps) const;

  void set_error_flag(ChannelId c);
  void set_rate(ChannelId c, Bandwidth rate);
  void change_direction(ChannelId c, const LinkChange& change);
  void scale_limits(ChannelId c, double longer);

  std::unique_ptr<routing::RoutingTable> repaired_table_;  // null: no link has failed
  std::vector<bool> down_links_;
  std::uint32_t packet_bytes_ = 0;  // of a full one on the wire
  std::vector<double> rate_shares_;
  results::BusyTimes busy_times_;
  bool stamps_ = false;
  const std::uint64_t seed_;
  Time longest_queue_;
  Time send_delay_;  // of all hosts
};

}  // namespace weft::sim::packet
