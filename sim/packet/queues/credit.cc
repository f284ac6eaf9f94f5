#include "sim/packet/queues/credit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/packet/queues/lanes.h"

namespace weft::sim::packet {
namespace {

// Credits on their way back: the channel in the low byte, above it the bytes. A packet has less than 2^24.
constexpr std::uint32_t kChannelBits = 8, kChannelMask = (1u << kChannelBits) - 1;

using Selection = routing::ChannelRule::Selection;

struct CreditPort {
  RoomReturns returned;  // of the packets that came through it: for the other end to read, if it does
};

class CreditQueues final : public LaneQueues<CreditPort> {
 public:
  CreditQueues(const Parameters& parameters, const NodeSite& site, std::uint32_t channels,
               Selection selection)
      : LaneQueues(site, channels),
        packet_bytes_(site.packet_bytes),
        selection_(selection),
        in_node_(site.in_node),
        by_age_(parameters.text("arbitration") == "age"),
        far_(site.ports.size()) {
    for (PortId p{0}; p < ports(); ++p) {
      const PortSite& cable = site.ports[p];
      set_marking(p, marking_below(parameters, default_capacity(queue_site(site, p))), cable.rate);
      // The other end's buffer, and this end's. A host takes in what comes.
      const std::uint64_t there = buffer_bytes(parameters, site, cable, cable.pipeline);
      capacity_bytes_ += channels * buffer_bytes(parameters, site, cable, site.pipeline + cable.send_delay);
      credits_.insert(credits_.end(), channels,
                      cable.to_host || cable.to_node ? UINT32_MAX : static_cast<std::uint32_t>(there));
      if (cable.to_host) port(p).set(kToHost);
      if (cable.to_host || cable.to_node) port(p).set(kNeverFull);
      if (cable.crosses_groups) port(p).set(kCrosses);
    }
    returns_room_ = true;
    commits_ = true;
  }

  void arrive(PortId in, PortId out, PacketHandle packet, NodeActions& node) override {
    Packet& record = node.packets()[packet];
    const auto [from, lane] = way_of(in, out, packet, node.packets());
    record.channel = static_cast<std::uint8_t>(lane);
    const std::uint32_t bytes = node.bytes(packet);
    mark(out, packet, node);
    if (by_age_) return put_by_age(from, out, lane, packet, bytes, record.sent_ps);
    put(from, out, lane, packet, bytes);
  }
  // Who is there first goes first, so that later packets can't change when this one goes.
  bool pass(PortId in, PortId out, PacketHandle packet, Time start, Time departure,
            NodeActions& node) override {
    Packet& record = node.packets()[packet];
    const auto [from, lane] = way_of(in, out, packet, node.packets());
    const std::uint32_t bytes = node.bytes(packet);
    if (!pay(out, lane, bytes, start)) return false;
    if (start > node.now()) mark(out, packet, node);
    record.channel = static_cast<std::uint8_t>(lane);
    note_sent(port(out), from, lane, bytes);
    started(out, departure, node);
    return true;
  }

  Memory memory(PortId p) const override { return {.port = &port(p), .more = &credits_[p * lanes()]}; }
  void prefetch_deep(PortId in, PortId out) const override {
    port(in).own.returned.prefetch();
    if (port(out).waiting != 0) prefetch_queues(out);
  }
  void prefetch_deepest(PortId, PortId out) const override {
    if (port(out).waiting == 0) return;
    LaneQueues::prefetch_deep(out, out);
    const std::uint32_t from = port(out).next_from();
    if (from != kMadeHere) port(from).own.returned.prefetch();
  }
  // Takes from the channels whose first packet fits the one that came first, or is oldest.
  Next next(PortId out, NodeActions& node) override {
    Port& each = port(out);
    each.held = 0;
    std::uint32_t chosen = kMostLanes;
    const Entry* best = nullptr;
    for (std::uint64_t left = each.waiting; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
      const Entry& first = queue(out, lane).front();
      if (!has_credits(out, lane, first.bytes, node.now())) {
        each.held |= std::uint64_t{1} << lane;
      } else if (best == nullptr || goes_before(first, *best)) {
        chosen = lane;
        best = &first;
      }
    }
    if (best == nullptr) {
      if (each.held != 0 && !(each.flags() & kStalled)) begin_stall(out, node.now());
      return {.more = each.held != 0};
    }
    if (each.flags() & kStalled) end_stall(out, node.now());
    pay(out, chosen, best->bytes, node.now());
    return take(out, chosen);
  }
  // What comes in over the cable that the packet came through has its room when this one's last bit has left.
  void started(PortId out, Time departure, NodeActions& node) override {
    Port& each = port(out);
    each.departure = departure;
    if (each.from_port == kMadeHere || in_node_) return;
    return_room(PortId(each.from_port), out, each.from_lane, each.sent_bytes, departure, node);
  }

  void frame(PortId p, std::uint32_t content, NodeActions& node) override {
    give_back(p, content & kChannelMask, content >> kChannelBits);
    node.wake(p);
  }
  RoomReturns* room_to_read(PortId p) override {
    port(p).set(kIsRead);
    return &port(p).own.returned;
  }
  void read_room(PortId p, RoomReturns* returns, Time frame) override { far_[p] = {returns, frame}; }
  Time ready(PortId out) const override {
    return when_returned(out, [&](std::uint32_t lane, std::uint64_t credits) {
      return (port(out).waiting >> lane & 1) && credits >= queue(out, lane).front().bytes;
    });
  }
  Time ready_for_data(PortId out) const override {
    return when_returned(out, [&](std::uint32_t lane, std::uint64_t credits) {
      return lane < data_lanes() && credits >= packet_bytes_;
    });
  }
  void lost_when_sent(PortId out, PacketHandle packet, NodeActions& node) override {
    give_back(out, node.packets()[packet].channel, node.bytes(packet));
  }
  void lost_on_wire(PortId in, PacketHandle packet, NodeActions& node) override {
    if (is_host() || in_node_) return;
    return_room(in, PortId(ports()), node.packets()[packet].channel, node.bytes(packet), node.now(), node);
  }

  // A flow's packet is taken when there is room for it; of which channel it will be is not known yet.
  bool takes_data(PortId out, Time now) override {
    if (port(out).waiting != 0) return false;
    if (most_credits(out, data_lanes()) < packet_bytes_) take_returns(out, now);
    return most_credits(out, data_lanes()) >= packet_bytes_;
  }

  bool held(PortId out, Time now) override {
    take_returns(out, now);
    return most_credits(out, lanes()) < packet_bytes_;
  }
  // What is in all ports' buffers may wait for the same.
  std::uint64_t capacity_bytes(PortId) const override { return capacity_bytes_; }

  Signals signals() const override {
    return {{"credit_stall", stalls_}, {"credit_stall_ns", static_cast<std::uint64_t>(stalled_ps_) / 1000}};
  }

 private:
  enum PortFlag : std::uint8_t {
    kToHost = 1,
    kStalled = 2,     // idle with packets that have no credits
    kIsRead = 4,      // the other end reads what is returned; else it is told
    kCrosses = 8,     // to another group of switches
    kNeverFull = 16,  // what is at the other end takes all that comes
  };
  // What the other end of a cable returns, each good after a frame's time.
  struct Far {
    RoomReturns* returned = nullptr;
    Time frame;
  };

  static std::uint64_t buffer_bytes(const Parameters& parameters, const NodeSite& site, const PortSite& port,
                                    Time pipeline) {
    const std::uint64_t bytes = parameters.automatic("buffer")
                                    ? bytes_in(port.rate, port.latency + port.latency + pipeline) +
                                          std::uint64_t{3} * site.packet_bytes + site.control_bytes
                                    : parameters.bytes("buffer");
    if (bytes >= UINT32_MAX) {
      parameters.fail("buffer",
                      "it must be below 4GiB for each channel, and would be " + bytes_to_string(bytes));
    }
    return bytes;
  }
  std::uint32_t flow_channel(const Packet& packet) const {
    return (packet.source + packet.destination + packet.flow_number) % lanes();
  }
  // The channels that a packet of this host's may be in.
  std::uint32_t data_lanes() const { return selection_ == Selection::kByFlow ? lanes() : 1; }
  // Gives the most credits that any of the first `count` channels has.
  std::uint64_t most_credits(PortId out, std::uint32_t count) const {
    const auto first = credits_.begin() + static_cast<std::ptrdiff_t>(out * lanes());
    return *std::max_element(first, first + count);
  }
  // When enough(channel, credits) for the first time, by what is known to come back.
  template <typename Enough>
  Time when_returned(PortId out, const Enough& enough) const {
    const Far& far = far_[out];
    Time found = Time::max();
    if (far.returned == nullptr) return found;
    std::array<std::uint32_t, kMostLanes> credits;
    std::copy_n(credits_.begin() + static_cast<std::ptrdiff_t>(out * lanes()), lanes(), credits.begin());
    far.returned->for_each([&](const RoomReturns::Return& back) {
      const std::uint32_t lane = back.content & kChannelMask;
      credits[lane] += back.content >> kChannelBits;
      if (found == Time::max() && enough(lane, credits[lane])) found = back.departure + far.frame;
    });
    return found;
  }
  // Returns the room of a packet that came through (in, lane) and leaves through `out` at `departure`.
  void return_room(PortId in, PortId out, std::uint32_t lane, std::uint32_t bytes, Time departure,
                   NodeActions& node) {
    const std::uint32_t content = lane | bytes << kChannelBits;
    if (port(in).flags() & kIsRead) {
      port(in).own.returned.add({departure, content});
    } else {
      node.return_room(in, out, content, departure);
    }
  }
  void begin_stall(PortId out, Time now) {
    port(out).set(kStalled);
    ++stalls_;
    stalled_since_.resize(ports());
    stalled_since_[out] = now;
  }
  void end_stall(PortId out, Time now) {
    port(out).clear(kStalled);
    stalled_ps_ += (now - stalled_since_[out]).ps();
  }
  void give_back(PortId out, std::uint32_t lane, std::uint32_t bytes) {
    if (!(port(out).flags() & kNeverFull)) credits_[out * lanes() + lane] += bytes;
    port(out).held &= ~(std::uint64_t{1} << lane);  // until next() looks again
  }

  // Where a packet comes from, and the channel it leaves in.
  std::pair<Origin, std::uint32_t> way_of(PortId in, PortId out, PacketHandle handle,
                                          const PacketPool& pool) const {
    const Packet& packet = pool[handle];
    const std::uint32_t first = selection_ == Selection::kByFlow ? flow_channel(packet) : 0;
    if (in == kHere) return {{kMadeHere, static_cast<std::uint8_t>(first)}, first};  // at this host
    const Origin from{static_cast<std::uint16_t>(in), packet.channel};
    if (selection_ == Selection::kRouted) {
      return {from, std::min<std::uint32_t>(pool.notes().get(handle).channel, lanes() - 1)};
    }
    return {from, lane_out(from, out)};
  }
  void take_returns(PortId out, Time now) {
    const Far& far = far_[out];
    if (far.returned == nullptr) return;
    far.returned->take_until(now - far.frame, [&](std::uint32_t content) {
      credits_[out * lanes() + (content & kChannelMask)] += content >> kChannelBits;
    });
  }
  bool has_credits(PortId out, std::uint32_t lane, std::uint32_t bytes, Time at) {
    const std::uint32_t& credits = credits_[out * lanes() + lane];
    if (credits < bytes) take_returns(out, at);
    return credits >= bytes;
  }
  // Takes the credits for a packet that is sent at `at`, in or after all moments asked for so far, if there
  // are enough then.
  bool pay(PortId out, std::uint32_t lane, std::uint32_t bytes, Time at) {
    if (!has_credits(out, lane, bytes, at)) return false;
    if (!(port(out).flags() & kNeverFull)) credits_[out * lanes() + lane] -= bytes;
    return true;
  }
  std::uint32_t lane_out(Origin from, PortId out) const {
    if (selection_ == Selection::kByFlow) return from.lane;
    if ((port(out).flags() | port(from.port).flags()) & kToHost) return 0;
    // Out of a group: links within a group wait for these, and these for none in the same channel.
    const bool leaves = port(out).flags() & ~port(from.port).flags() & kCrosses;
    if (selection_ == Selection::kByGroup && leaves) return from.lane;
    return std::min(from.lane + 1u, lanes() - 1);
  }

  const std::uint32_t packet_bytes_;
  const Selection selection_;
  const bool in_node_, by_age_;
  std::vector<Far> far_;  // by port
  // Bytes, by port and channel. No host's buffer is ever full, nor a node's.
  std::vector<std::uint32_t> credits_;
  std::uint64_t capacity_bytes_ = 0;
  std::uint64_t stalls_ = 0;
  std::int64_t stalled_ps_ = 0;      // of stalls that are over, the sum of all ports
  std::vector<Time> stalled_since_;  // by port
};

constexpr std::array<std::pair<std::string_view, Selection>, 4> kSelections = {
    {{"by_hop", Selection::kByHop},
     {"by_group", Selection::kByGroup},
     {"by_flow", Selection::kByFlow},
     {"routed", Selection::kRouted}}};

// Where nobody knows the network the stand-ins are as good as any.
routing::ChannelRule channels(const Parameters& parameters) {
  routing::ChannelRule rule{.channels = 4, .selection = Selection::kByHop};
  rule.any_count = parameters.automatic("vcs");
  rule.any_selection = parameters.automatic("selection");
  if (!rule.any_count) rule.channels = parameters.whole("vcs");
  if (rule.any_selection) return rule;
  const auto known = std::ranges::find(kSelections, parameters.text("selection"),
                                       [](const auto& each) { return each.first; });
  rule.selection = known->second;
  return rule;
}

void set_channels(const routing::ChannelRule& rule, std::map<std::string, std::string>& given) {
  const auto known =
      std::ranges::find(kSelections, rule.selection, [](const auto& each) { return each.second; });
  given["vcs"] = std::to_string(rule.channels);
  given["selection"] = known->first;
}

std::unique_ptr<NodeQueues> make_credit(const Parameters& parameters, const NodeSite& site) {
  const routing::ChannelRule rule = channels(parameters);
  if (!parameters.automatic("buffer") && parameters.bytes("buffer") < site.packet_bytes) {
    parameters.fail("buffer", "it must have room for one full packet (" + bytes_to_string(site.packet_bytes) +
                                  " on the wire)");
  }
  return std::make_unique<CreditQueues>(parameters, site, rule.channels, rule.selection);
}

}  // namespace

Discipline credit() {
  Discipline discipline{
      .info =
          {.name = "credit",
           .summary = "Lossless: a packet is sent only when the next switch's buffer for its virtual "
                      "channel has room; data is marked as with ecn.",
           .source = "W. Dally, B. Towles, Principles and Practices of Interconnection Networks, "
                     "2004, section 13.3; InfiniBand Architecture Specification, section 7.9",
           .parameters =
               {{"vcs", ParameterType::kInteger, "auto",
                 "Virtual channels of a cable; auto: as few as keep packets from waiting in a "
                 "circle on this network with this routing; with by_flow 4.",
                 from_to("1", std::to_string(kMostLanes))},
                {"selection", ParameterType::kText, "auto",
                 "With auto, the one that does with the fewest channels; by_hop: the channel is the number "
                 "of "
                 "links between switches crossed before; "
                 "by_group: the same, but a link that leaves a group of switches after one within it is in "
                 "the same channel; by_flow: flows are spread over the channels and keep theirs; routed: a "
                 "routing policy "
                 "chooses, and it is 0 where none does.",
                 one_of({"auto", "by_hop", "by_group", "by_flow", "routed"})},
                {"buffer", ParameterType::kBytes, "auto",
                 "Bytes for each channel at the end of a cable; auto: just enough for the full "
                 "rate of the link."},
                {"arbitration", ParameterType::kText, "arrival",
                 "Which of the packets that wait for a link goes first: the one that came first to the "
                 "switch (arrival), or that left its host first (age; D. Abts, D. Weisser, SC 2007).",
                 one_of({"arrival", "age"})}}},
      .offers = {.always = Capability::kMark | Capability::kLossless},
      .make = make_credit,
      .channels = channels,
      .set_channels = set_channels,
      .at_hosts = true};
  for (ParameterSpec& parameter :
       threshold_parameters("a bandwidth-delay product of the longest path, at least 32 full packets")) {
    discipline.info.parameters.push_back(std::move(parameter));
  }
  return discipline;
}

}  // namespace weft::sim::packet
