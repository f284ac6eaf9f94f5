// Messages that start at different times on full links, against a fluid simulation that works out all rates
// anew at every event.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "sim/routing/path_draws.h"
#include "sim/routing/policies/ecmp.h"
#include "tests/sim/flow/naive.h"
#include "tests/sim/flow/support.h"

namespace weft::sim::flow {
namespace {

constexpr std::uint64_t kSeed = 11;
constexpr std::uint64_t kMtu = 4096, kHeader = 64;

struct Arrival {
  Message message;
  Time at;
  Time sent;  // by the network
};

// Hands over each message when its time has come, and notes when it is acknowledged.
class Arrivals final : public NetworkClient {
 public:
  Arrivals(Engine& engine, std::vector<Arrival>& arrivals)
      : engine_(engine), arrivals_(arrivals), entity_(engine.add_entities(1)) {}
  void start(Network& network) {
    network_ = &network;
    for (std::uint32_t i = 0; i < arrivals_.size(); ++i) engine_.schedule(arrivals_[i].at, entity_, 100, i);
  }
  void on_sent(const Message& message) override { arrivals_[message.client[0]].sent = engine_.now(); }
  void on_delivered(const Message&) override {}
  void on_event(const Event& event) override { network_->inject(arrivals_[event.payload].message); }

 private:
  Engine& engine_;
  std::vector<Arrival>& arrivals_;
  EntityId entity_;
  Network* network_ = nullptr;
};

std::uint64_t wire_bytes(std::uint64_t bytes) { return bytes + (bytes + kMtu - 1) / kMtu * kHeader; }

// In the order in which they come.
std::vector<Arrival> random_arrivals(RandomStream& random, std::uint32_t hosts, std::size_t count) {
  std::vector<Arrival> arrivals;
  std::int64_t at = 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto source = static_cast<std::uint32_t>(random.below(hosts));
    auto destination = static_cast<std::uint32_t>(random.below(random.below(2) == 0 ? hosts : 3));
    if (destination == source) destination = (source + 1) % hosts;
    const std::uint64_t bytes = 1'000'000 + random.below(400'000'000);
    arrivals.push_back({.message = {.source = source,
                                    .destination = destination,
                                    .notify_sent = true,
                                    .bytes = bytes,
                                    .client = {i}},
                        .at = Time::ps(at)});
    // Some at one moment.
    at += static_cast<std::int64_t>(random.below(3) == 0 ? 0 : random.below(1'000'000'000));
  }
  return arrivals;
}

// When each is through, in picoseconds, by naive_rates() at every event. A message ends at a whole
// picosecond.
std::vector<double> naive_ends(const std::vector<Arrival>& arrivals, std::vector<NaiveFlow> flows,
                               const std::vector<double>& capacity) {
  std::vector<double> left, end(arrivals.size(), 0);
  for (const Arrival& arrival : arrivals) {
    left.push_back(8e12 * (1 << kRateBits) * static_cast<double>(wire_bytes(arrival.message.bytes)));
  }
  std::vector<std::size_t> under_way;
  std::size_t next = 0;
  double now = 0;
  while (next < arrivals.size() || !under_way.empty()) {
    std::vector<NaiveFlow> some;
    for (const std::size_t i : under_way) some.push_back(flows[i]);
    const std::vector<double> rates = naive_rates(capacity, some);
    double then = next < arrivals.size() ? static_cast<double>(arrivals[next].at.ps()) : 1e300;
    for (std::size_t k = 0; k < under_way.size(); ++k) {
      then = std::min(then, std::ceil(now + left[under_way[k]] / rates[k] - 1e-3));
    }
    for (std::size_t k = 0; k < under_way.size(); ++k) {
      left[under_way[k]] -= rates[k] * (then - now);
      if (left[under_way[k]] <= rates[k] * 1e-3) end[under_way[k]] = then;
    }
    std::erase_if(under_way, [&](std::size_t i) { return end[i] > 0; });
    now = then;
    for (; next < arrivals.size() && static_cast<double>(arrivals[next].at.ps()) <= now; ++next) {
      under_way.push_back(next);
    }
  }
  return end;
}

struct Reference {
  std::vector<NaiveFlow> flows;
  std::vector<std::uint64_t> bytes;  // by channel
  // This says for each flow how long it is from the last byte's leaving to the acknowledgement, where all
  // links have one rate: a full packet is stored and sent on at each switch, and a header comes back.
  std::vector<double> answered;
};

double answered_after(const topologies::Topology& topology, const std::vector<std::uint32_t>& hops) {
  double sum = 0;
  for (const std::uint32_t c : hops) {
    const topologies::Channel& wire = topology.channels()[c];
    const bool is_last = c == hops.back();
    const Time pipeline = is_last ? Time() : topology.node(wire.to).switch_latency;
    sum += 2 * static_cast<double>((wire.latency + pipeline).ps()) +
           static_cast<double>(wire.rate.serialization(kHeader).ps()) +
           (is_last ? 0.0 : static_cast<double>(wire.rate.serialization(kMtu + kHeader).ps()));
  }
  return sum;
}

// The ways that the network has to give them.
Reference find_ways(const topologies::Topology& topology, const std::vector<Arrival>& arrivals, Paths& paths,
                    double cap) {
  const std::size_t channels = topology.channels().size();
  Reference reference{.bytes = std::vector<std::uint64_t>(channels)};
  std::vector<std::uint32_t> numbers(channels);
  Way way;
  for (const Arrival& arrival : arrivals) {
    const Message& message = arrival.message;
    const std::uint64_t identity = routing::flow_identity(message.source, numbers[message.source]++);
    paths.find({.source = message.source,
                .destination = message.destination,
                .entropy = static_cast<std::uint32_t>(routing::flow_draws(kSeed, identity).next())},
               way);
    reference.flows.push_back({.uses = way.uses, .cap = cap});
    reference.answered.push_back(answered_after(topology, way.hops));
    for (const std::uint32_t c : way.hops) reference.bytes[c] += wire_bytes(message.bytes);
  }
  return reference;
}

// Replays the arrivals; returns how often a flow was given a rate.
std::uint64_t replay(const topologies::Topology& topology, const FlowConfig& config,
                     std::vector<Arrival>& arrivals) {
  const routing::RoutingTable table(topology);
  const routing::Policy policy = routing::ecmp();
  Engine engine(kSeed);
  Arrivals client(engine, arrivals);
  FlowNetwork network(engine, client, {topology, table, policy, config});
  client.start(network);
  packet::RunOn on;
  network.run(on);
  // No link is given out more than it has, but for the tolerance.
  for (const results::Link& link : network.links()) {
    CHECK(link.busy.seconds() <= engine.now().seconds() * (1 + config.tolerance));
  }
  return network.solver_work();
}

}  // namespace

TEST_CASE("messages end when they do if all rates are worked out anew at every event") {
  const std::string shape =
      GENERATE("fat_tree:k=4,link=100Gbps", "fat_tree:k=4,link=100Gbps,oversubscription=3",
               "torus:dims=3x3,hosts=2,link=50Gbps");
  const bool is_capped = GENERATE(false, true);
  CAPTURE(shape, is_capped);
  const topologies::Topology topology = topologies::build(parse_module_choice(shape));
  const routing::RoutingTable table(topology);
  const routing::Policy policy = routing::ecmp();
  const auto channels = topology.channels().size();
  for (std::uint64_t draw = 0; draw < 6; ++draw) {
    RandomStream random(draw, 5);
    std::vector<Arrival> arrivals = random_arrivals(random, topology.hosts(), 120);
    FlowConfig config{.mtu_bytes = kMtu, .header_bytes = kHeader};
    if (is_capped) config.max_rate = Bandwidth::gbps(20);

    Engine engine(kSeed);
    Arrivals client(engine, arrivals);
    FlowNetwork network(engine, client, {topology, table, policy, config});
    client.start(network);
    packet::RunOn on;
    network.run(on);

    Paths paths(topology, table, policy.fluid, kSeed);
    const double cap = is_capped ? static_cast<double>(to_rate(config.max_rate)) : 1e300;
    const Reference reference = find_ways(topology, arrivals, paths, cap);
    const std::span<const Rate> resources = paths.resources();
    const std::vector<double> ends =
        naive_ends(arrivals, reference.flows, std::vector<double>(resources.begin(), resources.end()));
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      CAPTURE(draw, i);
      const double left = static_cast<double>(arrivals[i].sent.ps()) - reference.answered[i];
      CHECK(std::abs(left - ends[i]) <= 1e-9 * ends[i]);
    }
    const std::vector<results::Link> links = network.links();
    const Time end = engine.now();
    for (std::size_t c = 0; c < channels; ++c) {
      CHECK(links[c].bytes == reference.bytes[c]);
      CHECK(links[c].busy <= end);
    }
  }
}

// 1,500 flows on one link at most, so one more or less changes shares by less than the tolerance mostly.
TEST_CASE("with a tolerance times are off by about that much, for a fraction of the work") {
  const topologies::Topology topology = topologies::build(parse_module_choice("fat_tree:k=4,link=100Gbps"));
  std::vector<Arrival> exact;
  for (std::uint32_t i = 0; i < 1500; ++i) {
    exact.push_back({.message = {.source = 1 + i % 15,
                                 .destination = 0,
                                 .notify_sent = true,
                                 .bytes = 1'000'000 + i * 7919 % 1'000'000,
                                 .client = {i}},
                     .at = Time::ns(1 + 100 * std::int64_t{i})});
  }
  std::vector<Arrival> rough = exact;
  const std::uint64_t work = replay(topology, {.mtu_bytes = kMtu, .header_bytes = kHeader}, exact);
  const double tolerance = GENERATE(0.001, 0.01, 0.05);
  const std::uint64_t less =
      replay(topology, {.mtu_bytes = kMtu, .header_bytes = kHeader, .tolerance = tolerance}, rough);
  CAPTURE(tolerance, work, less);
  CHECK(static_cast<double>(less) < static_cast<double>(work) / (tolerance < 0.01 ? 1.3 : 5));
  bool is_other = false;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double took = (exact[i].sent - exact[i].at).seconds(),
                 now = (rough[i].sent - rough[i].at).seconds();
    CHECK(std::abs(now - took) <= 2 * tolerance * took);
    is_other |= now != took;
  }
  CHECK(is_other);
}

}  // namespace weft::sim::flow
