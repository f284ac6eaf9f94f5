// Flowcut switching: packets keep their order on any network, whatever it is loaded with and whatever fails.
#include "sim/routing/policies/flowcut.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/routing/parts/random_route.h"
#include "sim/routing/policies/flowlet.h"
#include "sim/units/random.h"
#include "tests/sim/packet/divided.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

topologies::Topology network_of(const std::string& text) {
  return topologies::build(parse_module_choice(text + ",link=100Gbps,latency=500ns"));
}

// Starts another message of its source for each that is delivered, as long as there are any; so connections
// begin, rest and end at all times.
class Chain final : public NetworkClient {
 public:
  Chain(std::uint32_t hosts, std::uint32_t left, std::uint64_t seed)
      : hosts_(hosts), left_(left), random_(seed, 3) {}
  void begin(std::uint32_t host) { next(host, host); }
  void on_sent(const Message&) override {}
  void on_delivered(const Message& message) override {
    ++delivered;
    next(message.source, message.destination);
  }
  void on_event(const Event&) override {}

  PacketNetwork* network = nullptr;
  std::uint32_t sent = 0, delivered = 0;

 private:
  void next(std::uint32_t source, std::uint32_t last) {
    if (left_ == 0) return;
    --left_;
    // Half of them go where the last one went.
    std::uint32_t to = last;
    while (to == source || (to == last && random_.below(2) == 0)) {
      to = static_cast<std::uint32_t>(random_.below(hosts_));
    }
    ++sent;
    const std::uint64_t bytes = random_.below(8) == 0 ? random_.below(2'000'000) : random_.below(60'000);
    network->inject({.source = source, .destination = to, .bytes = bytes});
  }

  const std::uint32_t hosts_;
  std::uint32_t left_;
  RandomStream random_;
};

struct Outcome {
  bool complete = false;
  results::NetworkTotals totals;
  std::uint64_t signal(const std::string& name) const {
    for (const auto& [each, count] : totals.signals) {
      if (each == name) return count;
    }
    return 0;
  }
};

Outcome run(const topologies::Topology& topology, const Options& options, std::uint32_t messages) {
  const routing::RoutingTable table(topology);
  const ModuleChoice control_choice = parse_module_choice(options.control);
  const ModuleChoice queue_choice = parse_module_choice(options.queue);
  const congestion::Control& control = find_module(congestion::controls(), control_choice, "control");
  const Discipline& queue = find_module(disciplines(), queue_choice, "queue");
  Engine engine(options.seed);
  Chain chain(topology.hosts(), messages, options.seed);
  PacketNetwork network(engine, chain,
                        {.topology = topology,
                         .table = table,
                         .policy = options.policy,
                         .policy_parameters = Parameters(options.policy.info, options.policy_parameters),
                         .control = control,
                         .control_parameters = Parameters(control.info, control_choice),
                         .recovery = options.recovery,
                         .recovery_parameters = {},
                         .queue = queue,
                         .queue_parameters = Parameters(queue.info, queue_choice),
                         .config = options.config,
                         .changes = options.changes});
  chain.network = &network;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) chain.begin(host);
  RunOn on;
  const StopReason reason = network.run(on);
  return {reason == StopReason::kNone && chain.delivered == chain.sent, network.totals()};
}

// Links between switches fail and come back, some several times; a share of the rate stays of some.
std::vector<LinkChange> failures(const topologies::Topology& topology, RandomStream& random) {
  std::vector<std::uint32_t> links;
  for (std::uint32_t link = 0; link < topology.channels().size() / 2; ++link) {
    const topologies::Channel& channel = topology.channels()[2 * link];
    if (topology.node(channel.from).kind == topologies::NodeKind::kSwitch &&
        topology.node(channel.to).kind == topologies::NodeKind::kSwitch) {
      links.push_back(link);
    }
  }
  std::vector<LinkChange> changes;
  const std::uint64_t count = 1 + random.below(8);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint32_t link = links[random.below(links.size())];
    const bool down = random.below(3) > 0;
    const Time from = Time::ns(static_cast<std::int64_t>(random.below(300'000)));
    const Time until = from + Time::ns(static_cast<std::int64_t>(100 + random.below(400'000)));
    changes.push_back({.at = from, .link = link, .rate_share = down ? 0 : 0.1});
    changes.push_back({.at = until, .link = link});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
  // The last word on each link is that it is there.
  for (const std::uint32_t link : std::set<std::uint32_t>(links.begin(), links.end())) {
    const auto last =
        std::find_if(changes.rbegin(), changes.rend(), [&](const LinkChange& c) { return c.link == link; });
    if (last != changes.rend()) last->rate_share = 1;
  }
  return changes;
}

const char* const kNetworks[] = {"jellyfish:n=12,r=4,hosts=2,seed=1",
                                 "jellyfish:n=16,r=3,hosts=1,seed=2",
                                 "dragonfly:p=2",
                                 "fat_tree:k=4",
                                 "torus:dims=3x3",
                                 "torus:dims=4x3x2",
                                 "slim_fly:q=5,hosts=1",
                                 "leaf_spine:leaves=4,spines=3,hosts_per_leaf=4"};

std::string describe(const std::string& network, const Options& options) {
  std::string text = network + " queue " + options.queue + " control " + options.control + " seed " +
                     std::to_string(options.seed) + (options.changes.empty() ? "" : " with failures") +
                     (options.config.connections.per_message ? "" : " shared connections") + " " +
                     options.policy.info.name;
  for (const auto& [name, value] : options.policy_parameters) text += " " + name + "=" + value;
  return text;
}

// Everything but network and policy, by chance.
Options random_options(const topologies::Topology& topology, bool may_block, RandomStream& random) {
  // No loss but by failures: with pfc on trees, where no circle of waiting packets can form, and with credit
  // and a channel for each hop.
  const std::vector<std::string> queues = {"droptail:capacity=60KB", "ecn", "composite:capacity=60KB",
                                           "credit:vcs=16", may_block ? "pfc:xoff=60KB" : "shared"};
  const char* const controls[] = {"fixed_window:packets=1", "fixed_window:packets=4",
                                  "fixed_window:packets=40", "dctcp"};
  Options options;
  options.queue = queues[random.below(queues.size())];
  options.control = controls[random.below(4)];
  options.seed = random.next();
  options.config.connections.per_message = random.below(2) == 0;
  options.config.reconvergence = Time::us(static_cast<std::int64_t>(random.below(3) * 30));
  if (random.below(4) == 0) options.config.ack_every = 4;
  if (random.below(2) == 0) options.changes = failures(topology, random);
  return options;
}

TEST_CASE("a flowcut's packets are never overtaken") {
  RandomStream random(GENERATE(as<std::uint64_t>(), 1, 2, 3), 11);
  const char* const drains[] = {"none", "bytes", "queue", "rtt", "rtt", "rtt_gradient", "rate"};
  std::uint64_t flowcuts = 0, drained = 0, cut_off = 0, lost = 0;
  for (const char* const name : kNetworks) {
    const topologies::Topology topology = network_of(name);
    for (const char* const deployment : {"all", "ingress", "nic"}) {
      const bool is_tree = std::string(name).starts_with("fat_tree") || std::string(name).starts_with("leaf");
      Options options = random_options(topology, is_tree, random);
      const bool in_nic = std::string(deployment) == "nic";
      options.policy = routing::flowcut();
      options.policy_parameters = {{"deployment", deployment},
                                   {"drain", in_nic ? "rtt" : drains[random.below(7)]},
                                   {"max_ratio", random.below(2) == 0 ? "1.5" : "3"},
                                   {"max_gradient", "1.5"},
                                   {"choice", random.below(2) == 0 ? "random" : "least_loaded"}};
      INFO(describe(name, options));
      const Outcome outcome = run(topology, options, 8 * topology.hosts());
      CHECK(outcome.complete);
      CHECK(outcome.totals.overtaken_packets == 0);
      if (outcome.totals.packets_dropped == 0 && outcome.signal("trim") == 0 &&
          outcome.signal("retransmit") == 0) {
        CHECK(outcome.totals.out_of_order_packets == 0);
      }
      flowcuts += outcome.signal("flowcut");
      drained += outcome.signal("drain");
      cut_off += outcome.signal("cut_off_flowcut");
      lost += outcome.totals.packets_dropped;
    }
  }
  // It was put to the test.
  CHECK(flowcuts > 1000);
  CHECK(drained > 100);
  CHECK(cut_off > 0);
  CHECK(lost > 0);
}

TEST_CASE("a flowlet's are, with a short gap, and those of sprayed flows") {
  for (const bool flowlets : {true, false}) {
    RandomStream random(4, 11);
    for (const char* const name : {"jellyfish:n=12,r=4,hosts=2,seed=1", "fat_tree:k=4"}) {
      const topologies::Topology topology = network_of(name);
      Options options = random_options(topology, false, random);
      options.queue = "ecn";
      options.control = "fixed_window:packets=40";
      options.policy = flowlets ? routing::flowlet() : spray();
      if (flowlets) options.policy_parameters = {{"gap", "100ns"}};
      INFO(describe(name, options));
      REQUIRE(run(topology, options, 8 * topology.hosts()).totals.overtaken_packets > 100);
    }
  }
}

TEST_CASE("flowcuts are the same however the network is divided") {
  RandomStream random(5, 11);
  for (const char* const name : {"jellyfish:n=12,r=4,hosts=2,seed=1", "fat_tree:k=4"}) {
    const topologies::Topology topology = network_of(name);
    std::vector<Message> messages;
    for (std::uint32_t i = 0; i < 4 * topology.hosts(); ++i) {
      const std::uint32_t source = i % topology.hosts();
      messages.push_back({.source = source,
                          .destination = (source + 3 + i % 5) % topology.hosts(),
                          .notify_sent = true,
                          .bytes = random.below(200'000),
                          .client = {i}});
    }
    for (const char* const deployment : {"all", "ingress", "nic"}) {
      for (const bool fails : {false, true}) {
        Options options = random_options(topology, false, random);
        options.changes = fails ? failures(topology, random) : std::vector<LinkChange>();
        options.policy = routing::flowcut();
        options.policy_parameters = {{"deployment", deployment}, {"max_ratio", "1.5"}};
        INFO(describe(name, options));
        const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
        REQUIRE(whole.delivered == messages.size());
        for (const std::uint32_t parts : {2, 5}) {
          REQUIRE(run_divided(topology, options, messages, random_division(topology, parts, random), 2) ==
                  whole);
        }
      }
    }
  }
}

TEST_CASE("each trigger drains flowcuts, and none where none is asked for") {
  // 3 hosts of a leaf send over 2 spines, so that two share one, and others send to the same hosts.
  const topologies::Topology topology = network_of("leaf_spine:leaves=3,spines=2,hosts_per_leaf=3");
  for (const char* const deployment : {"all", "ingress", "nic"}) {
    for (const char* const drain : {"none", "bytes", "queue", "rtt", "rtt_gradient", "rate"}) {
      const bool in_nic = std::string(deployment) == "nic";
      if (in_nic && std::string(drain) != "none" && std::string(drain) != "rtt") continue;
      INFO(deployment << " " << drain);
      Simulation simulation(topology, {.control = "fixed_window:packets=30",
                                       .policy = routing::flowcut(),
                                       .policy_parameters = {{"deployment", deployment},
                                                             {"drain", drain},
                                                             {"max_ratio", "2"},
                                                             {"max_queue", "2"},
                                                             {"max_gradient", "1.2"}}});
      for (std::uint32_t host = 0; host < 6; ++host) {
        for (std::uint32_t other = 6; other < 9; ++other) simulation.send(host, other, 1'000'000);
      }
      simulation.run();
      REQUIRE(simulation.verdict() == "");
      REQUIRE(simulation.network.totals().out_of_order_packets == 0);
      REQUIRE((simulation.signal("drain") > 0) == (std::string(drain) != "none"));
      // 18 flows begin one each at their leaf, and another after each drain that ended one.
      const std::uint64_t ended = simulation.signal("flowcut") - 18;
      REQUIRE((ended > 0) == (std::string(drain) != "none"));
      REQUIRE(ended <= simulation.signal("drain"));
    }
  }
}

TEST_CASE("a path that is gone is given up when nothing can be under way on it") {
  // One flow over one of two spines; the spine's link to it is cut. Nothing tells of it but that no ACK
  // comes: the flow goes on when its packets must have arrived or be lost, over the other spine.
  const topologies::Topology topology = network_of("leaf_spine:leaves=2,spines=2,hosts_per_leaf=1");
  for (const char* const deployment : {"all", "ingress", "nic"}) {
    for (std::uint32_t link = 0; link < topology.channels().size() / 2; ++link) {
      const topologies::Channel& channel = topology.channels()[2 * link];
      if (topology.node(channel.from).kind == topologies::NodeKind::kHost ||
          topology.node(channel.to).kind == topologies::NodeKind::kHost) {
        continue;
      }
      INFO(deployment << " link " << link);
      Options options{.control = "fixed_window:packets=20",
                      .policy = routing::flowcut(),
                      .policy_parameters = {{"deployment", deployment}}};
      options.changes = {{.at = Time::us(20), .link = link, .rate_share = 0}};
      options.config.reconvergence = Time::us(50);
      Simulation simulation(topology, options);
      simulation.send(0, 1, 2'000'000);
      simulation.run();
      REQUIRE(simulation.client.deliveries == 1);
      REQUIRE(simulation.network.totals().overtaken_packets == 0);
      const bool was_used = simulation.network.totals().packets_dropped > 0;
      REQUIRE((simulation.signal("expired_flowcut") > 0) == was_used);
    }
  }
}

TEST_CASE("routes are drawn among all minimal ways, evenly at each switch") {
  const topologies::Topology topology = network_of("fat_tree:k=4");
  const routing::RoutingTable table(topology);
  RandomStream random(6, 11);
  std::map<std::vector<std::uint16_t>, int> ways;
  for (int i = 0; i < 4000; ++i) {
    routing::DrawnRoute drawn;
    const topologies::Vertex edge = topology.channels()[topology.out_channels(topology.host(0)).front()].to;
    routing::draw_route(topology, table, edge, 15, random, drawn);
    REQUIRE(!drawn.only);
    REQUIRE(drawn.route.length == 5);
    REQUIRE(routing::is_minimal(topology, table, edge, 15, drawn.route));
    ++ways[{drawn.route.ports.begin(), drawn.route.ports.begin() + drawn.route.length}];
    // A step elsewhere is not on a minimal way.
    drawn.route.ports[2] ^= 1;
    REQUIRE(!routing::is_minimal(topology, table, edge, 15, drawn.route));
  }
  REQUIRE(ways.size() == 4);  // (k/2)²
  // Standard deviation: sqrt(4000 × 3/16) = 27.
  for (const auto& [way, count] : ways) REQUIRE(std::abs(count - 1000) < 150);
  REQUIRE(routing::most_switches(topology, 15) == 5);
  REQUIRE(routing::most_switches(network_of("torus:dims=9"), 15) == 5);
  REQUIRE(routing::most_switches(network_of("torus:dims=64"), 15) > 15);
}

}  // namespace
}  // namespace weft::sim::packet
