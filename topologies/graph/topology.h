// A network's hosts, switches and links: what every topology family produces and every network model reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::topologies {

enum class NodeKind : std::uint8_t { kHost, kSwitch };
// kLongHaul: leased fibre between sites, with a coherent transceiver at each end.
enum class CableKind : std::uint8_t { kUnknown, kBackplane, kCopper, kOptical, kLongHaul };

inline constexpr std::uint32_t kNoRack = 0xFFFFFFFFu;
inline constexpr std::uint32_t kNoDomain = 0xFFFFFFFFu;

struct Node {
  NodeKind kind = NodeKind::kSwitch;
  std::uint8_t tier = 0;         // hosts 0; switches: 1 next to hosts, then upwards
  std::uint16_t plane = 0;       // for multi-plane networks
  std::uint16_t site = 0;        // the datacenter it stands in
  std::uint32_t index = 0;       // number among the nodes of its kind: host number or switch number
  std::uint32_t group = 0;       // pod, board or group, as the family means it; for drawing and layout
  std::uint32_t rack = kNoRack;  // which rack it stands in, numbered from 0; kNoRack: that of its group
  // The machine of several accelerators that it is inside of, numbered from 0: its hosts, their routers, and
  // its own switches. A link between two of one domain is inside it, and routing prefers those (is_inside).
  std::uint32_t domain = kNoDomain;
  bool in_host = false;  // a router that is part of an accelerator or server which forwards: it costs nothing
  // Whether its domain hands messages to others on over the accelerator that saves links outside (NCCL's
  // PXN), rather than only where there is no other way. One that doesn't speaks for the whole network.
  bool relays = true;
  Time switch_latency;  // from the last bit in to the first bit out, beside queueing
  std::string name;     // "host 3", "edge 0.1": unique, for people
};

// A full-duplex cable.
struct Link {
  Bandwidth rate;  // each direction
  Time latency;    // propagation
  CableKind cable = CableKind::kUnknown;
  float length_m = 0;   // 0: not placed
  double loss = 0;      // the probability that it loses a packet, each direction; below 1
  Bandwidth back_rate;  // from the second node to the first, where it is another; 0: `rate`
};

// The number of a node, of either kind, in the order they were added.
using Vertex = std::size_t;

// A cable and the two nodes it was added between.
struct Edge {
  std::uint32_t from = 0, to = 0;  // vertices
  Link link;
};

// One direction of a cable. Channel 2e is edge e from the node it was added from, 2e + 1 the way back.
struct Channel {
  std::uint32_t from = 0, to = 0;  // vertices
  Bandwidth rate;
  Time latency;
  double loss = 0;
};

// Accelerators on boards whose rows and columns are switched, as in a HammingMesh: x by y boards, of a by b
// accelerators each. Host ((u·y + v)·a + i)·b + j is accelerator (i, j) of board (u, v). Row v·b + j joins
// the accelerators (any u, v, any i, j), column u·a + i those of (u, any v, i, any j).
struct BoardGrid {
  std::uint32_t x = 0, y = 0, a = 0, b = 0;
  bool empty() const { return x == 0; }
};

// Built by a family with add_host, add_switch and add_link, then finish(). Immutable afterwards, but for
// rescale().
// Parallel links between two nodes are allowed. Hosts may have several links (NICs, planes).
class Topology {
 public:
  explicit Topology(std::string name) : name_(std::move(name)) {}

  Vertex add_host(std::string name, std::uint32_t group = 0);
  Vertex add_switch(std::string name, std::uint8_t tier, std::uint32_t group = 0, Time latency = {},
                    std::uint16_t plane = 0);
  // The router inside a host that forwards the messages of others (an accelerator on a board, a server of
  // BCube). Its host is to be linked to it.
  Vertex add_host_router(std::string name, std::uint32_t group = 0, std::uint16_t plane = 0);
  // A node with these attributes; its number among its kind follows those there are.
  Vertex add_node(Node node);
  void set_rack(Vertex v, std::uint32_t rack) { nodes_[v].rack = rack; }
  void set_site(Vertex v, std::uint16_t site) { nodes_[v].site = site; }
  void set_domain(Vertex v, std::uint32_t domain, bool relays = true) {
    nodes_[v].domain = domain;
    nodes_[v].relays = relays;
    has_domains_ |= domain != kNoDomain;
  }
  void add_link(Vertex a, Vertex b, const Link& link);
  // Says that the switches stand at the points of a grid of these sizes, numbered with the last dimension
  // fastest, and that all parallel lines of it are linked alike. Routing computes next links from it, once it
  // has found it true.
  void set_grid(std::vector<std::uint32_t> sizes) { grid_ = std::move(sizes); }
  // Says that hosts stand on boards like this.
  void set_boards(const BoardGrid& boards) { boards_ = boards; }
  // Says that Node::group are groups as in a dragonfly, every two of them linked: routing then spares the
  // links between them, and takes one of these at most on a minimal path.
  void set_linked_groups() { linked_groups_ = true; }
  // A sentence for the user about this network; runs and `weft topo info` tell it. The second and third say
  // that it is something guessed, where a file or an argument doesn't say, or something in a file that was
  // not read.
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  void add_assumption(const std::string& note);
  void add_unread(const std::string& note);
  // Builds the channel tables and checks: at least one host, every host has a link, every rate > 0,
  // 0 <= loss < 1,
  // all hosts reachable from host 0, unless it is to be in_parts(). Throws InputError naming the node at
  // fault.
  void finish() { finish(false); }
  void finish_in_parts() { finish(true); }
  // Afterwards: all links have so many times the rate, and latencies of links and switches are multiplied.
  // To ask what another network of the same shape would do, before anyone else has seen this one.
  void rescale(double rates, double latencies);

  const std::string& name() const { return name_; }  // the family's short form with its parameters
  const Node& node(Vertex v) const { return nodes_[v]; }
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(nodes_.size()); }
  std::uint32_t hosts() const { return static_cast<std::uint32_t>(hosts_.size()); }
  std::uint32_t switches() const { return static_cast<std::uint32_t>(switches_.size()); }
  Vertex host(std::uint32_t index) const { return hosts_[index]; }
  Vertex switch_at(std::uint32_t index) const { return switches_[index]; }
  // All cables, in the order they were added. (boost_graph.h makes a Boost.Graph of them.)
  const std::vector<Edge>& edges() const { return edges_; }
  const std::vector<std::uint32_t>& grid() const { return grid_; }  // as set_grid(); empty: not said
  const BoardGrid& boards() const { return boards_; }               // as set_boards(); empty: not said
  bool linked_groups() const { return linked_groups_; }             // set_linked_groups() was called
  bool in_parts() const { return in_parts_; }                       // some hosts may not reach others
  bool has_domains() const { return has_domains_; }                 // some node has Node::domain
  bool is_inside(Vertex a, Vertex b) const {                        // of a domain: a link between them is
    return nodes_[a].domain != kNoDomain && nodes_[a].domain == nodes_[b].domain;
  }
  const std::vector<std::string>& notes() const { return notes_; }  // all three kinds, in that order
  const std::vector<std::string>& assumptions() const { return assumptions_; }
  const std::vector<std::string>& unread() const { return unread_; }
  // All channels; two per link.
  const std::vector<Channel>& channels() const { return channels_; }
  // The channels that leave a node, in the order its links were added. A host's k-th is its NIC k.
  std::span<const std::uint32_t> out_channels(Vertex v) const {
    return {out_channels_.data() + out_begin_[v], out_channels_.data() + out_begin_[v + 1]};
  }

 private:
  void finish(bool in_parts);

  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Vertex> hosts_, switches_;
  std::vector<std::uint32_t> grid_;
  BoardGrid boards_;
  std::vector<std::string> notes_, assumptions_, unread_;
  bool linked_groups_ = false, in_parts_ = false, has_domains_ = false;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> out_begin_, out_channels_;
};

// A topology family: parameters in, Topology out. Every family has at least the parameters
// `link` (bandwidth), `latency` (time per cable) and `switch_latency` (time).
struct Family {
  ModuleInfo info;
  Topology (*build)(const Parameters& parameters);
  // The values of the parameters that set the size, for the smallest sensible network with at least so many
  // endpoints; all others keep their defaults. Throws InputError if there is none that large. Null: it has no
  // choice of sizes.
  std::map<std::string, std::string> (*size_for)(std::uint64_t endpoints) = nullptr;
  // Its hosts are the accelerators (GPUs) of nodes: what they do together is NCCL's, where nothing else is
  // known.
  bool has_accelerators = false;
  // Read from a file, so its hosts may be anything.
  bool is_from_file = false;
};

}  // namespace weft::topologies
