// Programs of phases, and ranks in a grid.
#include "goal/workload/phases.h"

#include "goal/workload/grid.h"
#include "tests/goal/workload/traffic.h"

using namespace weft;
using namespace weft::goal;

namespace {

const ModuleInfo kModule{"pattern",
                         "For tests.",
                         "",
                         {iterations_parameter(),
                          compute_parameter(),
                          dims_parameter("2d"),
                          {"list", ParameterType::kText, "1", "L."}}};

Parameters given(const std::map<std::string, std::string>& values) { return Parameters(kModule, values); }

// What the last of these calls throws; "" if nothing.
template <typename Function>
std::string message(const Function& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::uint32_t> dims(const std::string& text, std::uint32_t ranks) {
  return grid_of(given({{"dims", text}}), ranks, 1, 6).dims;
}

}  // namespace

TEST_CASE("a phase waits for one or two operations directly, for more of them through an empty calc") {
  const Parameters parameters = given({});
  const Graph graph = phased_graph(parameters, 2, [](Rank r, Phases& phases) {
    if (r == 1) return;
    phases.then();  // nothing to wait for
    phases.recv(1, 1);
    phases.send(2, 1);
    phases.then();
    phases.then();  // an empty phase changes nothing
    phases.send(3, 1);
    phases.send(4, 1);
    phases.send(5, 1);
    phases.then();
    phases.send(6, 1);
    phases.then(700);
    phases.then(800);
    phases.send(7, 1, 9);
    phases.send(8, 1);
    phases.send(9, 1);
    phases.then();  // nothing follows
  });
  GraphBuilder expected;
  const OpIndex first[] = {expected.add_recv(1, 1), expected.add_send(2, 1)};
  OpIndex second[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    second[i] = expected.add_send(3 + i, 1);
    for (const OpIndex op : first) expected.add_edge(op, second[i]);
  }
  const OpIndex gathered = expected.add_calc(0);
  for (const OpIndex op : second) expected.add_edge(op, gathered);
  const OpIndex third = expected.add_send(6, 1);
  expected.add_edge(gathered, third);
  const OpIndex compute = expected.add_calc(700);
  expected.add_edge(third, compute);
  const OpIndex more = expected.add_calc(800);
  expected.add_edge(compute, more);
  for (std::uint32_t i = 0; i < 3; ++i) expected.add_edge(more, expected.add_send(7 + i, 1, i == 0 ? 9 : 0));
  expected.end_rank();
  expected.end_rank();
  CHECK(graph == expected.finish());
}

TEST_CASE("counting gives the operations and dependencies of the graph that is built") {
  const auto program = [](Rank r, Phases& phases) {
    for (Rank i = 0; i < r; ++i) {
      const OpIndex one = phases.send(8, i);
      phases.edge(one, phases.recv(8, kAny));
      phases.collective({.kind = CollectiveKind::kBarrier});
      phases.then(i % 3);
    }
  };
  const Parameters parameters = given({});
  Phases counted(parameters);
  for (Rank r = 0; r < 9; ++r) {
    program(r, counted);
    counted.end_rank();
  }
  const Graph graph = phased_graph(parameters, 9, program);
  CHECK(counted.ops() == graph.ops());
  CHECK(counted.edges() == graph.edges());
  // Rank r: r rounds of 3 operations and one join, but not behind the last round if it computes nothing.
  CHECK(graph.rank(4).ops() == 4 * 3 + 3 + 0);
  CHECK(graph.rank(3).ops() == 3 * 3 + 3);
}

TEST_CASE("iterations and compute: limits") {
  CHECK(repetition(given({{"compute", "1.5us"}, {"iterations", "7"}})).compute_ns == 1500);
  CHECK(repetition(given({{"iterations", "7"}})).iterations == 7);
  for (const char* bad : {"1500ps", "-1ns"}) {
    INFO(bad);
    CHECK(message([&] { repetition(given({{"compute", bad}})); }) != "");
  }
  CHECK(message([] {
          repetition(given({{"iterations", "0"}}));
        }) == "pattern: iterations is '0', but it must be from 1 to 2147483647");
}

TEST_CASE("a graph larger than any memory is refused before it is built") {
  // 2 operations a rank and iteration: 2^32 - 2 of one rank.
  CHECK(refusal("shift:iterations=2147483647", 2)
            .find("at most 2147483647 in a rank and 10000000000 in all, of 32 bytes each") !=
        std::string::npos);
}

TEST_CASE("grids: as equal as the divisors allow, the largest first") {
  CHECK(dims("3d", 128) == std::vector<std::uint32_t>{8, 4, 4});
  CHECK(dims("3d", 64) == std::vector<std::uint32_t>{4, 4, 4});
  CHECK(dims("2d", 72) == std::vector<std::uint32_t>{9, 8});
  CHECK(dims("2d", 13) == std::vector<std::uint32_t>{13, 1});
  CHECK(dims("4d", 1) == std::vector<std::uint32_t>{1, 1, 1, 1});
  CHECK(dims("1d", 30) == std::vector<std::uint32_t>{30});
  CHECK(dims("[2,3,5]", 30) == std::vector<std::uint32_t>{2, 3, 5});
  CHECK(balanced_grid(4294967291u, 2).dims == std::vector<std::uint32_t>{4294967291u, 1});  // a prime
  for (std::uint32_t n = 1; n <= 200; ++n) {
    // The best of two dimensions, by trying all.
    std::uint32_t best = n;
    for (std::uint32_t a = 1; a <= n; ++a) {
      if (n % a == 0) best = std::min(best, std::max(a, n / a));
    }
    CHECK(balanced_grid(n, 2).dims[0] == best);
  }
}

TEST_CASE("grids that can't be, with one that can") {
  const auto refused = [](const std::string& text) { return message([&] { dims(text, 32); }); };
  CHECK(refused("[4,4]") ==
        "pattern: dims is '[4,4]', but the dimensions must multiply to the number of ranks, 32: [8,4] would "
        "do");
  CHECK(refused("7d") == "pattern: dims is '7d', but it must have 1 to 6 dimensions");
  CHECK(refused("0d").find("1 to 6") != std::string::npos);
  CHECK(refused("[2,2,2,2,2,1,1]").find("1 to 6") != std::string::npos);
  CHECK(refused("[65536,65536,65536,65536]").find("[4,2,2,2] would do") != std::string::npos);
  for (const char* bad : {"", "4,8", "d", "3dd", "3 d", "[]", "[4,", "[4,8", "[,32]", "[0,32]", "[-4,-8]",
                          "[4 ,8]", "[[4,8]]", "[4,8x]", "[4294967296]", "cube"}) {
    INFO(bad);
    CHECK(refused(bad) != "");
  }
  CHECK(message([] {
          grid_of(given({{"dims", "3d"}}), 8, 2, 2);
        }) == "pattern: dims is '3d', but it must have 2 dimensions");
}

TEST_CASE("grids: coordinates, ranks and neighbours") {
  const Grid grid{{2, 3, 4}};
  for (Rank r = 0; r < 24; ++r) {
    const std::vector<std::uint32_t> at = grid.coordinates(r);
    CHECK(at == std::vector<std::uint32_t>{r / 12, r / 4 % 3, r % 4});
    CHECK(grid.rank(at) == r);
  }
  const std::vector<std::uint32_t> corner = {1, 2, 3};
  const auto neighbor = [&](std::vector<int> offset, bool periodic) {
    return grid.neighbor(corner, offset, periodic);
  };
  CHECK(neighbor({0, 0, -1}, false) == std::optional<Rank>(22));
  CHECK(neighbor({-1, -1, -1}, false) == std::optional<Rank>(6));
  CHECK(neighbor({0, 0, 1}, false) == std::nullopt);
  CHECK(neighbor({0, 0, 1}, true) == std::optional<Rank>(20));
  CHECK(neighbor({1, 1, 1}, true) == std::optional<Rank>(0));
}

TEST_CASE("lists: one value or several in brackets") {
  const auto list = [](const std::string& text) { return numbers_of(given({{"list", text}}), "list"); };
  CHECK(list("5") == std::vector<std::uint32_t>{5});
  CHECK(list("[5,6]") == std::vector<std::uint32_t>{5, 6});
  CHECK(message([&] { list("[5,x]"); }) ==
        "pattern: list is '[5,x]', but 'x' must be a whole number, 1 or more");
  CHECK(message([&] { list("[5,]"); }) ==
        "pattern: list is '[5,]', but it must be one value, or a list like [a,b,c]");
}
