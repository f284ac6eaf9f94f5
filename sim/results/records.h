// What a run reports: plain records, handed to sinks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/results/flow.h"
#include "sim/results/flow_statistics.h"
#include "sim/units/quantity.h"
#include "sim/units/signals.h"

namespace weft::results {

// One direction of a cable (a row of links.csv).
struct Link {
  std::string from, to;                  // node names
  Bandwidth rate;                        // that it was built with
  Bandwidth highest;                     // of the rates that it had in the run, as faults change it
  std::uint64_t bytes = 0, packets = 0;  // put on the wire, headers and ACKs included
  std::uint64_t drops = 0, ecn_marks = 0;
  std::uint64_t max_queue_bytes = 0;
  Time busy;                 // time the wire was occupied, each byte at its time's rate
  bool leaves_host = false;  // host to switch, or to another host
};

// One rank (a row of ranks.csv). compute + overhead + waiting = finish × cpus of the rank.
struct Rank {
  std::uint32_t rank = 0, job = 0, host = 0;
  Time finish;    // end of its last operation
  Time compute;   // cpu time in calc operations, all cpus
  Time slowed;    // of compute: what it took longer beside collectives
  Time overhead;  // cpu time in sending and receiving, all cpus
  Time waiting;   // the rest, until the finish
  std::uint64_t messages_sent = 0, messages_received = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t ops = 0;     // graph operations executed
  bool finish_only = false;  // the model knows nothing but the finish time
};

// Totals of the whole network.
struct NetworkTotals {
  std::uint64_t messages = 0, bytes = 0;  // delivered to hosts
  std::uint64_t packets_injected = 0, packets_delivered = 0, packets_dropped = 0;
  // Wire bytes: injected = delivered + dropped + trimmed off, once nothing is on its way.
  std::uint64_t bytes_injected = 0, bytes_delivered = 0, bytes_dropped = 0, bytes_trimmed = 0;
  std::uint64_t packet_hops = 0;  // packets × links crossed, ACKs included
  // Data packets that came after a later one of their connection, those among them that had not been sent
  // before, messages with such packets, and how many packets they were late at most.
  std::uint64_t out_of_order_packets = 0, overtaken_packets = 0, out_of_order_flows = 0,
                max_reorder_distance = 0;
  // How often each signal acted (ecn_mark, drop, retransmit, timeout …), in a fixed order.
  Signals signals;
};

// A network model that can report; empty where the model has no such thing.
class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual NetworkTotals totals() const = 0;
  virtual std::vector<Link> links() const { return {}; }
  // By link as in links(), and for each by job: bytes put on its wire. Empty where that is not counted.
  virtual std::vector<std::uint64_t> job_bytes() const { return {}; }
  // Flows in the order (start, source, number among the source's flows).
  virtual std::vector<Flow> flows() const { return {}; }
  // Counts all delivered messages, those without a row in flows() too. By default it counts the rows.
  virtual FlowStatistics flow_statistics() const {
    FlowStatistics statistics;
    for (const Flow& flow : flows()) statistics.add(flow);
    return statistics;
  }
};

}  // namespace weft::results
