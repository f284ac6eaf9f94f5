// The LogGOPS network gives the same results, messages and digest however its hosts are divided, on any
// number of threads.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sim/loggops/loggops.h"
#include "tests/sim/replay/random_program.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::sim;

namespace {

struct Account {
  std::string text;
  std::uint64_t messages = 0;
  bool complete = false;
};

// All that a run has to tell.
Account run(const goal::Graph& graph, const HostConfig& hosts, const LogGopsConfig& config,
            const std::vector<std::uint16_t>& partition_of_host, std::size_t partitions,
            std::uint32_t threads) {
  std::vector<std::unique_ptr<Engine>> owned;
  std::vector<Engine*> engines;
  for (std::size_t p = 0; p < partitions; ++p) {
    engines.push_back(owned.emplace_back(std::make_unique<Engine>(1)).get());
  }
  Replay replay(graph, hosts, engines, partition_of_host);
  std::vector<NetworkClient*> clients;
  for (std::size_t p = 0; p < partitions; ++p) clients.push_back(&replay.client(p));
  LogGopsNetwork network(config, graph.max_nic() + 1u, FlowRecord::kRows, engines, clients,
                         partition_of_host);
  std::vector<Network*> networks;
  for (std::uint32_t p = 0; p < partitions; ++p) networks.push_back(&network.part(p));
  NeverStop control;
  replay.start(networks);
  network.run(control, threads);

  const ReplayTotals totals = replay.totals();
  Account account{.text = fmt::format(
                      "digest {:x}, {} ops, {} messages, {} B, {} unreceived, {} ps; {} in the "
                      "network with {} B\n",
                      replay.digest(), totals.executed_ops, totals.messages, totals.bytes, totals.unreceived,
                      totals.makespan.ps(), network.totals().messages, network.totals().bytes),
                  .messages = totals.messages,
                  .complete = replay.complete()};
  for (const results::Rank& r : replay.ranks()) {
    account.text +=
        fmt::format("rank {}: {}, {}, {}\n", r.rank, r.finish.ps(), r.compute.ps(), r.overhead.ps());
  }
  for (const results::Flow& f : network.flows()) {
    account.text += fmt::format("{} to {}: {} B from {} to {}\n", f.source, f.destination, f.bytes,
                                f.start.ps(), f.finish.ps());
  }
  for (const std::string& line : replay.diagnose(3)) account.text += line + "\n";
  return account;
}

}  // namespace

TEST_CASE("random programs: the same account in any division, on one thread and on several") {
  int complete = 0;
  std::uint64_t messages = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const ProgramOptions options{.broken = seed % 5 == 0, .wildcards = seed % 3 == 0, .nics = seed % 2 == 0};
    const goal::Graph graph = random_program(seed, options).graph();
    HostConfig hosts;
    hosts.overhead = Time::ns(static_cast<std::int64_t>(random() % 3) * 500);
    hosts.eager_limit_bytes = random() % 8000;
    hosts.ranks_per_host = static_cast<std::uint32_t>(1 + random() % 2);
    const LogGopsConfig config{Time::ns(static_cast<std::int64_t>(1 + random() % 2000)),
                               Time::ns(static_cast<std::int64_t>(random() % 2) * 1000),
                               TimePerByte::ns(static_cast<double>(random() % 3))};
    const std::uint32_t count = hosts_needed(graph, hosts);
    const Account whole = run(graph, hosts, config, std::vector<std::uint16_t>(count), 1, 1);
    const std::size_t partitions = 2 + seed % 3;
    std::vector<std::uint16_t> partition_of_host;
    for (std::uint32_t h = 0; h < count; ++h) {
      partition_of_host.push_back(static_cast<std::uint16_t>(random() % partitions));
    }
    INFO("seed " << seed);
    REQUIRE(run(graph, hosts, config, partition_of_host, partitions, 1).text == whole.text);
    if (seed % 8 == 0)
      REQUIRE(run(graph, hosts, config, partition_of_host, partitions, 2).text == whole.text);
    complete += whole.complete;
    messages += whole.messages;
  }
  CHECK(complete > 150);
  CHECK(messages > 2000);
}
