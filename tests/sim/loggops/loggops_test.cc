// The `weft` semantics against closed forms of the LogGOPS model. Defaults: L=1000 o=100 g=10 G=2 O=0 (ns).
#include <fmt/core.h>

#include <catch2/catch.hpp>

#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::sim;

namespace {

std::string one_message(std::uint64_t bytes) {
  return fmt::format("num_ranks 2\nrank 0 {{\nsend {}b to 1\n}}\nrank 1 {{\nrecv {}b from 0\n}}\n", bytes,
                     bytes);
}

// Rank r sends to r+1, r+2, … and receives from r-1, r-2, …, all independent.
std::string linear_alltoall(int ranks, std::uint64_t bytes) {
  std::string text = fmt::format("num_ranks {}\n", ranks);
  for (int r = 0; r < ranks; ++r) {
    text += fmt::format("rank {} {{\n", r);
    for (int i = 1; i < ranks; ++i) text += fmt::format("recv {}b from {}\n", bytes, (r + ranks - i) % ranks);
    for (int i = 1; i < ranks; ++i) text += fmt::format("send {}b to {}\n", bytes, (r + i) % ranks);
    text += "}\n";
  }
  return text;
}

}  // namespace

TEST_CASE("one eager message takes o + L + (s-1)G + o") {
  for (const std::uint64_t bytes : {1u, 2u, 1000u, 65536u}) {
    const LogGopsRun run(one_message(bytes), {});
    const auto s = static_cast<std::int64_t>(bytes);
    // The sender is done when its cpu is: the eager protocol has copied the data.
    CHECK(run.finish() == Times{100, 100 + 1000 + (s - 1) * 2 + 100});
    CHECK(run.replay.complete());
  }
}

TEST_CASE("a message without bytes takes 2o + L") {
  CHECK(LogGopsRun(one_message(0), {}).finish() == Times{100, 1200});
}

TEST_CASE("O is paid by both cpus, before injection and after delivery") {
  // (s-1)O = 9·5 = 45 on each side: 100+45 + 1000 + 9·2 + 100+45.
  CHECK(LogGopsRun(one_message(10), {.O = 5}).finish() == Times{145, 1308});
}

TEST_CASE("rendezvous adds one round trip of the handshake to the eager time") {
  // Request at o, clear-to-send at o+2L, last byte out at o+2L+(s-1)G, in at o+3L+(s-1)G, then o.
  CHECK(LogGopsRun(one_message(1000), {.S = 999}).finish() ==
        Times{100 + 2000 + 1998, 100 + 3000 + 1998 + 100});
  // At the limit itself a message is eager.
  CHECK(LogGopsRun(one_message(1000), {.S = 1000}).finish() == Times{100, 100 + 1000 + 1998 + 100});
}

TEST_CASE("a synchronous send shakes hands whatever its size") {
  const std::string text = "num_ranks 2\nrank 0 {\nsend 1000b to 1 sync\n}\nrank 1 {\nrecv 1000b from 0\n}\n";
  // As above, though the limit is far.
  CHECK(LogGopsRun(text, {}).finish() == Times{100 + 2000 + 1998, 100 + 3000 + 1998 + 100});
  // Even of nothing: the request at o, clear-to-send at o+2L, an empty message at o+3L, then o.
  CHECK(
      LogGopsRun("num_ranks 2\nrank 0 {\nsend 0b to 1 sync\n}\nrank 1 {\nrecv 0b from 0\n}\n", {}).finish() ==
      Times{100 + 2000, 100 + 3000 + 100});
  // The receive is posted at 50,000, and the sender waits for it.
  const std::string late =
      "num_ranks 2\nrank 0 {\nsend 1000b to 1 sync\n}\nrank 1 {\na: calc 50000\nb: recv 1000b from 0\nb "
      "requires "
      "a\n}\n";
  CHECK(LogGopsRun(late, {}).finish() == Times{50000 + 1000 + 1998, 50000 + 2000 + 1998 + 100});
}

TEST_CASE("rendezvous waits for a late receive, eager does not") {
  const std::string text =
      "num_ranks 2\nrank 0 {\nsend 1000b to 1\n}\nrank 1 {\na: calc 50000\nb: recv 1000b from 0\nb requires "
      "a\n}\n";
  // The receive is posted at 50,000: clear-to-send +L, data +L+(s-1)G, +o; the sender ends with the last byte
  // out.
  CHECK(LogGopsRun(text, {.S = 0}).finish() == Times{50000 + 1000 + 1998, 50000 + 2000 + 1998 + 100});
  // Eager: the data is there already; only o remains.
  CHECK(LogGopsRun(text, {}).finish() == Times{100, 50100});
}

TEST_CASE("the gap per byte holds at the receiver too: an n to 1 incast is served one after another") {
  // Three messages of 1,000 B arrive together at o+L = 1,100; the NIC takes one after another, g = 10 apart:
  // last bytes at 1,100 + 1,998, + 2,008, + 2,008; then o. The cpu is idle in between.
  const std::string text =
      "num_ranks 4\nrank 0 {\nrecv 1000b from 1\nrecv 1000b from 2\nrecv 1000b from 3\n}\n"
      "rank 1 {\nsend 1000b to 0\n}\nrank 2 {\nsend 1000b to 0\n}\nrank 3 {\nsend 1000b to 0\n}\n";
  CHECK(LogGopsRun(text, {}).finish() == Times{1100 + 1998 + 2 * 2008 + 100, 100, 100, 100});
}

TEST_CASE("linear alltoall matches its closed form") {
  // A NIC sends a message every B = g + (s-1)G, so the last of n-1 starts at o + (n-2)B. Each receiver gets
  // the i-th messages B apart and is never late, as long as its cpu has sent all before the first arrives: T
  // = 2o + L + (n-2)B + (s-1)G.
  for (const int n : {2, 3, 8, 33}) {
    for (const std::int64_t s : {64, 4096}) {
      const LogGops p{.L = 50000};
      const std::int64_t gap = p.g + (s - 1) * 2;
      const std::int64_t expected = 2 * p.o + p.L + (n - 2) * gap + (s - 1) * 2;
      CHECK(LogGopsRun(linear_alltoall(n, s), p).finish() == Times(n, expected));
    }
  }
}

TEST_CASE("ring allreduce matches its closed form") {
  // 2(n-1) steps, one after another; each moves a block of m = s/n bytes: 2o + L + (m-1)G; the first n-1
  // steps also combine m bytes, R each.
  for (const int n : {2, 4, 7, 16}) {
    const std::int64_t m = 1024;
    std::string text = fmt::format("num_ranks {}\n", n);
    for (int r = 0; r < n; ++r) text += fmt::format("rank {} {{\nallreduce {}b\n}}\n", r, n * m);
    for (const double reduction : {0.0, 0.5}) {
      const LogGopsRun run(text, {.reduction = reduction, .allreduce = "ring"});
      const std::int64_t step = 2 * 100 + 1000 + (m - 1) * 2;
      const auto combine = static_cast<std::int64_t>(reduction * m);
      CHECK(run.finish() == Times(n, 2 * (n - 1) * step + (n - 1) * combine));
      CHECK(run.replay.totals().messages == static_cast<std::uint64_t>(2 * (n - 1) * n));
      CHECK(run.replay.totals().bytes == static_cast<std::uint64_t>(2 * (n - 1) * n * m));
    }
  }
}

TEST_CASE("a message above 4 GiB takes its full time") {
  const std::uint64_t bytes = 5'000'000'000;
  CHECK(LogGopsRun(one_message(bytes), {.G = 0.04, .S = UINT64_MAX}).replay.ranks()[1].finish ==
        Time::ns(1200) + Time::ps(40) * static_cast<std::int64_t>(bytes - 1));
}

TEST_CASE("two NICs of a rank send side by side, two cpus overlap their overheads") {
  const std::string text =
      "num_ranks 2\nrank 0 {\nsend 1000b to 1 tag 0 cpu 0 nic 0\nsend 1000b to 1 tag 1 cpu 1 nic 1\n}\n"
      "rank 1 {\nrecv 1000b from 0 tag 0 cpu 0 nic 0\nrecv 1000b from 0 tag 1 cpu 1 nic 1\n}\n";
  CHECK(LogGopsRun(text, {}).finish() == Times{100, 100 + 1000 + 1998 + 100});
}

TEST_CASE("flows carry injection and delivery") {
  const LogGopsRun run(one_message(1000), {});
  const auto flows = run.network.flows();
  REQUIRE(flows.size() == 1);
  CHECK(flows[0].start == Time::ns(100));
  CHECK(flows[0].finish == Time::ns(100 + 1000 + 1998));
  CHECK(run.network.totals().bytes == 1000);
}

TEST_CASE("without a gap, messages still arrive in the order sent") {
  // The second message's only byte arrives in the moment of the last byte of the first. The receive of that
  // one is over 100 + 999·3 later, and frees a calc on another cpu.
  const std::string text =
      "num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: send 1b to 1\nb requires a\n}\n"
      "rank 1 {\na: recv 1000b from 0\nb: calc 50000 cpu 1\nb requires a\nc: recv 1b from 0\n}\n";
  CHECK(LogGopsRun(text, {.g = 0, .O = 3}).finish()[1] == 3097 + 1000 + 1998 + 3097 + 50000);
}

TEST_CASE("flows of one moment are listed in the order injected") {
  // The first is long and has to share no NIC with the second; it is delivered last.
  const LogGopsRun run(
      "num_ranks 3\nrank 0 {\nsend 1000b to 1\nsend 1b to 2 nic 1\n}\nrank 1 {\nrecv 1000b from 0\n}\n"
      "rank 2 {\nrecv 1b from 0\n}\n",
      {.o = 0});
  const auto flows = run.network.flows();
  REQUIRE(flows.size() == 2);
  CHECK(flows[0].destination == 1);
  CHECK(flows[1].destination == 2);
}
