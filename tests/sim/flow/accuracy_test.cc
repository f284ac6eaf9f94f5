// Compares traffic as fluids with that packet by packet, under a congestion control that never gets in the
// way: windows of more than the bandwidth-delay product, queues that lose nothing. Messages of 1 MB on 100
// Gb/s.
#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "sim/routing/policies/ecmp.h"
#include "tests/sim/flow/support.h"

namespace weft::sim::flow {
namespace {

constexpr std::uint64_t kBytes = 1'000'000;
constexpr std::uint32_t kHosts = 16;

// Sends what a pattern says at the start, and what follows from each delivery.
class Driver final : public NetworkClient {
 public:
  using Send = std::function<void(std::uint32_t source, std::uint32_t destination, std::uint32_t round)>;
  using Follow = std::function<void(const Message&, const Send&)>;

  Driver(const Engine& engine, Follow follow) : engine_(engine), follow_(std::move(follow)) {}
  void set_network(std::function<void(const Message&)> inject) { inject_ = std::move(inject); }
  void send(std::uint32_t source, std::uint32_t destination, std::uint32_t round) {
    starts_ += engine_.now().seconds();
    ++messages;
    inject_({.source = source, .destination = destination, .bytes = kBytes, .client = {round}});
  }
  void on_sent(const Message&) override {}
  void on_delivered(const Message& message) override {
    ends_ += engine_.now().seconds();
    last = engine_.now().seconds();
    if (follow_) {
      follow_(message, [this](std::uint32_t s, std::uint32_t d, std::uint32_t round) { send(s, d, round); });
    }
  }
  void on_event(const Event&) override {}
  double mean() const { return (ends_ - starts_) / messages; }

  double last = 0;
  std::uint32_t messages = 0;

 private:
  const Engine& engine_;
  Follow follow_;
  std::function<void(const Message&)> inject_;
  double starts_ = 0, ends_ = 0;
};

struct Pattern {
  std::string name;
  std::function<void(const Driver::Send&)> start;
  Driver::Follow follow;
};

std::vector<Pattern> patterns() {
  std::vector<Pattern> list;
  list.push_back({"permutation",
                  [](const Driver::Send& send) {
                    for (std::uint32_t host = 0; host < kHosts; ++host)
                      send(host, (host * 5 + 7) % kHosts, 0);
                  },
                  {}});
  list.push_back({"incast",
                  [](const Driver::Send& send) {
                    for (std::uint32_t host = 1; host < kHosts; ++host) send(host, 0, 0);
                  },
                  {}});
  list.push_back({"all-to-all",
                  [](const Driver::Send& send) {
                    for (std::uint32_t host = 0; host < kHosts; ++host) {
                      for (std::uint32_t i = 1; i < kHosts; ++i) send(host, (host + i) % kHosts, 0);
                    }
                  },
                  {}});
  list.push_back({"all-to-all, one at a time",
                  [](const Driver::Send& send) {
                    for (std::uint32_t host = 0; host < kHosts; ++host) send(host, (host + 1) % kHosts, 1);
                  },
                  [](const Message& message, const Driver::Send& send) {
                    const std::uint32_t round = message.client[0] + 1;
                    if (round < kHosts) send(message.source, (message.source + round) % kHosts, round);
                  }});
  // The vector has 16 MB: each rank passes on what it has got, 2 (n - 1) times.
  list.push_back({"ring allreduce",
                  [](const Driver::Send& send) {
                    for (std::uint32_t host = 0; host < kHosts; ++host) send(host, (host + 1) % kHosts, 1);
                  },
                  [](const Message& message, const Driver::Send& send) {
                    const std::uint32_t round = message.client[0] + 1;
                    if (round <= 2 * (kHosts - 1))
                      send(message.destination, (message.destination + 1) % kHosts, round);
                  }});
  return list;
}

struct Times {
  double last = 0, mean = 0;
};

template <typename Start>
Times finish(Driver& driver, const Pattern& pattern, Start&& run) {
  pattern.start([&](std::uint32_t s, std::uint32_t d, std::uint32_t round) { driver.send(s, d, round); });
  run();
  return {driver.last, driver.mean()};
}

Times as_fluids(const topologies::Topology& topology, const routing::Policy& policy, const Pattern& pattern) {
  const routing::RoutingTable table(topology);
  Engine engine(1);
  Driver driver(engine, pattern.follow);
  FlowNetwork network(engine, driver, {topology, table, policy, {}});
  driver.set_network([&](const Message& message) { network.inject(message); });
  packet::RunOn on;
  return finish(driver, pattern, [&] { network.run(on); });
}

Times as_packets(const topologies::Topology& topology, const routing::Policy& policy,
                 const Pattern& pattern) {
  const routing::RoutingTable table(topology);
  const auto parameters = [](const ModuleInfo& info, const std::string& text) {
    const ModuleChoice choice = parse_module_choice(text);
    return Parameters(info, choice.given, choice.location);
  };
  const std::string window = "fixed_window:packets=100", buffer = "droptail:capacity=1GB";
  const auto& control = find_module(congestion::controls(), parse_module_choice(window), "control");
  const auto& queue = find_module(packet::disciplines(), parse_module_choice(buffer), "queue");
  const congestion::RecoveryKind recovery = congestion::rack();
  Engine engine(1);
  Driver driver(engine, pattern.follow);
  packet::PacketNetwork network(engine, driver,
                                {topology,
                                 table,
                                 policy,
                                 Parameters(policy.info, std::map<std::string, std::string>{}),
                                 control,
                                 parameters(control.info, window),
                                 recovery,
                                 {},
                                 queue,
                                 parameters(queue.info, buffer),
                                 {}});
  driver.set_network([&](const Message& message) { network.inject(message); });
  packet::RunOn on;
  return finish(driver, pattern, [&] { network.run(on); });
}

}  // namespace

TEST_CASE("fluids take within a tenth of what packets take") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=4,link=100Gbps"));
  for (const Pattern& pattern : patterns()) {
    const routing::Policy policy = routing::ecmp();
    const Times packets = as_packets(topology, policy, pattern);
    const Times fluids = as_fluids(topology, policy, pattern);
    CAPTURE(pattern.name, packets.last, fluids.last, packets.mean, fluids.mean);
    CHECK(fluids.last == Approx(packets.last).epsilon(0.1));
    // All of an incast end together as fluids. In FIFO queues the nearer senders get more, and end sooner.
    CHECK(fluids.mean == Approx(packets.mean).epsilon(pattern.name == "incast" ? 0.2 : 0.1));
  }
}

TEST_CASE("so they do where packets are sprayed, but for what chance does to single messages") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=4,link=100Gbps"));
  for (const Pattern& pattern : patterns()) {
    const routing::Policy policy = routing::spray();
    const Times packets = as_packets(topology, policy, pattern);
    const Times fluids = as_fluids(topology, policy, pattern);
    CAPTURE(pattern.name, packets.last, fluids.last, packets.mean, fluids.mean);
    // A hash spreads 240 packets unevenly, and nothing else is going on that would even it out.
    const bool alone = pattern.name == "permutation" || pattern.name == "all-to-all, one at a time";
    const double most = alone ? 0.15 : 0.1;
    CHECK(fluids.mean == Approx(packets.mean).epsilon(most));
    CHECK(fluids.last == Approx(packets.last).epsilon(most));
  }
}

}  // namespace weft::sim::flow
