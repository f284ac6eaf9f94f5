// Collectives on the LogGOPS network against their closed forms in LogGP (A. Alexandrov et al., "LogGP", SPAA
// 1995). A message of m bytes takes T(m) = o + L + (m - 1) G + o from one rank to another; the next one can
// follow it g + (m - 1) G later. R is the time to combine a byte.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>

#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::sim;

namespace {

constexpr LogGops kNet{.L = 1000, .o = 100, .g = 10, .G = 2, .reduction = 3};
constexpr std::int64_t kR = 3;

// When the last of `ranks` ranks has finished this collective, which is all they do.
std::int64_t time_of(const std::string& collective, std::int64_t ranks, const LogGops& net = kNet) {
  std::string text = fmt::format("num_ranks {}\n", ranks);
  for (std::int64_t r = 0; r < ranks; ++r) text += fmt::format("rank {} {{\n{}\n}}\n", r, collective);
  const auto finish = LogGopsRun(text, net).finish();
  return *std::max_element(finish.begin(), finish.end());
}

std::int64_t message(std::int64_t bytes) {
  return 2 * kNet.o + kNet.L + (bytes - 1) * static_cast<std::int64_t>(kNet.G);
}
std::int64_t gap(std::int64_t bytes) { return kNet.g + (bytes - 1) * static_cast<std::int64_t>(kNet.G); }

}  // namespace

TEST_CASE("allreduce takes the time of its closed form") {
  for (const std::int64_t p : {2, 4, 8, 16, 64}) {
    const std::int64_t n = 64 * p, k = std::bit_width(static_cast<std::uint64_t>(p)) - 1;
    const auto by = [&](const char* algorithm) {
      return time_of(fmt::format("allreduce {}b elem 8 by {}", n, algorithm), p);
    };
    INFO(p << " ranks");
    CHECK(by("recursive_doubling") == k * (message(n) + n * kR));
    CHECK(by("ring") == (p - 1) * (2 * message(n / p) + n / p * kR));
    std::int64_t halving = 0;  // n / 2, n / 4 … n / p there and back
    for (std::int64_t part = n / 2; part >= n / p; part /= 2) halving += 2 * message(part) + part * kR;
    CHECK(by("rabenseifner") == halving);
    CHECK(by("swing") == halving);
    CHECK(by("reduce_bcast") == k * (2 * message(n) + n * kR));
  }
  // A torus of 4 x 8: rings of 8 on a fourth of the vector.
  CHECK(time_of("allreduce 4096b elem 8 by torus_ring:dims=4x8", 32) ==
        3 * (2 * message(1024) + 1024 * kR) + 7 * (2 * message(128) + 128 * kR));
  // Four nodes of 8: up, among the first ranks of nodes, down.
  CHECK(time_of("allreduce 4096b elem 8 by hierarchical:ranks_per_node=8", 32) ==
        3 * (2 * message(4096) + 4096 * kR) + 2 * message(2048) + 2048 * kR + 2 * message(1024) + 1024 * kR);
}

TEST_CASE("what algorithms copy within a rank takes it time") {
  constexpr std::int64_t kC = 5;
  // Messages that ask first are not copied on the way.
  LogGops free = kNet, net = kNet;
  net.copy = kC;
  free.S = net.S = 0;
  for (const std::int64_t p : {2, 4, 8, 16}) {
    const std::int64_t n = 64, k = std::bit_width(static_cast<std::uint64_t>(p)) - 1;
    const auto more = [&](const char* kind, const char* algorithm) {
      const std::string call = fmt::format("{} {}b elem 8 by {}", kind, n, algorithm);
      return time_of(call, p, net) - time_of(call, p, free);
    };
    INFO(p << " ranks");
    // The whole vector, once.
    CHECK(more("reduce_scatter", "ring") == p * n * kC);
    CHECK(more("reduce_scatter", "recursive_halving") == p * n * kC);
    CHECK(more("reduce_scatter", "butterfly") == p * n * kC);
    // Rank 1 has all blocks but one before the first: these to a buffer, all forward, and these back.
    CHECK(more("allgather", "bruck") == (2 * p - 1) * n * kC);
    // All blocks first and last, and in each round half of them into a message and out of one.
    CHECK(more("alltoall", "bruck") == (2 * p + k * p) * n * kC);
    // Where blocks go straight to their places nothing is copied.
    CHECK(more("allgather", "ring") == 0);
    CHECK(more("alltoall", "pairwise") == 0);
  }
  // With three values to a digit, of nine blocks six move in each of both rounds.
  const char* const call = "alltoall 64b by bruck:radix=3";
  CHECK(time_of(call, 9, net) - time_of(call, 9, free) == (2 * 9 + 2 * 2 * 6) * 64 * kC);
}

TEST_CASE("eager messages are copied into a buffer and out of one") {
  LogGops net = kNet;
  net.copy = 5;
  net.S = 1000;
  const auto more = [&](std::int64_t bytes) {
    const std::string send = fmt::format("num_ranks 2\nrank 0 {{\nsend {}b to 1\n}}\n", bytes);
    const std::string text = send + fmt::format("rank 1 {{\nrecv {}b from 0\n}}\n", bytes);
    LogGops free = net;
    free.copy = 0;
    return LogGopsRun(text, net).finish()[1] - LogGopsRun(text, free).finish()[1];
  };
  CHECK(more(100) == 2 * 100 * 5);
  CHECK(more(1000) == 2 * 1000 * 5);
  CHECK(more(1001) == 0);
}

TEST_CASE("bcast and reduce take the time of their closed forms") {
  for (const std::int64_t p : {2, 4, 8, 16, 64}) {
    const std::int64_t n = 4000, s = 500, k = std::bit_width(static_cast<std::uint64_t>(p)) - 1;
    const auto by = [&](const char* kind, const char* algorithm) {
      return time_of(fmt::format("{} {}b root {} elem 4 by {}", kind, n, p / 2, algorithm), p);
    };
    INFO(p << " ranks");
    // The first child has the longest way to go, the others have begun by the time it is done.
    CHECK(by("bcast", "binomial_tree") == k * message(n));
    CHECK(by("reduce", "binomial_tree") == k * (message(n) + n * kR));
    // The first segment goes all the way; the others follow as fast as a link lets them.
    CHECK(by("bcast", "pipelined_chain:segment=500B") == (p - 1) * message(s) + (n / s - 1) * gap(s));
    CHECK(by("bcast", "pipelined_chain:segment=0B") == (p - 1) * message(n));
    // Combining a segment takes longer than sending it.
    if (p > 2) {
      const std::int64_t stage = s * kR + 2 * kNet.o;
      CHECK(by("reduce", "pipelined_chain:segment=500B") ==
            (p - 1) * (message(s) + s * kR) + (n / s - 1) * stage);
    }
  }
  // One byte: the root is busy with overheads only.
  CHECK(time_of("bcast 1b root 0 by linear", 20) == 19 * kNet.o + kNet.L + kNet.o);
  // All arrive at once; the root takes them in one after the other.
  CHECK(time_of("reduce 1b root 0 by linear", 20) == kNet.o + kNet.L + 19 * (kNet.o + kR));
}

TEST_CASE("barriers and scans take the time of their closed forms") {
  const std::int64_t signal = 2 * kNet.o + kNet.L;
  CHECK(time_of("barrier by dissemination", 16) == 4 * signal);
  CHECK(time_of("barrier by dissemination", 17) == 5 * signal);
  CHECK(time_of("barrier by recursive_doubling", 16) == 4 * signal);
  // Rank 0 folds in, and its news takes four rounds; it gets its answer before they have come to everybody.
  CHECK(time_of("barrier by recursive_doubling", 17) == (1 + 4) * signal);
  CHECK(time_of("scan 800b elem 8 by linear", 10) == 9 * (message(800) + 800 * kR));
  CHECK(time_of("exscan 800b elem 8 by linear", 10) == 9 * message(800) + 8 * 800 * kR);
}
