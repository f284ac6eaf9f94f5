// How long generated programs take on the LogGOPS network, against the model's own sums. T(s) is the time of
// a message of s bytes, 2o + L + (s-1)G.
#include <fmt/core.h>

#include "tests/goal/workload/traffic.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;
using namespace weft::sim;

namespace {

constexpr std::int64_t kL = 1000, kO = 100, kGap = 10, kG = 2;  // those of the fixture

std::int64_t message_ns(std::int64_t bytes) { return 2 * kO + kL + (bytes - 1) * kG; }

Times times(const std::string& text, std::uint32_t ranks, const LogGops& network = {}) {
  return LogGopsRun(traffic(text, ranks), network).finish();
}

// The moment at which the last rank finished.
std::int64_t end(const std::string& text, std::uint32_t ranks, const LogGops& network = {}) {
  const Times all = times(text, ranks, network);
  return *std::max_element(all.begin(), all.end());
}

}  // namespace

TEST_CASE("ping_pong: a round trip is two messages") {
  const Times both = times("ping_pong:sizes=[1B,500B,2KB],iterations=7", 2);
  const std::int64_t one_way = 7 * (message_ns(1) + message_ns(500) + message_ns(2000));
  CHECK(both[0] == 2 * one_way);
  CHECK(both[1] == 2 * one_way - message_ns(2000) + kO);  // it has handed over the last answer
  // Both compute at the same time. The answer comes back while the second rank computes for the next.
  CHECK(times("ping_pong:sizes=8B,iterations=5,compute=3us", 2)[0] == 5 * (3000 + 2 * message_ns(8)));
  // Pairs don't disturb each other; the rank left over does nothing.
  CHECK(times("ping_pong:pairs=0,iterations=2", 5) ==
        Times{4 * message_ns(8), 4 * message_ns(8), 3 * message_ns(8) + kO, 3 * message_ns(8) + kO, 0});
}

TEST_CASE("shift and bisection: an iteration is the compute and one message") {
  for (const char* pattern : {"shift:size=300", "shift:by=3,size=300", "bisection:size=300"}) {
    CHECK(times(fmt::format("{},iterations=9,compute=4us", pattern), 8) ==
          Times(8, 9 * (4000 + message_ns(300))));
  }
}

TEST_CASE("stencil: m small messages each way take m - 1 more overheads than one") {
  // s = 8: a NIC needs 14 + 10 ns for a message, less than the 100 ns the cpu takes to hand over the next.
  const auto iteration = [](std::int64_t m) { return 2500 + (m - 1) * kO + message_ns(8); };
  const std::string options = "cells=1,cell=8B,compute=2500ns,iterations=6";
  CHECK(times("stencil:dims=1d," + options, 5) == Times(5, 6 * iteration(2)));
  CHECK(times("stencil:dims=[4,4]," + options, 16) == Times(16, 6 * iteration(4)));
  CHECK(times("stencil:dims=[3,3,3]," + options, 27) == Times(27, 6 * iteration(6)));
  CHECK(times("stencil:dims=[4,4],neighbors=corners," + options, 16) == Times(16, 6 * iteration(8)));
  // Alone, it computes.
  CHECK(times("stencil:" + options, 1) == Times{6 * 2500});
}

TEST_CASE("stencil: one collective takes as long as the messages it stands for") {
  const std::vector<std::pair<std::uint32_t, std::string>> grids = {
      {12, "dims=[3,4],neighbors=corners"},
      {8, "dims=[2,2,2],neighbors=edges"},
      {10, "dims=[1,5,2]"},
      {12, "dims=[2,6],periodic=false,neighbors=corners"},
      {4, "dims=[1,4],neighbors=corners"},
  };
  for (const auto& [ranks, grid] : grids) {
    for (const std::uint64_t eager : {0u, 1u << 20}) {
      INFO(grid << ", S = " << eager);
      const std::string options = grid + ",cells=20,halo=3,compute=700ns,iterations=4,exchange=";
      CHECK(times("stencil:" + options + "collective", ranks, {.S = eager}) ==
            times("stencil:" + options + "messages", ranks, {.S = eager}));
    }
  }
}

TEST_CASE("incast: the receiver's NIC takes all messages one after the other") {
  const std::int64_t n = 5, k = 3, s = 400;
  CHECK(times(fmt::format("incast:n=5,senders=first,size=400,iterations={}", k), 6)[0] ==
        2 * kO + kL + n * k * (s - 1) * kG + (n * k - 1) * kGap);
}

TEST_CASE("alltoall: an iteration is as long as a linear alltoall") {
  const std::int64_t n = 6, s = 400;
  const std::int64_t once = message_ns(s) + (n - 2) * (kGap + (s - 1) * kG);
  CHECK(times("alltoall:size=400,iterations=4,compute=1us", 6) == Times(6, 4 * (1000 + once)));
}

TEST_CASE("sweep: two pipelines fill completely and two along the second dimension") {
  // Messages cost latency only. Hoisie, Lubeck and Wasserman count 2(X-1) + 4(Y-1) steps until all pipelines
  // are full, and one for each block.
  const LogGops wire{.L = 700, .o = 0, .g = 0, .G = 0};
  for (const auto& [x, y] :
       std::vector<std::array<std::int64_t, 2>>{{1, 1}, {4, 4}, {5, 3}, {3, 5}, {1, 6}, {6, 1}, {2, 7}}) {
    for (const std::int64_t blocks : {1, 4, 30}) {
      const std::int64_t fill = (2 * (x - 1) + 4 * (y - 1)) * (2000 + 700);
      CHECK(end(fmt::format("sweep:dims=[{},{}],blocks={},sweeps=2,compute=2us,iterations=3", x, y, blocks),
                static_cast<std::uint32_t>(x * y), wire) == 3 * (fill + 4 * 2 * blocks * 2000));
    }
  }
}

TEST_CASE("master_worker: workers in step take two latencies and the compute for each task") {
  const LogGops wire{.L = 700, .o = 0, .g = 0, .G = 0};
  CHECK(end("master_worker:tasks=24,compute=2us", 5, wire) == 6 * (2000 + 2 * 700));
  // With a task in hand they wait for nothing in between.
  CHECK(end("master_worker:tasks=24,compute=2us,prefetch=2", 5, wire) == 6 * 2000 + 2 * 700);
  CHECK(end("master_worker:tasks=24,compute=2us,iterations=3", 5, wire) == 3 * 6 * (2000 + 2 * 700));
  // Fewer tasks than workers.
  CHECK(times("master_worker:tasks=2,compute=2us", 5, wire) == Times{3400, 2700, 2700, 0, 0});
}

TEST_CASE("collective: calls follow each other with the compute in between") {
  // A ring allreduce of n blocks: 2(n-1) messages of s/n bytes.
  const LogGops ring{.allreduce = "ring"};
  const Times expected(4, 5 * (3000 + 2 * 3 * message_ns(200)));
  CHECK(times("collective:size=800B,iterations=5,compute=3us", 4, ring) == expected);
  CHECK(times("collective:size=800B,iterations=5,compute=3us,algorithm=ring", 4) == expected);
}
