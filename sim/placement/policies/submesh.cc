#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>

#include "sim/placement/policies/board_search.h"
#include "sim/placement/policies/box_search.h"
#include "sim/placement/policies/built_in.h"
#include "sim/placement/policies/nodes.h"
#include "sim/units/brackets.h"
#include "sim/units/input_error.h"

namespace weft::placement {
namespace {

using topologies::BoardGrid;
using topologies::Topology;
using topologies::Vertex;
using List = std::vector<std::uint32_t>;

// Where searches end, so that none goes on for minutes: points looked at, and sets of rows intersected.
constexpr std::uint64_t kBoxSteps = std::uint64_t{1} << 34;
constexpr std::uint64_t kBoardSteps = std::uint64_t{1} << 22;
constexpr std::uint32_t kMostSpare = 10'000;  // percent

// The hosts of each switch of a grid; empty: not the same number of each.
std::vector<List> hosts_of_points(const Topology& topology) {
  std::vector<List> hosts(topology.switches());
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    const Vertex at = topology.channels()[topology.out_channels(topology.host(h))[0]].to;
    hosts[topology.node(at).index].push_back(h);
  }
  for (const List& each : hosts) {
    if (each.empty() || each.size() != hosts[0].size()) return {};
  }
  return hosts;
}

// A line is a ring where its last point is linked to its first. All lines of a dimension are linked alike.
GridShape grid_of(const Topology& topology) {
  GridShape grid{topology.grid(), {}};
  std::uint32_t stride = topology.switches();
  for (const std::uint32_t size : grid.size) {
    stride /= size;
    bool ring = false;
    for (const std::uint32_t c : topology.out_channels(topology.switch_at(0))) {
      const Vertex to = topology.channels()[c].to;
      ring |= size > 2 && to == topology.switch_at((size - 1) * stride);
    }
    grid.wraps.push_back(ring);
  }
  return grid;
}

// A job's needs in points of a grid: routers or boards.
struct Needs {
  std::uint64_t least = 1, most = 1;
  List shape;  // as given; empty: any

  bool fits(std::uint64_t volume) const { return volume >= least && volume <= most; }
};

List read_shape(const Parameters& parameters, std::size_t dimensions) {
  const std::string& text = parameters.text("shape");
  List shape;
  if (text == "auto") return shape;
  for (const std::string_view part : split_outside_brackets(text, 'x')) {
    std::uint32_t side = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), side);
    if (error != std::errc() || end != part.data() + part.size() || side == 0) {
      parameters.fail("shape", "it must be auto, or sides like 4x4x2");
    }
    shape.push_back(side);
  }
  if (shape.size() > dimensions)
    parameters.fail("shape", fmt::format("the network has {} dimensions", dimensions));
  shape.resize(dimensions, 1);
  return shape;
}

Needs read_needs(const Setup& setup, std::size_t dimensions, std::size_t hosts_a_point) {
  Needs needs;
  needs.least = (setup.request.nodes() - 1) / hosts_a_point + 1;
  const std::int64_t spare = setup.parameters.integer("spare");
  needs.most = needs.least + needs.least * static_cast<std::uint64_t>(spare) / 100;
  needs.shape = read_shape(setup.parameters, dimensions);
  if (needs.shape.empty()) return needs;
  std::uint64_t volume = 1;
  for (const std::uint32_t side : needs.shape) volume = std::min<std::uint64_t>(volume * side, UINT32_MAX);
  if (volume < needs.least) {
    setup.parameters.fail("shape",
                          fmt::format("{} hosts take {} points", setup.request.nodes(), needs.least));
  }
  needs.least = needs.most = volume;
  return needs;
}

// Calls use(sizes, order) for each way to turn a shape, until that is true; order: which dimension of the
// grid each of the shape's is.
bool each_turn(const List& shape, const std::function<bool(const List&, const List&)>& use) {
  List order(shape.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<List> seen;
  do {
    List sizes(shape.size());
    for (std::size_t k = 0; k < shape.size(); ++k) sizes[order[k]] = shape[k];
    if (std::find(seen.begin(), seen.end(), sizes) != seen.end()) continue;
    seen.push_back(sizes);
    if (use(sizes, order)) return true;
  } while (shape.size() <= 6 && std::next_permutation(order.begin(), order.end()));
  return false;
}

// What is left of a search's steps, and whether any part of it ended for want of them.
struct Search {
  std::uint64_t steps = 0;
  bool gave_up = false;
};

// A box, and which dimension of the grid each of the job's is.
struct TurnedBox {
  Box box;
  List order;
};

std::optional<TurnedBox> find_turned(const GridShape& grid, const std::vector<std::uint8_t>& free,
                                     const Needs& needs, Search& search) {
  std::optional<TurnedBox> found;
  const auto attempt = [&](const std::optional<List>& sizes, const List& order) {
    auto box = find_box(grid, free, {needs.least, needs.most, sizes}, search.steps);
    search.gave_up |= search.steps == 0;
    if (box) found = TurnedBox{std::move(*box), order};
    return found.has_value();
  };
  if (needs.shape.empty()) {
    List natural(grid.size.size());
    std::iota(natural.begin(), natural.end(), 0U);
    attempt(std::nullopt, natural);
  } else {
    each_turn(needs.shape, attempt);
  }
  return found;
}

// Boards (u·y + v) of a virtual sub-mesh, by its columns, or by its rows if it was turned.
struct Boards {
  BoardSet set;
  bool turned = false;
};

std::optional<Boards> find_virtual(const BoardGrid& grid, const std::vector<std::uint8_t>& free,
                                   const Needs& needs, Search& search) {
  const auto attempt = [&](std::uint32_t columns, std::uint32_t rows) {
    // Each size has its share, so that one hard case leaves the others theirs.
    std::uint64_t share = std::min(search.steps, kBoardSteps / 16);
    search.steps -= share;
    auto set = find_boards(grid.x, grid.y, free, columns, rows, share);
    search.steps += share;
    search.gave_up |= share == 0;
    return set;
  };
  if (!needs.shape.empty()) {
    std::optional<Boards> found;
    each_turn(needs.shape, [&](const List& sizes, const List& order) {
      auto set = attempt(sizes[0], sizes[1]);
      if (set) found = Boards{std::move(*set), order[0] == 1};
      return found.has_value();
    });
    return found;
  }
  // As boxes: the fewest boards, then the most square.
  std::vector<std::pair<std::uint64_t, List>> sizes;
  for (std::uint32_t u = 1; u <= grid.x; ++u) {
    for (std::uint32_t v = 1; v <= grid.y; ++v) {
      if (needs.fits(std::uint64_t{u} * v)) sizes.push_back({std::uint64_t{u} * v, {u + v, u, v}});
    }
  }
  std::sort(sizes.begin(), sizes.end());
  for (const auto& [volume, size] : sizes) {
    auto set = attempt(size[1], size[2]);
    if (set) return Boards{std::move(*set), false};
  }
  return std::nullopt;
}

// Accelerators of the boards, row by row over the whole sub-mesh; the first dimension is the slower one
// unless the shape was turned.
List accelerators_of(const BoardGrid& grid, const Boards& boards) {
  const auto lines = [](const List& numbers, std::uint32_t each) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
    for (const std::uint32_t n : numbers) {
      for (std::uint32_t i = 0; i < each; ++i) list.emplace_back(n, i);
    }
    return list;
  };
  const auto first = lines(boards.set.columns, grid.a), second = lines(boards.set.rows, grid.b);
  const auto number = [&](const auto& one, const auto& two) {
    return ((one.first * grid.y + two.first) * grid.a + one.second) * grid.b + two.second;
  };
  List hosts;
  if (boards.turned) {
    for (const auto& two : second) {
      for (const auto& one : first) hosts.push_back(number(one, two));
    }
  } else {
    for (const auto& one : first) {
      for (const auto& two : second) hosts.push_back(number(one, two));
    }
  }
  return hosts;
}

List grid_hosts(const Setup& setup, const std::function<bool(std::uint32_t)>& usable, Search& search) {
  const GridShape grid = grid_of(setup.machine.topology);
  const std::vector<List> hosts = hosts_of_points(setup.machine.topology);
  std::vector<std::uint8_t> free;
  for (const List& each : hosts) free.push_back(std::all_of(each.begin(), each.end(), usable));
  const auto found = find_turned(grid, free, read_needs(setup, grid.size.size(), hosts[0].size()), search);
  List result;
  if (!found) return result;
  for (const std::uint32_t point : points_of(grid, found->box, found->order)) {
    result.insert(result.end(), hosts[point].begin(), hosts[point].end());
  }
  return result;
}

List board_hosts(const Setup& setup, const std::function<bool(std::uint32_t)>& usable, Search& search) {
  const BoardGrid& boards = setup.machine.topology.boards();
  const std::uint32_t each = boards.a * boards.b;
  std::vector<std::uint8_t> free(std::size_t{boards.x} * boards.y, 1);
  for (std::uint32_t h = 0; h < setup.machine.topology.hosts(); ++h) free[h / each] &= usable(h) ? 1 : 0;
  const Needs needs = read_needs(setup, 2, each);
  if (setup.parameters.boolean("virtual")) {
    const auto found = find_virtual(boards, free, needs, search);
    return found ? accelerators_of(boards, *found) : List();
  }
  const auto found = find_turned({{boards.x, boards.y}, {false, false}}, free, needs, search);
  if (!found) return {};
  Boards set{{}, found->order[0] == 1};
  for (std::uint32_t u = 0; u < found->box.size[0]; ++u) set.set.columns.push_back(found->box.first[0] + u);
  for (std::uint32_t v = 0; v < found->box.size[1]; ++v) set.set.rows.push_back(found->box.first[1] + v);
  return accelerators_of(boards, set);
}

// Hosts of a sub-mesh among those that `usable` allows; empty: none found.
List find_hosts(const Setup& setup, const std::function<bool(std::uint32_t)>& usable, bool& gave_up) {
  const bool boards = !setup.machine.topology.boards().empty();
  Search search{.steps = boards ? kBoardSteps : kBoxSteps};
  List hosts = boards ? board_hosts(setup, usable, search) : grid_hosts(setup, usable, search);
  gave_up = search.gave_up;
  return hosts;
}

Outcome place_in_submesh(const Setup& setup) {
  const Machine& machine = setup.machine;
  const std::uint32_t needed = setup.request.nodes();
  bool gave_up = false;
  List hosts = find_hosts(
      setup, [&](std::uint32_t h) { return machine.is_free(h); }, gave_up);
  if (!hosts.empty()) {
    hosts.resize(needed);
    return deal_ranks(setup, hosts);
  }
  if (free_hosts(machine) < needed) return too_few(needed, free_hosts(machine));
  const auto sound = [&](std::uint32_t h) { return machine.state[h] != HostState::kFailed; };
  if (!gave_up && find_hosts(setup, sound, gave_up).empty() && !gave_up) {
    throw InputError(fmt::format(
        "submesh: {} has no sub-mesh for {} hosts even if no other job is there; allow more spare "
        "points (spare=…), or another shape",
        machine.topology.name(), needed));
  }
  if (gave_up)
    return {{}, fmt::format("no free sub-mesh of {} hosts was found in the steps it may take", needed)};
  return {{}, fmt::format("no sub-mesh of {} hosts is free", needed)};
}

std::string submesh_refusal(const Parameters&, const Topology& topology) {
  if (!topology.boards().empty()) return "";
  if (topology.grid().empty()) return "its hosts have no coordinates";
  return hosts_of_points(topology).empty() ? "not all of its routers have as many hosts" : "";
}

}  // namespace

Policy submesh() {
  return {
      .info =
          {.name = "submesh",
           .summary = "A contiguous box of a grid or torus; a sub-mesh of a HammingMesh's boards.",
           .source =
               "T. Hoefler et al., HammingMesh: a network topology for large-scale deep learning, SC 2022 "
               "(virtual sub-meshes)",
           .parameters = with_distribution({{"shape", ParameterType::kText, "auto",
                                             "Sides of the box, like 4x4x2, in any turn; in boards on a "
                                             "HammingMesh. auto: the fewest points, "
                                             "then the most cubic."},
                                            {"spare", ParameterType::kInteger, "100",
                                             "With shape=auto: points that the box may have more than the "
                                             "job needs, in percent; they are "
                                             "not used, and stay free.",
                                             from_to("0", std::to_string(kMostSpare))},
                                            {"virtual", ParameterType::kBoolean, "true",
                                             "On a HammingMesh: any rows and columns of boards that cross in "
                                             "free ones; false: next to each "
                                             "other."}}),
           .about =
               "Ranks are in the order of the box, last dimension fastest, so that a stencil's neighbours "
               "are a hop apart, and no other job's traffic crosses it where routes are minimal. The price "
               "is waiting: free hosts that form no box are of no use. On rings a box may go over the end. "
               "Of routers with several hosts, and of boards, all must be free. Searches are exact, but end "
               "after a fixed number of steps on large machines."},
      .needs = "coordinates: a grid, torus, HyperX or HammingMesh",
      .refusal = submesh_refusal,
      .place = place_in_submesh};
}

}  // namespace weft::placement
