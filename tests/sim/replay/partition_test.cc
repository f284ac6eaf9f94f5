// A replay cut into partitions: the same results, digest and diagnosis as in one, on a network that reorders.
#include <rapidcheck.h>

#include <catch2/catch.hpp>

#include "tests/sim/replay/jumble.h"
#include "tests/sim/replay/random_program.h"

using namespace weft;
using namespace weft::sim;

TEST_CASE("results, digest, diagnosis and timeline are the same however the hosts are divided") {
  // A failure is shrunk; RC_PARAMS="seed=…" in the environment tries others.
  setenv("RC_PARAMS", "seed=1 max_success=1500", 0);
  std::uint64_t complete = 0, incomplete = 0, crossings = 0, strides = 0, cuts = 0;
  const bool holds = rc::check("as in one partition", [&] {
    ProgramOptions options;
    options.broken = *rc::gen::arbitrary<bool>();
    options.wildcards = *rc::gen::arbitrary<bool>();
    options.nics = *rc::gen::arbitrary<bool>();
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    HostConfig hosts;
    hosts.overhead = Time::ns(*rc::gen::inRange(0, 3) * 500);
    hosts.eager_limit_bytes = *rc::gen::inRange<std::uint64_t>(0, 8000);
    hosts.ranks_per_host = *rc::gen::inRange<std::uint32_t>(1, 4);
    hosts.first_fragment_bytes = *rc::gen::inRange<std::uint64_t>(0, hosts.eager_limit_bytes + 1);
    hosts.rendezvous = *rc::gen::element(Rendezvous::kPut, Rendezvous::kGet);
    if (*rc::gen::arbitrary<bool>()) hosts.fragment_bytes = *rc::gen::inRange<std::uint64_t>(1, 5000);
    hosts.pipeline_depth = *rc::gen::inRange<std::uint32_t>(1, 4);
    hosts.connections_per_pair = *rc::gen::inRange<std::uint32_t>(1, 4);
    const auto partitions = *rc::gen::element<std::size_t>(1, 2, 3, 5);
    const goal::Graph graph = random_program(seed, options).graph();
    const auto partition_of_host = *rc::gen::container<PartitionOfHost>(
        hosts_needed(graph, hosts),
        rc::gen::inRange<std::uint16_t>(0, static_cast<std::uint16_t>(partitions)));

    const auto most_rows = *rc::gen::element<std::uint64_t>(3, 20, 1000);  // of the timeline
    Jumble parts(graph, hosts, partition_of_host, partitions, seed, most_rows);
    Jumble whole(graph, hosts, PartitionOfHost(partition_of_host.size(), 0), 1, seed, most_rows);
    parts.run();
    whole.run();
    RC_ASSERT(account(parts.replay()) == account(whole.replay()));
    const results::Timeline timeline = whole.timeline();
    RC_ASSERT(account(parts.timeline()) == account(timeline));
    strides += timeline.stride > 1;
    cuts += timeline.until < Time::max();
    ++(whole.replay().complete() ? complete : incomplete);
    crossings += parts.crossings();
  });
  CHECK(holds);
  CHECK(complete > 500);
  CHECK(incomplete > 200);
  CHECK(crossings > 5000);
  CHECK(strides > 200);
  CHECK(cuts > 50);
}
