// Generated programs: how many messages, bytes and operations there are, and what is refused.
#include <fmt/core.h>

#include <map>
#include <set>

#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;

namespace {

struct Totals {
  std::uint64_t sends = 0, bytes = 0, calcs = 0, calc_ns = 0, collectives = 0;
};

Totals totals(const Graph& graph) {
  Totals sum;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    const RankView rank = graph.rank(r);
    for (OpIndex i = 0; i < rank.ops(); ++i) {
      sum.sends += rank.kind(i) == OpKind::kSend;
      sum.bytes += rank.kind(i) == OpKind::kSend ? rank.value(i) : 0;
      sum.calcs += rank.kind(i) == OpKind::kCalc;
      sum.calc_ns += rank.kind(i) == OpKind::kCalc ? rank.value(i) : 0;
      sum.collectives += rank.kind(i) == OpKind::kCollective;
    }
  }
  return sum;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("whatever is repeated: k iterations hold k times the messages, bytes and compute of one") {
  for (const Workload& workload : workloads()) {
    INFO(workload.info.name);
    std::set<std::string> names;
    for (const ParameterSpec& spec : workload.info.parameters) names.insert(spec.name);
    if (names.count("iterations") == 0) {
      CHECK((workload.info.name == "poisson" || workload.info.name == "connections"));
      continue;
    }
    // What a model computes follows from its shape.
    const bool of_model = names.count("device") > 0;
    const std::string name = workload.info.name + (workload.info.name == "llm" ? ":model=tiny"
                                                   : of_model                  ? ":device=a100"
                                                                               : ":compute=3us");
    const Graph one = traffic(name, 16), four = traffic(name + ",iterations=4", 16);
    CHECK(check(one).clean());
    CHECK(check(four).clean());
    const Totals once = totals(one), often = totals(four);
    CHECK((once.sends + once.collectives > 0) == (workload.info.name != "compute"));
    CHECK(once.calc_ns > 0);
    CHECK(often.sends == 4 * once.sends);
    CHECK(often.bytes == 4 * once.bytes);
    CHECK(often.collectives == 4 * once.collectives);
    CHECK(often.calc_ns == 4 * once.calc_ns);
    // Without a number of them there is one, and with no compute there are the same messages.
    CHECK(traffic(name + ",iterations=1", 16) == one);
    CHECK(refusal(workload.info.name + ":iterations=0", 16) != "");
    if (of_model) continue;
    CHECK(totals(traffic(workload.info.name + ":compute=0ns", 16)).sends == once.sends);
    CHECK(refusal(workload.info.name + ":compute=10ps", 16) != "");
  }
}

TEST_CASE("patterns: compute comes before each iteration, at every rank that takes part or not") {
  const Totals sum = totals(traffic("incast:n=3,iterations=5,compute=2us", 8));
  CHECK(sum.calc_ns == 8 * 5 * 2000);
  CHECK(sum.calcs >= 8 * 5);
  CHECK(sum.sends == 15);
}

TEST_CASE("bisection: to the other half and back") {
  const std::vector<Sent> all = sends(traffic("bisection:size=9", 10));
  REQUIRE(all.size() == 10);
  for (const Sent& sent : all) CHECK(sent == Sent{sent.from, (sent.from + 5) % 10, 9});
  CHECK(contains(refusal("bisection", 9), "an even number of ranks and gets 9; the nearest are 8 and 10"));
}

TEST_CASE("ping_pong: two messages a round trip, in turn") {
  CHECK(sends(traffic("ping_pong:sizes=[8B,1KB],iterations=2", 7)) == std::vector<Sent>{{0, 3, 8},
                                                                                        {0, 3, 8},
                                                                                        {0, 3, 1000},
                                                                                        {0, 3, 1000},
                                                                                        {3, 0, 8},
                                                                                        {3, 0, 8},
                                                                                        {3, 0, 1000},
                                                                                        {3, 0, 1000}});
  for (const std::uint32_t ranks : {2u, 3u, 8u, 9u}) {
    std::set<Rank> senders;
    for (const Sent& sent : sends(traffic("ping_pong:pairs=0", ranks))) senders.insert(sent.from);
    CHECK(senders.size() == ranks / 2 * 2);
  }
  // Every operation of a rank waits for the one before.
  const Graph graph = traffic("ping_pong:pairs=2,iterations=3", 4);
  CHECK(graph.ops() == 4 * 6);
  CHECK(graph.edges() == 4 * 5);
  CHECK(refusal("ping_pong:pairs=3", 5) == "ping_pong: pairs is '3', but it must be from 0 to 2");
  CHECK(contains(refusal("ping_pong:sizes=[8B,x]", 2), "ping_pong: sizes is '[8B,x]', but"));
  CHECK(refusal("ping_pong:sizes=", 2) != "");
  CHECK(refusal("ping_pong", 1) != "");
}

TEST_CASE("stencil: messages between the ranks of open grids") {
  for (const auto& [x, y, z] :
       std::vector<std::array<std::uint64_t, 3>>{{4, 3, 2}, {5, 1, 1}, {2, 2, 2}, {3, 1, 4}, {1, 1, 1}}) {
    const std::uint64_t n = x * y * z;
    const auto count = [&](const char* neighbors) {
      return sends(traffic(
                       fmt::format("stencil:periodic=false,dims=[{},{},{}],neighbors={}", x, y, z, neighbors),
                       static_cast<std::uint32_t>(n)))
          .size();
    };
    CHECK(count("faces") == 2 * ((x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1)));
    // Ordered pairs that differ by at most 1 in a coordinate: 3k - 2 of k points.
    const std::uint64_t all = (3 * x - 2) * (3 * y - 2) * (3 * z - 2) - n;
    CHECK(count("corners") == all);
    CHECK(count("edges") == all - 8 * (x - 1) * (y - 1) * (z - 1));
  }
}

TEST_CASE("stencil: messages of a rank in closed grids") {
  const auto count = [](const std::string& parameters, std::uint32_t ranks) {
    const std::size_t all = sends(traffic("stencil:" + parameters, ranks)).size();
    CHECK(all % ranks == 0);
    return all / ranks;
  };
  CHECK(count("dims=[4,3,5]", 60) == 6);
  CHECK(count("dims=[4,3,5],neighbors=edges", 60) == 18);
  CHECK(count("dims=[4,3,5],neighbors=corners", 60) == 26);
  CHECK(count("dims=4x3x5", 60) == 6);
  CHECK(count("dims=[4,5]", 20) == 4);
  CHECK(count("dims=[4,5],neighbors=edges", 20) == 8);
  CHECK(count("dims=[4,5],neighbors=corners", 20) == 8);
  CHECK(count("dims=1d", 9) == 2);
  CHECK(count("dims=[3,3,3,3],neighbors=corners", 81) == 80);
  // Both ways around a dimension of two, and none around one of one.
  CHECK(count("dims=[2,2,2]", 8) == 6);
  CHECK(count("dims=[4,1]", 4) == 2);
  CHECK(count("dims=[1,1,1]", 1) == 0);
}

TEST_CASE("stencil: the bytes of a rank are those of the shell around its cells") {
  const auto bytes = [](const std::string& parameters) {
    return totals(traffic("stencil:dims=[3,3,3],cells=[4,5,7],cell=3B," + parameters, 27)).bytes / 27;
  };
  for (const std::uint64_t h : {1u, 2u, 4u}) {
    const std::uint64_t shell = (4 + 2 * h) * (5 + 2 * h) * (7 + 2 * h) - 4 * 5 * 7;
    CHECK(bytes(fmt::format("neighbors=corners,halo={}", h)) == 3 * shell);
    CHECK(bytes(fmt::format("neighbors=edges,halo={}", h)) == 3 * (shell - 8 * h * h * h));
    CHECK(bytes(fmt::format("neighbors=faces,halo={}", h)) == 3 * 2 * h * (4 * 5 + 5 * 7 + 4 * 7));
  }
  // Each message is as large as the face it crosses: the last dimension varies fastest.
  for (const Sent& sent : sends(traffic("stencil:dims=[2,3],cells=[10,20],cell=1B,periodic=false", 6))) {
    CHECK(sent.bytes == (sent.from % 3 == sent.to % 3 ? 20 : 10));
  }
}

TEST_CASE("stencil: by a collective, with the same bytes to the same ranks") {
  for (const std::string options :
       {"dims=[3,2,4],neighbors=corners,cells=[3,4,5]", "dims=[4,6],periodic=false"}) {
    const Graph graph = traffic("stencil:exchange=collective," + options, 24);
    CHECK(check(graph).clean());
    CHECK(graph.ops() == 24);
    std::vector<Sent> all;
    for (Rank r = 0; r < 24; ++r) {
      const Collective& exchange = graph.rank(r).collective(0);
      CHECK(exchange.kind == CollectiveKind::kNeighborAlltoall);
      REQUIRE(exchange.counts.size() == exchange.destinations.size());
      for (std::size_t i = 0; i < exchange.counts.size(); ++i) {
        all.push_back({r, exchange.destinations[i], exchange.counts[i]});
      }
      CHECK(exchange.sources == exchange.destinations);
      CHECK(exchange.receive_counts == exchange.counts);
    }
    CHECK(all == sends(traffic("stencil:" + options, 24)));
  }
  CHECK(contains(refusal("stencil:exchange=both", 8), "it must be messages or collective"));
}

TEST_CASE("stencil: an allreduce after every k-th iteration") {
  for (const std::uint32_t every : {1u, 3u, 10u, 11u}) {
    const Graph graph =
        traffic(fmt::format("stencil:iterations=10,allreduce={},allreduce_size=24B", every), 8);
    CHECK(check(graph).clean());
    CHECK(totals(graph).collectives == 8 * (10 / every));
    CHECK(totals(graph).sends == 10 * 8 * 6);
    if (every <= 10) CHECK(graph.collectives().at(0).bytes == 24);
  }
  CHECK(traffic("stencil:allreduce=1", 8).collectives().at(0).bytes == 8);
  CHECK(contains(refusal("stencil:allreduce_size=8B", 8), "allreduce_size is '8B', but there is none"));
}

TEST_CASE("stencil: operations and dependencies of an iteration") {
  // 6 receives, 6 sends and a calc; each of the 12 waits for the calc, which waits for the 12 before.
  const Graph graph = traffic("stencil:iterations=100,compute=1us", 27);
  CHECK(graph.ops() == 27 * 100 * 13);
  CHECK(graph.edges() == 27 * (100 * 12 + 99 * 12));
}

TEST_CASE("stencil: refused") {
  CHECK(contains(refusal("stencil:dims=[4,4]", 32), "[8,4] would do"));
  CHECK(refusal("stencil:halo=65", 8) == "stencil: halo is '65', but it must be from 1 to 64");
  CHECK(contains(refusal("stencil:cells=[8,8,4],halo=5", 8), "it must be from 1 to 4"));
  CHECK(contains(refusal("stencil:cells=[8,8]", 8), "it must be one number, or 3, as the grid has"));
  CHECK(contains(refusal("stencil:neighbors=all", 8), "it must be faces, edges or corners"));
  CHECK(contains(refusal("stencil:cells=4294967295,cell=8GB", 8), "more than 2^64 bytes"));
  CHECK(contains(refusal("stencil:dims=7d", 128), "1 to 6 dimensions"));
}

TEST_CASE("sweep: each block crosses every edge of the grid once from each corner") {
  for (const auto& [x, y] :
       std::vector<std::array<std::uint64_t, 2>>{{4, 3}, {1, 5}, {6, 1}, {1, 1}, {2, 2}}) {
    const auto n = static_cast<std::uint32_t>(x * y);
    const Graph graph = traffic(
        fmt::format("sweep:dims=[{},{}],blocks=5,sweeps=3,size=77,iterations=2,allreduce=2", x, y), n);
    const std::vector<Sent> all = sends(graph);
    CHECK(all.size() == 2 * 4 * 3 * 5 * ((x - 1) * y + x * (y - 1)));
    std::map<std::pair<Rank, Rank>, std::uint64_t> pairs;
    for (const Sent& sent : all) {
      CHECK(sent.bytes == 77);
      ++pairs[{sent.from, sent.to}];
    }
    // Two of the four corners send along each edge in one direction.
    for (const auto& [pair, number] : pairs) CHECK(number == 2 * 2 * 3 * 5);
    CHECK(totals(graph).collectives == n);
    CHECK(totals(graph).calc_ns == n * 2ull * 4 * 3 * 5 * 10000);
  }
  CHECK(contains(refusal("sweep:dims=3d", 8), "it must have 2 dimensions"));
  CHECK(refusal("sweep:blocks=0", 8) != "");
}

TEST_CASE("sparse: as many different neighbours as asked for, each equally likely") {
  const std::uint32_t ranks = 12;
  std::map<std::uint32_t, int> steps;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::set<std::pair<Rank, Rank>> pairs;
    for (const Sent& sent : sends(traffic("sparse:degree=4", ranks, seed))) {
      CHECK(pairs.insert({sent.from, sent.to}).second);
      ++steps[(sent.to + ranks - sent.from) % ranks];
    }
    CHECK(pairs.size() == 4 * ranks);
  }
  // 14,400 sends over 11 steps: each is among a rank's 4 with probability 4/11, 3,600 times: 1309 ± 29; 5
  // standard deviations are allowed.
  REQUIRE(steps.size() == 11);
  for (const auto& [step, number] : steps) CHECK(std::abs(number - 1309) < 145);
  // All others: nothing is left to chance.
  std::vector<Sent> everybody;
  for (Rank r = 0; r < ranks; ++r) {
    for (Rank i = 1; i < ranks; ++i) everybody.push_back({r, (r + i) % ranks, 64'000});
  }
  CHECK(sends(traffic("sparse:degree=11", ranks, 1)) == everybody);
  // A rank has the same neighbours in all iterations; another seed gives it others.
  const std::vector<Sent> twice = sends(traffic("sparse:degree=3,iterations=2", ranks));
  for (std::size_t i = 0; i < twice.size(); ++i) {
    if (i % 6 < 3) CHECK(twice[i] == twice[i + 3]);
  }
  CHECK(sends(traffic("sparse", ranks, 1)) != sends(traffic("sparse", ranks, 2)));
  CHECK(refusal("sparse:degree=12", ranks) == "sparse: degree is '12', but it must be from 1 to 11");
}

TEST_CASE("fft: the blocks of a row, or a column, are a pencil; communicators are rows and columns") {
  for (const auto& [rows, columns] :
       std::vector<std::array<std::uint32_t, 2>>{{4, 3}, {3, 4}, {1, 6}, {6, 1}, {2, 2}}) {
    const std::uint32_t n = rows * columns;
    const Graph graph = traffic(fmt::format("fft:dims=[{},{}],points=24,compute=1us", rows, columns), n);
    CHECK(check(graph).clean());
    for (Rank r = 0; r < n; ++r) {
      const RankView rank = graph.rank(r);
      std::vector<std::vector<Rank>> members;
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        if (rank.kind(i) != OpKind::kCollective) continue;
        const Collective& collective = rank.collective(i);
        const std::uint32_t size = graph.communicator_size(collective.comm);
        CHECK(collective.kind == CollectiveKind::kAlltoall);
        CHECK(collective.bytes * size * n == 24 * 24 * 24 * 16);
        members.emplace_back();
        for (std::uint32_t k = 0; k < size; ++k)
          members.back().push_back(graph.world_rank(collective.comm, k));
      }
      std::vector<std::vector<Rank>> expected;
      if (columns > 1) expected.emplace_back();
      for (Rank k = 0; k < n && columns > 1; ++k) {
        if (k / columns == r / columns) expected.back().push_back(k);
      }
      if (rows > 1) expected.emplace_back();
      for (Rank k = 0; k < n && rows > 1; ++k) {
        if (k % columns == r % columns) expected.back().push_back(k);
      }
      CHECK(members == expected);
    }
    CHECK(totals(graph).calc_ns == 3000 * n);
  }
  CHECK(traffic("fft", 1).ops() == 0);
  CHECK(refusal("fft:points=100", 12) ==
        "fft: points is '100', but the 4 x 3 grid of ranks needs a multiple of 12: 96 or 108 would do");
  CHECK(contains(refusal("fft:points=10", 12), "a multiple of 12: 12 would do"));
  CHECK(refusal("fft:point=17B", 4) != "");
  CHECK(refusal("fft:points=1048577", 1) != "");
}

TEST_CASE("master_worker: each task goes out once and one result comes back, whoever has it first") {
  for (const std::uint32_t ranks : {2u, 3u, 8u}) {
    for (const std::uint32_t tasks : {1u, 7u, 20u}) {
      for (const std::uint32_t prefetch : {1u, 2u, 30u}) {
        const Graph graph = traffic(
            fmt::format("master_worker:tasks={},prefetch={},task=10,result=20", tasks, prefetch), ranks);
        CHECK(check(graph).clean());
        std::vector<std::uint32_t> given(ranks);
        const RankView master = graph.rank(0);
        CHECK(master.ops() >= 2 * tasks);
        std::uint32_t received = 0;
        for (OpIndex i = 0; i < master.ops(); ++i) {
          if (master.kind(i) == OpKind::kSend) ++given[master.peer(i)];
          if (master.kind(i) != OpKind::kRecv) continue;
          CHECK(master.peer(i) == kAny);
          ++received;
        }
        CHECK(received == tasks);
        for (Rank r = 1; r < ranks; ++r) {
          CHECK(given[r] == (tasks + ranks - 1 - r) / (ranks - 1));
          CHECK(graph.rank(r).ops() == 3 * given[r]);
        }
        CHECK(totals(graph).bytes == 30 * tasks);
        CHECK(totals(graph).calc_ns == 100'000 * tasks);
      }
    }
  }
  CHECK(refusal("master_worker", 1) != "");
  CHECK(refusal("master_worker:tasks=0", 4) != "");
  CHECK(refusal("master_worker:prefetch=0", 4) != "");
}

TEST_CASE("collective: one operation a rank and call, of every kind") {
  for (const char* kind : {"barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "allgather", "gather",
                           "scatter", "alltoall", "scan", "exscan"}) {
    INFO(kind);
    const Graph graph = traffic(fmt::format("collective:kind={},count=3,iterations=4", kind), 5);
    CHECK(check(graph).clean());
    CHECK(totals(graph).collectives == 5 * 3 * 4);
    REQUIRE(graph.collectives().size() == 1);
    CHECK(name(graph.collectives()[0].kind) == kind);
    CHECK(graph.collectives()[0].bytes == (std::string(kind) == "barrier" ? 0 : 1'000'000));
    const bool has_root = std::set<std::string>{"bcast", "reduce", "gather", "scatter"}.count(kind) > 0;
    CHECK(refusal(fmt::format("collective:kind={},root=4", kind), 5) ==
          (has_root ? "" : fmt::format("collective: root is '4', but {} has no root", kind)));
  }
  CHECK(traffic("collective:kind=bcast,root=3", 5).collectives()[0].root == 3);
  CHECK(contains(refusal("collective:kind=bcast,root=5", 5), "it must be from 0 to 4"));
  CHECK(contains(refusal("collective:kind=allredcue", 5), "did you mean 'allreduce'?"));
  CHECK(contains(refusal("collective:size=30B,element=8B", 5), "the nearest sizes are 24B and 32B"));
  CHECK(traffic("collective:element=3B", 5).collectives()[0].bytes == 999'999);
  CHECK(contains(refusal("collective:kind=barrier,size=8B", 5), "a barrier moves no data"));
  CHECK(contains(refusal("collective:kind=barrier,element=8B", 5), "a barrier moves no data"));
  CHECK(refusal("collective:element=0B", 5) != "");
  // The algorithm that the program asks for.
  const auto algorithm = [](const std::string& text) {
    return traffic("collective:" + text, 4).collectives()[0].algorithm;
  };
  CHECK(algorithm("size=8B") == "");
  CHECK(algorithm("algorithm=ring") == "ring");
  CHECK(algorithm("kind=bcast,algorithm=pipelined_chain:segment=64KiB") == "pipelined_chain:segment=64KiB");
  CHECK(algorithm("kind=bcast,algorithm=[knomial_tree:radix=4,segment=1KiB]") ==
        "knomial_tree:radix=4,segment=1KiB");
  CHECK(contains(refusal("collective:algorithm=rink", 4), "collective: algorithm is 'rink', but"));
  CHECK(contains(refusal("collective:algorithm=rink", 4), "did you mean 'ring'?"));
  CHECK(contains(refusal("collective:kind=barrier,algorithm=ring", 4), "algorithm is 'ring', but"));
  CHECK(contains(refusal("collective:algorithm=[torus_ring:dims=[3,3]]", 4), "algorithm is"));
  CHECK(refusal("collective:count=0", 5) != "");
}

TEST_CASE("collective: the neighbors of a Cartesian grid, as MPI orders them") {
  const auto neighbors = [](const std::string& options, Rank rank) {
    const Graph graph = traffic("collective:" + options, 6);
    CHECK(check(graph).clean());
    const Collective& collective = graph.rank(rank).collective(0);
    CHECK(collective.sources == collective.destinations);
    CHECK(collective.bytes == 7);
    CHECK(collective.counts.empty());
    return collective.destinations;
  };
  using Ranks = std::vector<std::uint32_t>;
  for (const std::string kind : {"neighbor_allgather", "neighbor_alltoall"}) {
    // 0 1 2
    // 3 4 5
    const std::string grid = "kind=" + kind + ",size=7,dims=[2,3]";
    CHECK(neighbors(grid, 4) == Ranks{1, 1, 3, 5});
    CHECK(neighbors(grid, 0) == Ranks{3, 3, 2, 1});
    CHECK(neighbors(grid + ",periodic=false", 0) == Ranks{3, 1});
    CHECK(neighbors(grid + ",periodic=false", 4) == Ranks{1, 3, 5});
    CHECK(neighbors("kind=" + kind + ",size=7,dims=1d", 5) == Ranks{4, 0});
    CHECK(neighbors("kind=" + kind + ",size=7,dims=[6,1]", 5) == Ranks{4, 0, 5, 5});
    CHECK(traffic("collective:kind=" + kind + ",dims=2d,count=2,iterations=3", 6).ops() == 6 * 6);
    CHECK(contains(refusal("collective:kind=" + kind, 6), "needs a grid of the ranks: [4,4,8], or 3d"));
    CHECK(contains(refusal("collective:kind=" + kind + ",dims=[2,2]", 6), "[3,2] would do"));
    CHECK(contains(refusal("collective:kind=" + kind + ",dims=2d,root=1", 6), "has no root"));
  }
  CHECK(contains(refusal("collective:dims=[2,3]", 6), "allreduce has no neighbors"));
  CHECK(contains(refusal("collective:periodic=false", 6), "allreduce has no neighbors"));
}
