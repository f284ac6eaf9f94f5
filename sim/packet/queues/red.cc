#include "sim/packet/queues/red.h"

#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

class RedQueues final : public NodeQueues {
 public:
  RedQueues(const Parameters& parameters, const NodeSite& site)
      : packet_bytes_(site.packet_bytes), random_(site.random) {
    always_exact_ = true;  // all ports draw from one stream when packets leave
    at_dequeue_ = parameters.text("mark_at") == "dequeue";
    for (std::size_t port = 0; port < site.ports.size(); ++port) {
      const QueueRule rule = marking_rule(parameters, queue_site(site, port));
      ports_.push_back({.queue = {}, .rule = rule, .built = rule});
    }
  }

  void arrive(PortId, PortId out, PacketHandle packet, NodeActions& node) override {
    Port& port = ports_[out];
    const std::uint32_t bytes = node.bytes(packet);
    if (port.queue.bytes() + bytes > port.rule.capacity_bytes) {
      node.drop(out, packet);
      return;
    }
    if (!at_dequeue_) consider(port, out, packet, node);
    port.queue.push({packet, bytes});
  }
  Next next(PortId out, NodeActions& node) override {
    Port& port = ports_[out];
    if (port.queue.empty()) return {};
    const WaitingPacket entry = port.queue.pop();
    if (at_dequeue_) consider(port, out, entry.packet, node);
    return {entry.packet, entry.bytes, !port.queue.empty()};
  }
  std::uint64_t backlog_bytes(PortId out) const override { return ports_[out].queue.bytes(); }
  std::uint64_t capacity_bytes(PortId out) const override { return ports_[out].rule.capacity_bytes; }
  void scale_limits(PortId out, double share) override {
    ports_[out].rule = scaled(ports_[out].built, share, packet_bytes_);
  }

 private:
  struct Port {
    PacketFifo queue;
    QueueRule rule, built;
  };
  // `packet` is not in the queue.
  void consider(const Port& port, PortId out, PacketHandle packet, NodeActions& node) {
    if (marks(port.rule, port.queue.bytes(), random_)) node.mark(out, packet);
  }

  bool at_dequeue_ = true;
  const std::uint32_t packet_bytes_;
  std::vector<Port> ports_;
  RandomStream random_;
};

std::unique_ptr<NodeQueues> make_red(const Parameters& parameters, const NodeSite& site) {
  return std::make_unique<RedQueues>(parameters, site);
}

}  // namespace

Discipline red() {
  Discipline discipline{
      .info = {.name = "red",
               .summary =
                   "Drop-tail that marks as ecn does, but when a packet leaves, by what it leaves behind.",
               .source =
                   "Floyd and Jacobson, ToN 1993; Wu et al., Tuning ECN for data center networks, CoNEXT "
                   "2012"},
      .offers = {.always = Capability::kMark},
      .make = make_red,
      .scales_limits = true};
  discipline.info.parameters = marking_parameters();
  discipline.info.parameters.push_back(
      {"mark_at", ParameterType::kText, "dequeue",
       "When marks are decided: dequeue (the packet leaves) or enqueue (it arrives).",
       one_of({"dequeue", "enqueue"})});
  return discipline;
}

}  // namespace weft::sim::packet
