#include "sim/packet/queues/shared.h"

#include <algorithm>

#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint64_t kBufferBytesPerGbps = 3200;
constexpr std::uint64_t kBitsPerGb = 1'000'000'000;
constexpr std::uint64_t kLeastPacketsPerPort = 32;

class SharedBuffer final : public NodeQueues {
 public:
  SharedBuffer(const Parameters& parameters, const NodeSite& site)
      : alpha_(parameters.real("alpha")), ports_(site.ports.size()), random_(site.random) {
    if (!(alpha_ > 0 && alpha_ <= kMostAlpha)) {
      parameters.fail("alpha", "it must be above 0, and " + std::to_string(kMostAlpha) + " at most");
    }
    std::uint64_t bps = 0;
    for (std::size_t port = 0; port < ports_.size(); ++port) {
      bps += static_cast<std::uint64_t>(site.ports[port].rate.bps());
      ports_[port].rule = marking_below(parameters, default_capacity(queue_site(site, port)));
    }
    reserve_ = parameters.automatic("reserve") ? site.packet_bytes : parameters.bytes("reserve");
    const std::uint64_t reserved = reserve_ * ports_.size();
    std::uint64_t buffer = std::max(bps / kBitsPerGb * kBufferBytesPerGbps,
                                    kLeastPacketsPerPort * site.packet_bytes * ports_.size() + reserved);
    if (!parameters.automatic("buffer")) {
      buffer = parameters.bytes("buffer");
      if (buffer < reserved + site.packet_bytes) {
        parameters.fail("buffer", "a switch with " + std::to_string(ports_.size()) +
                                      " ports needs room for the reserve of each and a full packet (" +
                                      bytes_to_string(reserved + site.packet_bytes) + ")");
      }
    }
    free_ = pool_ = buffer - reserved;
  }

  void arrive(std::uint32_t, std::uint32_t out, std::uint32_t packet, NodeActions& node) override {
    Port& port = ports_[out];
    const std::uint32_t bytes = node.bytes(packet);
    const std::uint64_t shared = shared_bytes(port.bytes);
    const std::uint64_t taken = shared_bytes(port.bytes + bytes) - shared;
    if (taken > 0 && (taken > free_ || static_cast<double>(shared) >= alpha_ * static_cast<double>(free_))) {
      node.drop(out, packet);
      return;
    }
    if (marks(port.rule, port.bytes, random_)) node.mark(out, packet);
    free_ -= taken;
    port.bytes += bytes;
    most_shared_ = std::max(most_shared_, pool_ - free_);
    port.queue.push(node.packets(), packet, bytes);
  }
  std::uint32_t next(std::uint32_t out, NodeActions& node) override {
    Port& port = ports_[out];
    if (port.queue.empty()) return kNone;
    port.sending_bytes = node.bytes(port.queue.front());
    return port.queue.pop(node.packets(), port.sending_bytes);
  }
  void departed(std::uint32_t out, NodeActions&) override {
    Port& port = ports_[out];
    const std::uint64_t before = shared_bytes(port.bytes);
    port.bytes -= port.sending_bytes;
    free_ += before - shared_bytes(port.bytes);
  }
  std::uint64_t backlog_bytes(std::uint32_t out) const override { return ports_[out].queue.bytes(); }
  // Of a port that is busy alone; a packet is let in as long as it finds less.
  std::uint64_t capacity_bytes(std::uint32_t) const override {
    return reserve_ + static_cast<std::uint64_t>(alpha_ / (1 + alpha_) * static_cast<double>(pool_));
  }

  std::vector<std::pair<std::string, std::uint64_t>> signals() const override {
    return {{"most_shared_bytes", most_shared_}};
  }

 private:
  static constexpr int kMostAlpha = 1024;
  struct Port {
    PacketFifo queue;
    std::uint64_t bytes = 0;  // in the buffer: what waits, and all of the packet being sent
    std::uint32_t sending_bytes = 0;
    QueueRule rule;  // its thresholds alone
  };
  // Of so many bytes of a port, those beyond its reserve.
  std::uint64_t shared_bytes(std::uint64_t bytes) const { return bytes - std::min(bytes, reserve_); }

  const double alpha_;
  std::uint64_t reserve_ = 0;
  std::uint64_t pool_ = 0, free_ = 0;  // what all ports share, and what of it is not taken
  std::uint64_t most_shared_ = 0;      // ever taken
  std::vector<Port> ports_;
  RandomStream random_;
};

std::unique_ptr<NodeQueues> make(const Parameters& parameters, const NodeSite& site) {
  return std::make_unique<SharedBuffer>(parameters, site);
}

}  // namespace

Discipline shared() {
  Discipline discipline{
      .info = {.name = "shared",
               .summary =
                   "One buffer per switch: a queue may grow while it is below alpha times what is free "
                   "(dynamic thresholds); marks data as ecn does.",
               .source =
                   "Choudhury, Hahne, Dynamic queue length thresholds for shared-memory packet switches, "
                   "IEEE/ACM ToN 6(2), 1998"},
      .marks = true,
      .make = make};
  std::vector<ParameterSpec>& parameters = discipline.info.parameters;
  parameters = {{"buffer", ParameterType::kBytes, "auto",
                 "Bytes per switch; auto: 3.2 KB per Gb/s of its ports, at least 32 full packets a port."},
                {"alpha", ParameterType::kReal, "0.125",
                 "A queue's limit as a share of what is free, above 0; 1/8 is usual in lossless fabrics, 1 "
                 "and more elsewhere."},
                {"reserve", ParameterType::kBytes, "auto",
                 "Bytes of the buffer that each port has for itself; auto: one full packet."}};
  for (ParameterSpec& parameter : threshold_parameters("what droptail holds")) {
    parameters.push_back(std::move(parameter));
  }
  return discipline;
}

}  // namespace weft::sim::packet
