// Contiguous sub-meshes and virtual ones, against exhaustive searches.
#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "sim/placement/policies/board_search.h"
#include "sim/placement/policies/box_search.h"
#include "sim/placement/policies/policies.h"
#include "sim/units/input_error.h"
#include "sim/units/random.h"
#include "topologies/families.h"

namespace weft::placement {
namespace {

using List = std::vector<std::uint32_t>;

// Every list of numbers that each are below the bound at their place.
std::vector<List> all_lists(const List& bounds) {
  std::vector<List> lists = {{}};
  for (const std::uint32_t bound : bounds) {
    std::vector<List> longer;
    for (const List& list : lists) {
      for (std::uint32_t i = 0; i < bound; ++i) {
        longer.push_back(list);
        longer.back().push_back(i);
      }
    }
    lists = std::move(longer);
  }
  return lists;
}

List coordinates_of(std::uint32_t point, const List& size) {
  List at(size.size());
  for (std::size_t d = size.size(); d-- > 0;) {
    at[d] = point % size[d];
    point /= size[d];
  }
  return at;
}

bool inside(const GridShape& grid, const Box& box, const List& at) {
  for (std::size_t d = 0; d < at.size(); ++d) {
    const std::uint32_t from = (at[d] + grid.size[d] - box.first[d]) % grid.size[d];
    if (from >= box.size[d]) return false;
  }
  return true;
}

bool all_free(const GridShape& grid, const Box& box, const std::vector<std::uint8_t>& free) {
  for (std::uint32_t p = 0; p < free.size(); ++p) {
    if (free[p] == 0 && inside(grid, box, coordinates_of(p, grid.size))) return false;
  }
  return true;
}

// By trying every size at every place.
std::optional<Box> naive_box(const GridShape& grid, const std::vector<std::uint8_t>& free,
                             std::uint64_t least, std::uint64_t most) {
  std::optional<Box> best;
  std::tuple<std::uint64_t, std::uint64_t, List, List> best_key;
  for (const List& less : all_lists(grid.size)) {
    Box box;
    std::uint64_t sides = 0;
    for (const std::uint32_t side : less) {
      box.size.push_back(side + 1);
      sides += side + 1;
    }
    if (box.volume() < least || box.volume() > most) continue;
    for (const List& first : all_lists(grid.size)) {
      box.first = first;
      bool fits = true;
      for (std::size_t d = 0; d < first.size(); ++d)
        fits &= grid.wraps[d] || first[d] + box.size[d] <= grid.size[d];
      const auto key = std::tuple(box.volume(), sides, box.size, first);
      if (!fits || (best && key >= best_key) || !all_free(grid, box, free)) continue;
      best = box;
      best_key = key;
    }
  }
  return best;
}

std::vector<std::uint8_t> draw_free(std::uint32_t points, RandomStream& draw) {
  const std::uint64_t density = 1 + draw.below(9);
  std::vector<std::uint8_t> free(points);
  for (std::uint8_t& each : free) each = draw.below(10) < density ? 1 : 0;
  return free;
}

bool naive_boards(std::uint32_t x, std::uint32_t y, const std::vector<std::uint8_t>& free, int columns,
                  int rows) {
  for (std::uint32_t u = 0; u < 1U << x; ++u) {
    if (__builtin_popcount(u) != columns) continue;
    int common = 0;
    for (std::uint32_t v = 0; v < y; ++v) {
      bool whole = true;
      for (std::uint32_t c = 0; c < x; ++c) whole &= (u >> c & 1) == 0 || free[c * y + v] != 0;
      common += whole;
    }
    if (common >= rows) return true;
  }
  return false;
}

struct Placed {
  topologies::Topology topology;
  Outcome outcome;
};

Placed place_on(const char* network, const char* choice, std::uint32_t ranks,
                const std::set<std::uint32_t>& taken, HostState state = HostState::kTaken) {
  topologies::Topology topology = topologies::build(parse_module_choice(network));
  Machine machine = idle_machine(topology);
  for (const std::uint32_t h : taken) machine.state[h] = state;
  Outcome outcome = place(parse_module_choice(choice), {.ranks = ranks}, machine);
  return {std::move(topology), std::move(outcome)};
}

}  // namespace

TEST_CASE("boxes: as an exhaustive search finds them") {
  int found = 0, none = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    RandomStream draw(seed, 1);
    GridShape grid;
    const std::uint64_t dimensions = 1 + draw.below(3);
    for (std::uint64_t d = 0; d < dimensions; ++d) {
      grid.size.push_back(static_cast<std::uint32_t>(1 + draw.below(dimensions == 1 ? 12 : 4)));
      grid.wraps.push_back(draw.below(2) == 1);
    }
    const std::vector<std::uint8_t> free = draw_free(grid.points(), draw);
    const std::uint64_t least = 1 + draw.below(grid.points()), most = least + draw.below(least + 1);
    std::uint64_t steps = 1'000'000;
    const auto box = find_box(grid, free, {least, most}, steps);
    const auto expected = naive_box(grid, free, least, most);
    INFO("seed " << seed);
    REQUIRE(box.has_value() == expected.has_value());
    box ? ++found : ++none;
    if (!box) continue;
    CHECK(box->size == expected->size);
    CHECK(box->first == expected->first);
    // Its points are those inside it, each once.
    List natural(grid.size.size());
    for (std::uint32_t d = 0; d < natural.size(); ++d) natural[d] = d;
    const List points = points_of(grid, *box, natural);
    CHECK(std::set<std::uint32_t>(points.begin(), points.end()).size() == box->volume());
    for (const std::uint32_t p : points) CHECK(inside(grid, *box, coordinates_of(p, grid.size)));
  }
  CHECK(found > 300);
  CHECK(none > 300);
}

TEST_CASE("boxes: a size that is asked for, and an end to long searches") {
  const GridShape grid{{4, 6}, {false, true}};
  std::vector<std::uint8_t> free(24, 1);
  std::uint64_t steps = 100'000;
  const auto box = find_box(grid, free, {6, 6, List{3, 2}}, steps);
  REQUIRE(box);
  CHECK(box->size == List{3, 2});
  CHECK(steps < 100'000);
  CHECK_FALSE(find_box(grid, free, {10, 10, List{5, 2}}, steps));
  std::uint64_t few = 30;
  CHECK_FALSE(find_box(grid, free, {24, 24}, few));
  CHECK(few == 0);
}

TEST_CASE("boards: rows and columns wherever an exhaustive search finds some") {
  int found = 0, none = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    RandomStream draw(seed, 2);
    const auto x = static_cast<std::uint32_t>(1 + draw.below(6)),
               y = static_cast<std::uint32_t>(1 + draw.below(6));
    const std::vector<std::uint8_t> free = draw_free(x * y, draw);
    const auto columns = static_cast<std::uint32_t>(1 + draw.below(x));
    const auto rows = static_cast<std::uint32_t>(1 + draw.below(y));
    std::uint64_t steps = 1'000'000;
    const auto set = find_boards(x, y, free, columns, rows, steps);
    INFO("seed " << seed);
    REQUIRE(set.has_value() == naive_boards(x, y, free, static_cast<int>(columns), static_cast<int>(rows)));
    set ? ++found : ++none;
    if (!set) continue;
    CHECK(std::set<std::uint32_t>(set->columns.begin(), set->columns.end()).size() == columns);
    CHECK(std::set<std::uint32_t>(set->rows.begin(), set->rows.end()).size() == rows);
    for (const std::uint32_t u : set->columns) {
      for (const std::uint32_t v : set->rows) CHECK(free[u * y + v] == 1);
    }
  }
  CHECK(found > 300);
  CHECK(none > 300);
  std::uint64_t few = 5;
  CHECK_FALSE(find_boards(8, 8, std::vector<std::uint8_t>(64, 1), 4, 4, few));
  CHECK(few == 0);
}

TEST_CASE("submesh: a box of a torus, over its end where it must be, but not of a mesh") {
  // The middle two of 6 columns are taken: the other four are next to each other over the end.
  const std::set<std::uint32_t> middle = {2, 3, 8, 9, 14, 15};
  const Placed torus = place_on("torus:dims=3x6", "submesh:spare=0", 12, middle);
  CHECK(torus.outcome.hosts == List{4, 5, 0, 1, 10, 11, 6, 7, 16, 17, 12, 13});
  CHECK_THROWS_AS(place_on("mesh:dims=3x6", "submesh:spare=0", 12, middle, HostState::kFailed), InputError);
  CHECK(place_on("mesh:dims=3x6", "submesh:spare=0", 12, middle).outcome.no_room ==
        "no sub-mesh of 12 hosts is free");
  CHECK(place_on("mesh:dims=3x6", "submesh", 6, middle).outcome.hosts == List{0, 1, 6, 7, 12, 13});
}

TEST_CASE("submesh: shapes may be turned, and ranks go along them") {
  // A shape of 2x3 in a grid of 3x2 stands on its side: rank 1 is a step along the job's second dimension.
  const Placed turned = place_on("mesh:dims=3x2", "submesh:shape=2x3", 6, {});
  CHECK(turned.outcome.hosts == List{0, 2, 4, 1, 3, 5});
  CHECK(place_on("mesh:dims=3x2", "submesh:shape=3x2", 6, {}).outcome.hosts == List{0, 1, 2, 3, 4, 5});
  CHECK_THROWS_WITH(place_on("mesh:dims=3x2", "submesh:shape=1x5", 6, {}),
                    Catch::Contains("6 hosts take 6 points"));
  CHECK_THROWS_WITH(place_on("mesh:dims=3x2", "submesh:shape=2x2x2", 6, {}), Catch::Contains("2 dimensions"));
  CHECK_THROWS_WITH(place_on("mesh:dims=3x2", "submesh:shape=2xy", 6, {}), Catch::Contains("sides like"));
  CHECK_THROWS_WITH(place_on("mesh:dims=3x3", "submesh:spare=0", 5, {}),
                    Catch::Contains("no sub-mesh for 5 hosts even if no other job is there"));
}

TEST_CASE("submesh: routers with several hosts are used whole") {
  const Placed placed = place_on("torus:dims=4x4,hosts=2", "submesh:shape=2x2", 7, {0});
  CHECK(placed.outcome.hosts ==
        List{2, 3, 4, 5, 10, 11, 12});  // routers 1, 2, 5, 6: router 0 is not all free
}

TEST_CASE("submesh: a virtual sub-mesh of boards has the paper's form") {
  // 4x4 boards of 2x2. Failed are boards (0,0), (1,1), (2,2), (3,3): no 2x3 boards are next to each other.
  std::set<std::uint32_t> failed;
  for (std::uint32_t u = 0; u < 4; ++u) failed.insert((u * 4 + u) * 4 + 1);
  const Placed placed = place_on("hammingmesh:a=2,b=2,x=4,y=4", "submesh:shape=2x2,spare=0", 16, failed);
  REQUIRE(placed.outcome.hosts.size() == 16);
  std::set<std::uint32_t> boards, columns, rows;
  for (const std::uint32_t h : placed.outcome.hosts) {
    boards.insert(h / 4);
    columns.insert(h / 16);
    rows.insert(h / 4 % 4);
  }
  CHECK(columns == std::set<std::uint32_t>{0, 1});
  CHECK(rows == std::set<std::uint32_t>{2, 3});
  CHECK(boards.size() == columns.size() * rows.size());
  // Ranks go row by row over the accelerators of all boards: 4 in a row, on two boards.
  CHECK(List(placed.outcome.hosts.begin(), placed.outcome.hosts.begin() + 4) == List{8, 9, 12, 13});
  // Columns 0 and 2 with rows 1 and 3 cross in free boards, though none of them are next to each other.
  for (const std::uint32_t board :
       {1U * 4 + 2, 1U * 4 + 3, 2U * 4 + 0, 0U * 4 + 2, 3U * 4 + 0, 3U * 4 + 1, 3U * 4 + 2})
    failed.insert(board * 4);
  const Placed apart = place_on("hammingmesh:a=2,b=2,x=4,y=4", "submesh:shape=2x2", 16, failed);
  REQUIRE(apart.outcome.hosts.size() == 16);
  std::set<std::uint32_t> used;
  for (const std::uint32_t h : apart.outcome.hosts) used.insert(h / 4);
  CHECK(used == std::set<std::uint32_t>{1, 3, 9, 11});
  CHECK(place_on("hammingmesh:a=2,b=2,x=4,y=4", "submesh:shape=2x2,virtual=false", 16, failed)
            .outcome.no_room == "no sub-mesh of 16 hosts is free");
}

TEST_CASE("submesh: refused where hosts have no coordinates") {
  CHECK_THROWS_WITH(place_on("dragonfly:p=2", "submesh", 4, {}),
                    Catch::Contains("its hosts have no coordinates"));
}

}  // namespace weft::placement
