#include "sim/packet/queues/pfc.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/packet/queues/lanes.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint32_t kPauseProcessingBytes = 480;  // 3840 bit times, IEEE 802.1Q-2018 annex N.4
constexpr std::size_t kMostClasses = 2;
constexpr std::uint64_t kHysteresisPackets = 3;  // from xoff down to xon

std::uint64_t headroom_of(const NodeSite& site, const PortSite& port) {
  return bytes_in(port.rate, port.latency + port.latency + port.send_delay + site.pipeline) +
         std::uint64_t{2} * site.packet_bytes + std::max(kPauseProcessingBytes, site.control_bytes);
}

// Pause frames: the class, and whether it stops.
constexpr std::uint32_t frame_content(std::uint32_t lane, bool stop) { return lane << 1 | (stop ? 1 : 0); }

struct PfcPort {
  std::array<std::uint64_t, kMostClasses> held_bytes =
      {};                    // by class: what came through it and is still here
  std::uint16_t limits = 0;  // index
  std::uint8_t stopped = 0;  // the classes whose sender was told to pause, by bit
};

// What a packet that leaves had taken: the class in the lowest bit, above it the bytes.
constexpr std::uint32_t leaving_content(std::uint32_t lane, std::uint32_t bytes) { return lane | bytes << 1; }
struct CountOut {
  PfcPort& from;
  void operator()(std::uint32_t content) const { from.held_bytes[content & 1] -= content >> 1; }
};

class PfcQueues final : public LaneQueues<PfcPort> {
 public:
  PfcQueues(const Parameters& parameters, const NodeSite& site, std::uint32_t classes)
      : LaneQueues(site, classes), leaving_(site.ports.size()), paused_since_(site.ports.size() * classes) {
    for (PortId p{0}; p < ports(); ++p) {
      const Limits limits = limits_of(parameters, site, p, classes);
      port(p).own.limits = index_of(limits, limits_);
      set_marking(p, marking_below(parameters, limits.xoff), site.ports[p].rate);
      capacity_bytes_ += (limits.xoff + limits.headroom) * classes;
    }
    commits_ = classes == 1;  // else a packet of the first class may take a turn
    heeds_frames_ = true;
    if (is_host() || site.in_node || parameters.automatic("buffer")) return;
    if (const std::uint64_t buffer = parameters.bytes("buffer"); capacity_bytes_ > buffer) {
      parameters.fail("buffer", "a switch here has " + std::to_string(site.ports.size()) +
                                    " ports that need " + bytes_to_string(capacity_bytes_) +
                                    " for what may come before and after a pause (xoff and headroom)");
    }
  }

  void arrive(PortId in, PortId out, PacketHandle packet, NodeActions& node) override {
    const bool control = node.packets()[packet].control();
    const std::uint32_t lane = control ? 0 : lanes() - 1;
    const std::uint32_t bytes = node.bytes(packet);
    if (in != kHere && !take_in(in, lane, bytes, node)) {
      node.drop(out, packet);
      return;
    }
    mark(out, packet, node);
    put(origin(in, lane), out, lane, packet, bytes);
  }
  // A pause that is not on its way yet takes at least the cable's latency.
  bool pass(PortId in, PortId out, PacketHandle packet, Time start, Time departure,
            NodeActions& node) override {
    const std::uint32_t lane = node.packets()[packet].control() ? 0 : lanes() - 1;
    const std::uint32_t bytes = node.bytes(packet);
    Port& to = port(out);
    if (to.held >> lane & 1) return false;
    if (start > node.now() && start >= node.now() + limits_[to.own.limits].latency) return false;
    if (in != kHere) {
      PfcPort& from = port(in).own;
      if (leaving_[in].full() || !surely_below(from.held_bytes[lane] + bytes, from)) {
        collect(in, node);
        if (!surely_below(from.held_bytes[lane] + bytes, from)) return false;
      }
      from.held_bytes[lane] += bytes;
    }
    if (start > node.now()) mark(out, packet, node);
    note_sent(to, origin(in, lane), lane, bytes);
    started(out, departure, node);
    return true;
  }

  void prefetch_deep(PortId in, PortId out) const override {
    __builtin_prefetch(&leaving_[in], 1);
    if (port(out).waiting == 0) return;
    LaneQueues::prefetch_deep(in, out);
    if (const std::uint32_t from = port(out).next_from(); from != kMadeHere)
      __builtin_prefetch(&leaving_[from], 1);
  }
  void prefetch_deepest(PortId in, PortId) const override { leaving_[in].prefetch(); }
  // Strict priority: the control class first, if there is one.
  Next next(PortId out, NodeActions&) override {
    const Port& from = port(out);
    if (const std::uint64_t free = from.waiting & ~from.held; free != 0) {
      return take(out, static_cast<std::uint32_t>(std::countr_zero(free)));
    }
    return {.more = from.waiting != 0};
  }
  void started(PortId out, Time departure, NodeActions& node) override {
    Port& to = port(out);
    to.departure = departure;
    if (to.from_port == kMadeHere) return;
    leaving_[to.from_port].add({departure, leaving_content(to.from_lane, to.sent_bytes)});
    if (stopped_ != 0 && port(to.from_port).own.stopped != 0) node.look_at(PortId(to.from_port), departure);
  }
  // A sender that is stopped may go on.
  void look(PortId in, NodeActions& node) override { collect(in, node); }

  void frame(PortId p, std::uint32_t content, NodeActions& node) override {
    const std::uint32_t lane = content >> 1;
    const std::uint64_t bit = std::uint64_t{1} << lane;
    Time& since = paused_since_[p * lanes() + lane];
    if (content & 1) {
      port(p).held |= bit;
      since = node.now();
    } else {
      port(p).held &= ~bit;
      paused_ps_ += (node.now() - since).ps();
      node.wake(p);
    }
  }

  // A flow's packet is refused only while data are paused or wait; control packets of another class are ahead
  // of it anyway.
  bool takes_data(PortId out, Time) override {
    return !((port(out).held | port(out).waiting) >> (lanes() - 1) & 1);
  }

  bool held(PortId out, Time) override { return port(out).held >> (lanes() - 1) & 1; }
  // All ports' packets may wait for the same.
  std::uint64_t capacity_bytes(PortId) const override { return capacity_bytes_; }

  Signals signals() const override {
    Signals list;
    if (!is_host()) {
      list.emplace_back("pause", pauses_);
      list.emplace_back("most_ingress_bytes", most_ingress_bytes_);
    }
    list.emplace_back("pause_ns", static_cast<std::uint64_t>(paused_ps_) / 1000);
    if (overflows_ > 0) list.emplace_back("headroom_overflow", overflows_);
    return list;
  }

 private:
  struct Limits {
    std::uint64_t xoff = 0, xon = 0, headroom = 0;
    Time latency;  // of the cable
    bool operator==(const Limits&) const = default;
  };

  static Origin origin(PortId in, std::uint32_t lane) {
    return {in == kHere ? kMadeHere : static_cast<std::uint16_t>(in), static_cast<std::uint8_t>(lane)};
  }
  static Limits limits_of(const Parameters& parameters, const NodeSite& site, std::size_t port,
                          std::uint32_t classes) {
    Limits limits{.latency = site.ports[port].latency};
    limits.headroom =
        parameters.automatic("headroom") ? headroom_of(site, site.ports[port]) : parameters.bytes("headroom");
    if (site.in_node) {
      limits.xoff = limits.xon = kNodeMemory;
      return limits;
    }
    if (!parameters.automatic("xoff")) {
      limits.xoff = parameters.bytes("xoff");
    } else if (parameters.automatic("buffer") || site.is_host) {
      limits.xoff = default_capacity(queue_site(site, port));
    } else {
      const std::uint64_t share = parameters.bytes("buffer") / (site.ports.size() * classes);
      if (share < limits.headroom + site.packet_bytes) {
        parameters.fail("buffer", "a switch here has " + std::to_string(site.ports.size()) +
                                      " ports, and each class of each needs at least a headroom of " +
                                      bytes_to_string(limits.headroom) + " and one packet");
      }
      limits.xoff = share - limits.headroom;
    }
    const std::uint64_t hysteresis = kHysteresisPackets * site.packet_bytes;
    limits.xon = parameters.automatic("xon") ? limits.xoff - std::min(limits.xoff, hysteresis)
                                             : parameters.bytes("xon");
    if (limits.xon > limits.xoff) {
      parameters.fail("xon", "it must not be above xoff (" + bytes_to_string(limits.xoff) + " here)");
    }
    return limits;
  }

  // Counts what departures may already have made less: if that is no reason for anything, nothing is.
  bool surely_below(std::uint64_t bytes, const PfcPort& in) const {
    return bytes <= limits_[in.limits].xoff && bytes <= most_ingress_bytes_;
  }
  // Counts an arriving packet, if it fits.
  bool take_in(PortId in, std::uint32_t lane, std::uint32_t bytes, NodeActions& node) {
    PfcPort& from = port(in).own;
    std::uint64_t& held = from.held_bytes[lane];
    const Limits& limits = limits_[from.limits];
    if (leaving_[in].full() || !surely_below(held + bytes, from)) collect(in, node);
    if (!exact() && !surely_below(held + bytes, from)) {
      node.settle();
      collect(in, node);
    }
    if (held + bytes > limits.xoff + limits.headroom) [[unlikely]] {
      ++overflows_;
      return false;
    }
    held += bytes;
    most_ingress_bytes_ = std::max(most_ingress_bytes_, held);
    if (held > limits.xoff && !(from.stopped >> lane & 1)) {
      from.stopped |= static_cast<std::uint8_t>(1u << lane);
      ++pauses_;
      if (++stopped_ == 1) node.be_exact(true);
      node.send_frame(in, frame_content(lane, true));
      leaving_[in].for_each([&](const RoomReturns::Return& left) { node.look_at(in, left.departure); });
    }
    return true;
  }

  // Counts out what came through `in` and has left by now to its last bit.
  void collect(PortId in, NodeActions& node) {
    PfcPort& from = port(in).own;
    leaving_[in].take_until(node.now(), CountOut{from});
    for (std::uint32_t lane = 0; from.stopped >> lane != 0; ++lane) {
      if (!(from.stopped >> lane & 1) || from.held_bytes[lane] > limits_[from.limits].xon) continue;
      from.stopped &= static_cast<std::uint8_t>(~(1u << lane));
      if (--stopped_ == 0) node.be_exact(false);
      node.send_frame(in, frame_content(lane, false));
    }
  }

  std::vector<Limits> limits_;        // that are different
  std::vector<RoomReturns> leaving_;  // by port: of what came through it, and may not be counted out yet
  std::vector<Time> paused_since_;    // by port and class: what the other end has told
  std::uint64_t capacity_bytes_ = 0;
  std::uint32_t stopped_ = 0;  // senders of one class
  std::uint64_t pauses_ = 0, most_ingress_bytes_ = 0, overflows_ = 0;
  std::int64_t paused_ps_ = 0;  // of pauses that are over
};

std::uint32_t classes_of(const Parameters& parameters) { return parameters.whole("classes"); }

std::unique_ptr<NodeQueues> make_pfc(const Parameters& parameters, const NodeSite& site) {
  return std::make_unique<PfcQueues>(parameters, site, classes_of(parameters));
}

routing::ChannelRule channels(const Parameters& parameters) {
  return {.channels = 1,
          .selection = routing::ChannelRule::Selection::kByFlow,
          .control_apart = classes_of(parameters) == 2};
}

}  // namespace

Discipline pfc() {
  Discipline discipline{
      .info = {.name = "pfc",
               .summary =
                   "Lossless: a switch pauses who sends to it before its buffer is full; data is marked "
                   "as with ecn.",
               .source = "priority-based flow control, IEEE 802.1Q-2018 clause 36 and annex N (headroom); Y. "
                         "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015",
               .parameters =
                   {{"xoff", ParameterType::kBytes, "auto",
                     "Bytes from one port and class above which its sender is paused; auto: one "
                     "bandwidth-delay product of the longest path, at least 32 full packets, or what "
                     "`buffer` allows."},
                    {"xon", ParameterType::kBytes, "auto",
                     "Bytes at which it goes on; auto: 3 full packets less than xoff."},
                    {"headroom", ParameterType::kBytes, "auto",
                     "Bytes above xoff for what is under way; auto: just enough that nothing is lost."},
                    {"buffer", ParameterType::kBytes, "auto",
                     "Bytes of a whole switch, shared evenly; auto: as much as xoff and headroom take."},
                    {"classes", ParameterType::kInteger, "1",
                     "With 2, ACKs have a class of their own that leaves first and is paused by "
                     "itself.",
                     from_to("1", "2")}}},
      .offers = {.always = Capability::kMark | Capability::kLossless,
                 .switches = {{Capability::kCredit, "classes", "2", "1"}}},
      .make = make_pfc,
      .channels = channels,
      .at_hosts = true};
  for (ParameterSpec& parameter : threshold_parameters("xoff")) {
    discipline.info.parameters.push_back(std::move(parameter));
  }
  return discipline;
}

}  // namespace weft::sim::packet
