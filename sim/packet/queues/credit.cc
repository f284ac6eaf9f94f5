#include "sim/packet/queues/credit.h"

#include <algorithm>

#include "sim/packet/queues/lanes.h"
#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

constexpr std::int64_t kMostChannels = 64;

// Credits on their way back: the channel in the low byte, above it the bytes. A packet has less than 2^24.
constexpr std::uint32_t kChannelBits = 8;

enum class Selection : std::uint8_t { kByHop, kByFlow };

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
      rules_.push_back(marking_below(parameters, default_capacity(queue_site(site, p))));
      // The other end's buffer, and this end's.
      const std::uint64_t there = buffer_bytes(parameters, site, port, port.pipeline);
      capacity_bytes_ += channels * buffer_bytes(parameters, site, port, site.pipeline);
      outputs_.push_back({.to_host = port.to_host});
      credits_.insert(credits_.end(), channels, there);
    }
  }

  void arrive(std::uint32_t in, std::uint32_t out, std::uint32_t packet, NodeActions& node) override {
    Packet& record = node.packets()[packet];
    const bool fresh = in == kHere;  // made at this host
    const std::uint32_t first = selection_ == Selection::kByFlow ? flow_channel(record) : 0;
    const Origin from{in, fresh ? first : record.channel};
    const std::uint32_t lane = fresh ? first : lane_out(from, out);
    record.channel = static_cast<std::uint8_t>(lane);
    if (!is_host_ && !record.control() && marks(rules_[out], backlog_bytes(out), random_)) {
      node.mark(out, packet);
    }
    put(from, out, lane, packet, node);
  }

  std::uint32_t next(std::uint32_t out, NodeActions& node) override {
    Port& port = outputs_[out];
    bool waits = false;
    for (std::uint32_t turn = 1; turn <= lanes(); ++turn) {
      const std::uint32_t lane = (port.last + turn) % lanes();
      Queue& each = queue(out, lane);
      if (each.packets.empty()) continue;
      std::uint64_t& credits = credits_[out * lanes() + lane];
      const std::uint32_t bytes = node.bytes(each.packets.front());
      each.held = !port.to_host && bytes > credits;
      waits = waits || each.held;
      if (each.held) continue;
      if (!port.to_host) credits -= bytes;
      port.last = lane;
      note_stall(port, false, node.now());
      return take(out, lane, node);
    }
    note_stall(port, waits, node.now());
    return kNone;
  }

  void frame(std::uint32_t port, std::uint32_t content, NodeActions& node) override {
    const std::uint32_t lane = content & ((1u << kChannelBits) - 1);
    give_back(port, lane, content >> kChannelBits);
    node.wake(port);
  }
  void lost_when_sent(std::uint32_t out, std::uint32_t packet, NodeActions& node) override {
    give_back(out, node.packets()[packet].channel, node.bytes(packet));
  }
  void lost_on_wire(std::uint32_t in, std::uint32_t packet, NodeActions& node) override {
    if (!is_host_) left({in, node.packets()[packet].channel}, node.bytes(packet), node);
  }

  // A flow's packet is taken when there is room for it; of which channel it will be is not known yet.
  bool takes_data(std::uint32_t out) const override {
    const auto first = credits_.begin() + static_cast<std::ptrdiff_t>(out * lanes());
    const auto last = first + (selection_ == Selection::kByHop ? 1 : lanes());
    return backlog_bytes(out) == 0 &&
           (outputs_[out].to_host || *std::max_element(first, last) >= packet_bytes_);
  }

  // What is in all ports' buffers may wait for the same.
  std::uint64_t capacity_bytes(std::uint32_t) const override { return capacity_bytes_; }

  std::vector<std::pair<std::string, std::uint64_t>> signals() const override {
    return {{"credit_stall", stalls_}, {"credit_stall_ns", static_cast<std::uint64_t>(stalled_ps_) / 1000}};
  }

 private:
  struct Port {
    bool to_host = false;
    bool stalled = false;    // idle with packets that have no credits
    std::uint32_t last = 0;  // channel that was sent from last
    Time stalled_since;
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

  void left(Origin from, std::uint32_t bytes, NodeActions& node) override {
    node.send_frame(from.port, from.lane | bytes << kChannelBits);
  }
  std::uint32_t lane_out(Origin from, std::uint32_t out) const override {
    if (selection_ == Selection::kByFlow) return from.lane;
    if (outputs_[out].to_host || outputs_[from.port].to_host) return 0;
    return std::min(from.lane + 1, lanes() - 1);
  }

  const bool is_host_;
  const std::uint32_t packet_bytes_;
  const Selection selection_;
  RandomStream random_;
  std::vector<QueueRule> rules_;  // by port: when to mark
  std::vector<Port> outputs_;
  std::vector<std::uint64_t> credits_;  // bytes, by port and channel
  std::uint64_t capacity_bytes_ = 0;
  std::uint64_t stalls_ = 0;
  std::int64_t stalled_ps_ = 0;  // of stalls that are over, the sum of all ports
};

std::unique_ptr<NodeQueues> make(const Parameters& parameters, const NodeSite& site) {
  const std::int64_t channels = parameters.integer("vcs");
  if (channels < 1 || channels > kMostChannels) {
    parameters.fail("vcs", "it must be from 1 to " + std::to_string(kMostChannels));
  }
  const std::string& selection = parameters.text("selection");
  if (selection != "by_hop" && selection != "by_flow") {
    parameters.fail("selection", "it must be by_hop or by_flow");
  }
  if (!parameters.automatic("buffer") && parameters.bytes("buffer") < site.packet_bytes) {
    parameters.fail("buffer", "it must have room for one full packet (" + bytes_to_string(site.packet_bytes) +
                                  " on the wire)");
  }
  return std::make_unique<CreditQueues>(parameters, site, static_cast<std::uint32_t>(channels),
                                        selection == "by_hop" ? Selection::kByHop : Selection::kByFlow);
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
                     "by_flow: flows are spread over the channels and keep theirs."},
                    {"buffer", ParameterType::kBytes, "auto",
                     "Bytes for each channel at the end of a cable; auto: just enough for the full "
                     "rate of the link."}}},
      .marks = true,
      .make = make,
      .at_hosts = true,
      .lossless = true};
  for (ParameterSpec& parameter :
       threshold_parameters("a bandwidth-delay product of the longest path, at least 32 full packets")) {
    discipline.info.parameters.push_back(std::move(parameter));
  }
  return discipline;
}

}  // namespace weft::sim::packet
