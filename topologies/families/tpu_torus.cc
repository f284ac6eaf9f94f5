#include <fmt/core.h>

#include <algorithm>

#include "topologies/families/lattice.h"
#include "topologies/families/lattices.h"
#include "topologies/families/sizing.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kSide = 4;  // chips along a cube

const ModuleInfo& tpu_torus_info() {
  static const ModuleInfo info = {
      .name = "tpu_torus",
      .summary =
          "Three-dimensional torus of chips in cubes of 4×4×4, joined through optical circuit switches.",
      .source =
          "N. P. Jouppi et al., TPU v4: an optically reconfigurable supercomputer for machine learning with "
          "hardware support for embeddings, ISCA 2023",
      .parameters = with_forwarding_hosts({
          {"dims", ParameterType::kText, "", "Chips in each of three dimensions, multiples of 4: 8x8x16."},
      }),
      .about =
          "A link of TPU v4 has 50 GB/s each way, which is the default; TPU v5p, whose pods are tori of the "
          "same kind, has twice that: link=800Gbps. Their latencies are not published.",
  };
  return info;
}

Topology build_tpu_torus(const Parameters& parameters) {
  const Cabling cabling = read_cabling(parameters);
  const std::vector<std::uint32_t> dims = read_dims(parameters);
  if (dims.size() != 3) parameters.fail("dims", "there must be three");
  for (const std::uint32_t size : dims) {
    if (size % kSide != 0) {
      parameters.fail("dims", fmt::format("each must be a multiple of 4; the nearest to {} is {}", size,
                                          std::max(kSide, (size + 2) / kSide * kSide)));
    }
  }
  const std::uint32_t chips = dims[0] * dims[1] * dims[2];
  const auto cube_of = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return (x / kSide * (dims[1] / kSide) + y / kSide) * (dims[2] / kSide) + z / kSide;
  };
  const Link inside = link_inside_host(parameters, cabling, 6);
  Link copper = cabling.fabric, optical = cabling.fabric;
  copper.cable = CableKind::kCopper;
  optical.cable = CableKind::kOptical;

  Topology topology(to_short_form(tpu_torus_info().name, parameters));
  std::vector<Vertex> chip(chips);
  for (std::uint32_t c = 0; c < chips; ++c) {
    const std::uint32_t x = c / dims[2] / dims[1], y = c / dims[2] % dims[1], z = c % dims[2];
    chip[c] = topology.add_host_router(fmt::format("chip {}.{}.{}", x, y, z), cube_of(x, y, z));
    topology.set_rack(chip[c], cube_of(x, y, z));
    add_hosts(topology, chip[c], 1, inside);
  }
  std::uint32_t stride = chips;
  for (const std::uint32_t size : dims) {
    stride /= size;
    for (std::uint32_t c = 0; c < chips; ++c) {
      const std::uint32_t at = c / stride % size;
      const bool leaves_cube = at % kSide == kSide - 1;  // also around the edge
      const std::uint32_t next = at + 1 < size ? c + stride : c - at * stride;
      topology.add_link(chip[c], chip[next], leaves_cube ? optical : copper);
    }
  }
  topology.set_grid(dims);
  topology.finish();
  return topology;
}

SizeParameters size_tpu_torus(std::uint64_t endpoints) {
  if (endpoints > kMostHosts / 2) fail_too_many_endpoints("tpu_torus", endpoints, kMostHosts / 2);
  std::vector<std::uint32_t> dims = near_cube((endpoints + 63) / 64, 3);
  for (std::uint32_t& size : dims) size *= kSide;
  return {{"dims", dims_text(dims)}};
}

}  // namespace

Family tpu_torus() { return {tpu_torus_info(), build_tpu_torus, size_tpu_torus}; }

}  // namespace weft::topologies
