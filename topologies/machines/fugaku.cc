// Fugaku, RIKEN Center for Computational Science: a six-dimensional torus of Tofu-D.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "topologies/families/lattice.h"
#include "topologies/families/sizing.h"
#include "topologies/families/tofu.h"
#include "topologies/machines/machine.h"
#include "topologies/machines/machines.h"

namespace weft::topologies {
namespace {

constexpr std::size_t kAxes = 3;
// Units in X, Y and Z, and nodes of a unit in A, B and C.
constexpr std::array<std::uint32_t, kAxes> kUnits = {24, 23, 24}, kUnit = {2, 3, 2};

const ModuleInfo& fugaku_info() {
  static const ModuleInfo info = {
      .name = "fugaku",
      .summary = "Fugaku's 158,976 nodes: Tofu-D, a torus of 24×23×24 units of 2×3×2, or a job's part of it.",
      .source =
          "Y. Ajima et al., The Tofu Interconnect D, CLUSTER 2018; RIKEN and Fujitsu, Fugaku: 158,976 nodes; "
          "three-dimensional shapes: Y. Ajima, S. Sumimoto, T. Shimizu, Tofu: a 6D mesh/torus interconnect "
          "for exascale computers, IEEE Computer 42(11), 2009",
      .parameters = with_tofu_cabling({
          {"shape", ParameterType::kText, "auto",
           "A job's nodes as the torus it sees, like 8x8x8: sizes even, or 1, the second also 3; auto: all."},
      }),
      .about =
          std::string(
              "Known: 158,976 nodes, the six dimensions, rates; that a job sees a torus of three dimensions, "
              "whose rings go up a line of X, Y or Z and down the next one. Assumed: that the next one is in "
              "A, B or C of the same place (B has a third, which is left out unless a size is 3), and that "
              "the job has the links between its own nodes alone, those across its rings too. Hosts are "
              "numbered by the shape's coordinates, the third fastest, and without a shape by X, Y, Z, A, B, "
              "C. Left out: nodes for input and output, and which are down. ") +
          tofu_rates(),
  };
  return info;
}

// A ring of `size` nodes within an axis: up a line, and down the next one.
struct Ring {
  std::uint32_t units = 0, in_unit = 0;
  std::uint32_t size() const { return units * in_unit; }
  std::array<std::uint32_t, 2> at(std::uint32_t step) const {  // by unit, and within it
    if (units == 1) return {0, step};
    if (step < units) return {step, 0};
    return {2 * units - 1 - step, 1};
  }
};

Ring ring_of(const Parameters& parameters, std::size_t axis, std::uint32_t size) {
  if (size == 1) return {1, 1};
  if (size == 3 && kUnit[axis] == 3) return {1, 3};
  const std::uint32_t most = 2 * kUnits[axis];
  if (size % 2 != 0 || size > most) {
    parameters.fail("shape", fmt::format("size {} must be even and at most {}{}; the nearest to {} is {}",
                                         axis + 1, most, kUnit[axis] == 3 ? ", or 1 or 3" : ", or 1", size,
                                         std::min(most, size + size % 2)));
  }
  return {size / 2, 2};
}

Lattice whole_machine() {
  Lattice lattice;
  for (const auto& sizes : {kUnits, kUnit}) {
    for (const std::uint32_t size : sizes) {
      lattice.dims.push_back(size);
      lattice.lines.push_back(ring_links(size));
    }
  }
  return lattice;
}

Lattice allocation(const Parameters& parameters) {
  const std::vector<std::uint32_t> sizes = read_dims(parameters, "shape");
  if (sizes.size() != kAxes) parameters.fail("shape", "there must be three sizes, like 8x8x8");
  std::array<Ring, kAxes> ring;
  for (std::size_t axis = 0; axis < kAxes; ++axis) ring[axis] = ring_of(parameters, axis, sizes[axis]);

  Lattice lattice;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    lattice.dims.push_back(ring[axis].units);
    // Only the whole of a line is closed.
    lattice.lines.push_back(ring[axis].units == kUnits[axis] ? ring_links(ring[axis].units)
                                                             : path_links(ring[axis].units));
  }
  for (const Ring& each : ring) {
    lattice.dims.push_back(each.in_unit);
    lattice.lines.push_back(ring_links(each.in_unit));
  }
  for (std::uint32_t i = 0; i < ring[0].size(); ++i) {
    for (std::uint32_t j = 0; j < ring[1].size(); ++j) {
      for (std::uint32_t k = 0; k < ring[2].size(); ++k) {
        const std::array<std::array<std::uint32_t, 2>, kAxes> at = {ring[0].at(i), ring[1].at(j),
                                                                    ring[2].at(k)};
        std::uint32_t router = 0;
        for (std::size_t d = 0; d < 2 * kAxes; ++d)
          router = router * lattice.dims[d] + at[d % kAxes][d / kAxes];
        lattice.order.push_back(router);
      }
    }
  }
  return lattice;
}

Topology build_fugaku(const Parameters& parameters) {
  Topology topology =
      build_tofu(to_short_form(fugaku_info().name, parameters),
                 parameters.automatic("shape") ? whole_machine() : allocation(parameters), parameters);
  note_published(topology, fugaku_info().name, "it");
  return topology;
}

// Even sizes, about the same.
SizeParameters size_fugaku(std::uint64_t endpoints) {
  constexpr std::uint64_t kMost = std::uint64_t{8} * 23 * 23 * 23;
  if (endpoints > kMost) fail_too_many_endpoints("fugaku", endpoints, kMost);
  std::vector<std::uint32_t> shape = near_cube((endpoints + 7) / 8, kAxes);
  for (std::uint32_t& size : shape) size *= 2;
  return {{"shape", dims_text(shape)}};
}

}  // namespace

Family fugaku() { return {fugaku_info(), build_fugaku, size_fugaku}; }

}  // namespace weft::topologies
