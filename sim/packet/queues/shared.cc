#include "sim/packet/queues/shared.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/packet/queues/marking.h"

namespace weft::sim::packet {
namespace {

constexpr std::uint64_t kBufferBytesPerGbps = 3200;
constexpr std::uint64_t kBitsPerGb = 1'000'000'000;
constexpr std::uint64_t kLeastPacketsPerPort = 32;

class SharedBuffer final : public Admission {
 public:
  SharedBuffer(const Parameters& parameters, const NodeSite& site)
      : alpha_(parameters.real("alpha")),
        ports_(site.ports.size()),
        next_departure_ps_(site.ports.size(), INT64_MAX),
        random_(site.random) {
    std::uint64_t bps = 0;
    for (std::size_t port = 0; port < ports_.size(); ++port) {
      bps += static_cast<std::uint64_t>(site.ports[port].rate.bps());
      const QueueRule rule = marking_below(parameters, default_capacity(queue_site(site, port)));
      ports_[port].rule = index_of(rule, rules_);
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
    if (site.in_node) buffer = kNodeMemory * ports_.size() + reserved;
    free_ = pool_ = buffer - reserved;
  }

  Verdict admit(PortId out, std::uint32_t bytes, Time now, Time departure) override {
    Port& port = ports_[out];
    if (next_departure_ps_[out] <= now.ps()) release_port(out, now.ps());
    const std::uint64_t held = port.packets.bytes();
    const std::uint64_t shared = shared_bytes(held);
    const std::uint64_t taken = shared_bytes(held + bytes) - shared;
    // What other ports may have given back by now makes a difference only if this doesn't fit without it, or
    // if more would seem to be taken than ever before.
    if (!fits(shared, taken) || pool_ - free_ + taken > most_shared_) {
      release(now.ps());
      if (!fits(shared, taken)) return Verdict::kDrop;
    }
    const bool marked = marks(rules_[port.rule], held, random_);
    free_ -= taken;
    most_shared_ = std::max(most_shared_, pool_ - free_);
    if (port.packets.empty()) next_departure_ps_[out] = departure.ps();
    port.packets.push({departure.ps(), bytes});
    return marked ? Verdict::kMark : Verdict::kTake;
  }
  Memory memory(PortId port) const override {
    return {.port = &ports_[port], .more = next_departure_ps_.data()};
  }
  void prefetch_deep(PortId, PortId out) const override { ports_[out].packets.prefetch(); }
  // A port that is busy alone has this capacity; a packet is let in as long as it finds less.
  std::uint64_t capacity_bytes(PortId) const override {
    return reserve_ + static_cast<std::uint64_t>(alpha_ / (1 + alpha_) * static_cast<double>(pool_));
  }

  Signals signals() const override { return {{"most_shared_bytes", most_shared_}}; }

 private:
  struct Held {
    std::int64_t departure_ps = 0;
    std::uint32_t bytes = 0;
  };
  struct alignas(64) Port {
    EntryFifo<Held> packets;  // in the buffer: what waits, and all of the packet being sent
    std::uint16_t rule = 0;   // index
  };
  // Packets that have left by `now_ps` give their room back.
  void release(std::int64_t now_ps) {
    for (std::size_t p = 0; p < next_departure_ps_.size(); ++p) {
      if (next_departure_ps_[p] <= now_ps) release_port(p, now_ps);
    }
  }
  // May a port that has `shared` of the common part take so much more?
  bool fits(std::uint64_t shared, std::uint64_t taken) const {
    return taken == 0 ||
           (taken <= free_ && static_cast<double>(shared) < alpha_ * static_cast<double>(free_));
  }
  void release_port(std::size_t p, std::int64_t now_ps) {
    Port& port = ports_[p];
    const std::uint64_t before = shared_bytes(port.packets.bytes());
    while (!port.packets.empty() && port.packets.front().departure_ps <= now_ps) port.packets.pop();
    free_ += before - shared_bytes(port.packets.bytes());
    next_departure_ps_[p] = port.packets.empty() ? INT64_MAX : port.packets.front().departure_ps;
  }
  // Tells how many of these bytes of a port are beyond its reserve.
  std::uint64_t shared_bytes(std::uint64_t bytes) const { return bytes - std::min(bytes, reserve_); }

  const double alpha_;
  std::uint64_t reserve_ = 0;
  std::uint64_t pool_ = 0, free_ = 0;  // what all ports share, and what of it is known not to be taken
  std::uint64_t most_shared_ = 0;      // ever taken
  std::vector<Port> ports_;
  std::vector<QueueRule> rules_;                 // that are different; their thresholds alone
  std::vector<std::int64_t> next_departure_ps_;  // by port; INT64_MAX: it is empty
  RandomStream random_;
};

std::unique_ptr<Admission> make_shared_buffer(const Parameters& parameters, const NodeSite& site) {
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
      .offers = {.always = Capability::kMark},
      .make_admission = make_shared_buffer};
  std::vector<ParameterSpec>& parameters = discipline.info.parameters;
  parameters = {{"buffer", ParameterType::kBytes, "auto",
                 "Bytes per switch; auto: 3.2 KB per Gb/s of its ports, at least 32 full packets a port."},
                {"alpha", ParameterType::kReal, "0.125",
                 "A queue's limit as a share of what is free; 1/8 is usual in lossless fabrics, 1 "
                 "and more elsewhere.",
                 above("0").up_to("1024")},
                {"reserve", ParameterType::kBytes, "auto",
                 "Bytes of the buffer that each port has for itself; auto: one full packet."}};
  for (ParameterSpec& parameter : threshold_parameters("what droptail holds")) {
    parameters.push_back(std::move(parameter));
  }
  return discipline;
}

}  // namespace weft::sim::packet
