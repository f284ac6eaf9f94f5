// Results must not depend on how a network is divided, nor on how many threads run the parts.
#include "topologies/analysis/partition.h"

#include <fmt/core.h>
#include <rapidcheck.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/sim/packet/divided.h"
#include "topologies/families.h"

namespace weft::sim::packet {
namespace {

// A connected random graph of switches with hosts of one or two NICs.
topologies::Topology random_topology(RandomStream& random) {
  topologies::Topology topology("random");
  const auto switches = 2 + static_cast<std::uint32_t>(random.below(7));
  const auto latency = [&] { return Time::ns(100 + static_cast<std::int64_t>(random.below(5)) * 150); };
  const auto rate = [&] { return Bandwidth::gbps(random.below(2) == 0 ? 100 : 400); };
  std::vector<topologies::Vertex> vertices;
  for (std::uint32_t s = 0; s < switches; ++s) {
    vertices.push_back(topology.add_switch(fmt::format("s{}", s), 1, 0, Time::ns(50)));
    if (s > 0) topology.add_link(vertices[random.below(s)], vertices[s], {rate(), latency()});
  }
  for (std::uint32_t extra = 0; extra < switches; ++extra) {
    const auto a = random.below(switches), b = random.below(switches);
    if (a != b) topology.add_link(vertices[a], vertices[b], {rate(), latency()});
  }
  const auto hosts = 2 + static_cast<std::uint32_t>(random.below(10));
  for (std::uint32_t h = 0; h < hosts; ++h) {
    const auto host = topology.add_host(fmt::format("h{}", h));
    for (std::uint64_t nic = 0; nic <= random.below(2); ++nic) {
      topology.add_link(host, vertices[random.below(switches)], {rate(), latency()});
    }
  }
  topology.finish();
  return topology;
}

TEST_CASE("any division, by METIS or at random, on any number of threads, gives the same results") {
  REQUIRE(rc::check([](std::uint32_t seed) {
    RandomStream random(seed, 1);
    const auto topology = random_topology(random);
    constexpr std::array kQueues = {"droptail:capacity=40KB",
                                    "ecn:capacity=60KB,kmin=10KB,kmax=30KB",
                                    "droptail:capacity=9KB",
                                    "priority:capacity=20KB,kmin=5KB,kmax=15KB",
                                    "shared:buffer=80KB,alpha=0.5,reserve=500,kmin=5KB,kmax=15KB",
                                    "red:capacity=30KB,kmin=5KB,kmax=20KB",
                                    "composite:capacity=20KB,kmin=5KB,kmax=15KB,ratio=3",
                                    "composite:capacity=9KB,high_capacity=300,return_to_sender=true"};
    Options options;
    options.queue = kQueues[random.below(kQueues.size())];
    options.control = random.below(2) == 0 ? "dctcp" : "fixed_window:packets=20";
    if (random.below(2) == 0) options.policy = spray();
    options.seed = seed;
    if (random.below(2) == 0) {
      constexpr std::array kChoices = {NicChoice::kGiven, NicChoice::kRoundRobin, NicChoice::kHash,
                                       NicChoice::kLeastLoaded, NicChoice::kSpray};
      options.config.nic_choice = kChoices[random.below(kChoices.size())];
      options.config.ack_every = static_cast<std::uint32_t>(1 + random.below(8));
      options.config.ack_delay = Time::ns(500 + static_cast<std::int64_t>(random.below(3000)));
      options.config.receive_delay = Time::ns(static_cast<std::int64_t>(random.below(2)) * 130);
      options.config.timeout_jitter = random.uniform();
      options.config.send_delay = options.config.receive_delay * 2;
      options.config.host_delay = options.config.receive_delay * 3;
    }
    std::vector<Message> messages;
    for (std::uint32_t m = 0; m < 30; ++m) {
      messages.push_back({.source = static_cast<std::uint32_t>(random.below(topology.hosts())),
                          .destination = static_cast<std::uint32_t>(random.below(topology.hosts())),
                          .source_nic = static_cast<std::uint8_t>(random.below(2)),
                          .destination_nic = static_cast<std::uint8_t>(random.below(2)),
                          .notify_sent = true,
                          .bytes = random.below(60'000),
                          .client = {m}});
    }
    const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
    RC_ASSERT(whole.delivered == messages.size());
    for (const std::uint32_t parts : {2, 3, 5}) {
      const auto metis = topologies::partition(topology, parts, {}, seed);
      const auto any = random_division(topology, parts, random);
      for (const std::uint32_t threads : {1, 3}) {
        RC_ASSERT(run_divided(topology, options, messages, metis, threads) == whole);
        RC_ASSERT(run_divided(topology, options, messages, any, threads) == whole);
      }
    }
  }));
}

TEST_CASE("a stopped run goes on where it was, mail between partitions included") {
  const auto topology = topologies::build(parse_module_choice("fat_tree:k=4,latency=300ns"));
  std::vector<Message> messages;
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    messages.push_back(
        {.source = h, .destination = (h + 5) % topology.hosts(), .bytes = 3'000'000, .client = {h}});
  }
  const auto divided = topologies::partition(topology, 3);
  const Account whole = run_divided(topology, {}, messages, divided, 1);
  REQUIRE(whole.delivered == messages.size());
  REQUIRE(run_divided(topology, {}, messages, divided, 2, StopEvery::kPoll) == whole);
}

}  // namespace
}  // namespace weft::sim::packet
