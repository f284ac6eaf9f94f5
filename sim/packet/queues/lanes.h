// What queue disciplines share that hold packets back until the next node has room for them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/packet/queues/marking.h"
#include "sim/packet/queues/node_queues.h"

namespace weft::sim::packet {

inline constexpr std::uint32_t kMostLanes = 64;

// A FIFO queue for each port and lane (class or virtual channel) of a node. Every packet is remembered with
// the port and lane it came through, whose buffer it fills until its last bit has left. `Own`: what the
// discipline keeps of a port beside, in the same cache line.
template <typename Own>
class LaneQueues : public NodeQueues {
 public:
  std::uint64_t backlog_bytes(PortId out) const final { return ports_[out].backlog_bytes(); }
  NodeBuffers::Memory memory(PortId port) const override {
    const EntryFifo<Entry>* const first = &queues_[port * lanes_];
    return {.port = &ports_[port], .more = first};
  }
  void prefetch_deep(PortId, PortId out) const override {
    const Port& port = ports_[out];
    if (port.from_port != kMadeHere) __builtin_prefetch(&ports_[port.from_port], 1);
    if (port.next_from() != kMadeHere) __builtin_prefetch(&ports_[port.next_from()], 1);
    for (std::uint64_t left = port.waiting; left != 0; left &= left - 1) {
      queues_[out * lanes_ + static_cast<std::uint32_t>(std::countr_zero(left))].prefetch();
    }
  }
  void held_back(Time now, std::vector<Lane>& out) const final {
    for (PortId p{0}; p < ports(); ++p) {
      if (ports_[p].sent_bytes > 0 && ports_[p].departure > now) continue;
      for (std::uint64_t left = ports_[p].waiting & ports_[p].held; left != 0; left &= left - 1) {
        out.push_back({p, static_cast<std::uint32_t>(std::countr_zero(left))});
      }
    }
  }
  void filled_by(Lane in, Time now, Time later, std::vector<Lane>& out) const final {
    for (PortId p{0}; p < ports(); ++p) {
      const Port& port = ports_[p];
      // Before the packet that was sent last others may be on their way, of which no more is known.
      const bool under_way = port.sent_bytes > 0 &&
                             (port.departure > later || (port.departure > now && port.from_port == in.port &&
                                                         port.from_lane == in.lane));
      for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
        bool found = under_way && port.lane == lane;
        queues_[p * lanes_ + lane].for_each([&](const Entry& entry) {
          found = found || (entry.in_port == in.port && entry.lane == in.lane);
        });
        if (found) out.push_back({p, lane});
      }
    }
  }

 protected:
  static constexpr std::uint16_t kMadeHere = static_cast<std::uint16_t>(kHere);

  // A packet that waits, and the port and lane it came through.
  struct Entry {
    PacketHandle packet = kNone;
    std::uint32_t bytes = 0;
    std::uint32_t order = 0;  // what goes first: counted without end, the least by the difference
    std::uint16_t in_port = 0, lane = 0;
  };
  struct Origin {
    std::uint16_t port = 0;  // kMadeHere: it was made here
    std::uint8_t lane = 0;
  };
  // One cache line: all that a packet touches which doesn't wait.
  struct alignas(64) Port {
    // All of these but `rule` are of the packet that was sent last: the port and lane it came from, the lane
    // it left in.
    Time departure;
    std::uint32_t sent_bytes : 22 = 0;  // 0: nothing so far
    std::uint32_t rule : 10 = 0;        // index: when to mark
    std::uint16_t from_port = 0;
    std::uint8_t from_lane = 0, lane = 0;
    // Lanes with packets, and those whose first packet may not go, by bit.
    std::uint64_t waiting = 0, held = 0;
    // From the top: 8 bits that are the discipline's flags; 40 bits, bytes that wait in all lanes; 16 bits,
    // the port that a packet came through which will leave soon. Not bit-fields, because a word that was
    // written in part is read slowly.
    std::uint64_t word = kMadeHere;
    Own own;

    std::uint64_t backlog_bytes() const { return word << 8 >> 24; }
    std::uint16_t next_from() const { return static_cast<std::uint16_t>(word); }
    std::uint8_t flags() const { return static_cast<std::uint8_t>(word >> 56); }
    void add_backlog(std::uint64_t bytes) { word += bytes << 16; }
    void take_backlog(std::uint64_t bytes) { word -= bytes << 16; }
    void set_next_from(std::uint16_t port) { word = (word & ~std::uint64_t{0xFFFF}) | port; }
    void set(std::uint8_t flag) { word |= std::uint64_t{flag} << 56; }
    void clear(std::uint8_t flag) { word &= ~(std::uint64_t{flag} << 56); }
  };
  static_assert(sizeof(Port) == NodeBuffers::Memory::kPortBytes);

  // REQUIRES: ports above 0, less than 65,535; lanes from 1 to kMostLanes.
  LaneQueues(const NodeSite& site, std::uint32_t lanes)
      : is_host_(site.is_host),
        lanes_(lanes),
        ports_(site.ports.size()),
        queues_(site.ports.size() * lanes),
        random_(site.random) {
    follows_departures_ = true;
  }
  bool is_host() const { return is_host_; }
  void set_marking(PortId p, const QueueRule& rule, Bandwidth rate) {
    const Marking marking{.rule = rule, .rate = rate, .unmarked = rate.serialization(rule.mark_from_bytes)};
    ports_[p].rule = index_of(marking, markings_);
  }
  // By what is not on the wire yet, the packet being sent counted with what remains of it.
  void mark(PortId out, PacketHandle packet, NodeActions& node) {
    if (is_host_ || node.packets()[packet].control()) return;
    const Port& port = ports_[out];
    const Marking& marking = markings_[port.rule];
    if (!marking.rule.marks) return;
    const Time busy = port.departure - node.now();
    if (busy <= marking.unmarked && port.backlog_bytes() == 0) return;
    const std::uint64_t leaving = busy > Time() ? bytes_in(marking.rate, busy) : 0;
    if (marks(marking.rule, leaving + port.backlog_bytes(), random_)) node.mark(out, packet);
  }

  void prefetch_queues(PortId out) const {
    const EntryFifo<Entry>* const first = &queues_[out * lanes_];
    __builtin_prefetch(first, 1);
    __builtin_prefetch(first + (lanes_ - 1), 1);
  }
  std::uint32_t ports() const { return static_cast<std::uint32_t>(ports_.size()); }
  std::uint32_t lanes() const { return lanes_; }
  Port& port(std::uint32_t p) { return ports_[p]; }
  const Port& port(std::uint32_t p) const { return ports_[p]; }
  const EntryFifo<Entry>& queue(PortId out, std::uint32_t lane) const { return queues_[out * lanes_ + lane]; }
  // A packet joins the queue of (out, lane).
  void put(Origin from, PortId out, std::uint32_t lane, PacketHandle packet, std::uint32_t bytes) {
    queues_[out * lanes_ + lane].push({packet, bytes, arrivals_++, from.port, from.lane});
    if (ports_[out].waiting == 0) ports_[out].set_next_from(from.port);
    count(out, lane, bytes);
  }
  // Before those that were sent later. All of a node's packets are put in one of both ways.
  void put_by_age(Origin from, PortId out, std::uint32_t lane, PacketHandle packet, std::uint32_t bytes,
                  std::int64_t sent_ps) {
    constexpr int kGrain = 10;  // a nanosecond; orders differ by two seconds at most
    EntryFifo<Entry>& queue = queues_[out * lanes_ + lane];
    queue.insert({packet, bytes, static_cast<std::uint32_t>(sent_ps >> kGrain), from.port, from.lane},
                 [](const Entry& a, const Entry& b) { return goes_before(a, b); });
    if (ports_[out].waiting == 0 || queue.front().packet == packet) ports_[out].set_next_from(from.port);
    count(out, lane, bytes);
  }
  static bool goes_before(const Entry& a, const Entry& b) {
    return static_cast<std::int32_t>(a.order - b.order) < 0;
  }
  // Takes the oldest of (out, lane) to be sent now. REQUIRES: there is one.
  Next take(PortId out, std::uint32_t lane) {
    EntryFifo<Entry>& queue = queues_[out * lanes_ + lane];
    const Entry entry = queue.pop();
    Port& port = ports_[out];
    if (queue.empty()) {
      port.waiting &= ~(std::uint64_t{1} << lane);
    } else {
      port.set_next_from(queue.front().in_port);
    }
    port.take_backlog(entry.bytes);
    note_sent(port, {entry.in_port, static_cast<std::uint8_t>(entry.lane)}, lane, entry.bytes);
    return {entry.packet, entry.bytes, port.waiting != 0};
  }
  static void note_sent(Port& port, Origin from, std::uint32_t lane, std::uint32_t bytes) {
    port.sent_bytes = bytes;
    port.from_port = from.port;
    port.from_lane = from.lane;
    port.lane = static_cast<std::uint8_t>(lane);
  }

 private:
  void count(PortId out, std::uint32_t lane, std::uint32_t bytes) {
    ports_[out].waiting |= std::uint64_t{1} << lane;
    ports_[out].add_backlog(bytes);
  }

  // When to mark, on links of such a rate.
  struct Marking {
    QueueRule rule;
    Bandwidth rate;
    Time unmarked;  // of a link that is busy for so long, and no packet waits, none is
    bool operator==(const Marking&) const = default;
  };

  const bool is_host_;
  const std::uint32_t lanes_;
  std::vector<Port> ports_;
  std::vector<EntryFifo<Entry>> queues_;  // by port and lane
  std::uint32_t arrivals_ = 0;
  std::vector<Marking> markings_;  // that are different
  RandomStream random_;
};

}  // namespace weft::sim::packet
