// A packed file that is read while it is replayed: results, digest and diagnosis as of the graph in memory,
// and memory that does not grow with the length of the program.
#include <fmt/core.h>
#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <random>

#include "goal/pack/pack.h"
#include "goal/text/text.h"
#include "sim/units/input_error.h"
#include "tests/sim/replay/jumble.h"
#include "tests/sim/replay/random_program.h"
#include "tests/sim/replay/replay_fixture.h"
#include "tools/bench/replay/stretch.h"

using namespace weft;
using namespace weft::sim;

namespace {

// Puts operations in another order, collectives among themselves excepted, so that some wait for later ones;
// and lets some wait for others far away.
void shuffle(Program& program, std::mt19937_64& random) {
  for (std::vector<ProgramOp>& ops : program.ranks) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (random() % 6 == 0) ops[i].after.emplace_back(random() % (i + 1), random() % 3 == 0);
      if (!ops[i].after.empty() && ops[i].after.back().first == i) ops[i].after.pop_back();
    }
    if (random() % 2 == 0) continue;
    std::vector<std::size_t> place(ops.size());
    for (std::size_t i = 0; i < place.size(); ++i) place[i] = i;
    for (std::size_t n = random() % (ops.size() + 1); n > 0; --n) {
      const std::size_t a = random() % ops.size(), b = random() % ops.size();
      if (ops[a].collective < 0 && ops[b].collective < 0) std::swap(place[a], place[b]);
    }
    std::vector<ProgramOp> moved(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      for (auto& [first, on_start] : ops[i].after) first = place[first];
      moved[place[i]] = ops[i];
    }
    ops = moved;
  }
}

// The LogGOPS replay of a packed file in one partition.
struct StreamedRun {
  Engine engine{1};
  Replay replay;
  LogGopsNetwork network;
  std::uint64_t most_bytes = 0;

  StreamedRun(const goal::Program& program, const HostConfig& hosts)
      : replay(program, hosts, engine),
        network({Time::ns(1000), Time::ns(10), TimePerByte::ns(2)}, hosts_needed(program, hosts),
                program.facts().max_nic + 1u, FlowRecord::kNothing, engine, replay.client()) {
    struct Watch : RunControl {
      const Replay& replay;
      std::uint64_t& most;
      Watch(const Replay& what, std::uint64_t& bytes) : replay(what), most(bytes) {}
      StopReason poll(Time, std::uint64_t) override {
        most = std::max(most, replay.memory_bytes());
        return StopReason::kNone;
      }
    } watch(replay, most_bytes);
    replay.start(network.part());
    network.run(watch);
  }
};

// A halo exchange among ranks in a ring, with an allreduce now and then: each round waits for the one before.
goal::Graph halo(goal::Rank ranks, int rounds) {
  goal::GraphBuilder builder;
  for (goal::Rank r = 0; r < ranks; ++r) {
    goal::OpIndex previous = builder.add_calc(100);
    for (int round = 0; round < rounds; ++round) {
      const goal::Rank left = (r + ranks - 1) % ranks, right = (r + 1) % ranks;
      const goal::OpIndex ops[] = {builder.add_recv(800, left, 1), builder.add_recv(800, right, 2),
                                   builder.add_send(800, right, 1), builder.add_send(800, left, 2)};
      for (const goal::OpIndex op : ops) builder.add_edge(previous, op);
      const goal::OpIndex work = builder.add_calc(5000);
      for (const goal::OpIndex op : ops) builder.add_edge(op, work);
      previous = builder.add_collective({.kind = goal::CollectiveKind::kAllreduce, .bytes = 8});
      builder.add_edge(work, previous);
    }
    builder.end_rank();
  }
  return builder.finish();
}

}  // namespace

TEST_CASE("a packed file read block by block: all as of the graph, in any partitions and blocks") {
  setenv("RC_PARAMS", "seed=1 max_success=2500", 0);
  std::uint64_t complete = 0, incomplete = 0, later = 0, blocks_behind = 0;
  const bool holds = rc::check("as of the graph", [&] {
    ProgramOptions options;
    options.broken = *rc::gen::arbitrary<bool>();
    options.wildcards = *rc::gen::arbitrary<bool>();
    options.nics = *rc::gen::arbitrary<bool>();
    options.sparse_cpus = *rc::gen::arbitrary<bool>();
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    HostConfig hosts;
    hosts.overhead = Time::ns(*rc::gen::inRange(0, 3) * 500);
    hosts.eager_limit_bytes = *rc::gen::inRange<std::uint64_t>(0, 8000);
    hosts.ranks_per_host = *rc::gen::inRange<std::uint32_t>(1, 4);
    const auto partitions = *rc::gen::element<std::size_t>(1, 2, 3);
    const auto block = *rc::gen::element<goal::OpIndex>(1, 2, 3, 5, 8, 64);
    Program program = random_program(seed, options);
    std::mt19937_64 random(seed);
    shuffle(program, random);
    const goal::Graph graph = program.graph();
    const auto partition_of_host = *rc::gen::container<PartitionOfHost>(
        hosts_needed(graph, hosts),
        rc::gen::inRange<std::uint16_t>(0, static_cast<std::uint16_t>(partitions)));
    const std::string bytes = goal::to_pack(graph, {});
    const goal::PackedProgram packed(bytes, "packed", block);

    Jumble streamed(packed, hosts, partition_of_host, partitions, seed);
    Jumble held(graph, hosts, PartitionOfHost(partition_of_host.size(), 0), 1, seed);
    streamed.run();
    held.run();
    RC_ASSERT(account(streamed.replay()) == account(held.replay()));
    ++(held.replay().complete() ? complete : incomplete);
    for (goal::Rank r = 0; r < graph.ranks(); ++r) {
      later += packed.outline(r).wait_for_later.size();
      blocks_behind += packed.outline(r).gates.size();
    }
  });
  CHECK(holds);
  CHECK(complete > 600);
  CHECK(incomplete > 500);
  CHECK(later > 3000);
  CHECK(blocks_behind > 3000);
}

TEST_CASE("memory does not grow with the rounds of a program") {
  const goal::Graph graph = halo(16, 100);
  const std::string bytes = goal::to_pack(graph, {});
  HostConfig hosts;
  hosts.overhead = Time::ns(100);
  hosts.eager_limit_bytes = 500;  // halos are a rendezvous, allreduces are not
  StreamedRun held(graph, hosts);
  const goal::PackedProgram packed(bytes, "packed");
  StreamedRun once(packed, hosts);
  REQUIRE(once.replay.complete());
  CHECK(once.replay.digest() == held.replay.digest());

  const std::string longer = bench::stretched(bytes, 50);
  CHECK(longer.size() < bytes.size() + 100);
  const goal::Graph long_graph = goal::parse_pack(longer, "longer");
  CHECK(long_graph.ops() > 49 * graph.ops());
  StreamedRun long_held(long_graph, hosts);
  const goal::PackedProgram long_packed(longer, "longer");
  CHECK(long_packed.facts().ops == long_graph.ops());
  StreamedRun long_streamed(long_packed, hosts);
  REQUIRE(long_streamed.replay.complete());
  CHECK(long_streamed.replay.digest() == long_held.replay.digest());
  CHECK(long_streamed.replay.totals().makespan == long_held.replay.totals().makespan);
  // 480,000 operations are 18 MB as a graph. Here each rank has one block or two of at most 64.
  CHECK(long_graph.memory_bytes() > 15'000'000);
  CHECK(long_streamed.most_bytes > 16 * 1'000);
  CHECK(long_streamed.most_bytes < 16 * 10'000);
  CHECK(long_packed.memory_bytes() < 200'000);
}

TEST_CASE("what waits for nothing is there from the start, whatever stands before it") {
  // The last operation of rank 0 is ready at once, so everything before it is loaded; rank 1 is a chain.
  std::string text = "num_ranks 2\nrank 0 {\n";
  for (int i = 0; i < 1000; ++i) {
    text += fmt::format("a{}: calc 10\n", i);
    if (i > 0) text += fmt::format("a{} requires a{}\n", i, i - 1);
  }
  text += "b: calc 7 cpu 1\n}\nrank 1 {\n";
  for (int i = 0; i < 1000; ++i) {
    text += fmt::format("a{}: calc 10\n", i);
    if (i > 0) text += fmt::format("a{} requires a{}\n", i, i - 1);
  }
  const std::string bytes = goal::to_pack(goal::parse_text(text + "}\n", "test.goal"), {});
  const goal::PackedProgram packed(bytes, "packed", 10);
  CHECK(packed.outline(0).blocks_at_start == 101);
  CHECK(packed.outline(1).blocks_at_start == 1);
  REQUIRE(packed.outline(1).gates.size() == 99);
  for (std::uint32_t b = 1; b < 100; ++b) CHECK(packed.outline(1).gates[b - 1] == 10 * b - 1);
  const StreamedRun run(packed, {});
  CHECK(run.replay.complete());
  CHECK(run.replay.totals().makespan == Time::ns(10'000));
}

TEST_CASE("the gate of a block: the least of the last operations that those in it and behind it wait for") {
  // Blocks of two: (0 1) (2 3) (4 5) (6 7). 2 waits for 0 and 1; 3 for 2, so for 1 too; 4 for 0 only; 5 for 4
  // and 3; 6 for 5; 7 for 6 and 1.
  const std::string text =
      "num_ranks 1\nrank 0 {\nl0: calc 1\nl1: calc 1\nl2: calc 1\nl3: calc 1\nl4: calc 1\nl5: calc 1\nl6: "
      "calc "
      "1\nl7: calc 1\n"
      "l2 requires l0\nl2 requires l1\nl3 requires l2\nl4 requires l0\nl5 requires l4\nl5 requires l3\n"
      "l6 requires l5\nl7 requires l6\nl7 requires l1\nl0 requires l4\n}\n";
  const std::string bytes = goal::to_pack(goal::parse_text(text, "test.goal"), {});
  const goal::PackedProgram packed(bytes, "packed", 2);
  const goal::ProgramOutline& outline = packed.outline(0);
  CHECK(outline.blocks() == 4);
  CHECK(outline.blocks_at_start == 1);
  // Block 2 may be needed when 0 has finished, and so must block 1, before it.
  CHECK(outline.gates == std::vector<goal::OpIndex>{0, 0, 5});
  CHECK(outline.wait_for_later == std::vector<goal::OpIndex>{0});
  CHECK(outline.waits_for_later(0) == 1);
  CHECK(outline.waits_for_later(1) == 0);
}

TEST_CASE("damage behind the start is reported when it is read") {
  // Times that vary stand in blocks of their own, which are read as the replay goes on.
  goal::GraphBuilder builder;
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    builder.add_calc(random() % 1000);
    if (i > 0) builder.add_edge(static_cast<goal::OpIndex>(i - 1), static_cast<goal::OpIndex>(i));
  }
  builder.end_rank();
  std::string bytes = goal::to_pack(builder.finish(), {});
  const goal::PackedProgram whole(bytes, "packed");
  CHECK(StreamedRun(whole, {}).replay.complete());
  const goal::PackedProgram packed(bytes, "packed");
  bytes[bytes.size() / 2] ^= 1;
  CHECK_THROWS_AS(StreamedRun(packed, {}), InputError);
}
