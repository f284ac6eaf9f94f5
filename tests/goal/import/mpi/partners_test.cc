// Programs that really could have happened (messages and collectives in one order that all ranks keep), cut
// at random places: what is left must be sound, run to its end, and lack no more than it has to.
#include "goal/import/mpi/partners.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "goal/check/check.h"
#include "goal/text/text.h"
#include "goal/transform/ideal_schedule.h"

namespace weft::goal {
namespace {

struct Planned {
  Op op;
  Collective collective;
};
using Program = std::vector<std::vector<Planned>>;
using Kind = std::tuple<Rank, Rank, std::uint32_t, std::uint32_t>;

constexpr Rank kRanks = 5;
const std::vector<std::vector<Rank>> kMembers = {{0, 1, 2, 3, 4}, {3, 1}, {4, 0, 2}};

// Each message and each collective is added to all its ranks before the next one is.
Program random_program(std::mt19937& random, int events) {
  Program program(kRanks);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int event = 0; event < events; ++event) {
    if (below(4) == 0) {
      const std::uint32_t comm = below(3);
      const Collective collective{.kind = CollectiveKind::kAllreduce, .comm = comm, .bytes = 8};
      for (const Rank r : kMembers[comm]) {
        program[r].push_back({{.kind = OpKind::kCollective, .comm = comm}, collective});
      }
      continue;
    }
    const Rank from = below(kRanks), to = (from + 1 + below(kRanks - 1)) % kRanks;
    const std::uint32_t tag = below(2);
    program[from].push_back({{.kind = OpKind::kSend, .peer = to, .tag = tag, .value = 100}, {}});
    program[to].push_back({{.kind = OpKind::kRecv, .peer = from, .tag = tag, .value = 100}, {}});
  }
  return program;
}

// The first `lengths[r]` operations of each rank, one after the other with a calc between.
Graph graph_of(const Program& program, const std::vector<std::size_t>& lengths) {
  GraphBuilder builder;
  for (std::uint32_t c = 1; c < kMembers.size(); ++c) {
    builder.add_communicator({"comm" + std::to_string(c), kMembers[c]});
  }
  for (Rank r = 0; r < kRanks; ++r) {
    OpIndex last = builder.add_calc(5);
    for (std::size_t i = 0; i < lengths[r]; ++i) {
      const Planned& planned = program[r][i];
      const OpIndex op = planned.op.kind == OpKind::kCollective ? builder.add_collective(planned.collective)
                                                                : builder.add(planned.op);
      builder.add_edge(last, op);
      last = op;
    }
    builder.end_rank();
  }
  return builder.finish();
}

std::map<Kind, std::uint64_t> messages(const Graph& graph, OpKind kind) {
  std::map<Kind, std::uint64_t> found;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      if (rank.kind(i) != kind) continue;
      const bool sends = kind == OpKind::kSend;
      ++found[{sends ? r : rank.peer(i), sends ? rank.peer(i) : r, rank.comm(i), rank.tag(i)}];
    }
  }
  return found;
}

std::uint64_t collectives_of(const Graph& graph, Rank r, std::uint32_t comm) {
  std::uint64_t count = 0;
  for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
    count += graph.rank(r).kind(i) == OpKind::kCollective && graph.rank(r).comm(i) == comm;
  }
  return count;
}

void check_runs(const Graph& graph) {
  const Report report = check(graph);
  for (const Finding& finding : report.findings) UNSCOPED_INFO(finding.sentence);
  CHECK(report.clean());
  CHECK(ideal_schedule(graph).unfinished == 0);
}

}  // namespace

TEST_CASE("random programs that are cut anywhere run to their end, and lose no more than they must") {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const Program program = random_program(random, 1 + static_cast<int>(random() % 60));
    std::vector<std::size_t> lengths;
    for (const auto& rank : program) lengths.push_back(random() % (rank.size() + 1));
    const Graph cut = graph_of(program, lengths);
    WithoutPartners dropped;
    const Graph left = drop_without_partners(cut, dropped);
    check_runs(left);
    REQUIRE(left.ops() == cut.ops());
    // Each kind of message keeps as many sends and receives as there were of the fewer.
    const auto sends = messages(cut, OpKind::kSend), receives = messages(cut, OpKind::kRecv);
    const auto sends_left = messages(left, OpKind::kSend), receives_left = messages(left, OpKind::kRecv);
    CHECK(sends_left == receives_left);
    std::uint64_t all_sends = 0, all_receives = 0, stay = 0;
    for (const auto& [kind, count] : sends) {
      const auto found = receives.find(kind);
      stay += std::min(count, found == receives.end() ? 0 : found->second);
      all_sends += count;
    }
    for (const auto& [kind, count] : receives) all_receives += count;
    std::uint64_t stayed = 0;
    for (const auto& [kind, count] : sends_left) stayed += count;
    CHECK(stayed == stay);
    CHECK(dropped.sends == all_sends - stay);
    CHECK(dropped.receives == all_receives - stay);
    // Each communicator keeps those collectives that all members call.
    std::uint64_t lost = 0;
    for (std::uint32_t c = 0; c < kMembers.size(); ++c) {
      std::uint64_t least = UINT64_MAX, most = 0;
      for (const Rank r : kMembers[c]) {
        least = std::min(least, collectives_of(cut, r, c));
        most = std::max(most, collectives_of(cut, r, c));
      }
      for (const Rank r : kMembers[c]) CHECK(collectives_of(left, r, c) == least);
      lost += most - least;
    }
    CHECK(dropped.collectives == lost);
  }
}

TEST_CASE("a whole program stays as it is") {
  std::mt19937 random(7);
  const Program program = random_program(random, 100);
  std::vector<std::size_t> lengths;
  for (const auto& rank : program) lengths.push_back(rank.size());
  const Graph graph = graph_of(program, lengths);
  WithoutPartners dropped;
  CHECK(drop_without_partners(graph, dropped) == graph);
  CHECK(dropped.sends + dropped.receives + dropped.collectives == 0);
}

TEST_CASE("a receive that is still open to any source goes, and the send it might have got") {
  const Graph graph = parse_text(
      "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 3 cpu 2\n}\n"
      "rank 1 {\na: recv 8b from -1 tag 3\nb: calc 4\nb irequires a\n}\n",
      "given");
  WithoutPartners dropped;
  const Graph left = drop_without_partners(graph, dropped);
  CHECK(left == parse_text("num_ranks 2\nrank 0 {\na: calc 0 cpu 2\n}\n"
                           "rank 1 {\na: calc 0\nb: calc 4\nb irequires a\n}\n",
                           "expected"));
  CHECK(dropped.sends == 1);
  CHECK(dropped.receives == 1);
}

TEST_CASE("messages that nobody received are counted, where no receive is open to any") {
  const auto left = [](const std::string& rank0, const std::string& rank1) {
    return sends_never_received(
        parse_text("num_ranks 2\nrank 0 {\n" + rank0 + "}\nrank 1 {\n" + rank1 + "}\n", "given"));
  };
  const std::string three = "send 8b to 1 tag 3\nsend 9b to 1 tag 3\nsend 8b to 1 tag 4\n";
  CHECK(left(three, "recv 8b from 0 tag 3\nrecv 8b from 0 tag 5\n") == 2);
  CHECK(left(three, "recv 8b from 0 tag 4\nrecv 8b from 0 tag 3\nrecv 8b from 0 tag 3\n") == 0);
  CHECK(left(three, "recv 8b from -1 tag 3\n") == 0);
}

}  // namespace weft::goal
