// Queue disciplines of switch ports: what a module decides, and the explicit list of modules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/packet/queues/node_queues.h"
#include "sim/routing/channel_rule.h"
#include "sim/units/capabilities.h"
#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::sim::packet {

// Where a queue stands.
struct QueueSite {
  Bandwidth rate;                  // of the link it feeds
  Time rtt;                        // the longest without queueing, with what passes in hosts
  std::uint32_t packet_bytes = 0;  // of a full packet on the wire
  bool in_node = false;            // NodeSite::in_node: it holds kNodeMemory, whatever the parameters say
};

// How one FIFO queue treats an arriving packet. Occupancy is what is not yet on the wire, the packet in
// transmission counted with what remains of it; `q` is the occupancy the packet finds.
//   dropped: q + its size > capacity_bytes.
//   marked (data packets only): q > mark_all_bytes always; q > mark_from_bytes with a probability that rises
//   linearly from 0 at mark_from_bytes to mark_probability at mark_all_bytes.
struct QueueRule {
  std::uint64_t capacity_bytes = 0;
  bool marks = false;
  std::uint64_t mark_from_bytes = 0, mark_all_bytes = 0;
  double mark_probability = 1;
  // A virtual queue beside it that counts the same packets, but takes `phantom_stretch` times the link's time
  // for a byte (0: there is none), and holds phantom_capacity_bytes at most: packets are marked by either.
  // Source: Alizadeh et al., "Less is more", NSDI 2012 (HULL).
  double phantom_stretch = 0;
  std::uint64_t phantom_capacity_bytes = 0, phantom_mark_from_bytes = 0, phantom_mark_all_bytes = 0;

  bool operator==(const QueueRule&) const = default;
};

// Where `value` is in a list of different ones; it is added if it is new. Most ports of a switch are alike.
template <typename Value>
std::uint16_t index_of(const Value& value, std::vector<Value>& list) {
  auto found = std::find(list.begin(), list.end(), value);
  if (found == list.end()) found = list.insert(list.end(), value);
  return static_cast<std::uint16_t>(found - list.begin());
}

// A discipline as users name it: `--queue ecn:kmin=200KB,kmax=800KB`. Either its ports are FIFO and follow a
// rule, or what the switch decides on arrival, at one event a hop; or it makes queues that decide packet by
// packet. One of the three factories is set.
struct Discipline {
  ModuleInfo info;
  // What congestion controls, recoveries and routing policies may rely on. Where it is lossless, packets wait
  // until the next node has room, and deadlocks are looked for.
  CapabilityOffers offers = {};
  // The rule for a queue at `site`. Throws InputError for values that make no sense.
  QueueRule (*rule)(const Parameters& parameters, const QueueSite& site) = nullptr;
  // The queues of one switch. Throws InputError for values that make no sense.
  std::unique_ptr<NodeQueues> (*make)(const Parameters& parameters, const NodeSite& site) = nullptr;
  // What FIFO queues of one switch have in common, beside a rule that takes and marks all. Throws as above.
  std::unique_ptr<Admission> (*make_admission)(const Parameters& parameters, const NodeSite& site) = nullptr;
  // Gives the rule for the virtual channels of a lossless discipline. Throws as above.
  routing::ChannelRule (*channels)(const Parameters& parameters) = nullptr;
  // Writes a rule into its parameters; for one whose rule may be left open (sim/packet/channel_choice.h).
  void (*set_channels)(const routing::ChannelRule& rule, std::map<std::string, std::string>& given) = nullptr;
  bool at_hosts = false;       // also makes the queues of hosts' NICs, which otherwise hold anything, FIFO
  bool scales_limits = false;  // NodeBuffers::scale_limits(); where a rule is set limits scale by themselves
};

// Every built-in discipline. Adding one: a file pair, its test, a line in BUILD.bazel and one in queues.cc.
std::span<const Discipline> disciplines();

// The value of `capacity`. "auto" is what the site suggests: one bandwidth-delay product of its rate and the
// longest round trip from host to host, which windows are measured by, and at least 32 full packets.
inline constexpr const char* kCapacityHelp =
    "Bytes per port; auto: one bandwidth-delay product of the longest path, at least 32 full packets.";
std::uint64_t capacity_or_default(const Parameters& parameters, const QueueSite& site);
std::uint64_t default_capacity(const QueueSite& site);
// Whole bytes that pass at `rate` in `time`.
std::uint64_t bytes_in(Bandwidth rate, Time time);
// The site of one port.
QueueSite queue_site(const NodeSite& node, std::size_t port);

}  // namespace weft::sim::packet
