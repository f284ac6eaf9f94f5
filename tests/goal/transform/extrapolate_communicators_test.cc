// Programs on communicators that hold some of the ranks only.
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>

#include "goal/check/check.h"
#include "goal/transform/communicator_shapes.h"
#include "goal/transform/extrapolate.h"
#include "goal/transform/ideal_schedule.h"
#include "goal/workload/workload.h"
#include "sim/units/input_error.h"
#include "tests/goal/random_graph.h"

using namespace weft;
using namespace weft::goal;

namespace {

Graph generated(const std::string& text, Rank ranks) {
  const ModuleChoice choice = parse_module_choice(text);
  const Workload& workload = find_module(workloads(), choice, "traffic");
  return workload.generate(Parameters(workload.info, choice), ranks, 1);
}

// A grid of rows x columns on which a program is written as an MPI program is: by each rank's own
// coordinates. It is the program itself that says what there is to be on any other grid.
struct Layer {
  std::uint32_t rows, columns;
  Rank ranks() const { return rows * columns; }
  std::uint32_t row(Rank r) const { return r / columns; }
  std::uint32_t column(Rank r) const { return r % columns; }
};

class ProgramOnGrid {
 public:
  explicit ProgramOnGrid(Layer grid) : grid_(grid) {}
  // What MPI_Comm_split makes: a communicator for each colour, none where it is below 0.
  std::vector<std::uint32_t> split(const std::string& name, const std::function<int(Rank)>& colour) {
    std::vector<std::uint32_t> of_rank(grid_.ranks(), kAny);
    std::vector<int> colours;
    for (Rank r = 0; r < grid_.ranks(); ++r) {
      const int c = colour(r);
      if (c < 0 || std::find(colours.begin(), colours.end(), c) != colours.end()) continue;
      colours.push_back(c);
      Communicator made{name + " " + std::to_string(colours.size() - 1), {}};
      for (Rank other = 0; other < grid_.ranks(); ++other) {
        if (colour(other) == c) made.ranks.push_back(other);
      }
      const std::uint32_t number = builder.add_communicator(made);
      for (const Rank other : made.ranks) of_rank[other] = number;
    }
    return of_rank;
  }
  Graph finish(const std::function<void(Rank)>& work) {
    for (Rank r = 0; r < grid_.ranks(); ++r) {
      work(r);
      for (OpIndex i = 1; i < builder.ops_in_rank(); ++i) builder.add_edge(i - 1, i, false);
      builder.end_rank();
    }
    return builder.finish();
  }

  GraphBuilder builder;

 private:
  Layer grid_;
};

// Sums in rows, a bcast from the last but one... of each column, a ring of messages along each row on the
// row's own communicator, and an alltoall of all.
Graph rows_and_columns(Layer grid) {
  ProgramOnGrid program(grid);
  const auto rows = program.split("row", [&](Rank r) { return static_cast<int>(grid.row(r)); });
  const auto columns = program.split("column", [&](Rank r) { return static_cast<int>(grid.column(r)); });
  GraphBuilder& b = program.builder;
  return program.finish([&](Rank r) {
    b.add_calc(100);
    b.add_collective({.kind = CollectiveKind::kAllreduce, .comm = rows[r], .bytes = 8, .element_bytes = 8});
    const Rank right = grid.row(r) * grid.columns + (grid.column(r) + 1) % grid.columns;
    const Rank left = grid.row(r) * grid.columns + (grid.column(r) + grid.columns - 1) % grid.columns;
    b.add_send(1000, right, 3, 0, 0, rows[r]);
    b.add_recv(1000, left, 3, 0, 0, rows[r]);
    b.add_collective({.kind = CollectiveKind::kBcast, .comm = columns[r], .root = 1, .bytes = 64});
    b.add_collective({.kind = CollectiveKind::kAlltoall, .bytes = 16});
  });
}

// Pairs of a worker and its helper: workers pass messages down a line and sum, helpers store together.
Graph workers_and_helpers(Rank pairs) {
  const Layer grid{pairs, 2};
  ProgramOnGrid program(grid);
  const auto roles = program.split("role", [&](Rank r) { return static_cast<int>(r % 2); });
  GraphBuilder& b = program.builder;
  return program.finish([&](Rank r) {
    if (r % 2 == 0) {
      if (r > 0) b.add_recv(500, r - 2, 1, 0, 0, roles[r]);
      if (r + 2 < 2 * pairs) b.add_send(500, r + 2, 1, 0, 0, roles[r]);
      b.add_collective({.kind = CollectiveKind::kAllreduce, .comm = roles[r], .bytes = 8});
      b.add_send(7000, r + 1, 9);
    } else {
      b.add_recv(7000, r - 1, 9);
      b.add_collective({.kind = CollectiveKind::kGather, .comm = roles[r], .bytes = 7000});
    }
  });
}

// Halves: the ranks of the first compute and sum, those of the second sum otherwise; then half to half.
Graph halves(Rank ranks) {
  const Layer grid{2, ranks / 2};
  ProgramOnGrid program(grid);
  const auto half = program.split("half", [&](Rank r) { return static_cast<int>(grid.row(r)); });
  GraphBuilder& b = program.builder;
  return program.finish([&](Rank r) {
    const bool first = grid.row(r) == 0;
    b.add_collective({.kind = first ? CollectiveKind::kAllreduce : CollectiveKind::kAllgather,
                      .comm = half[r],
                      .bytes = 80});
    if (first) b.add_send(333, r + grid.columns);
    if (!first) b.add_recv(333, r - grid.columns);
  });
}

// What a rank's program does, with the members of communicators in the place of their numbers.
bool same_but_for_names(const Graph& a, const Graph& b) {
  if (a.ranks() != b.ranks() || a.ops() != b.ops() || a.edges() != b.edges()) return false;
  for (Rank r = 0; r < a.ranks(); ++r) {
    const RankView x = a.rank(r), y = b.rank(r);
    if (x.ops() != y.ops()) return false;
    for (OpIndex i = 0; i < x.ops(); ++i) {
      if (members(a, x.comm(i)) != members(b, y.comm(i))) return false;
      if (!std::ranges::equal(x.dependents(i), y.dependents(i))) return false;
      Op one = x.op(i), other = y.op(i);
      one.comm = other.comm = 0;
      if (one.kind == OpKind::kCollective) {
        Collective c = x.collective(i), d = y.collective(i);
        c.comm = d.comm = 0;
        if (!(c == d)) return false;
        one.peer = other.peer = 0;
      }
      if (one != other) return false;
    }
  }
  return true;
}

Graph grown(const Graph& graph, Rank ranks, std::vector<std::uint32_t> dims = {},
            std::string* pattern = nullptr, bool share = false) {
  return extrapolate(graph, {ranks, std::move(dims), share}, pattern);
}

void require_sound(const Graph& graph) {
  const Report report = check(graph);
  INFO((report.findings.empty() ? "" : report.findings[0].sentence));
  REQUIRE(report.clean());
  REQUIRE(ideal_schedule(graph).unfinished == 0);
}

}  // namespace

TEST_CASE("an FFT in pencils grows as its generator says, each rank's part staying as large") {
  // Twice the points in each dimension on eight times the ranks.
  const Graph before = generated("fft:points=64,dims=[2,4],iterations=2,compute=5us", 8);
  REQUIRE(grown(before, 8) == before);
  REQUIRE(grown(before, 64, {8, 8}, nullptr, true) ==
          generated("fft:points=128,dims=[8,8],iterations=2,compute=5us", 64));
  REQUIRE(grown(before, 64, {4, 16}, nullptr, true) ==
          generated("fft:points=128,dims=[4,16],iterations=2,compute=5us", 64));
}

TEST_CASE("rows and columns of a grid grow with it") {
  std::string pattern;
  const Graph before = rows_and_columns({3, 4});
  REQUIRE(grown(before, 12) == before);
  for (const Layer& after : {Layer{6, 8}, Layer{3, 16}, Layer{5, 3}, Layer{2, 5}}) {
    INFO(after.rows << " x " << after.columns);
    const Graph larger = grown(before, after.ranks(), {after.rows, after.columns}, &pattern);
    REQUIRE(same_but_for_names(larger, rows_and_columns(after)));
    require_sound(larger);
  }
  REQUIRE(same_but_for_names(grown(before, 48), rows_and_columns({6, 8})));
  // Any number of ranks is either made a grid on which the program runs to its end, or refused.
  int made = 0;
  for (Rank ranks = 2; ranks < 80; ++ranks) {
    try {
      require_sound(grown(before, ranks));
      ++made;
    } catch (const InputError& error) {
      REQUIRE_THAT(error.what(), Catch::Contains("can't be laid out like the program's"));
    }
  }
  REQUIRE(made > 40);
  // Six ranks are enough where nothing is sent, as here in columns of two.
  REQUIRE(same_but_for_names(grown(rows_and_columns({2, 3}), 64), rows_and_columns({8, 8})));
}

TEST_CASE("ranks of several kinds keep their proportion") {
  const Graph before = workers_and_helpers(4);
  REQUIRE(grown(before, 8) == before);
  std::string pattern;
  for (const Rank pairs : {3u, 9u, 50u}) {
    const Graph larger = grown(before, 2 * pairs, {}, &pattern);
    REQUIRE(same_but_for_names(larger, workers_and_helpers(pairs)));
    require_sound(larger);
  }
  REQUIRE(pattern == "messages on a 4x2(fixed) grid, made a 50x2(fixed) grid");
  REQUIRE_THROWS_WITH(grown(before, 9), Catch::Contains("next to it fit 8 (4x2) and 10 (5x2)"));
}

TEST_CASE("halves stay two, and grow") {
  const Graph before = halves(6);
  REQUIRE(grown(before, 6) == before);
  for (const Rank ranks : {4u, 14u, 100u}) {
    REQUIRE(same_but_for_names(grown(before, ranks), halves(ranks)));
    require_sound(grown(before, ranks));
  }
  REQUIRE_THROWS_WITH(grown(before, 64, {8, 8}), Catch::Contains("dimension 1 stays at 2"));
}

TEST_CASE(
    "blocks of neighbouring ranks, and ranks that are equal modulo a number, are a grid's rows and columns") {
  const auto program = [](Layer grid) {
    ProgramOnGrid made(grid);
    const auto node = made.split("node", [&](Rank r) { return static_cast<int>(r / grid.columns); });
    const auto leaders = made.split("leaders", [&](Rank r) { return r % grid.columns == 0 ? 0 : -1; });
    const auto self = made.split("self", [](Rank r) { return static_cast<int>(r); });
    // A duplicate of the world, and a split of a split: pairs within a node.
    const std::uint32_t world = made.builder.add_communicator({"duplicate", {}});
    return made.finish([&](Rank r) {
      made.builder.add_collective({.kind = CollectiveKind::kReduce, .comm = node[r], .bytes = 800});
      if (r % grid.columns == 0) {
        made.builder.add_collective({.kind = CollectiveKind::kAllreduce, .comm = leaders[r], .bytes = 800});
      }
      made.builder.add_collective({.kind = CollectiveKind::kBcast, .comm = node[r], .bytes = 800});
      made.builder.add_collective({.kind = CollectiveKind::kBarrier, .comm = self[r]});
      made.builder.add_collective({.kind = CollectiveKind::kBarrier, .comm = world});
    });
  };
  const Graph before = program({3, 4});
  REQUIRE(grown(before, 12) == before);
  std::string pattern;
  const Graph larger = grown(before, 40, {10, 4}, &pattern);
  REQUIRE(pattern == "collectives on a 3x4(rooted) grid, made a 10x4(rooted) grid");
  REQUIRE(same_but_for_names(larger, program({10, 4})));
  require_sound(larger);
  REQUIRE(same_but_for_names(grown(before, 30, {3, 10}), program({3, 10})));
}

TEST_CASE("blocks of unequal sizes are those of the ranks that lie alike, in turn") {
  // An allgatherv and an alltoallv in each row, a gatherv of which only the root knows all, and a ring of
  // messages whose length depends on the sender.
  const auto program = [](Layer grid, std::uint32_t period) {
    ProgramOnGrid made(grid);
    const auto rows = made.split("row", [&](Rank r) { return static_cast<int>(grid.row(r)); });
    const auto size = [&](Rank r) { return std::uint64_t{100} + 10 * (grid.column(r) % period); };
    return made.finish([&](Rank r) {
      Collective all{.kind = CollectiveKind::kAllgather, .comm = rows[r]};
      Collective exchange{.kind = CollectiveKind::kAlltoall, .comm = rows[r]};
      Collective gather{.kind = CollectiveKind::kGather, .comm = rows[r], .root = 1, .v_form = true};
      for (std::uint32_t c = 0; c < grid.columns; ++c) {
        const Rank other = grid.row(r) * grid.columns + c;
        all.counts.push_back(size(other));
        exchange.counts.push_back(size(r) + 3 * size(other));
        exchange.receive_counts.push_back(size(other) + 3 * size(r));
      }
      if (grid.column(r) == 1) gather.counts = all.counts;
      if (grid.column(r) != 1) gather.bytes = size(r);
      made.builder.add_collective(all);
      made.builder.add_collective(exchange);
      made.builder.add_collective(gather);
      const Rank row = grid.row(r) * grid.columns, column = grid.column(r);
      const Rank left = row + (column + grid.columns - 1) % grid.columns;
      made.builder.add_send(size(r), row + (column + 1) % grid.columns);
      made.builder.add_recv(size(left), left);
    });
  };
  const Graph before = program({2, 5}, 5);
  REQUIRE(grown(before, 10) == before);
  for (const Layer& after : {Layer{4, 10}, Layer{6, 15}, Layer{3, 7}}) {
    std::vector<Anomaly> anomalies;
    const Graph larger =
        extrapolate(before, {after.ranks(), {after.rows, after.columns}}, nullptr, &anomalies);
    require_sound(larger);
    REQUIRE(anomalies.size() >= 1);
    REQUIRE(anomalies[0].name == "sizes_varied");
    REQUIRE(same_but_for_names(larger, program(after, 5)));
  }
}

TEST_CASE("communicators in an order of their own keep it") {
  const auto program = [](std::uint32_t planes) {
    GraphBuilder builder;
    // Planes of 2 x 3, numbered by columns, and one of all ranks backward.
    std::vector<std::uint32_t> comms;
    for (std::uint32_t p = 0; p < planes; ++p) {
      Communicator plane{"plane " + std::to_string(p), {}};
      for (const Rank r : {0u, 3u, 1u, 4u, 2u, 5u}) plane.ranks.push_back(6 * p + r);
      comms.push_back(builder.add_communicator(plane));
    }
    Communicator backward{"backward", {}};
    for (Rank r = 6 * planes; r-- > 0;) backward.ranks.push_back(r);
    const std::uint32_t all = builder.add_communicator(backward);
    for (Rank r = 0; r < 6 * planes; ++r) {
      builder.add_collective({.kind = CollectiveKind::kAllgather, .comm = comms[r / 6], .bytes = 8});
      builder.add_collective({.kind = CollectiveKind::kScan, .comm = all, .bytes = 8});
      builder.end_rank();
    }
    return builder.finish();
  };
  REQUIRE(grown(program(3), 42, {7, 2, 3}) == program(7));
}

TEST_CASE("what can't be understood is refused with the reason") {
  const auto split = [](Rank ranks, const std::vector<int>& colours) {
    ProgramOnGrid made({1, ranks});
    const auto of = made.split("part", [&](Rank r) { return colours[r]; });
    return made.finish(
        [&](Rank r) { made.builder.add_collective({.kind = CollectiveKind::kBarrier, .comm = of[r]}); });
  };
  REQUIRE_THROWS_WITH(
      grown(split(7, {0, 1, 1, 0, 1, 0, 0}), 14),
      Catch::Contains("communicator 1 'part 0' of 4 ranks is no row, column, plane or block"));
  // A message that only rank 1 of the middle ones sends: with more in the middle, would rank 2?
  const auto odd = [] {
    GraphBuilder builder;
    for (Rank r = 0; r < 3; ++r) {
      if (r == 0) builder.add_send(8, 1);
      if (r == 1) builder.add_recv(8, 0);
      builder.end_rank();
    }
    return builder.finish();
  };
  REQUIRE_THROWS_WITH(grown(odd(), 9), Catch::Contains("a trace of more ranks could tell which is right"));
}

TEST_CASE("shapes: every member of a communicator says the same of it") {
  for (const Axis first : {Axis::kRing, Axis::kLine}) {
    const RankGrid grid{{3, 4, 2}, {first, Axis::kRing, Axis::kFixed}, {1, 1, 0}};
    GraphBuilder builder;
    for (const std::vector<Rank>& ranks : std::vector<std::vector<Rank>>{
             {0, 2, 4, 6}, {1, 3, 5, 7}, {8, 9, 10, 11, 12, 13, 14, 15}, {5, 13, 21}, {23}, {4, 5}}) {
      builder.add_communicator({"part", ranks});
    }
    for (Rank r = 0; r < 24; ++r) builder.end_rank();
    const Graph graph = builder.finish();
    const CommunicatorShapes shapes(graph, grid);
    REQUIRE(shapes.complete());
    for (std::uint32_t c = 0; c < graph.communicators().size(); ++c) {
      for (const Rank r : members(graph, c)) {
        REQUIRE(members(shapes.shape(shapes.number(c)), grid, r) == members(graph, c));
      }
    }
    REQUIRE(shapes.number(1) == shapes.number(2));  // rows of either helper
    REQUIRE(shapes.number(1) != shapes.number(3));
  }
}

namespace {

// A ring in which every third rank has one message more to send in the first of ten steps.
Graph ring_by_data(Rank ranks) {
  ProgramOnGrid made({1, ranks});
  GraphBuilder& b = made.builder;
  return made.finish([&](Rank r) {
    const Rank right = (r + 1) % ranks, left = (r + ranks - 1) % ranks;
    for (int step = 0; step < 10; ++step) {
      b.add_send(100, right);
      if (step == 0 && r % 3 == 0) b.add_send(7, right);
      b.add_send(200, right);
      b.add_recv(100, left);
      if (step == 0 && left % 3 == 0) b.add_recv(7, left);
      b.add_recv(200, left);
      b.add_collective({.kind = CollectiveKind::kAllreduce, .bytes = 8});
    }
  });
}

std::uint64_t count_of(const std::vector<Anomaly>& anomalies, const std::string& name) {
  for (const Anomaly& anomaly : anomalies) {
    if (anomaly.name == name) return anomaly.count;
  }
  return 0;
}

}  // namespace

TEST_CASE("messages that depend on data are those of ranks that lie alike, in turn") {
  const Graph before = ring_by_data(6);
  REQUIRE(grown(before, 6) == before);
  std::vector<Anomaly> anomalies;
  REQUIRE(same_but_for_names(extrapolate(before, {12}, nullptr, &anomalies), ring_by_data(12)));
  REQUIRE(count_of(anomalies, "messages_varied") > 0);
  REQUIRE(count_of(anomalies, "messages_left_out") == 0);
  // Where the turns do not come out even, ranks are neighbours that were not.
  anomalies.clear();
  const Graph uneven = extrapolate(before, {7}, nullptr, &anomalies);
  require_sound(uneven);
  std::uint64_t messages = 0, short_ones = 0;
  for (Rank r = 0; r < 7; ++r) {
    for (OpIndex i = 0; i < uneven.rank(r).ops(); ++i) {
      if (uneven.rank(r).kind(i) != OpKind::kSend) continue;
      ++messages;
      short_ones += uneven.rank(r).value(i) == 7 ? 1 : 0;
    }
  }
  // Senders of the short one: 0, 3, 6; but rank 6 sends it to rank 0, which does not expect it from one that
  // does as rank 5.
  REQUIRE(short_ones == 2);
  REQUIRE(messages == 7 * 20 + 2);
  REQUIRE(count_of(anomalies, "messages_left_out") == 1);
}

TEST_CASE("a message that goes around once goes around a longer ring too") {
  // The first sends before it receives, all others after it.
  const auto token = [](Rank ranks) {
    ProgramOnGrid made({1, ranks});
    return made.finish([&](Rank r) {
      const Rank right = (r + 1) % ranks, left = (r + ranks - 1) % ranks;
      if (r == 0) made.builder.add_send(8, right);
      made.builder.add_recv(8, left);
      if (r != 0) made.builder.add_send(8, right);
    });
  };
  REQUIRE(ideal_schedule(token(4)).unfinished == 0);
  std::string pattern;
  REQUIRE(grown(token(4), 9, {}, &pattern) == token(9));
  REQUIRE(pattern == "messages on a 4(rooted) line, made a 9(rooted) line");
}

TEST_CASE("ranks that would wait for each other for ever are refused") {
  // The last of six in a ring sends before it receives. The first three alone would all receive first.
  ProgramOnGrid made({1, 6});
  const Graph ring = made.finish([&](Rank r) {
    const Rank right = (r + 1) % 6, left = (r + 5) % 6;
    if (r == 5) made.builder.add_send(8, right);
    made.builder.add_recv(8, left);
    if (r != 5) made.builder.add_send(8, right);
  });
  REQUIRE(ideal_schedule(ring).unfinished == 0);
  REQUIRE_THROWS_WITH(grown(ring, 3), Catch::Contains("wait for each other for ever"));
  require_sound(grown(ring, 12));
}

TEST_CASE("any graph is refused, or extrapolated") {
  std::size_t refused = 0, made = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = random_graph(seed, {.collectives = seed % 2 == 0});
    for (const Rank ranks : {graph.ranks(), 2 * graph.ranks(), 3 * graph.ranks() + 1}) {
      try {
        const Graph larger = grown(graph, ranks);
        ++made;
        REQUIRE(larger.ranks() == ranks);
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  REQUIRE(refused > 0);
  REQUIRE(made > 0);
}

TEST_CASE("operations that name what is not there are refused") {
  GraphBuilder builder;
  const std::uint32_t part = builder.add_communicator({"part", {0, 1}});
  for (Rank r = 0; r < 3; ++r) {
    builder.add_collective({.kind = CollectiveKind::kBarrier, .comm = part});
    builder.end_rank();
  }
  REQUIRE_THROWS_WITH(grown(builder.finish(), 6),
                      Catch::Contains("operation 0 of rank 2 has a communicator that it is no member of"));
}
