#include <bit>
#include <catch2/catch.hpp>
#include <string>

#include "sim/units/input_error.h"
#include "tests/goal/collectives/interpreter.h"

namespace weft::goal {
namespace {

using Set = std::set<std::uint32_t>;

// Communicator sizes: every small one, and some that are large, powers of two, one beside them, or primes.
std::vector<std::uint32_t> sizes() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t p = 1; p <= 17; ++p) all.push_back(p);
  for (const std::uint32_t p : {32u, 33u, 64u}) all.push_back(p);
  return all;
}

Set up_to(std::uint32_t end) {
  Set set;
  for (std::uint32_t i = 0; i < end; ++i) set.insert(i);
  return set;
}

std::uint32_t ceil_log2(std::uint32_t p) { return static_cast<std::uint32_t>(std::bit_width(p - 1)); }

std::vector<std::uint32_t> roots(std::uint32_t p) {
  Set set = {0, 1 % p, p / 2, p - 1};
  return {set.begin(), set.end()};
}

const CollectiveAlgorithm& find(CollectiveKind kind, const char* name = "") {
  return find_collective_algorithm(kind, name);
}

// Distinct, none zero, in an order that is not sorted.
std::vector<std::uint64_t> distinct_counts(std::uint32_t p) {
  std::vector<std::uint64_t> counts;
  for (std::uint32_t i = 0; i < p; ++i) counts.push_back(8 * (1 + (i * 7 + 3) % 101));
  return counts;
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  std::uint64_t total = 0;
  for (const std::uint64_t value : values) total += value;
  return total;
}

}  // namespace

TEST_CASE("a schedule keeps its dependencies in CSR form") {
  Schedule schedule;
  const auto a = schedule.recv(3, 10, 0), b = schedule.reduce(10), c = schedule.send(4, 10, 1);
  schedule.depend(c, a);
  schedule.depend(b, a);
  schedule.depend(c, b);
  schedule.finish();
  REQUIRE(schedule.size() == 3);
  CHECK(std::vector(schedule.dependents(a).begin(), schedule.dependents(a).end()) == std::vector{c, b});
  CHECK(std::vector(schedule.dependents(b).begin(), schedule.dependents(b).end()) == std::vector{c});
  CHECK(schedule.dependents(c).empty());
  CHECK(schedule.dependencies(a) == 0);
  CHECK(schedule.dependencies(c) == 2);
  CHECK(schedule.step(c).peer == 4);
  schedule.clear();
  schedule.finish();
  CHECK(schedule.size() == 0);
}

TEST_CASE("every kind has a default algorithm and unknown names are refused") {
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    CHECK(find(static_cast<CollectiveKind>(kind)).kind == static_cast<CollectiveKind>(kind));
  }
  CHECK(find(CollectiveKind::kAllreduce).info.name == "recursive_doubling");
  CHECK(find(CollectiveKind::kAllreduce, "ring").info.name == "ring");
  CHECK_THROWS_AS(find(CollectiveKind::kBarrier, "ring"), InputError);
  try {
    find(CollectiveKind::kAllreduce, "rign");
    FAIL("an unknown name was taken");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).find("did you mean 'ring'?") != std::string::npos);
  }
}

TEST_CASE("a communicator of one rank needs no steps") {
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    CHECK(run(algorithm, {.kind = algorithm.kind, .bytes = 64, .element_bytes = 8}, 1).schedules[0].size() ==
          0);
  }
}

TEST_CASE("no data, no messages, but for a barrier") {
  for (const CollectiveAlgorithm& algorithm : collective_algorithms()) {
    const Run done = run(algorithm, {.kind = algorithm.kind, .bytes = 0, .element_bytes = 8}, 6);
    CHECK((done.messages > 0) == (algorithm.kind == CollectiveKind::kBarrier));
  }
}

TEST_CASE("barrier: every rank knows of every other; p ceil(log2 p) empty messages") {
  for (const std::uint32_t p : sizes()) {
    const Run done = run(find(CollectiveKind::kBarrier), {.kind = CollectiveKind::kBarrier}, p);
    for (std::uint32_t r = 0; r < p; ++r) CHECK(done.result[r] == up_to(p));
    CHECK(done.messages == p * ceil_log2(p));
    CHECK(done.bytes == 0);
  }
}

TEST_CASE("bcast: p - 1 messages, the root sends ceil(log2 p)") {
  for (const std::uint32_t p : sizes()) {
    for (const std::uint32_t root : roots(p)) {
      const Run done =
          run(find(CollectiveKind::kBcast), {.kind = CollectiveKind::kBcast, .root = root, .bytes = 1000}, p);
      for (std::uint32_t r = 0; r < p; ++r) {
        CHECK(done.result[r].contains(root));
        CHECK(done.bytes_received[r] == (r == root ? 0 : 1000));
      }
      CHECK(done.messages == p - 1);
      CHECK(done.messages_sent[root] == ceil_log2(p));
    }
  }
}

TEST_CASE("reduce: p - 1 messages, every vector combined once") {
  for (const std::uint32_t p : sizes()) {
    for (const std::uint32_t root : roots(p)) {
      const Run done = run(find(CollectiveKind::kReduce),
                           {.kind = CollectiveKind::kReduce, .root = root, .bytes = 1000}, p);
      CHECK(done.result[root] == up_to(p));
      CHECK(!done.double_counted);
      CHECK(done.messages == p - 1);
      CHECK(sum(done.bytes_reduced) == 1000 * (p - 1));
      for (std::uint32_t r = 0; r < p; ++r) CHECK(done.bytes_sent[r] == (r == root ? 0 : 1000));
    }
  }
}

TEST_CASE("allreduce by recursive doubling: 2^k log2 2^k messages and two for each rank past 2^k") {
  for (const std::uint32_t p : sizes()) {
    const Run done =
        run(find(CollectiveKind::kAllreduce), {.kind = CollectiveKind::kAllreduce, .bytes = 1000}, p);
    for (std::uint32_t r = 0; r < p; ++r) CHECK(done.result[r] == up_to(p));
    CHECK(!done.double_counted);
    const std::uint32_t power = std::bit_floor(p);
    const std::uint64_t exchanged = power * static_cast<std::uint64_t>(std::bit_width(power) - 1);
    CHECK(done.messages == exchanged + 2 * (p - power));
    CHECK(done.bytes == 1000 * done.messages);
    CHECK(sum(done.bytes_reduced) == 1000 * (exchanged + p - power));
  }
}

TEST_CASE("scan and exscan: p - 2^k messages in round k, no rank knows of a later one") {
  for (const CollectiveKind kind : {CollectiveKind::kScan, CollectiveKind::kExscan}) {
    for (const std::uint32_t p : sizes()) {
      const Run done = run(find(kind), {.kind = kind, .bytes = 24}, p);
      for (std::uint32_t r = 0; r < p; ++r) CHECK(done.result[r] == up_to(r + 1));
      CHECK(!done.double_counted);
      std::uint64_t messages = 0, exscan_reductions = 0;
      for (std::uint32_t d = 1; d < p; d *= 2) {
        messages += p - d;
        // The inclusive sums that a later round sends, and the exclusive ones but for the first.
        if (p > 2 * d) exscan_reductions += p - 2 * d - std::min(d, p - 2 * d);
        if (d > 1) exscan_reductions += p - d;
      }
      CHECK(done.messages == messages);
      CHECK(sum(done.bytes_reduced) == 24 * (kind == CollectiveKind::kScan ? messages : exscan_reductions));
    }
  }
}

// Blocks of distinct sizes show in each message which block it holds, so the data can be followed exactly.
TEST_CASE("reduce-scatter ring: each block ends at its rank with every contribution once") {
  for (const std::uint32_t p : sizes()) {
    const std::vector<std::uint64_t> counts = distinct_counts(p);
    const Run done = run(find(CollectiveKind::kReduceScatter),
                         {.kind = CollectiveKind::kReduceScatter, .element_bytes = 8, .counts = counts}, p);
    std::map<std::uint64_t, std::uint32_t> block_of;
    for (std::uint32_t b = 0; b < p; ++b) block_of[counts[b]] = b;
    // held[r][b]: the contributions in rank r's copy of block b.
    std::vector<std::vector<Set>> held(p);
    bool once = true;
    for (std::uint32_t r = 0; r < p; ++r) held[r].assign(p, {r});
    for (std::uint32_t round = 0; round + 1 < p; ++round) {
      const auto before = held;
      for (std::uint32_t r = 0; r < p; ++r) {
        for (std::uint32_t i = 0; i < done.schedules[r].size(); ++i) {
          const Step& step = done.schedules[r].step(i);
          if (step.kind != StepKind::kSend || step.round != round) continue;
          const std::uint32_t b = block_of.at(step.bytes);
          for (const std::uint32_t k : before[r][b]) once &= held[step.peer][b].insert(k).second;
        }
      }
    }
    for (std::uint32_t r = 0; r < p; ++r) {
      CHECK(once);
      CHECK(held[r][r] == up_to(p));
      CHECK(done.result[r] == up_to(p));  // by dependencies, not by luck of timing
      CHECK(done.messages_sent[r] == p - 1);
      CHECK(done.bytes_reduced[r] == done.bytes_received[r]);
    }
    CHECK(done.bytes == (p - 1) * sum(counts));
  }
}

TEST_CASE("allgather ring: every rank gets every block once, and passes on only what it has") {
  for (const std::uint32_t p : sizes()) {
    const std::vector<std::uint64_t> counts = distinct_counts(p);
    const Run done = run(find(CollectiveKind::kAllgather),
                         {.kind = CollectiveKind::kAllgather, .element_bytes = 8, .counts = counts}, p);
    std::map<std::uint64_t, std::uint32_t> block_of;
    for (std::uint32_t b = 0; b < p; ++b) block_of[counts[b]] = b;
    std::vector<Set> held(p);
    for (std::uint32_t r = 0; r < p; ++r) held[r] = {r};
    for (std::uint32_t round = 0; round + 1 < p; ++round) {
      const auto before = held;
      for (std::uint32_t r = 0; r < p; ++r) {
        for (std::uint32_t i = 0; i < done.schedules[r].size(); ++i) {
          const Step& step = done.schedules[r].step(i);
          if (step.kind != StepKind::kSend || step.round != round) continue;
          const std::uint32_t b = block_of.at(step.bytes);
          REQUIRE(before[r].contains(b));
          REQUIRE(held[step.peer].insert(b).second);
        }
      }
    }
    for (std::uint32_t r = 0; r < p; ++r) {
      CHECK(held[r] == up_to(p));
      CHECK(done.result[r] == up_to(p));
      CHECK(done.bytes_received[r] == sum(counts) - counts[r]);
      CHECK(done.bytes_reduced[r] == 0);
    }
  }
}

TEST_CASE("allreduce ring is a reduce-scatter and an allgather of near-equal blocks of whole elements") {
  for (const std::uint32_t p : sizes()) {
    for (const std::uint64_t elements : {1u, 16u, 1000u}) {
      const Run done =
          run(find(CollectiveKind::kAllreduce, "ring"),
              {.kind = CollectiveKind::kAllreduce, .bytes = 12 * elements, .element_bytes = 12}, p);
      std::vector<std::uint64_t> counts;  // by dealing the elements out one by one
      for (std::uint32_t b = 0; b < p; ++b) counts.push_back(0);
      for (std::uint64_t e = 0; e < elements; ++e) counts[e % p] += 12;
      const Run scattered = run(find(CollectiveKind::kReduceScatter),
                                {.kind = CollectiveKind::kReduceScatter, .counts = counts}, p);
      const Run gathered =
          run(find(CollectiveKind::kAllgather), {.kind = CollectiveKind::kAllgather, .counts = counts}, p);
      for (std::uint32_t r = 0; r < p; ++r) {
        const std::uint32_t first = scattered.schedules[r].size();
        REQUIRE(done.schedules[r].size() == first + gathered.schedules[r].size());
        bool same = true, whole = true;
        for (std::uint32_t i = 0; i < done.schedules[r].size(); ++i) {
          const Step& step = done.schedules[r].step(i);
          const Step& part =
              i < first ? scattered.schedules[r].step(i) : gathered.schedules[r].step(i - first);
          same &= step.kind == part.kind && step.peer == part.peer && step.bytes == part.bytes;
          same &= step.kind == StepKind::kReduce || step.round == part.round + (i < first ? 0 : p - 1);
          whole &= step.bytes % 12 == 0;
        }
        CHECK(same);
        CHECK(whole);
        if (elements >= p) CHECK(done.result[r] == up_to(p));
      }
      CHECK(done.bytes == 2 * (p - 1) * 12 * elements);
    }
  }
}

TEST_CASE("allreduce ring: equal blocks are 2 (p - 1) / p of the vector each way") {
  const Run done = run(find(CollectiveKind::kAllreduce, "ring"),
                       {.kind = CollectiveKind::kAllreduce, .bytes = 8 * 16, .element_bytes = 8}, 8);
  for (std::uint32_t r = 0; r < 8; ++r) {
    CHECK(done.bytes_sent[r] == 2 * 7 * 16);
    CHECK(done.bytes_received[r] == 2 * 7 * 16);
    CHECK(done.bytes_reduced[r] == 7 * 16);
  }
  // Bytes past the last whole element travel with the last block.
  const Run odd = run(find(CollectiveKind::kAllreduce, "ring"),
                      {.kind = CollectiveKind::kAllreduce, .bytes = 8 * 16 + 3, .element_bytes = 8}, 8);
  CHECK(odd.bytes == 2 * 7 * (8 * 16 + 3));
}

TEST_CASE("allreduce ring with fewer elements than ranks still combines everything") {
  const Run done = run(find(CollectiveKind::kAllreduce, "ring"),
                       {.kind = CollectiveKind::kAllreduce, .bytes = 16, .element_bytes = 8}, 5);
  for (std::uint32_t r = 0; r < 5; ++r) CHECK(done.result[r] == up_to(5));
}

TEST_CASE("gather and scatter: one message between the root and each rank that has data") {
  for (const CollectiveKind kind : {CollectiveKind::kGather, CollectiveKind::kScatter}) {
    for (const std::uint32_t p : sizes()) {
      for (const std::uint32_t root : roots(p)) {
        std::vector<std::uint64_t> counts = distinct_counts(p);
        counts[p / 3] = 0;
        // Only the root knows the counts of all.
        std::vector<Collective> calls;
        for (std::uint32_t r = 0; r < p; ++r) {
          calls.push_back({.kind = kind, .root = root, .bytes = counts[r]});
        }
        calls[root].counts = counts;
        calls[root].bytes = 0;
        const Run done = run(find(kind), calls);
        CHECK(done.bytes == sum(counts) - counts[root]);
        for (std::uint32_t r = 0; r < p; ++r) {
          const std::uint64_t own = r == root ? 0 : counts[r];
          const bool gather = kind == CollectiveKind::kGather;
          if (r != root) CHECK((gather ? done.bytes_sent : done.bytes_received)[r] == own);
          if (r != root) CHECK((gather ? done.bytes_received : done.bytes_sent)[r] == 0);
          if (own > 0) CHECK(done.result[gather ? root : r].contains(gather ? r : root));
        }
        const Run plain = run(find(kind), {.kind = kind, .root = root, .bytes = 100}, p);
        CHECK(plain.messages == p - 1);
        CHECK(plain.bytes == 100 * (p - 1));
      }
    }
  }
}

TEST_CASE("alltoall: one message for each pair that has data") {
  for (const std::uint32_t p : sizes()) {
    const auto bytes = [](std::uint32_t from, std::uint32_t to) {
      return static_cast<std::uint64_t>((from * 13 + to * 5) % 4 * 100);  // a quarter are empty
    };
    std::vector<Collective> calls(p, {.kind = CollectiveKind::kAlltoall});
    for (std::uint32_t r = 0; r < p; ++r) {
      for (std::uint32_t other = 0; other < p; ++other) {
        calls[r].counts.push_back(bytes(r, other));
        calls[r].receive_counts.push_back(bytes(other, r));
      }
    }
    const Run done = run(find(CollectiveKind::kAlltoall), calls);
    std::uint64_t messages = 0;
    for (std::uint32_t from = 0; from < p; ++from) {
      for (std::uint32_t to = 0; to < p; ++to) {
        if (from == to || bytes(from, to) == 0) continue;
        ++messages;
        CHECK(done.result[to].contains(from));
      }
    }
    CHECK(done.messages == messages);
    const Run plain =
        run(find(CollectiveKind::kAlltoall), {.kind = CollectiveKind::kAlltoall, .bytes = 64}, p);
    CHECK(plain.messages == p * (p - 1));
    for (std::uint32_t r = 0; r < p; ++r) CHECK(plain.result[r] == up_to(p));
  }
}

}  // namespace weft::goal
