#include "goal/transform/extrapolate.h"

#include <catch2/catch.hpp>
#include <functional>

#include "goal/check/check.h"
#include "goal/text/text.h"
#include "goal/transform/grid.h"
#include "goal/transform/recognize.h"
#include "goal/workload/workload.h"
#include "sim/units/input_error.h"

using namespace weft;
using namespace weft::goal;

namespace {

// What a generator makes of so many ranks: programs that grow by a rule of their own.
Graph generated(const std::string& text, Rank ranks) {
  const ModuleChoice choice = parse_module_choice(text);
  const Workload& workload = find_module(workloads(), choice, "traffic");
  return workload.generate(Parameters(workload.info, choice), ranks, 1);
}

Graph grown(const Graph& graph, Rank ranks, std::vector<std::uint32_t> dims = {},
            std::string* pattern = nullptr) {
  return extrapolate(graph, {ranks, std::move(dims)}, pattern);
}

// A program in which rank r does what `work` adds.
Graph program(Rank ranks, const std::function<void(GraphBuilder&, Rank)>& work) {
  GraphBuilder builder;
  for (Rank r = 0; r < ranks; ++r) {
    work(builder, r);
    builder.end_rank();
  }
  return builder.finish();
}

// Bcasts over a binomial tree, one after the other: the parent of v is v less its lowest or highest bit.
Graph tree(Rank ranks, Rank root, bool lowest, int times) {
  return program(ranks, [&](GraphBuilder& builder, Rank r) {
    const Rank v = (r + ranks - root) % ranks;
    const auto parent = [&](Rank u) {
      Rank bit = 1;
      while (lowest ? (u & bit) == 0 : bit * 2 <= u) bit *= 2;
      return u - bit;
    };
    OpIndex last = builder.add_calc(5);
    for (int time = 0; time < times; ++time) {
      const std::uint64_t bytes = static_cast<std::uint64_t>(1000 * (time + 1));
      std::vector<OpIndex> all;
      if (v != 0) {
        all.push_back(builder.add_recv(bytes, (parent(v) + root) % ranks));
        builder.add_edge(last, all[0]);
      }
      for (Rank u = ranks - 1; u > v; --u) {
        if (parent(u) != v) continue;
        all.push_back(builder.add_send(bytes, (u + root) % ranks));
        builder.add_edge(all.size() > 1 && v != 0 ? all[0] : last, all.back());
      }
      last = builder.add_calc(7);
      for (const OpIndex op : all) builder.add_edge(op, last);
    }
  });
}

}  // namespace

TEST_CASE("grown programs are those that a generator makes of as many ranks") {
  struct Case {
    const char* workload;
    Rank before, after;
    std::vector<std::uint32_t> dims;
    const char* pattern;
  };
  const Case cases[] = {
      {"stencil:dims=[5],periodic=true,iterations=2", 5, 12, {}, "messages on a 5 ring, made a 12 ring"},
      {"stencil:dims=[5],periodic=false,iterations=2", 5, 12, {}, "messages on a 5 line, made a 12 line"},
      {"stencil:dims=2d,periodic=true", 9, 36, {}, "messages on a 3x3 torus, made a 6x6 torus"},
      {"stencil:dims=2d,periodic=false", 9, 36, {}, "messages on a 3x3 grid, made a 6x6 grid"},
      {"stencil:dims=2d,periodic=false,neighbors=corners,allreduce=1", 16, 100, {}, ""},
      {"stencil:dims=3d,periodic=true,neighbors=edges", 27, 216, {}, ""},
      {"stencil:dims=3d,periodic=false", 27, 64, {}, ""},
      {"stencil:dims=3d,periodic=false", 64, 27, {}, ""},
      {"collective:kind=allreduce,size=4KB,iterations=3", 4, 100, {}, "the same on all ranks"},
      {"collective:kind=bcast,size=4KB,root=2", 4, 9, {}, "the same on all ranks"},
      {"bisection:size=1KB", 8, 16, {}, ""},
      {"shift:size=1KB", 4, 9, {}, "messages on a 4 ring, made a 9 ring"},
  };
  for (const Case& c : cases) {
    std::string pattern;
    INFO(c.workload << " from " << c.before << " to " << c.after);
    const Graph before = generated(c.workload, c.before);
    REQUIRE(grown(before, c.before) == before);
    std::string text(c.workload);
    const std::size_t old_dims = text.find("dims=[5]");
    if (old_dims != std::string::npos) text.replace(old_dims, 8, "dims=[" + std::to_string(c.after) + "]");
    REQUIRE(grown(before, c.after, c.dims, &pattern) == generated(text, c.after));
    if (c.pattern[0] != '\0') REQUIRE(pattern == c.pattern);
  }
}

TEST_CASE("the shape can be chosen") {
  const Graph before = generated("stencil:dims=[3,4],periodic=false", 12);
  REQUIRE(grown(before, 60, {5, 12}) == generated("stencil:dims=[5,12],periodic=false", 60));
  REQUIRE(grown(before, 60, {12, 5}) == generated("stencil:dims=[12,5],periodic=false", 60));
  REQUIRE(grown(before, 48) == generated("stencil:dims=[6,8],periodic=false", 48));  // as like as can be
  REQUIRE_THROWS_WITH(grown(before, 60, {60}), Catch::Contains("as many dimensions"));
  REQUIRE_THROWS_WITH(grown(before, 60, {6, 11}), Catch::Contains("can't be made"));
  REQUIRE_THROWS_WITH(grown(before, 13), Catch::Contains("13 ranks can't be laid out"));
}

TEST_CASE("compute times are those of a rank that lies alike") {
  const Graph line = program(5, [](GraphBuilder& builder, Rank r) {
    builder.add_calc(100 + r);
    if (r > 0) builder.add_recv(8, r - 1);
    if (r < 4) builder.add_send(8, r + 1);
  });
  const Graph longer = grown(line, 9);
  std::vector<std::uint64_t> times;
  for (Rank r = 0; r < 9; ++r) times.push_back(longer.rank(r).value(0));
  REQUIRE(times == std::vector<std::uint64_t>{100, 101, 102, 103, 101, 102, 103, 101, 104});
}

TEST_CASE("a grid in which no two ranks lie alike is a guess, and told") {
  std::vector<Anomaly> anomalies;
  extrapolate(generated("stencil:dims=[3],periodic=false", 3), {9, {}}, nullptr, &anomalies);
  REQUIRE(anomalies.size() == 1);
  REQUIRE(anomalies[0].name == "grid_unconfirmed");
  anomalies.clear();
  extrapolate(generated("stencil:dims=[4],periodic=false", 4), {9, {}}, nullptr, &anomalies);
  REQUIRE(anomalies.empty());
}

TEST_CASE("binomial trees become bcasts and reduces") {
  for (const bool lowest : {true, false}) {
    for (const Rank ranks : {3u, 5u, 8u, 13u}) {
      for (const Rank root : {0u, 2u}) {
        std::vector<Anomaly> anomalies;
        const Graph graph = tree(ranks, root, lowest, 3);
        REQUIRE(check(graph).clean());
        const Graph found = recognize_collectives(graph, &anomalies);
        INFO(ranks << " ranks, root " << root << ", lowest " << lowest);
        REQUIRE(anomalies.size() == 1);
        REQUIRE(anomalies[0].count == 3);
        REQUIRE(check(found).clean());
        for (Rank r = 0; r < ranks; ++r) {
          REQUIRE(found.rank(r).ops() == 7);  // calc, then three times bcast and calc
          const Collective& second = found.rank(r).collective(3);
          REQUIRE(second.kind == CollectiveKind::kBcast);
          REQUIRE(second.root == root);
          REQUIRE(second.bytes == 2000);
          for (OpIndex i = 0; i < 6; ++i) {
            REQUIRE(found.rank(r).dependents(i).size() == 1);
            REQUIRE(found.rank(r).dependents(i)[0] == Edge(i + 1, false));
          }
        }
        if (root == 0) REQUIRE(grown(graph, 40).rank(39).collective(1).bytes == 1000);
      }
    }
  }
}

TEST_CASE("every rank to every other is an alltoall") {
  const auto all = [](Rank ranks) {
    return program(ranks, [=](GraphBuilder& builder, Rank r) {
      for (Rank d = 1; d < ranks; ++d) builder.add_recv(64, (r + ranks - d) % ranks, 3);
      for (Rank d = 1; d < ranks; ++d) builder.add_send(64, (r + d) % ranks, 3);
    });
  };
  const Graph larger = grown(all(6), 50);
  REQUIRE(larger.ops() == 50);
  REQUIRE(larger.rank(7).collective(0) == Collective{.kind = CollectiveKind::kAlltoall, .bytes = 64});
  // A reduce: the tree the other way round.
  const Graph reduce = program(4, [](GraphBuilder& builder, Rank r) {
    if (r == 0) builder.add_recv(8, 1);
    if (r == 0) builder.add_recv(8, 2);
    if (r == 2) builder.add_recv(8, 3);
    if (r != 0) builder.add_send(8, r & (r - 1));
  });
  REQUIRE(recognize_collectives(reduce).rank(3).collective(0).kind == CollectiveKind::kReduce);
}

TEST_CASE("what is nearly a collective stays as it is") {
  const auto unchanged = [](const Graph& graph) { return recognize_collectives(graph) == graph; };
  const Graph sound = tree(5, 0, true, 1);
  REQUIRE_FALSE(unchanged(sound));
  const auto changed = [&](Rank rank, const std::function<void(Op&)>& change) {
    return program(5, [&](GraphBuilder& builder, Rank r) {
      for (OpIndex i = 0; i < sound.rank(r).ops(); ++i) {
        Op op = sound.rank(r).op(i);
        if (r == rank && op.kind == OpKind::kSend) change(op);
        builder.add(op);
      }
    });
  };
  REQUIRE(unchanged(changed(2, [](Op& op) { op.value = 9; })));
  REQUIRE(unchanged(changed(2, [](Op& op) { op.peer = 4; })));
  // A calc between the messages: what belongs together does not stand together.
  REQUIRE(unchanged(program(3, [](GraphBuilder& builder, Rank r) {
    if (r > 0) builder.add_recv(8, 0);
    if (r == 0) {
      builder.add_send(8, 1);
      builder.add_calc(3);
      builder.add_send(8, 2);
    }
  })));
}

TEST_CASE("programs that follow no rule are refused, with the reason") {
  REQUIRE_THROWS_WITH(grown(generated("random", 8), 16), Catch::Contains("which is more than 2 places away"));
  REQUIRE_THROWS_WITH(grown(generated("shift", 4), 1), Catch::Contains("at least 2 ranks"));
  const Graph rooted = generated("collective:kind=bcast,size=4KB,root=3", 4);
  REQUIRE_THROWS_WITH(grown(rooted, 3), Catch::Contains("rank 3, would be left out"));
}

TEST_CASE("grids: place and rank, offset and neighbour are each other's inverse") {
  const auto axis = [](bool ring) { return ring ? Axis::kRing : Axis::kLine; };
  for (const bool ring : {true, false}) {
    const RankGrid grid{{4, 3, 5}, {axis(ring), axis(!ring), axis(ring)}, {1, 1, 1}};
    for (Rank a = 0; a < 60; ++a) {
      REQUIRE(grid.rank(grid.place(a)) == a);
      int near = 0;
      for (Rank b = 0; b < 60; ++b) {
        RankGrid::Place offset{};
        if (!grid.offset(a, b, offset)) continue;
        ++near;
        REQUIRE(grid.neighbour(a, offset) == b);
      }
      if (grid.role(a) == 0) REQUIRE(near == 27);  // the inside: itself and all around
    }
  }
  REQUIRE(factorizations(12, 2) == std::vector<std::vector<std::uint32_t>>{{2, 6}, {3, 4}, {4, 3}, {6, 2}});
  REQUIRE(factorizations(8, 3).size() == 1);
  REQUIRE(factorizations(7, 2).empty());
}
