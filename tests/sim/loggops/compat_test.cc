// Small schedules whose finish times follow from each program's rules by hand.
// Defaults: L=2500 o=1500 g=1000 G=6 O=0; a message of s bytes has (s-1)·G = 54 ns at 10 B, 5994 ns at 1000
// B.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "goal/text/text.h"
#include "sim/loggops/atlahs.h"
#include "sim/loggops/classic.h"
#include "sim/units/input_error.h"

namespace weft::sim {
namespace {

using Finish = std::vector<std::uint64_t>;

class StopAfter : public RunControl {
 public:
  explicit StopAfter(std::uint64_t polls) : polls_(polls) {}
  StopReason poll(Time, std::uint64_t) override {
    return polls_-- == 0 ? StopReason::kInterrupt : StopReason::kNone;
  }

 private:
  std::uint64_t polls_;
};

CompatResult classic(const goal::Graph& graph, const CompatParameters& parameters = {}) {
  StopAfter never(~std::uint64_t{0});
  return run_classic(graph, parameters, never);
}
CompatResult atlahs(const goal::Graph& graph, const CompatParameters& parameters = {}) {
  StopAfter never(~std::uint64_t{0});
  return run_atlahs(graph, parameters, never);
}
goal::Graph parse(const std::string& text) { return goal::parse_text(text, "test.goal"); }

// In round k, rank r sends a byte to r + 2^k and receives one from r - 2^k; then comes the next round.
goal::Graph dissemination(std::uint32_t ranks) {
  goal::GraphBuilder builder;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::uint32_t step = 1, last = 0; step < ranks; step *= 2) {
      const goal::OpIndex send = builder.add_send(1, (r + step) % ranks);
      const goal::OpIndex recv = builder.add_recv(1, (r + ranks - step) % ranks);
      if (step > 1) {
        builder.add_edge(last, send);
        builder.add_edge(last, recv);
      }
      last = recv;
    }
    builder.end_rank();
  }
  return builder.finish();
}

TEST_CASE("Dissemination of one byte: four rounds on 16 ranks") {
  const goal::Graph graph = dissemination(16);
  // A round: o + L + o = 5500.
  CHECK(classic(graph).finish_ns == Finish(16, 22000));
  // The receiver pays g too: o + L + g + o = 6500.
  CHECK(atlahs(graph).finish_ns == Finish(16, 26000));
}

TEST_CASE("Ping-pong of 10 bytes between calcs") {
  const goal::Graph graph = parse(
      "num_ranks 2\nrank 0 {\na: calc 100\nb: send 10b to 1\nc: recv 10b from 1\nd: calc 7\n"
      "b requires a\nc requires b\nd requires c\n}\n"
      "rank 1 {\na: recv 10b from 0\nb: calc 50\nc: send 10b to 0\nb requires a\nc requires b\n}\n");
  // Out: 100 + o + L = 4100, received at + o + 54 = 5654, calc to 5704, sent by + o = 7204.
  // Back: 5704 + o + L = 9704, received at 11258, calc to 11265.
  CHECK(classic(graph).finish_ns == Finish{11265, 7204});
  // Out: 100 + o + L + 54 = 4154, received at + g + o = 6654, calc to 6704, sent by 8204.
  // Back: 6704 + o + L + 54 = 10758, received at 13258, calc to 13265.
  CHECK(atlahs(graph).finish_ns == Finish{13265, 8204});
}

TEST_CASE("Rendezvous of 100 kB with a receiver that computes for 1 ms") {
  const goal::Graph graph = parse(
      "num_ranks 2\nrank 0 {\na: send 100000b to 1\nb: calc 11\nb requires a\n}\n"
      "rank 1 {\na: calc 1000000\nb: recv 100000b from 0\nb requires a\n}\n");
  // The message is charged when the cpu is free, at 1 ms: o + 99999·6 = 601494 more. The receive, posted at
  // 1 ms, finds it and lets the sender go at once, for 11 ns.
  const CompatResult old = classic(graph);
  CHECK(old.finish_ns == Finish{1000011, 1601494});
  // The receive pays g + o at 1 ms, and then the sender may go.
  CHECK(atlahs(graph).finish_ns == Finish{1002511, 1002500});
}

TEST_CASE("Three senders of 1000 bytes to one receiver") {
  const goal::Graph graph = parse(
      "num_ranks 4\nrank 0 {\nrecv 1000b from 1\nrecv 1000b from 2\nrecv 1000b from 3\n}\n"
      "rank 1 {\nsend 1000b to 0\n}\nrank 2 {\nsend 1000b to 0\n}\nrank 3 {\nsend 1000b to 0\n}\n");
  // All arrive at o + L = 4000; each keeps the cpu for o + 5994 = 7494.
  CHECK(classic(graph).finish_ns == Finish{4000 + 3 * 7494, 1500, 1500, 1500});
  // All arrive at 4000 + 5994; the receiver charges no bytes, only g + o = 2500 each.
  CHECK(atlahs(graph).finish_ns == Finish{9994 + 3 * 2500, 1500, 1500, 1500});
}

TEST_CASE("Two cpus share a receiver's NIC") {
  const goal::Graph graph = parse(
      "num_ranks 3\nrank 0 {\nrecv 1000b from 1 cpu 0\nrecv 1000b from 2 cpu 1\n}\n"
      "rank 1 {\nsend 1000b to 0 cpu 0\n}\nrank 2 {\nsend 1000b to 0 cpu 1\n}\n");
  // The NIC is busy until 4000 + g + 5994 = 10994; the second message ends o + 5994 after that.
  CHECK(classic(graph).finish_ns[0] == 10994 + 7494);
  // NIC until 9994 + g = 10994; the second message ends g + o after that.
  CHECK(atlahs(graph).finish_ns[0] == 10994 + 2500);
}

TEST_CASE("classic charges a message to the sender's cpu number, atlahs to the receive's") {
  const goal::Graph graph = parse(
      "num_ranks 3\nrank 0 {\nrecv 1000b from 1 cpu 0\nrecv 1000b from 2 cpu 1\n}\n"
      "rank 1 {\nsend 1000b to 0\n}\nrank 2 {\nsend 1000b to 0\n}\n");
  // Both on cpu 0 of rank 0: one after the other, 7494 each.
  CHECK(classic(graph).finish_ns[0] == 4000 + 2 * 7494);
  // As if the senders used cpus 0 and 1.
  CHECK(atlahs(graph).finish_ns[0] == 10994 + 2500);
}

TEST_CASE("Wildcards match in classic only; atlahs is left waiting and says so") {
  const goal::Graph graph = parse(
      "num_ranks 2\nrank 0 {\na: calc 5\nb: send 10b to 1 tag 3\nb requires a\n}\n"
      "rank 1 {\nrecv 10b from -1 tag -1\n}\n");
  // 5 + o + L + o + 54.
  const CompatResult old = classic(graph);
  CHECK(old.finish_ns == Finish{1505, 5559});
  CHECK(old.complete());
  CHECK(old.diagnosis.empty());

  const CompatResult stuck = atlahs(graph);
  CHECK(stuck.finish_ns == Finish{1505, 0});
  CHECK(!stuck.complete());
  CHECK(stuck.executed_ops == 2);
  CHECK(stuck.unreceived == 1);
  REQUIRE(stuck.diagnosis.size() == 2);
  CHECK(stuck.diagnosis[0].find("rank 1 waits in operation 0") == 0);
  CHECK(stuck.diagnosis[0].find("there is an unmatched \"send 10b to 1 tag 3\" of rank 0") !=
        std::string::npos);
}

TEST_CASE("classic takes the oldest message that fits, wildcards on either side") {
  // Tags 1 and 2 arrive in this order; "any" takes tag 1, so the receive of tag 1 is served by the third
  // message, sent with any tag, and all complete.
  const CompatResult result = classic(
      parse("num_ranks 2\nrank 0 {\na: send 1b to 1 tag 1\nb: send 1b to 1 tag 2\nc: send 1b to 1 tag -1\n"
            "b requires a\nc requires b\n}\n"
            "rank 1 {\nrecv 1b from 0 tag -1\nrecv 1b from -1 tag 2\nrecv 1b from 0 tag 1\n}\n"));
  CHECK(result.complete());
  CHECK(result.finish_ns == Finish{4500, 8500});  // arrivals at 4000, 5500, 7000; o each
}

TEST_CASE("Equal times: atlahs pops its binary heap; classic does not carry time between cpus") {
  // Roots of rank 0, pushed at 0: a receive, calc 100, calc 40. The heap gives the receive, calc 40, calc
  // 100, so the send behind calc 40 starts on its own cpu at 40 and not at 140.
  const goal::Graph graph = parse(
      "num_ranks 2\nrank 0 {\nr: recv 1b from 1\na: calc 100\nb: calc 40\ns: send 1b to 1 cpu 1\n"
      "s requires b\n}\n"
      "rank 1 {\nr: recv 1b from 0\ns: send 1b to 0\ns requires r\n}\n");
  // To rank 1: 40 + o + L + g + o = 6540; its send keeps it until 8040; back: 6540 + 6500.
  CHECK(atlahs(graph).finish_ns == Finish{13040, 8040});
  // classic: no cpu learns what time it is on another. The send starts at 0; it is charged to cpu 1 of rank
  // 1, from 4000 to 5500; the reply on cpu 0 starts at 0 too, before its cause, and is received by 5500.
  CHECK(classic(graph).finish_ns == Finish{5500, 5500});
}

TEST_CASE("atlahs forgets earlier ends when an irequires dependency is met last") {
  // q should start at 9000, on cpu 1; it starts when cpu 1 is free, at 5.
  const CompatResult result =
      atlahs(parse("num_ranks 1\nrank 0 {\nw: calc 9000 cpu 0\nx: calc 5 cpu 1\nq: calc 3 cpu 1\n"
                   "q requires w\nq irequires x\n}\n"));
  CHECK(result.finish_ns == Finish{9000});
  CHECK(result.executed_ops == 3);
}

TEST_CASE("Messages without bytes: classic subtracts a byte, atlahs sends one") {
  const goal::Graph graph = parse("num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}\n");
  CHECK(classic(graph).finish_ns == Finish{1500, 2 * 1500 + 2500 - 6});
  CHECK(atlahs(graph).finish_ns == Finish{1500, 2 * 1500 + 2500 + 1000});
}

TEST_CASE("G is cut off to whole nanoseconds per message in atlahs, refused in classic") {
  const goal::Graph graph =
      parse("num_ranks 2\nrank 0 {\nsend 100b to 1\n}\nrank 1 {\nrecv 100b from 0\n}\n");
  CompatParameters parameters;
  parameters.G = 0.04;  // 99 bytes: 3.96 ns
  CHECK(atlahs(graph, parameters).finish_ns[1] == 2 * 1500 + 2500 + 1000 + 3);
  CHECK_THROWS_AS(classic(graph, parameters), InputError);
}

TEST_CASE("A larger, rendezvous receive of an eager send") {
  CompatParameters parameters;
  parameters.S = 1000;
  const std::string receive = "rank 1 {\nc: calc 50000\nr: recv 2000b from 0\nr requires c\n}\n";
  // Nothing requires the send: its second end is harmless. classic holds the sender's cpu back to 50000.
  const goal::Graph alone = parse("num_ranks 2\nrank 0 {\ns: send 1b to 1\n}\n" + receive);
  const CompatResult result = classic(alone, parameters);
  CHECK(result.complete());
  CHECK(result.finish_ns == Finish{50000, 51500});
  // The calc behind it would run twice.
  const goal::Graph behind =
      parse("num_ranks 2\nrank 0 {\ns: send 1b to 1\nd: calc 1\nd requires s\n}\n" + receive);
  CHECK_THROWS_AS(classic(behind, parameters), InputError);
  CHECK_THROWS_AS(atlahs(behind, parameters), InputError);
}

TEST_CASE("What the programs cannot express is refused") {
  goal::GraphBuilder builder;
  builder.add_collective(goal::Collective{});
  builder.end_rank();
  const goal::Graph collective = builder.finish();
  CHECK_THROWS_WITH(classic(collective), Catch::Contains("knows no collectives"));
  CHECK_THROWS_WITH(atlahs(collective), Catch::Contains("knows no collectives"));

  goal::GraphBuilder cpus;
  cpus.add_calc(1, 255);
  cpus.end_rank();
  CHECK_THROWS_WITH(atlahs(cpus.finish()), Catch::Contains("cpu 255"));

  CompatParameters parameters;
  parameters.L = -1;
  CHECK_THROWS_WITH(classic(dissemination(2), parameters), Catch::Contains("L is -1"));
}

TEST_CASE("Dependencies that form a cycle are reported") {
  goal::GraphBuilder builder;
  const goal::OpIndex first = builder.add_calc(1);
  const goal::OpIndex second = builder.add_calc(1);
  builder.add_edge(first, second);
  builder.add_edge(second, first);
  builder.end_rank();
  const goal::Graph graph = builder.finish();
  for (const CompatResult& result : {classic(graph), atlahs(graph)}) {
    CHECK(result.executed_ops == 0);
    REQUIRE(result.diagnosis.size() == 1);
    CHECK(result.diagnosis[0].find("rank 0: 2 operations can never start") == 0);
  }
}

TEST_CASE("Per-rank accounts and flows add up") {
  StopAfter never(~std::uint64_t{0});
  const goal::Graph graph = parse(
      "num_ranks 2\nrank 0 {\na: calc 100\nb: send 10b to 1\nb requires a\n}\nrank 1 {\nrecv 10b from "
      "0\n}\n");
  const CompatResult result = run_classic(graph, {}, never, true);
  REQUIRE(result.ranks.size() == 2);
  CHECK(result.ranks[0].compute == Time::ns(100));
  CHECK(result.ranks[0].overhead == Time::ns(1500));
  CHECK(result.ranks[0].waiting == Time());
  CHECK(result.ranks[1].overhead == Time::ns(1554));
  CHECK(result.ranks[1].waiting == Time::ns(4100));
  CHECK(result.ranks[1].bytes_received == 10);
  REQUIRE(result.flows.size() == 1);
  CHECK(result.flows[0].start == Time::ns(100));
  CHECK(result.flows[0].finish == Time::ns(4100));
  CHECK(result.flows[0].destination == 1);
  CHECK(result.messages == 1);
}

TEST_CASE("A run can be stopped, and repeats bit for bit") {
  goal::GraphBuilder builder;
  const std::uint32_t ops = 200'000;
  for (std::uint32_t i = 0; i < ops; ++i) {
    const goal::OpIndex op = builder.add_calc(1);
    if (i > 0) builder.add_edge(op - 1, op);
  }
  builder.end_rank();
  const goal::Graph graph = builder.finish();
  StopAfter second_poll(1);
  const CompatResult stopped = run_atlahs(graph, {}, second_poll);
  CHECK(stopped.stop == StopReason::kInterrupt);
  CHECK(stopped.executed_ops == 2 * RunControl::kPollInterval);
  CHECK(stopped.diagnosis.empty());

  const CompatResult once = atlahs(graph), again = atlahs(graph);
  CHECK(once.finish_ns == Finish{ops});
  CHECK(once.digest == again.digest);
  CHECK(once.digest != stopped.digest);
}

}  // namespace
}  // namespace weft::sim
