#include "sim/packet/queues/priority.h"

#include <algorithm>

#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

class PriorityQueues final : public NodeQueues {
 public:
  PriorityQueues(const Parameters& parameters, const NodeSite& site)
      : packet_bytes_(site.packet_bytes), control_bytes_(site.control_bytes), random_(site.random) {
    free_pass_ = true;
    for (std::size_t port = 0; port < site.ports.size(); ++port) {
      Port& made = ports_.emplace_back();
      Limits limits{.data = marking_rule(parameters, queue_site(site, port))};
      limits.control_capacity = parameters.automatic("control_capacity")
                                    ? limits.data.capacity_bytes
                                    : parameters.bytes("control_capacity");
      if (site.in_node) limits.control_capacity = kNodeMemory;
      made.limits = made.built = index_of(limits, limits_);
      if (limits.control_capacity < site.control_bytes) {
        parameters.fail("control_capacity",
                        "it must have room for one ACK (" + bytes_to_string(site.control_bytes) + ")");
      }
    }
  }

  void arrive(PortId, PortId out, PacketHandle packet, NodeActions& node) override {
    Port& port = ports_[out];
    const bool control = node.packets()[packet].control();
    PacketFifo& queue = control ? port.control : port.data;
    const std::uint32_t bytes = node.bytes(packet);
    const Limits& limits = limits_[port.limits];
    if (queue.bytes() + bytes > (control ? limits.control_capacity : limits.data.capacity_bytes)) {
      node.drop(out, packet);
      return;
    }
    if (!control && marks(limits.data, queue.bytes(), random_)) node.mark(out, packet);
    queue.push({packet, bytes});
  }
  Next next(PortId out, NodeActions&) override {
    Port& port = ports_[out];
    PacketFifo& queue = port.control.empty() ? port.data : port.control;
    if (queue.empty()) return {};
    const WaitingPacket entry = queue.pop();
    return {entry.packet, entry.bytes, !port.control.empty() || !port.data.empty()};
  }
  Memory memory(PortId port) const override { return {.port = &ports_[port]}; }
  void prefetch_deep(PortId, PortId out) const override {
    ports_[out].control.prefetch();
    ports_[out].data.prefetch();
  }
  std::uint64_t backlog_bytes(PortId out) const override {
    return ports_[out].control.bytes() + ports_[out].data.bytes();
  }
  std::uint64_t capacity_bytes(PortId out) const override {
    const Limits& limits = limits_[ports_[out].limits];
    return limits.data.capacity_bytes + limits.control_capacity;
  }
  void scale_limits(PortId out, double share) override {
    Limits limits = limits_[ports_[out].built];
    limits.data = scaled(limits.data, share, packet_bytes_);
    limits.control_capacity = std::max<std::uint64_t>(
        static_cast<std::uint64_t>(static_cast<double>(limits.control_capacity) * share), control_bytes_);
    ports_[out].limits = index_of(limits, limits_);
  }

 private:
  struct Limits {
    QueueRule data;
    std::uint64_t control_capacity = 0;
    bool operator==(const Limits&) const = default;
  };
  struct alignas(64) Port {
    PacketFifo control, data;
    std::uint16_t limits = 0, built = 0;  // indices
  };
  static_assert(sizeof(Port) == 64);
  const std::uint32_t packet_bytes_, control_bytes_;
  std::vector<Port> ports_;
  std::vector<Limits> limits_;  // that are different
  RandomStream random_;
};

std::unique_ptr<NodeQueues> make_priority(const Parameters& parameters, const NodeSite& site) {
  return std::make_unique<PriorityQueues>(parameters, site);
}

}  // namespace

Discipline priority() {
  Discipline discipline{
      .info = {.name = "priority",
               .summary = "ACKs and headers leave before data, strictly; data is dropped and "
                          "marked as with ecn.",
               .source = "strict priority, IEEE 802.1Q-2018 section 8.6.8.1"},
      .offers = {.always = Capability::kMark | Capability::kCredit},
      .make = make_priority,
      .scales_limits = true};
  discipline.info.parameters = marking_parameters();
  discipline.info.parameters.push_back({"control_capacity", ParameterType::kBytes, "auto",
                                        "Bytes of ACKs and headers per port; auto: as much as for data."});
  return discipline;
}

}  // namespace weft::sim::packet
