// What the tests of lossless queues share.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "sim/units/random.h"
#include "tests/sim/packet/divided.h"
#include "tests/sim/packet/support.h"
#include "topologies/analysis/partition.h"
#include "topologies/families.h"

namespace weft::sim::packet {

// One lane, and links that rest while the next node is full.
inline ScheduledChecker::Expected held_back_in_one_lane() {
  return {.work_conserving = false, .lane = [](std::uint32_t, const Sighting&) { return 0; }};
}

// Rates, latencies and pipelines differ from link to link. Without `circles` a tree of switches, or a fat
// tree: there no packets can wait for each other in a circle.
inline topologies::Topology random_topology(RandomStream& random, bool circles) {
  if (!circles && random.below(4) == 0) {
    return topologies::build(parse_module_choice("fat_tree:k=4,latency=300ns,switch_latency=150ns"));
  }
  topologies::Topology topology("random");
  const auto link = [&]() -> topologies::Link {
    return {Bandwidth::gbps(random.below(2) == 0 ? 100 : 400),
            Time::ns(100 + static_cast<std::int64_t>(random.below(10)) * 150)};
  };
  std::vector<topologies::Vertex> switches;
  for (std::uint64_t s = 0, count = 1 + random.below(6); s < count; ++s) {
    const auto pipeline = Time::ns(static_cast<std::int64_t>(random.below(3)) * 200);
    switches.push_back(topology.add_switch("s" + std::to_string(s), 1, 0, pipeline));
    if (s > 0) topology.add_link(switches[random.below(s)], switches[s], link());
  }
  for (std::size_t extra = 0; circles && extra < switches.size(); ++extra) {
    const auto a = random.below(switches.size()), b = random.below(switches.size());
    if (a != b) topology.add_link(switches[a], switches[b], link());
  }
  for (std::uint64_t h = 0, count = 3 + random.below(8); h < count; ++h) {
    const auto host = topology.add_host("h" + std::to_string(h));
    topology.add_link(host, switches[random.below(switches.size())], link());
  }
  topology.finish();
  return topology;
}

// Messages to few hosts, so that queues fill.
inline std::vector<Message> crowded_messages(const topologies::Topology& topology, RandomStream& random) {
  std::vector<Message> messages;
  const auto popular = 1 + random.below(2);
  for (std::uint32_t m = 0; m < 40; ++m) {
    messages.push_back({.source = static_cast<std::uint32_t>(random.below(topology.hosts())),
                        .destination = static_cast<std::uint32_t>(random.below(popular)),
                        .notify_sent = true,
                        .bytes = random.below(400'000),
                        .client = {m}});
  }
  return messages;
}

// A property: all messages arrive, and the account is the same however the network is divided, and also where
// no departure is worked out before its time.
inline void check_divisions(const topologies::Topology& topology, const Options& options,
                            const std::vector<Message>& messages, RandomStream& random) {
  const Account whole = run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1);
  RC_ASSERT(whole.delivered == messages.size());
  Watching watching;
  RC_ASSERT(run_divided(topology, options, messages, {.of_vertex = {}, .parts = 1}, 1, StopEvery::kNever,
                        nullptr, &watching) == whole);
  for (const std::uint32_t parts : {2, 4}) {
    const auto metis = topologies::partition(topology, parts, {}, options.seed);
    RC_ASSERT(run_divided(topology, options, messages, metis, 1) == whole);
    RC_ASSERT(run_divided(topology, options, messages, random_division(topology, parts, random), 3) == whole);
  }
}

// Hosts on a ring that all send to the second one on: all packets go the same way round.
inline std::vector<Message> ring_messages(const topologies::Topology& topology) {
  std::vector<Message> messages;
  for (std::uint32_t host = 0; host < topology.hosts(); ++host) {
    messages.push_back({.source = host,
                        .destination = (host + 2) % topology.hosts(),
                        .notify_sent = true,
                        .bytes = 1'000'000,
                        .client = {host}});
  }
  return messages;
}

// `hosts` hosts on a ring of as many switches; 5 or more, so that the second one on is nearer one way.
inline topologies::Topology ring(int hosts) {
  return topologies::build(parse_module_choice("torus:dims=" + std::to_string(hosts)));
}

}  // namespace weft::sim::packet
