// Speed of the packet network: a permutation on a full three-level fat tree, one message per host.
//   packet_bench NETWORK PACKETS_PER_FLOW [RUNS [PARTITIONS [THREADS [QUEUE [ROUTING [CONTROL]]]]]]
// NETWORK: ports of a fat tree's switches, or a topology as `weft sim --topology` takes it. PARTITIONS 0: as
// many as `weft sim` takes. QUEUE, ROUTING, CONTROL: as `weft sim` takes them; ecn, spray, a window of 100
// packets. Prints one line per run: hosts, packet hops, events, seconds of the event loop by the clock and of
// processor time, million packet hops per second (of processor time with one thread, else by the clock), peak
// memory of the process in MiB, digest.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "congestion/controls/controls.h"
#include "congestion/recoveries/rack.h"
#include "sim/packet/packet_network.h"
#include "sim/packet/queues/queues.h"
#include "sim/routing/policies/policies.h"
#include "topologies/analysis/partition.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

class NoClient final : public NetworkClient {
 public:
  void on_sent(const Message&) override {}
  void on_delivered(const Message&) override {}
  void on_event(const Event&) override {}
};

class NoLimit final : public RunControl {
 public:
  StopReason poll(Time, std::uint64_t) override { return StopReason::kNone; }
};

void inject_permutation(PacketNetwork& network, std::uint32_t hosts, std::uint64_t packets) {
  std::vector<std::uint32_t> destination(hosts);
  std::iota(destination.begin(), destination.end(), 0);
  RandomStream random(1, 0, 0);
  for (std::size_t i = destination.size() - 1; i > 0; --i) {
    std::swap(destination[i], destination[random.below(i + 1)]);
  }
  for (std::uint32_t host = 0; host < hosts; ++host) {
    if (destination[host] == host) continue;
    network.inject({.source = host, .destination = destination[host], .bytes = packets * 4096});
  }
}

// "16": a fat tree.
topologies::Topology network_named(const std::string& text) {
  const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
  return topologies::build(parse_module_choice(
      is_number ? "fat_tree:link=400Gbps,latency=500ns,switch_latency=0ns,k=" + text : text));
}

void run(const std::string& network_text, std::uint64_t packets, std::uint32_t partitions,
         std::uint32_t threads, const std::string& queue_text, const std::string& routing_text,
         const std::string& control_text) {
  const topologies::Topology topology = network_named(network_text);
  const routing::RoutingTable table(topology);
  const ModuleChoice routing_choice = parse_module_choice(routing_text);
  const routing::Policy& policy = find_module(routing::policies(), routing_choice, "routing policy");
  const ModuleChoice queue_choice = parse_module_choice(queue_text);
  const Discipline& queue = find_module(disciplines(), queue_choice, "queue");
  const ModuleChoice control_choice = parse_module_choice(control_text);
  const congestion::Control& control =
      find_module(congestion::controls(), control_choice, "congestion control");
  const congestion::RecoveryKind recovery = congestion::rack();
  if (partitions == 0) {
    partitions = sim::packet::partitions(Parameters(packet_module(), std::map<std::string, std::string>()),
                                         threads, topology.hosts());
  }
  topologies::Partitioning partitioning = topologies::partition(topology, partitions);
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<Engine*> all;
  NoClient client;
  for (std::uint32_t p = 0; p < partitioning.parts; ++p) {
    engines.push_back(std::make_unique<Engine>(1));
    all.push_back(engines.back().get());
  }
  const std::vector<NetworkClient*> clients(partitioning.parts, &client);
  PacketNetwork network(all, clients,
                        {.topology = topology,
                         .table = table,
                         .policy = policy,
                         .policy_parameters = Parameters(policy.info, routing_choice),
                         .control = control,
                         .control_parameters = Parameters(control.info, control_choice),
                         .recovery = recovery,
                         .recovery_parameters = {},
                         .queue = queue,
                         .queue_parameters = Parameters(queue.info, queue_choice),
                         .config = {}},
                        std::move(partitioning));
  inject_permutation(network, topology.hosts(), packets);
  NoLimit control_run;
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  network.run(control_run, threads);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double cpu_seconds = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;
  std::uint64_t executed = 0, digest = 0;
  for (const Engine* engine : all) {
    executed += engine->executed();
    digest += engine->digest();
  }
  const results::NetworkTotals totals = network.totals();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "hosts %u  packet-hops %llu  events %llu  seconds %.3f  cpu %.3f  million packet-hops/s %.2f  memory "
      "%ld  digest %016llx",
      topology.hosts(), static_cast<unsigned long long>(totals.packet_hops),
      static_cast<unsigned long long>(executed), seconds, cpu_seconds,
      static_cast<double>(totals.packet_hops) / (threads == 1 ? cpu_seconds : seconds) / 1e6,
      usage.ru_maxrss / 1024, static_cast<unsigned long long>(digest));
  for (const auto& [name, count] : totals.signals) {
    std::printf("  %s %llu", name.c_str(), static_cast<unsigned long long>(count));
  }
  std::printf("\n");
}

}  // namespace
}  // namespace weft::sim::packet

int main(int argc, char** argv) {
  const std::string network = argc > 1 ? argv[1] : "16";
  const auto packets = static_cast<std::uint64_t>(argc > 2 ? std::atoll(argv[2]) : 1000);
  const int runs = argc > 3 ? std::atoi(argv[3]) : 1;
  const auto partitions = static_cast<std::uint32_t>(argc > 4 ? std::atoi(argv[4]) : 0);
  const auto threads = static_cast<std::uint32_t>(argc > 5 ? std::atoi(argv[5]) : 1);
  const std::string queue = argc > 6 ? argv[6] : "ecn";
  const std::string routing = argc > 7 ? argv[7] : "spray";
  const std::string control = argc > 8 ? argv[8] : "fixed_window:packets=100";
  for (int i = 0; i < runs; ++i) {
    weft::sim::packet::run(network, packets, partitions, threads, queue, routing, control);
  }
  return 0;
}
