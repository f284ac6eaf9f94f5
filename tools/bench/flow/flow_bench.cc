// Speed of the flow network: all-to-all, arrivals or a permutation on a full three-level fat tree.
//   flow_bench K ecmp|spray alltoall|arrivals|permutation BYTES [ROUNDS [OVERSUBSCRIPTION]]
// In the all-to-all host r sends to r + 1, r + 2, … r + ROUNDS (0: all others), each message when the last
// byte of the one before has left. With arrivals they don't wait for each other: each host begins one more
// every 100 ns, with up to 100 ns of its own, so that all are under way at once. Prints hosts, messages,
// simulated time, the mean goodput of a host, seconds of processor time to build the network and to run it,
// messages per second, flows given a rate per message, calls of the solver, peak memory of the process in
// MiB, digest.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "sim/flow/flow_network.h"
#include "sim/routing/policies/ecmp.h"
#include "sim/routing/policies/spray.h"
#include "topologies/families.h"

namespace weft::sim::flow {
namespace {

struct Case {
  std::string k, oversubscription;
  std::string traffic;
  bool spray = false;
  std::uint64_t bytes = 0;
  std::uint32_t rounds = 0;
};

// Each host's next message follows its last.
class Sender final : public NetworkClient {
 public:
  Sender(std::uint32_t hosts, std::uint32_t rounds, std::uint64_t bytes)
      : hosts_(hosts), rounds_(rounds), bytes_(bytes) {}
  void set_network(Network& network) { network_ = &network; }
  void send(std::uint32_t source, std::uint32_t destination, std::uint32_t round) {
    network_->inject({.source = source,
                      .destination = destination,
                      .notify_sent = round < rounds_,
                      .bytes = bytes_,
                      .client = {round}});
  }
  void on_sent(const Message& message) override {
    const std::uint32_t round = message.client[0] + 1;
    send(message.source, (message.source + round) % hosts_, round);
  }
  void on_delivered(const Message&) override { ++delivered; }
  // One of the arrivals: the host, and which round.
  void on_event(const Event& event) override {
    const std::uint32_t host = event.payload / hosts_, round = event.payload % hosts_;
    network_->inject({.source = host, .destination = (host + round) % hosts_, .bytes = bytes_});
  }

  std::uint64_t delivered = 0;

 private:
  std::uint32_t hosts_, rounds_;
  std::uint64_t bytes_;
  Network* network_ = nullptr;
};

class NoLimit final : public RunControl {
 public:
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

double since(std::clock_t begin) { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }

void run(const Case& given) {
  const topologies::Topology topology = topologies::build(
      parse_module_choice("fat_tree:link=400Gbps,latency=500ns,switch_latency=0ns,k=" + given.k +
                          ",oversubscription=" + given.oversubscription));
  const routing::RoutingTable table(topology);
  const routing::Policy policy = given.spray ? routing::spray() : routing::ecmp();
  const std::uint32_t hosts = topology.hosts();
  const std::uint32_t rounds = given.rounds == 0 ? hosts - 1 : given.rounds;
  const std::clock_t begin = std::clock();
  Engine engine(1);
  Sender sender(hosts, rounds, given.bytes);
  FlowNetwork network(engine, sender, {topology, table, policy, {.record_flows = false}});
  sender.set_network(network);
  const double build_seconds = since(begin);
  if (given.traffic == "alltoall") {
    for (std::uint32_t host = 0; host < hosts; ++host) sender.send(host, (host + 1) % hosts, 1);
  } else if (given.traffic == "arrivals") {
    const EntityId entity = engine.add_entities(1);
    RandomStream random(1, 0, 1);
    for (std::uint32_t host = 0; host < hosts; ++host) {
      const Time own = Time::ps(static_cast<std::int64_t>(random.below(100'000)));
      for (std::uint32_t round = 1; round <= rounds; ++round) {
        engine.schedule(Time::ns(100) * round + own, entity, 100, host * hosts + round);
      }
    }
  } else {
    std::vector<std::uint32_t> destination(hosts);
    std::iota(destination.begin(), destination.end(), 0);
    RandomStream random(1, 0, 0);
    for (std::size_t i = hosts - 1; i > 0; --i) std::swap(destination[i], destination[random.below(i + 1)]);
    for (std::uint32_t host = 0; host < hosts; ++host) {
      if (destination[host] != host) sender.send(host, destination[host], rounds);
    }
  }
  NoLimit no_limit;
  const std::clock_t start = std::clock();
  network.run(no_limit);
  const double seconds = since(start);
  const results::NetworkTotals totals = network.totals();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto messages = static_cast<double>(totals.messages);
  std::printf(
      "hosts %u  messages %llu  simulated %.1f us  goodput %.1f Gb/s  build %.2f s  run %.2f s  messages/s "
      "%.0f  "
      "rates/message %.2f  solves %llu  memory %ld  digest %016llx\n",
      hosts, static_cast<unsigned long long>(totals.messages), engine.now().seconds() * 1e6,
      8e-9 * static_cast<double>(totals.bytes) / engine.now().seconds() / hosts, build_seconds, seconds,
      messages / seconds, static_cast<double>(network.solver_work()) / messages,
      static_cast<unsigned long long>(network.solves()), usage.ru_maxrss / 1024,
      static_cast<unsigned long long>(engine.digest()));
}

}  // namespace
}  // namespace weft::sim::flow

int main(int argc, char** argv) {
  weft::sim::flow::Case given{.k = argc > 1 ? argv[1] : "16", .oversubscription = argc > 6 ? argv[6] : "1"};
  given.spray = argc > 2 && std::string(argv[2]) == "spray";
  given.traffic = argc > 3 ? argv[3] : "permutation";
  given.bytes = static_cast<std::uint64_t>(argc > 4 ? std::atoll(argv[4]) : 1'000'000);
  given.rounds = static_cast<std::uint32_t>(argc > 5 ? std::atoi(argv[5]) : 0);
  weft::sim::flow::run(given);
  return 0;
}
