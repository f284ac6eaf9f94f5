#include "sim/packet/queues/composite.h"

#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

class CompositeQueues final : public NodeQueues {
 public:
  CompositeQueues(const Parameters& parameters, const NodeSite& site)
      : trims_(parameters.boolean("trim")),
        returns_(parameters.boolean("return_to_sender")),
        random_(site.random) {
    const std::int64_t ratio = parameters.integer("ratio");
    if (ratio < 0 || ratio > kMostRatio) {
      parameters.fail("ratio", "it must be from 0 to " + std::to_string(kMostRatio));
    }
    ratio_ = static_cast<std::uint32_t>(ratio);
    for (std::size_t port = 0; port < site.ports.size(); ++port) {
      Port& made = ports_.emplace_back();
      made.rule = marking_rule(parameters, queue_site(site, port));
      made.high_capacity = parameters.automatic("high_capacity") ? 2 * made.rule.capacity_bytes
                                                                 : parameters.bytes("high_capacity");
      if (made.high_capacity < site.control_bytes) {
        parameters.fail("high_capacity",
                        "it must have room for one header (" + bytes_to_string(site.control_bytes) + ")");
      }
    }
  }

  void arrive(std::uint32_t, std::uint32_t out, std::uint32_t packet, NodeActions& node) override {
    if (node.packets()[packet].control()) {
      join_high(out, packet, node);
      return;
    }
    Port& port = ports_[out];
    const std::uint32_t bytes = node.bytes(packet);
    const std::uint64_t found = port.low.bytes();
    if (found + bytes > port.rule.capacity_bytes && make_room(out, bytes, node) == Room::kNone) {
      if (!trims_) {
        node.drop(out, packet);
        return;
      }
      node.trim(out, packet);
      join_high(out, packet, node);
      return;
    }
    if (marks(port.rule, found, random_)) node.mark(out, packet);
    port.low.push(node.packets(), packet, bytes);
  }

  std::uint32_t next(std::uint32_t out, NodeActions& node) override {
    Port& port = ports_[out];
    if (port.high.empty() || (ratio_ > 0 && port.ahead >= ratio_ && !port.low.empty())) {
      if (port.low.empty()) return kNone;
      port.ahead = 0;
      return port.low.pop(node.packets(), node.bytes(port.low.front()));
    }
    if (!port.low.empty()) ++port.ahead;
    return port.high.pop(node.packets(), node.bytes(port.high.front()));
  }

  std::uint64_t backlog_bytes(std::uint32_t out) const override {
    return ports_[out].high.bytes() + ports_[out].low.bytes();
  }
  std::uint64_t capacity_bytes(std::uint32_t out) const override {
    return ports_[out].high_capacity + ports_[out].rule.capacity_bytes;
  }

 private:
  static constexpr std::int64_t kMostRatio = 1'000'000;
  enum class Room : std::uint8_t { kNone, kMade };
  struct Port {
    PacketFifo high, low;
    QueueRule rule;  // of low
    std::uint64_t high_capacity = 0;
    std::uint32_t ahead = 0;  // headers sent since data began to wait, or was last sent
  };

  // One time in two, cuts the newest packet in low, if `bytes` fit in its place.
  Room make_room(std::uint32_t out, std::uint64_t bytes, NodeActions& node) {
    Port& port = ports_[out];
    if (!trims_ || port.low.empty() || random_.below(2) == 0) return Room::kNone;
    const std::uint32_t newest = port.low.back();
    const std::uint32_t newest_bytes = node.bytes(newest);
    if (port.low.bytes() - newest_bytes + bytes > port.rule.capacity_bytes) return Room::kNone;
    port.low.pop_back(node.packets(), newest_bytes);
    node.trim(out, newest);
    join_high(out, newest, node);
    return Room::kMade;
  }

  // ACKs are not returned: a later one makes good for them.
  void join_high(std::uint32_t out, std::uint32_t packet, NodeActions& node) {
    Port& port = ports_[out];
    const std::uint32_t bytes = node.bytes(packet);
    if (port.high.bytes() + bytes <= port.high_capacity) {
      port.high.push(node.packets(), packet, bytes);
    } else if (const Packet& header = node.packets()[packet];
               returns_ && header.trimmed() && !header.returned()) {
      node.send_back(out, packet);
    } else {
      node.drop(out, packet);
    }
  }

  const bool trims_, returns_;
  std::uint32_t ratio_ = 0;
  std::vector<Port> ports_;
  RandomStream random_;
};

std::unique_ptr<NodeQueues> make(const Parameters& parameters, const NodeSite& site) {
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
      .marks = true,
      .make = make};
  std::vector<ParameterSpec>& parameters = discipline.info.parameters;
  parameters = marking_parameters();
  parameters.push_back({"high_capacity", ParameterType::kBytes, "auto",
                        "Bytes of ACKs and headers per port; auto: twice as much as for data."});
  parameters.push_back(
      {"ratio", ParameterType::kInteger, "0",
       "ACKs and headers sent for each data packet while both wait; 0: always before data."});
  parameters.push_back(
      {"trim", ParameterType::kBoolean, "true", "Cut payloads off; false: drop whole packets instead."});
  parameters.push_back({"return_to_sender", ParameterType::kBoolean, "false",
                        "Send headers that don't fit back to where they came from; false: drop them."});
  return discipline;
}

}  // namespace weft::sim::packet
