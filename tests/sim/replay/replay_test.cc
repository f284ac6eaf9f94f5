// The rules of replay, on the LogGOPS network with L=1000 o=100 g=10 G=2 (ns), and on one that reorders.
#include "sim/replay/replay.h"

#include <fmt/core.h>

#include <catch2/catch.hpp>

#include "sim/units/input_error.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::sim;

TEST_CASE("operations of one cpu follow each other, those of two overlap") {
  CHECK(LogGopsRun("num_ranks 1\nrank 0 {\ncalc 100\ncalc 200\n}\n", {}).finish() == Times{300});
  CHECK(LogGopsRun("num_ranks 1\nrank 0 {\ncalc 100\ncalc 200 cpu 1\n}\n", {}).finish() == Times{200});
}

TEST_CASE("a dependency on another cpu passes the finish time on") {
  CHECK(LogGopsRun("num_ranks 1\nrank 0 {\na: calc 100\nb: calc 50 cpu 1\nb requires a\n}\n", {}).finish() ==
        Times{150});
}

TEST_CASE("irequires waits for the start, requires for the end") {
  // b may start when a starts: cpu 1 from 0 on. With requires: from 100 on.
  CHECK(
      LogGopsRun("num_ranks 1\nrank 0 {\na: calc 100\nb: calc 500 cpu 1\nb irequires a\n}\n", {}).finish() ==
      Times{500});
  // The start of an operation that waits for its cpu is when the cpu takes it up: a starts at 70.
  CHECK(
      LogGopsRun("num_ranks 1\nrank 0 {\nz: calc 70\na: calc 100\nb: calc 500 cpu 1\nb irequires a\n}\n", {})
          .finish() == Times{570});
  // Both kinds on one operation: the later counts.
  CHECK(LogGopsRun("num_ranks 1\nrank 0 {\nx: calc 10\nw: calc 9000\nq: calc 3 cpu 1\nq requires w\nq "
                   "irequires x\n}\n",
                   {})
            .finish() == Times{9013});
}

TEST_CASE("a receive is started when it is posted") {
  // The calc on cpu 1 runs from 0 on although the message comes much later.
  const std::string text =
      "num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: calc 50 cpu 1\nb irequires a\n}\nrank 1 {\nsend 8b to "
      "0\n}\n";
  CHECK(LogGopsRun(text, {}).finish()[0] == 100 + 1000 + 14 + 100);
}

TEST_CASE("wildcard receives take messages in order of arrival") {
  // Rank 2's message leaves 10,000 later than rank 1's. Both receives take any source and any tag.
  const std::string text =
      "num_ranks 3\nrank 0 {\na: recv 8b from -1 tag -1\nb: calc 1000000\nb requires a\nc: recv 8b from -1 "
      "tag -1\n"
      "c requires b\n}\nrank 1 {\nsend 8b to 0 tag 5\n}\nrank 2 {\na: calc 10000\nb: send 8b to 0 tag 6\nb "
      "requires a\n}\n";
  const LogGopsRun run(text, {});
  CHECK(run.replay.complete());
  CHECK(run.finish() == Times{1214 + 1000000 + 100, 100, 10100});
}

TEST_CASE("ring allreduce and recursive doubling really depend on the algorithm chosen") {
  std::string text = "num_ranks 8\n";
  for (int r = 0; r < 8; ++r) text += fmt::format("rank {} {{\nallreduce 8192b\n}}\n", r);
  const LogGopsRun ring(text, {.allreduce = "ring"}), doubling(text, {.allreduce = "recursive_doubling"});
  CHECK(ring.replay.totals().messages == 2 * 7 * 8);
  CHECK(doubling.replay.totals().messages == 3 * 8);
}

TEST_CASE("collectives on sub-communicators and several at once stay apart") {
  const std::string text =
      "num_ranks 4\ncomm 1 \"even\" { 0 2 }\ncomm 2 \"odd\" { 3 1 }\n"
      "rank 0 {\na: barrier comm 1\nb: bcast 64b root 0\nb requires a\n}\n"
      "rank 1 {\na: barrier comm 2\nb: bcast 64b root 0\n}\n"
      "rank 2 {\na: barrier comm 1\nb: bcast 64b root 0\nb requires a\n}\n"
      "rank 3 {\na: barrier comm 2\nb: bcast 64b root 0\nb requires a\n}\n";
  const LogGopsRun run(text, {});
  CHECK(run.replay.complete());
  CHECK(run.replay.totals().messages == 2 + 2 + 3);
}

TEST_CASE("a rank's cpu time adds up: compute + overhead + waiting = finish") {
  const std::string text =
      "num_ranks 2\nrank 0 {\na: calc 500\nb: send 100b to 1\nb requires a\n}\nrank 1 {\nrecv 100b from "
      "0\n}\n";
  for (const results::Rank& rank : LogGopsRun(text, {}).replay.ranks()) {
    CHECK(rank.compute + rank.overhead + rank.waiting == rank.finish);
  }
  const auto ranks = LogGopsRun(text, {}).replay.ranks();
  CHECK(ranks[0].compute == Time::ns(500));
  CHECK(ranks[0].waiting == Time());
  CHECK(ranks[1].waiting == Time::ns(500 + 100 + 1000 + 198));
}

TEST_CASE("the same run has the same digest, another run another") {
  const std::string text = "num_ranks 2\nrank 0 {\nsend 100b to 1\n}\nrank 1 {\nrecv 100b from 0\n}\n";
  const std::uint64_t digest = LogGopsRun(text, {}).replay.digest();
  CHECK(LogGopsRun(text, {}).replay.digest() == digest);
  CHECK(LogGopsRun(text, {.L = 1001}).replay.digest() != digest);
}

TEST_CASE("a message sent with any tag fits every receive from its sender") {
  // The oldest of both kinds is taken: the any-tag message first, then the one with tag 5.
  const std::string text =
      "num_ranks 2\nrank 0 {\na: send 11b to 1 tag -1\nb: send 21b to 1 tag 5\nb requires a\n}\n"
      "rank 1 {\nz: calc 100000\na: recv 1b from 0 tag 5\na requires z\nb: calc 7 cpu 1\nb requires a\n"
      "c: recv 1b from 0 tag 5\nc requires b\n}\n";
  const LogGopsRun run(text, {.O = 1});
  CHECK(run.replay.complete());
  CHECK(run.finish()[1] == 100000 + 110 + 7 + 120);
}

TEST_CASE("messages through different NICs keep MPI's order") {
  // The second message is there long before the first, which its NIC sends for 2,000 ns: it waits. First
  // message: 100 + 1000 + 1998 + 100; the calc; then the second.
  const std::string text =
      "num_ranks 2\nrank 0 {\na: send 1000b to 1 nic 0\nb: send 0b to 1 nic 1\nb requires a\n}\n"
      "rank 1 {\na: recv 1000b from 0\nb: calc 5000\nb requires a\nc: recv 0b from 0\nc requires b\n}\n";
  CHECK(LogGopsRun(text, {}).finish()[1] == 3198 + 5000 + 100);
}

TEST_CASE("sparse cpu numbers cost nothing and count as the cpus they are") {
  const LogGopsRun run("num_ranks 1\nrank 0 {\ncalc 100\ncalc 300 cpu 65535\ncalc 50 cpu 65535\n}\n", {});
  const results::Rank rank = run.replay.ranks()[0];
  CHECK(rank.finish == Time::ns(350));
  CHECK(rank.compute == Time::ns(450));
  CHECK(rank.waiting == Time::ns(2 * 350 - 450));
}

TEST_CASE("ranks without operations, one rank alone, and no rank at all") {
  CHECK(LogGopsRun("num_ranks 3\nrank 0 {\n}\nrank 1 {\ncalc 5\n}\nrank 2 {\n}\n", {}).finish() ==
        Times{0, 5, 0});
  std::string alone = "num_ranks 1\nrank 0 {\na: calc 5\n";
  for (int kind = 0; kind <= static_cast<int>(goal::CollectiveKind::kExscan); ++kind) {
    const auto which = static_cast<goal::CollectiveKind>(kind);
    alone += fmt::format("c{}: {}{}\nc{} requires a\n", kind, goal::name(which),
                         which == goal::CollectiveKind::kBarrier ? "" : " 800b", kind);
  }
  const LogGopsRun one(alone + "}\n", {});
  CHECK(one.replay.complete());
  CHECK(one.finish() == Times{5});
  CHECK(one.replay.totals().messages == 0);
  const LogGopsRun none(goal::GraphBuilder().finish(), {});
  CHECK(none.replay.complete());
  CHECK(none.replay.totals().makespan == Time());
}

TEST_CASE("ranks of one host share its NIC") {
  // Two messages of 1,000 B leave the host one after another: 1,998 + g = 10 later.
  const goal::Graph graph = goal::parse_text(
      "num_ranks 4\nrank 0 {\nsend 1000b to 2\n}\nrank 1 {\nsend 1000b to 3\n}\n"
      "rank 2 {\nrecv 1000b from 0\n}\nrank 3 {\nrecv 1000b from 1\n}\n",
      "test.goal");
  HostConfig hosts = LogGopsRun::hosts({});
  hosts.ranks_per_host = 2;
  Engine engine(1);
  Replay replay(graph, hosts, engine);
  CHECK(hosts_needed(graph, hosts) == 2);
  LogGopsNetwork network({Time::ns(1000), Time::ns(10), TimePerByte::ns(2)}, 2, 1, FlowRecord::kNothing,
                         engine, replay.client());
  NeverStop control;
  replay.start(network.part());
  network.run(control);
  CHECK(replay.ranks()[2].finish == Time::ns(100 + 1000 + 1998 + 100));
  CHECK(replay.ranks()[3].finish == Time::ns(100 + 1000 + 1998 + 2008 + 100));
}

TEST_CASE("what an irequires on a collective waits for is its call") {
  // Rank 1 comes 9,000 later; the calc on cpu 1 does not wait for it.
  const std::string text =
      "num_ranks 2\nrank 0 {\na: barrier\nb: calc 50 cpu 1\nb irequires a\nc: calc 20000 cpu 1\nc requires "
      "a\n"
      "}\nrank 1 {\na: calc 9000\nb: barrier\nb requires a\n}\n";
  const LogGopsRun run(text, {});
  CHECK(run.finish()[0] == 9000 + 1200 + 20000);
  CHECK(run.replay.ranks()[0].compute == Time::ns(20050));
}

// ---- Numbers past all limits ----

TEST_CASE("times and sizes that no clock or counter can hold are refused") {
  const std::string head = "num_ranks 2\nrank 0 {\n", tail = "}\nrank 1 {\n}\n";
  const auto run = [&](const std::string& body, const LogGops& p) { LogGopsRun(head + body + tail, p); };
  // 2^62 ps is 4,611,686,018,427,387.904 ns.
  CHECK_NOTHROW(run("calc 4611686018427387\n", {}));
  CHECK_THROWS_AS(run("calc 4611686018427388\n", {}), InputError);
  CHECK_THROWS_AS(run("calc 18446744073709551615\n", {}), InputError);
  CHECK_THROWS_AS(run("calc 4000000000000000\ncalc 4000000000000000\n", {}), InputError);
  // Each cpu alone is within the limit, their sum is not.
  CHECK_THROWS_AS(run("calc 4000000000000000\ncalc 4000000000000000 cpu 1\n", {}), InputError);
  CHECK_THROWS_AS(run("send 18446744073709551615b to 1\n", {.S = UINT64_MAX}), InputError);
  CHECK_THROWS_AS(run("send 18446744073709551615b to 1\n", {.G = 0, .O = 3, .S = UINT64_MAX}), InputError);
  CHECK_THROWS_AS(
      run("calc 4611686018427000\ncalc 1 cpu 1\na: send 1b to 1 cpu 1\n", {.L = 4611686018427388}),
      InputError);
  CHECK_NOTHROW(run("send 18446744073709551615b to 1\n", {.G = 0, .S = UINT64_MAX}));
  CHECK_THROWS_AS(run("send 18446744073709551615b to 1\nsend 1b to 1\n", {.G = 0, .S = UINT64_MAX}),
                  InputError);
}

TEST_CASE("a collective of a rank that is no member is refused") {
  const std::string text =
      "num_ranks 3\ncomm 1 \"pair\" { 0 1 }\nrank 0 {\nbarrier comm 1\n}\nrank 1 {\nbarrier comm 1\n}\n"
      "rank 2 {\nbarrier comm 1\n}\n";
  try {
    LogGopsRun(text, {});
    FAIL("not refused");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()) ==
          "rank 2, operation 0 calls a collective on communicator 1 (pair), of which it is no member");
  }
}

// ---- Runs that stop short ----

TEST_CASE("a run stopped half way reports work that was done, and no negative waiting") {
  // 100,000 independent calcs of 10 ns and as many messages: the first poll stops it.
  struct StopAtOnce : RunControl {
    StopReason poll(Time, std::uint64_t) override { return StopReason::kEventLimit; }
  };
  std::string text = "num_ranks 2\nrank 0 {\n";
  for (int i = 0; i < 100'000; ++i) text += "calc 10\nsend 8b to 1 cpu 1\n";
  text += "}\nrank 1 {\n}\n";
  const goal::Graph graph = goal::parse_text(text, "test.goal");
  Engine engine(1);
  Replay replay(graph, LogGopsRun::hosts({}), engine);
  LogGopsNetwork network({Time::ns(1000), Time::ns(10), TimePerByte::ns(2)}, 2, 1, FlowRecord::kNothing,
                         engine, replay.client());
  StopAtOnce control;
  replay.start(network.part());
  CHECK(network.run(control) == StopReason::kEventLimit);
  const results::Rank rank = replay.ranks()[0];
  CHECK(rank.ops > 0);
  CHECK(rank.ops < 200'000);
  CHECK(rank.messages_sent == replay.totals().messages);
  CHECK(rank.compute <= rank.finish);
  CHECK(rank.overhead == Time::ns(100) * static_cast<std::int64_t>(rank.messages_sent));
  CHECK(rank.compute + rank.overhead + rank.waiting == rank.finish * 2);
}

TEST_CASE("waiting is never negative where work was done after the last operation that finished") {
  // Both calls take 100 ns of cpu time, but no operation ever finishes.
  const LogGopsRun run("num_ranks 2\nrank 0 {\nsend 9b to 1\n}\nrank 1 {\n}\n", {.S = 8});
  CHECK_FALSE(run.replay.complete());
  CHECK(run.replay.ranks()[0].overhead == Time::ns(100));
  CHECK(run.replay.ranks()[0].waiting == Time());
}

// ---- What a replay says when it can't go on ----

TEST_CASE("a receive without a message names rank, peer, tag and the near miss") {
  const LogGopsRun run(
      "num_ranks 2\nrank 0 {\ns: send 8b to 1 tag 4\n}\nrank 1 {\nwait: recv 8b from 0 tag 3\n}\n", {});
  CHECK_FALSE(run.replay.complete());
  const auto lines = run.replay.diagnose();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] ==
        "rank 1 waits to receive 8 bytes from rank 0, tag 3 [operation 0 (wait)]; that rank has finished; "
        "nearly "
        "fits: a message from rank 0, tag 4 (right peer, other tag)");
  CHECK(lines[1] == "no receive took a message from rank 0 to rank 1, tag 4");
}

TEST_CASE("head-to-head rendezvous is a deadlock, with both sides named") {
  const std::string text =
      "num_ranks 2\nrank 0 {\na: send 8b to 1\nb: recv 8b from 1\nb requires a\n}\n"
      "rank 1 {\na: send 8b to 0\nb: recv 8b from 0\nb requires a\n}\n";
  CHECK(LogGopsRun(text, {}).replay.complete());  // eager: no deadlock
  const LogGopsRun run(text, {.S = 0});
  CHECK_FALSE(run.replay.complete());
  const auto lines = run.replay.diagnose();
  CHECK(lines.at(0).find("rank 0 waits to send 8 bytes to rank 1, tag 0: above the eager limit") == 0);
  CHECK(lines.at(1).find("rank 1 waits to send 8 bytes to rank 0, tag 0: above the eager limit") == 0);
}

TEST_CASE("a collective that a member never calls is named with its group") {
  const LogGopsRun run("num_ranks 2\nrank 0 {\nbarrier\n}\nrank 1 {\ncalc 5\n}\n", {});
  CHECK_FALSE(run.replay.complete());
  CHECK(run.replay.diagnose().at(0).find("barrier number 0 of communicator 0, group 0") != std::string::npos);
}

TEST_CASE("members that call different collectives are told, whether the replay ends or not") {
  const auto two = [](const std::string& a, const std::string& b) {
    return "num_ranks 2\nrank 0 {\nbarrier\n" + a + "\n}\nrank 1 {\nbarrier\n" + b + "\n}\n";
  };
  const auto differ = [&](const std::string& a, const std::string& b) {
    const LogGopsRun run(two(a, b), {});
    CHECK(run.replay.complete());
    return run.replay.totals().collectives_differ;
  };
  CHECK_FALSE(differ("bcast 8b", "bcast 8b"));
  CHECK_FALSE(differ("gather [4 8]b root 0 v", "gather 8b root 0 v"));
  CHECK_FALSE(differ("alltoall [1 2]b receives [1 3]b", "alltoall [3 4]b receives [2 4]b"));
  CHECK(differ("allreduce 8b", "allreduce 16b"));
  CHECK(differ("reduce 8b root 1", "bcast 8b"));
  // Equal calls in another order.
  CHECK(differ("a: allreduce 8b\nb: allreduce 16b\nb requires a",
               "a: allreduce 16b\nb: allreduce 8b\nb requires a"));
  const LogGopsRun stuck(two("bcast 8b root 1", "bcast 8b root 0"), {});
  CHECK_FALSE(stuck.replay.complete());
  CHECK(stuck.replay.diagnose().at(0) ==
        "operation 1 of rank 1 (bcast 8b root 0) and operation 1 of rank 0 (bcast 8b root 1) are the same "
        "collective (number 1 on communicator 0 'world'), but differ in root");
}

TEST_CASE("a collective's wait names its communicator, and no user message as a near miss") {
  // Rank 1 sends a message whose tag is the number of the barrier, and never calls the barrier.
  const LogGopsRun run(
      "num_ranks 2\ncomm 1 { 1 0 }\nrank 0 {\nbarrier comm 1\n}\nrank 1 {\nsend 8b to 0 tag 0\n}\n", {});
  const auto lines = run.replay.diagnose();
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] ==
        "rank 0 waits to receive 0 bytes from rank 1 [operation 0, barrier number 0 of communicator 1, group "
        "0]; "
        "that rank has finished");
  CHECK(lines[1] == "no receive took a message from rank 1 to rank 0, tag 0");
  CHECK(lines[2] == "no receive took a message from rank 0 to rank 1, collective 0 of communicator 1, tag 0");
}

TEST_CASE("operations that wait in a circle are named") {
  const LogGopsRun run(
      "num_ranks 2\nrank 0 {\nx: calc 1\na: calc 5\nb: calc 6\nb requires a\na requires b\n}\nrank 1 {\ncalc "
      "5\n}\n",
      {});
  CHECK_FALSE(run.replay.complete());
  CHECK(run.replay.diagnose() ==
        std::vector<std::string>{
            "rank 0: 2 operations can never start, their dependencies form a cycle (first: "
            "operation 1 (a))"});
}

TEST_CASE("a wildcard receive that waits is described as such") {
  const LogGopsRun run("num_ranks 1\nrank 0 {\nrecv 8b from -1 tag -1\n}\n", {});
  CHECK(run.replay.diagnose() ==
        std::vector<std::string>{"rank 0 waits to receive 8 bytes from rank any, tag any [operation 0]"});
}

TEST_CASE("many waiting ranks are counted, not listed") {
  std::string text = "num_ranks 40\n";
  for (int r = 0; r < 40; ++r) text += fmt::format("rank {} {{\nrecv 8b from {}\n}}\n", r, (r + 1) % 40);
  const LogGopsRun run(text, {});
  const auto lines = run.replay.diagnose(10);
  CHECK(lines.size() == 11);
  CHECK(lines.back() == "… and 30 more ranks wait");
}

// ---- Order on a network that reorders ----

namespace {

// Delivers the k-th message injected after a delay that shrinks, so that later ones overtake.
class Reordering : public Network {
 public:
  Reordering(Engine& engine, NetworkClient& client)
      : engine_(engine), client_(client), entity_(engine.add_entities(1)) {}
  void inject(const Message& message) override {
    const auto handle = static_cast<std::uint32_t>(messages_.size());
    messages_.push_back(message);
    engine_.schedule(engine_.now() + Time::ns(1'000'000 - 10'000 * handle), entity_, 0, handle);
  }
  bool delivers_in_order() const override { return false; }
  StopReason run(RunControl& control) {
    return engine_.run(control, [this](const Event& event) {
      if (event.kind >= kClientKinds) return client_.on_event(event);
      const Message message = messages_[event.payload];
      client_.on_delivered(message);
    });
  }

 private:
  Engine& engine_;
  NetworkClient& client_;
  EntityId entity_;
  std::vector<Message> messages_;
};

// Bytes sent are 1, 2, 3 …; the cpu overhead per byte shows in which order they were received.
std::vector<std::int64_t> receive_order(const std::string& sends, const std::string& receives) {
  const goal::Graph graph =
      goal::parse_text("num_ranks 2\nrank 0 {\n" + sends + "}\nrank 1 {\n" + receives + "}\n", "test.goal");
  Engine engine(1);
  HostConfig hosts;
  hosts.eager_limit_bytes = 1000;
  Replay replay(graph, hosts, engine);
  Reordering network(engine, replay.client());
  NeverStop control;
  replay.start(network);
  network.run(control);
  REQUIRE(replay.complete());
  return {replay.ranks()[1].finish.ps() / 1000};
}

}  // namespace

TEST_CASE("messages that could match the same receive never overtake each other") {
  // Message 0 (to be matched first) arrives at 1,000,000, message 1 at 990,000. The first receive must get
  // message 0; a calc of 5,000,000 then delays the second receive, so the end tells the order only if both
  // match.
  const std::string sends = "a: send 1b to 1 tag 7\nb: send 1b to 1 tag 7\nb requires a\n";
  const std::string one =
      "a: recv 1b from 0 tag 7\nb: calc 5000000\nb requires a\nc: recv 1b from 0 tag 7\nc requires b\n";
  CHECK(receive_order(sends, one) == std::vector<std::int64_t>{6'000'000});
  const std::string any =
      "a: recv 1b from 0 tag -1\nb: calc 5000000\nb requires a\nc: recv 1b from 0 tag -1\nc requires b\n";
  CHECK(receive_order("a: send 1b to 1 tag 7\nb: send 1b to 1 tag 8\nb requires a\n", any) ==
        std::vector<std::int64_t>{6'000'000});
}

TEST_CASE("messages with different tags do not overtake each other either") {
  const std::string sends = "a: send 1b to 1 tag 7\nb: send 1b to 1 tag 8\nb requires a\n";
  // The message with tag 8 is there at 990,000, but its turn comes when that with tag 7 is there too.
  const std::string receives =
      "a: recv 1b from 0 tag 8\nb: calc 5000000\nb requires a\nc: recv 1b from 0 tag 7\nc requires b\n";
  CHECK(receive_order(sends, receives) == std::vector<std::int64_t>{6'000'000});
}
