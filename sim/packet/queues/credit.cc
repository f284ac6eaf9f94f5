#include "sim/packet/queues/credit.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/packet/queues/lanes.h"
#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

constexpr std::int64_t kMostChannels = 64;

// Credits on their way back: the channel in the low byte, above it the bytes. A packet has less than 2^24.
constexpr std::uint32_t kChannelBits = 8, kChannelMask = (1u << kChannelBits) - 1;

enum class Selection : std::uint8_t { kByHop, kByFlow, kRouted };

class CreditQueues final : public LaneQueues {
 public:
  CreditQueues(const Parameters& parameters, const NodeSite& site, std::uint32_t channels,
               Selection selection)
      : LaneQueues(static_cast<std::uint32_t>(site.ports.size()), channels),
        is_host_(site.is_host),
        packet_bytes_(site.packet_bytes),
        selection_(selection),
        random_(site.random) {
    for (std::size_t p = 0; p < site.ports.size(); ++p) {
      const PortSite& port = site.ports[p];
      const QueueRule rule = marking_below(parameters, default_capacity(queue_site(site, p)));
      rule_of_.push_back(index_of(rule, rules_));
      // The other end's buffer, and this end's.
      const std::uint64_t there = buffer_bytes(parameters, site, port, port.pipeline);
      capacity_bytes_ += channels * buffer_bytes(parameters, site, port, site.pipeline);
      outputs_.emplace_back().to_host = port.to_host;
      credits_.insert(credits_.end(), channels, there);
    }
    returns_room_ = !is_host_;
  }

  void arrive(std::uint32_t in, std::uint32_t out, std::uint32_t packet, NodeActions& node) override {
    Packet& record = node.packets()[packet];
    const auto [from, lane] = way_of(in, out, packet, node.packets());
    record.channel = static_cast<std::uint8_t>(lane);
    const std::uint32_t bytes = node.bytes(packet);
    if (!is_host_ && !record.control() && marks(rules_[rule_of_[out]], backlog_bytes(out), random_)) {
      node.mark(out, packet);
    }
    put(from, out, lane, packet, bytes);
  }
  bool pass(std::uint32_t in, std::uint32_t out, std::uint32_t packet, Time departure,
            NodeActions& node) override {
    Packet& record = node.packets()[packet];
    const auto [from, lane] = way_of(in, out, packet, node.packets());
    const std::uint32_t bytes = node.bytes(packet);
    if (!pay(out, lane, bytes, node.now())) return false;
    record.channel = static_cast<std::uint8_t>(lane);
    outputs_[out].last = lane;
    sending(out) = {from, lane, bytes, departure};
    started(out, departure, node);
    return true;
  }

  void prefetch(std::uint32_t out) const override {
    LaneQueues::prefetch(out);
    __builtin_prefetch(&outputs_[out], 1);
    __builtin_prefetch(&credits_[out * lanes()], 1);
  }
  void prefetch_room(std::uint32_t port) const override { __builtin_prefetch(&outputs_[port], 1); }
  void prefetch_room_deep(std::uint32_t port) const override { outputs_[port].returns.prefetch(); }
  Next next(std::uint32_t out, NodeActions& node) override {
    Port& port = outputs_[out];
    bool waits = false;
    for (std::uint32_t turn = 1; turn <= lanes(); ++turn) {
      const std::uint32_t lane = (port.last + turn) % lanes();
      Queue& each = queue(out, lane);
      if (each.packets.empty()) continue;
      each.held = !pay(out, lane, each.packets.front().bytes, node.now());
      waits = waits || each.held;
      if (each.held) continue;
      port.last = lane;
      note_stall(port, false, node.now());
      return take(out, lane);
    }
    note_stall(port, waits, node.now());
    return {.more = waits};
  }
  // What comes in over the cable that the packet came through has its room when this one's last bit has left.
  void started(std::uint32_t out, Time departure, NodeActions& node) override {
    sending(out).departure = departure;
    const Origin from = sending(out).from;
    if (from.port != kHere) {
      node.return_room(from.port, out, from.lane | sending(out).bytes << kChannelBits, departure);
    }
  }

  void frame(std::uint32_t port, std::uint32_t content, NodeActions& node) override {
    give_back(port, content & kChannelMask, content >> kChannelBits);
    node.wake(port);
  }
  void room(std::uint32_t port, std::uint32_t content, Time due) override {
    outputs_[port].returns.add({due, content});
  }
  Time ready(std::uint32_t out) const override {
    std::array<std::uint64_t, kMostChannels> credits;
    std::copy_n(credits_.begin() + static_cast<std::ptrdiff_t>(out * lanes()), lanes(), credits.begin());
    for (const Return& back : outputs_[out].returns.all()) {
      const std::uint32_t lane = back.content & kChannelMask;
      credits[lane] += back.content >> kChannelBits;
      const Queue& each = queue(out, lane);
      if (!each.packets.empty() && credits[lane] >= each.packets.front().bytes) return back.due;
    }
    return Time::max();
  }
  void lost_when_sent(std::uint32_t out, std::uint32_t packet, NodeActions& node) override {
    give_back(out, node.packets()[packet].channel, node.bytes(packet));
  }
  void lost_on_wire(std::uint32_t in, std::uint32_t packet, NodeActions& node) override {
    if (is_host_) return;
    node.return_room(in, ports(), node.packets()[packet].channel | node.bytes(packet) << kChannelBits,
                     node.now());
  }

  // A flow's packet is taken when there is room for it; of which channel it will be is not known yet.
  bool takes_data(std::uint32_t out) const override {
    const auto first = credits_.begin() + static_cast<std::ptrdiff_t>(out * lanes());
    const auto last = first + (selection_ == Selection::kByFlow ? lanes() : 1);
    return backlog_bytes(out) == 0 &&
           (outputs_[out].to_host || *std::max_element(first, last) >= packet_bytes_);
  }

  bool held(std::uint32_t out, Time now) override {
    if (outputs_[out].to_host) return false;
    take_returns(out, now);
    const auto first = credits_.begin() + static_cast<std::ptrdiff_t>(out * lanes());
    return *std::max_element(first, first + lanes()) < packet_bytes_;
  }
  // What is in all ports' buffers may wait for the same.
  std::uint64_t capacity_bytes(std::uint32_t) const override { return capacity_bytes_; }

  Signals signals() const override {
    return {{"credit_stall", stalls_}, {"credit_stall_ns", static_cast<std::uint64_t>(stalled_ps_) / 1000}};
  }

 private:
  // Credits that are good from `due` on.
  struct Return {
    Time due;
    std::uint32_t content = 0;
  };
  // In the order of time. They are made known in about that order.
  class Returns {
   public:
    void add(const Return& back) {
      list_.push_back(back);
      for (std::size_t i = list_.size() - 1; i > first_ && list_[i].due < list_[i - 1].due; --i) {
        std::swap(list_[i], list_[i - 1]);
      }
    }
    template <typename Use>
    void take_until(Time now, Use&& use) {
      while (first_ < list_.size() && list_[first_].due <= now) use(list_[first_++].content);
      if (first_ == list_.size() || first_ >= kMostOld) {
        list_.erase(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
      }
    }
    void prefetch() const { __builtin_prefetch(list_.data() + list_.size(), 1); }
    std::span<const Return> all() const { return std::span(list_).subspan(first_); }

   private:
    static constexpr std::size_t kMostOld = 64;
    std::vector<Return> list_;
    std::size_t first_ = 0;  // those before are used up
  };
  struct alignas(64) Port {
    Returns returns;
    Time stalled_since;
    std::uint32_t last = 0;  // channel that was sent from last
    bool to_host = false;
    bool stalled = false;  // idle with packets that have no credits
  };

  static std::uint64_t buffer_bytes(const Parameters& parameters, const NodeSite& site, const PortSite& port,
                                    Time pipeline) {
    if (!parameters.automatic("buffer")) return parameters.bytes("buffer");
    return bytes_in(port.rate, port.latency + port.latency + pipeline) +
           std::uint64_t{3} * site.packet_bytes + site.control_bytes;
  }
  std::uint32_t flow_channel(const Packet& packet) const {
    return (packet.source + packet.destination + packet.flow_number) % lanes();
  }
  void note_stall(Port& port, bool stalled, Time now) {
    if (stalled == port.stalled) return;
    port.stalled = stalled;
    if (stalled) {
      ++stalls_;
      port.stalled_since = now;
    } else {
      stalled_ps_ += (now - port.stalled_since).ps();
    }
  }
  void give_back(std::uint32_t out, std::uint32_t lane, std::uint32_t bytes) {
    credits_[out * lanes() + lane] += bytes;
    queue(out, lane).held = false;  // until next() looks again
  }

  // Where a packet comes from, and the channel it leaves in.
  std::pair<Origin, std::uint32_t> way_of(std::uint32_t in, std::uint32_t out, std::uint32_t handle,
                                          const PacketPool& pool) const {
    const Packet& packet = pool[handle];
    const std::uint32_t first = selection_ == Selection::kByFlow ? flow_channel(packet) : 0;
    if (in == kHere) return {{in, first}, first};  // made at this host
    const Origin from{in, packet.channel};
    if (selection_ == Selection::kRouted) {
      return {from, std::min<std::uint32_t>(pool.notes().get(handle).channel, lanes() - 1)};
    }
    return {from, lane_out(from, out)};
  }
  void take_returns(std::uint32_t out, Time now) {
    outputs_[out].returns.take_until(now, [&](std::uint32_t content) {
      credits_[out * lanes() + (content & kChannelMask)] += content >> kChannelBits;
    });
  }
  // Takes the credits for a packet that is sent now, if there are enough.
  bool pay(std::uint32_t out, std::uint32_t lane, std::uint32_t bytes, Time now) {
    if (outputs_[out].to_host) return true;
    std::uint64_t& credits = credits_[out * lanes() + lane];
    if (credits < bytes) take_returns(out, now);
    if (credits < bytes) return false;
    credits -= bytes;
    return true;
  }
  std::uint32_t lane_out(Origin from, std::uint32_t out) const {
    if (selection_ == Selection::kByFlow) return from.lane;
    if (outputs_[out].to_host || outputs_[from.port].to_host) return 0;
    return std::min(from.lane + 1, lanes() - 1);
  }

  const bool is_host_;
  const std::uint32_t packet_bytes_;
  const Selection selection_;
  RandomStream random_;
  std::vector<QueueRule> rules_;        // that are different: when to mark
  std::vector<std::uint16_t> rule_of_;  // by port: index
  std::vector<Port> outputs_;
  std::vector<std::uint64_t> credits_;  // bytes, by port and channel
  std::uint64_t capacity_bytes_ = 0;
  std::uint64_t stalls_ = 0;
  std::int64_t stalled_ps_ = 0;  // of stalls that are over, the sum of all ports
};

constexpr std::array<std::pair<std::string_view, Selection>, 3> kSelections = {
    {{"by_hop", Selection::kByHop}, {"by_flow", Selection::kByFlow}, {"routed", Selection::kRouted}}};

std::unique_ptr<NodeQueues> make(const Parameters& parameters, const NodeSite& site) {
  const std::int64_t channels = parameters.integer("vcs");
  if (channels < 1 || channels > kMostChannels) {
    parameters.fail("vcs", "it must be from 1 to " + std::to_string(kMostChannels));
  }
  const std::string& selection = parameters.text("selection");
  const auto known = std::find_if(kSelections.begin(), kSelections.end(),
                                  [&](const auto& each) { return each.first == selection; });
  if (known == kSelections.end()) parameters.fail("selection", "it must be by_hop, by_flow or routed");
  if (!parameters.automatic("buffer") && parameters.bytes("buffer") < site.packet_bytes) {
    parameters.fail("buffer", "it must have room for one full packet (" + bytes_to_string(site.packet_bytes) +
                                  " on the wire)");
  }
  return std::make_unique<CreditQueues>(parameters, site, static_cast<std::uint32_t>(channels),
                                        known->second);
}

}  // namespace

Discipline credit() {
  Discipline discipline{
      .info = {.name = "credit",
               .summary = "Lossless: a packet is sent only when the next switch's buffer for its virtual "
                          "channel has room; data is marked as with ecn.",
               .source = "W. Dally, B. Towles, Principles and Practices of Interconnection Networks, "
                         "2004, section 13.3; InfiniBand Architecture Specification, section 7.9",
               .parameters =
                   {{"vcs", ParameterType::kInteger, "4",
                     "Virtual channels of a cable, 1 to 64; with by_hop, as many as a path has links "
                     "between switches exclude deadlock."},
                    {"selection", ParameterType::kText, "by_hop",
                     "Either by_hop: the channel is the number of links between switches crossed before; "
                     "by_flow: flows are spread over the channels and keep theirs; routed: a routing policy "
                     "chooses, and it is 0 where none does."},
                    {"buffer", ParameterType::kBytes, "auto",
                     "Bytes for each channel at the end of a cable; auto: just enough for the full "
                     "rate of the link."}}},
      .offers = {.always = Capability::kMark | Capability::kLossless},
      .make = make,
      .at_hosts = true};
  for (ParameterSpec& parameter :
       threshold_parameters("a bandwidth-delay product of the longest path, at least 32 full packets")) {
    discipline.info.parameters.push_back(std::move(parameter));
  }
  return discipline;
}

}  // namespace weft::sim::packet
