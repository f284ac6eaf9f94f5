// A yardstick for the packet network: what this machine can do at most for one event a packet hop.
//   probe PORTS PACKETS_PER_FLOW
// A full three-level fat tree of switches with so many ports, at 400 Gb/s and 500 ns a link. Each host sends
// its packets of 4,160 bytes to another one of a random permutation, each on a way of its own that the sender
// draws, and each is answered by 64 bytes. A link is a moment from which on it is free; a window of 100
// packets shrinks by packets that waited for long. No routing tables, no queue limits, no losses, no
// statistics: less than a simulation may leave out. Prints hosts, packet hops, seconds of processor time,
// and millions of hops per second.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <vector>

namespace {

constexpr std::int64_t kDataTime = 83'200, kAckTime = 1'280, kFlight = 500'000, kLong = 8'000'000;  // ps
constexpr double kFirstWindow = 100;

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

// Arrivals in the order of time: a ring of buckets, each sorted when its turn comes.
class Agenda {
 public:
  struct Arrival {
    std::int64_t time;
    std::uint64_t packet;
  };

  void add(std::int64_t time, std::uint32_t packet) {
    const std::int64_t bucket = time >> kShift;
    if (bucket - now_ >= kBuckets) std::abort();  // no link is that far behind in this workload
    std::vector<Arrival>& list = ring_[static_cast<std::size_t>(bucket % kBuckets)];
    ++waiting_;
    if (bucket > now_) return list.push_back({time, packet});
    const auto later = std::upper_bound(list.begin() + static_cast<std::ptrdiff_t>(done_), list.end(), time,
                                        [](std::int64_t t, const Arrival& a) { return t < a.time; });
    list.insert(later, {time, packet});
  }

  // REQUIRES: !empty().
  Arrival next() {
    while (done_ == current().size()) {
      current().clear();
      done_ = 0;
      ++now_;
      std::sort(current().begin(), current().end(),
                [](const Arrival& a, const Arrival& b) { return a.time < b.time; });
    }
    --waiting_;
    return current()[done_++];
  }
  bool empty() const { return waiting_ == 0; }

 private:
  static constexpr int kShift = 15;
  static constexpr std::int64_t kBuckets = 4096;
  std::vector<Arrival>& current() { return ring_[static_cast<std::size_t>(now_ % kBuckets)]; }

  std::array<std::vector<Arrival>, kBuckets> ring_;
  std::int64_t now_ = 0;
  std::size_t done_ = 0;
  std::uint64_t waiting_ = 0;
};

struct Packet {
  std::uint32_t flow = 0, number = 0;
  std::uint8_t at = 0, links = 0;
  bool is_ack = false, was_late = false;
  std::array<std::uint32_t, 6> way{};
};

struct Flow {
  std::uint32_t to = 0, sent = 0, answered = 0;
  double window = kFirstWindow;
};

class Probe {
 public:
  Probe(std::uint32_t ports, std::uint32_t packets)
      : half_(ports / 2),
        hosts_(ports * half_ * half_),
        packets_(packets),
        free_at_(6 * std::size_t{hosts_}),
        flows_(hosts_) {
    std::vector<std::uint32_t> to(hosts_);
    std::iota(to.begin(), to.end(), 0);
    for (std::uint32_t i = hosts_; i > 1; --i) std::swap(to[i - 1], to[mixed(i) % i]);
    for (std::uint32_t host = 0; host < hosts_; ++host) flows_[host].to = to[host];
  }

  // Returns how many links packets crossed.
  std::uint64_t run() {
    for (std::uint32_t host = 0; host < hosts_; ++host) {
      if (flows_[host].to != host) send_all(host);
    }
    while (!agenda_.empty()) {
      const Agenda::Arrival arrival = agenda_.next();
      now_ = arrival.time;
      arrive(static_cast<std::uint32_t>(arrival.packet));
    }
    return hops_;
  }
  std::uint32_t hosts() const { return hosts_; }

 private:
  void arrive(std::uint32_t handle) {
    Packet& packet = all_[handle];
    if (packet.at < packet.links) return cross(handle);
    if (packet.is_ack) return answered(handle);
    packet.is_ack = true;
    draw_way(packet, flows_[packet.flow].to, packet.flow);
    cross(handle);
  }

  void answered(std::uint32_t handle) {
    const std::uint32_t sender = all_[handle].flow;
    Flow& flow = flows_[sender];
    ++flow.answered;
    flow.window = all_[handle].was_late ? std::max(1.0, 0.99 * flow.window) : flow.window + 1 / flow.window;
    unused_.push_back(handle);
    send_all(sender);
  }

  void send_all(std::uint32_t sender) {
    Flow& flow = flows_[sender];
    while (flow.sent < packets_ && flow.sent - flow.answered < flow.window) {
      if (unused_.empty()) {
        unused_.push_back(static_cast<std::uint32_t>(all_.size()));
        all_.emplace_back();
      }
      const std::uint32_t handle = unused_.back();
      unused_.pop_back();
      Packet& packet = all_[handle];
      packet = {.flow = sender, .number = flow.sent++};
      draw_way(packet, sender, flow.to);
      cross(handle);
    }
  }

  void cross(std::uint32_t handle) {
    Packet& packet = all_[handle];
    std::int64_t& free_at = free_at_[packet.way[packet.at++]];
    const std::int64_t start = std::max(now_, free_at);
    packet.was_late |= start - now_ > kLong;
    free_at = start + (packet.is_ack ? kAckTime : kDataTime);
    ++hops_;
    agenda_.add(free_at + kFlight, handle);
  }

  // Links are numbered kind by kind: out of hosts, edge to aggregation, aggregation to core, and down again.
  void draw_way(Packet& packet, std::uint32_t from, std::uint32_t to) {
    const std::uint64_t draw = mixed(std::uint64_t{packet.flow} << 33 | std::uint64_t{packet.number} << 1 |
                                     static_cast<std::uint64_t>(packet.is_ack));
    const std::uint32_t from_edge = from / half_, to_edge = to / half_;
    const std::uint32_t from_pod = from_edge / half_, to_pod = to_edge / half_;
    const auto middle = static_cast<std::uint32_t>(draw) % half_;
    const auto core = static_cast<std::uint32_t>(draw >> 32) % half_;
    std::uint8_t links = 0;
    packet.way[links++] = from;
    if (from_edge != to_edge) {
      packet.way[links++] = hosts_ + from_edge * half_ + middle;
      if (from_pod != to_pod) {
        packet.way[links++] = 2 * hosts_ + (from_pod * half_ + middle) * half_ + core;
        packet.way[links++] = 3 * hosts_ + (middle * half_ + core) * 2 * half_ + to_pod;
      }
      packet.way[links++] = 4 * hosts_ + (to_pod * half_ + middle) * half_ + to_edge % half_;
    }
    packet.way[links++] = 5 * hosts_ + to;
    packet.links = links;
    packet.at = 0;
  }

  const std::uint32_t half_, hosts_, packets_;
  std::vector<std::int64_t> free_at_;  // of each link
  std::vector<Flow> flows_;            // by their senders
  std::vector<Packet> all_;
  std::vector<std::uint32_t> unused_;
  Agenda agenda_;
  std::int64_t now_ = 0;
  std::uint64_t hops_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int ports = argc > 1 ? std::atoi(argv[1]) : 16, packets = argc > 2 ? std::atoi(argv[2]) : 1000;
  Probe probe(static_cast<std::uint32_t>(ports), static_cast<std::uint32_t>(packets));
  const std::clock_t begin = std::clock();
  const std::uint64_t hops = probe.run();
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("hosts %u  packet-hops %llu  seconds %.3f  million packet-hops/s %.2f\n", probe.hosts(),
              static_cast<unsigned long long>(hops), seconds, static_cast<double>(hops) / seconds / 1e6);
  return 0;
}
