#include "sim/packet/queues/composite.h"

#include <algorithm>

#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

class CompositeQueues final : public NodeQueues {
 public:
  CompositeQueues(const Parameters& parameters, const NodeSite& site)
      : trims_(parameters.boolean("trim")),
        returns_(parameters.boolean("return_to_sender")),
        packet_bytes_(site.packet_bytes),
        control_bytes_(site.control_bytes),
        random_(site.random) {
    free_pass_ = true;
    ratio_ = parameters.whole("ratio");
    for (std::size_t port = 0; port < site.ports.size(); ++port) {
      Port& made = ports_.emplace_back();
      Limits limits{.low = marking_rule(parameters, queue_site(site, port))};
      if (!parameters.boolean("mark_to_hosts") && site.ports[port].to_host) {
        limits.low.mark_from_bytes = limits.low.mark_all_bytes = INT64_MAX;
      }
      limits.high_capacity = parameters.automatic("high_capacity") ? 2 * limits.low.capacity_bytes
                                                                   : parameters.bytes("high_capacity");
      if (site.in_node) limits.high_capacity = kNodeMemory;
      made.limits = made.built = index_of(limits, limits_);
      if (limits.high_capacity < site.control_bytes) {
        parameters.fail("high_capacity",
                        "it must have room for one header (" + bytes_to_string(site.control_bytes) + ")");
      }
    }
  }

  void arrive(PortId, PortId out, PacketHandle packet, NodeActions& node) override {
    if (node.packets()[packet].control()) {
      join_high(out, packet, node);
      return;
    }
    Port& port = ports_[out];
    const QueueRule& rule = limits_[port.limits].low;
    const std::uint32_t bytes = node.bytes(packet);
    const std::uint64_t found = port.low.bytes();
    if (found + bytes > rule.capacity_bytes && make_room(out, bytes, node) == Room::kNone) {
      if (!trims_) {
        node.drop(out, packet);
        return;
      }
      node.trim(out, packet);
      join_high(out, packet, node);
      return;
    }
    if (marks(rule, found, random_)) node.mark(out, packet);
    port.low.push({packet, bytes});
  }

  Next next(PortId out, NodeActions&) override {
    Port& port = ports_[out];
    WaitingPacket entry;
    if (port.high.empty() || (ratio_ > 0 && port.ahead >= ratio_ && !port.low.empty())) {
      if (port.low.empty()) return {};
      port.ahead = 0;
      entry = port.low.pop();
    } else {
      if (!port.low.empty()) ++port.ahead;
      entry = port.high.pop();
    }
    return {entry.packet, entry.bytes, !port.high.empty() || !port.low.empty()};
  }

  Memory memory(PortId port) const override { return {.port = &ports_[port]}; }
  void prefetch_deep(PortId, PortId out) const override {
    ports_[out].low.prefetch();
    ports_[out].high.prefetch();
  }
  std::uint64_t backlog_bytes(PortId out) const override {
    return ports_[out].high.bytes() + ports_[out].low.bytes();
  }
  std::uint64_t capacity_bytes(PortId out) const override {
    return limits(out).high_capacity + limits(out).low.capacity_bytes;
  }
  void scale_limits(PortId out, double share) override {
    Limits limits = limits_[ports_[out].built];
    limits.low = scaled(limits.low, share, packet_bytes_);
    limits.high_capacity = std::max<std::uint64_t>(
        static_cast<std::uint64_t>(static_cast<double>(limits.high_capacity) * share), control_bytes_);
    ports_[out].limits = index_of(limits, limits_);
  }

 private:
  enum class Room : std::uint8_t { kNone, kMade };
  struct Limits {
    QueueRule low;
    std::uint64_t high_capacity = 0;
    bool operator==(const Limits&) const = default;
  };
  struct alignas(64) Port {
    PacketFifo high, low;
    std::uint32_t ahead = 0;              // headers sent since data began to wait, or was last sent
    std::uint16_t limits = 0, built = 0;  // indices
  };
  static_assert(sizeof(Port) == 64);
  const Limits& limits(PortId out) const { return limits_[ports_[out].limits]; }

  // One time in two, cuts the newest packet in low, if `bytes` fit in its place.
  Room make_room(PortId out, std::uint64_t bytes, NodeActions& node) {
    Port& port = ports_[out];
    if (!trims_ || port.low.empty() || random_.below(2) == 0) return Room::kNone;
    if (port.low.bytes() - port.low.back().bytes + bytes > limits(out).low.capacity_bytes) return Room::kNone;
    const PacketHandle newest = port.low.pop_back().packet;
    node.trim(out, newest);
    join_high(out, newest, node);
    return Room::kMade;
  }

  // ACKs are not returned: a later one makes good for them.
  void join_high(PortId out, PacketHandle packet, NodeActions& node) {
    Port& port = ports_[out];
    const std::uint32_t bytes = node.bytes(packet);
    if (port.high.bytes() + bytes <= limits(out).high_capacity) {
      port.high.push({packet, bytes});
    } else if (const Packet& header = node.packets()[packet];
               returns_ && header.trimmed() && !header.returned()) {
      node.send_back(out, packet);
    } else {
      node.drop(out, packet);
    }
  }

  const bool trims_, returns_;
  const std::uint32_t packet_bytes_, control_bytes_;
  std::uint32_t ratio_ = 0;
  std::vector<Port> ports_;
  std::vector<Limits> limits_;  // that are different
  RandomStream random_;
};

std::unique_ptr<NodeQueues> make_composite(const Parameters& parameters, const NodeSite& site) {
  return std::make_unique<CompositeQueues>(parameters, site);
}

}  // namespace

Discipline composite() {
  Discipline discipline{
      .info = {.name = "composite",
               .summary = "Trimming: where data does not fit, its payload is cut off and the "
                          "header goes ahead; marks data as ecn does.",
               .source = "Handley et al., Re-architecting datacenter networks (NDP), SIGCOMM "
                         "2017; Ultra Ethernet Specification 1.0"},
      .offers = {.always = Capability::kMark | Capability::kCredit,
                 .switches = {{Capability::kTrim, "trim", "true", "false"},
                              {Capability::kBackToSender, "return_to_sender", "true", "false"},
                              {Capability::kBackToSender, "trim", "true", "false"}}},
      .make = make_composite,
      .scales_limits = true};
  std::vector<ParameterSpec>& parameters = discipline.info.parameters;
  parameters = marking_parameters();
  parameters.push_back({"mark_to_hosts", ParameterType::kBoolean, "true",
                        "Mark at ports to hosts too; false where receivers pace what comes there anyway."});
  parameters.push_back({"high_capacity", ParameterType::kBytes, "auto",
                        "Bytes of ACKs and headers per port; auto: twice as much as for data."});
  parameters.push_back({"ratio", ParameterType::kInteger, "0",
                        "ACKs and headers sent for each data packet while both wait; 0: always before data.",
                        from_to("0", "1000000")});
  parameters.push_back(
      {"trim", ParameterType::kBoolean, "true", "Cut payloads off; false: drop whole packets instead."});
  parameters.push_back({"return_to_sender", ParameterType::kBoolean, "false",
                        "Send headers that don't fit back to where they came from; false: drop them."});
  return discipline;
}

}  // namespace weft::sim::packet
