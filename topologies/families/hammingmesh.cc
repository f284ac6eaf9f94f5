#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "topologies/families/cabling.h"
#include "topologies/families/clos.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kPortsPerPlane = 4;
constexpr std::uint32_t kMostHammingMeshPlanes = 64;
constexpr std::uint32_t kMostRadix = 4096;

const ModuleInfo& hammingmesh_info() {
  static const ModuleInfo info = {
      .name = "hammingmesh",
      .summary = "Boards with meshes of a×b accelerators, x×y of them, whose rows and columns are switched.",
      .source = "T. Hoefler et al., HammingMesh: a network topology for large-scale deep learning, SC 2022",
      .parameters = with_forwarding_hosts({
          {"a", ParameterType::kInteger, "",
           "Accelerators of a board in the first dimension; a=1,b=1 is Hx1Mesh."},
          {"b", ParameterType::kInteger, "", "Accelerators of a board in the second dimension."},
          {"x", ParameterType::kInteger, "", "Boards in the first dimension."},
          {"y", ParameterType::kInteger, "", "Boards in the second dimension."},
          {"planes", ParameterType::kInteger, "1",
           "Copies of the network, with 4 ports of each accelerator each."},
          {"radix", ParameterType::kInteger, "64",
           "Ports of a switch, even: a line with more becomes a two-level fat tree."},
      }),
  };
  return info;
}

struct HammingmeshShape {
  std::uint32_t a, b, x, y, planes, radix;
  std::uint32_t boards() const { return x * y; }
  std::uint32_t accelerators() const { return a * b * x * y; }
  // Returns the number of accelerator (i, j) of board (u, v).
  std::uint32_t number(std::uint32_t u, std::uint32_t v, std::uint32_t i, std::uint32_t j) const {
    return ((u * y + v) * a + i) * b + j;
  }
};

HammingmeshShape read_hammingmesh_shape(const Parameters& parameters) {
  HammingmeshShape shape{};
  std::uint64_t left = kMostHosts;
  const auto take = [&](const char* name, std::uint32_t most) {
    const std::uint32_t count =
        count_parameter(parameters, name, static_cast<std::uint32_t>(std::min<std::uint64_t>(most, left)));
    left /= count;
    return count;
  };
  shape.planes = take("planes", kMostHammingMeshPlanes);
  shape.a = take("a", 1024);
  shape.b = take("b", 1024);
  shape.x = take("x", 1 << 20);
  shape.y = take("y", 1 << 20);
  shape.radix = even_ports(parameters, "radix", kMostRadix);
  const std::uint64_t most = std::uint64_t{shape.radix} * shape.radix / 4;
  for (const auto& [name, count] : {std::pair{"x", shape.x}, std::pair{"y", shape.y}}) {
    if (count > most && 2 * count > shape.radix) {
      parameters.fail(
          name, fmt::format("two levels of {}-port switches join {} boards at most", shape.radix, most));
    }
  }
  return shape;
}

// One row or column: a switch for all its ports, or leaves and spines; what the ports lead to stands in
// `rack`.
void add_line(Topology& topology, const std::string& name, std::uint32_t group, std::uint16_t plane,
              std::uint32_t rack, const std::vector<Vertex>& ports, const HammingmeshShape& shape,
              const Cabling& cabling) {
  const auto count = static_cast<std::uint32_t>(ports.size());
  const std::uint32_t down = count <= shape.radix ? shape.radix : shape.radix / 2;
  std::vector<Vertex> leaves, spines;
  for (std::uint32_t first = 0; first < count; first += down) {
    const std::string leaf = count <= shape.radix ? name : fmt::format("{} leaf {}", name, first / down);
    leaves.push_back(topology.add_switch(leaf, 2, group, cabling.switch_latency, plane));
    topology.set_rack(leaves.back(), rack);
  }
  for (std::uint32_t i = 0; i < count; ++i) topology.add_link(ports[i], leaves[i / down], cabling.fabric);
  if (leaves.size() == 1) return;
  for (std::size_t s = 0; s < (leaves.size() + 1) / 2; ++s) {
    spines.push_back(
        topology.add_switch(fmt::format("{} spine {}", name, s), 3, group, cabling.switch_latency, plane));
  }
  link_tiers(topology, leaves, spines, down, cabling.fabric);
}

void add_boards(Topology& topology, const std::vector<Vertex>& router, const HammingmeshShape& shape,
                Link trace) {
  trace.cable = CableKind::kBackplane;
  for (std::uint32_t board = 0; board < shape.boards(); ++board) {
    const Vertex* const on = &router[board * shape.a * shape.b];
    for (std::uint32_t i = 0; i < shape.a; ++i) {
      for (std::uint32_t j = 0; j < shape.b; ++j) {
        const std::uint32_t at = i * shape.b + j;
        if (i + 1 < shape.a) topology.add_link(on[at], on[at + shape.b], trace);
        if (j + 1 < shape.b) topology.add_link(on[at], on[at + 1], trace);
      }
    }
  }
}

void add_plane(Topology& topology, std::uint16_t plane, const HammingmeshShape& shape, const Link& inside,
               const Cabling& cabling) {
  std::vector<Vertex> router(shape.accelerators());
  for (std::uint32_t n = 0; n < router.size(); ++n) {
    const std::uint32_t board = n / (shape.a * shape.b), on_board = n % (shape.a * shape.b);
    const std::string name =
        fmt::format("accelerator {}.{}.{}.{}{}", board / shape.y, board % shape.y, on_board / shape.b,
                    on_board % shape.b, shape.planes > 1 ? fmt::format(" plane {}", plane) : "");
    router[n] = topology.add_host_router(name, board, plane);
    topology.set_rack(router[n], board % shape.y);  // a row of boards stands together
    const Vertex host = plane > 0 ? topology.host(n) : topology.add_host(fmt::format("host {}", n), board);
    topology.add_link(host, router[n], inside);
  }
  add_boards(topology, router, shape, cabling.fabric);
  std::vector<Vertex> ports;
  const std::string suffix = shape.planes > 1 ? fmt::format(" plane {}", plane) : "";
  for (std::uint32_t v = 0; v < shape.y; ++v) {
    for (std::uint32_t j = 0; j < shape.b; ++j) {
      ports.clear();
      for (std::uint32_t u = 0; u < shape.x; ++u) {
        ports.push_back(router[shape.number(u, v, 0, j)]);
        ports.push_back(router[shape.number(u, v, shape.a - 1, j)]);
      }
      const std::uint32_t line = v * shape.b + j;
      add_line(topology, fmt::format("row {}{}", line, suffix), shape.boards() + line, plane, v, ports, shape,
               cabling);
    }
  }
  for (std::uint32_t u = 0; u < shape.x; ++u) {
    for (std::uint32_t i = 0; i < shape.a; ++i) {
      ports.clear();
      for (std::uint32_t v = 0; v < shape.y; ++v) {
        ports.push_back(router[shape.number(u, v, i, 0)]);
        ports.push_back(router[shape.number(u, v, i, shape.b - 1)]);
      }
      const std::uint32_t line = u * shape.a + i;
      add_line(topology, fmt::format("column {}{}", line, suffix), shape.boards() + shape.y * shape.b + line,
               plane, kNoRack, ports, shape, cabling);
    }
  }
}

Topology build_hammingmesh(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const HammingmeshShape shape = read_hammingmesh_shape(parameters);
  const Link inside = link_inside_host(parameters, cabling, kPortsPerPlane);
  Topology topology(to_short_form(hammingmesh_info().name, parameters));
  for (std::uint32_t plane = 0; plane < shape.planes; ++plane) {
    add_plane(topology, static_cast<std::uint16_t>(plane), shape, inside, cabling);
  }
  topology.set_boards({shape.x, shape.y, shape.a, shape.b});
  topology.finish();
  return topology;
}

// Boards of 2×2, as square as can be.
SizeParameters size_hammingmesh(std::uint64_t endpoints) {
  if (endpoints > kMostHosts) fail_too_many_endpoints("hammingmesh", endpoints, kMostHosts);
  const std::vector<std::uint32_t> boards = near_cube((endpoints + 3) / 4, 2);
  return {{"a", "2"}, {"b", "2"}, {"x", std::to_string(boards[0])}, {"y", std::to_string(boards[1])}};
}

}  // namespace

Family hammingmesh() { return {hammingmesh_info(), build_hammingmesh, size_hammingmesh}; }

}  // namespace weft::topologies
