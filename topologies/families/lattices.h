// Direct networks whose routers stand at the points of a grid.
#pragma once

#include <vector>

#include "topologies/graph/topology.h"

namespace weft::topologies {

// The torus of any number of dimensions: routers at the points of a grid, each linked to its two neighbours
// in every dimension, around the edges too. A dimension of size 2 has one link between its two routers, not
// two. Diameter: the sum of ⌊size/2⌋. Numbering: lattice.h.
Family torus();

// The mesh of any number of dimensions: routers at the points of a grid, each linked to its neighbours in
// every dimension. Diameter: the sum of size - 1. Numbering: lattice.h.
Family mesh();

// The binary hypercube: 2^n routers, linked where their numbers differ in one bit. Diameter n. Numbering:
// lattice.h, dimension 0 being the highest bit.
Family hypercube();

// The HyperX network (Hamming graph) with single links: routers at the points of a grid, each linked to all
// that differ from it in one coordinate only. With equal sizes and as many hosts on a router it is the
// flattened butterfly. Diameter: the number of dimensions of size above 1. Numbering: lattice.h.
Family hyperx();

// The mesh with express links: routers of a line are linked at the distances 1 + m·gap, m = 0, 1, 2 … With
// gap 1 it is the HyperX network. Numbering: lattice.h.
Family express_mesh();

// The k-ary n-flat: n - 1 dimensions of k routers, complete along lines, k hosts on each. Diameter n - 1.
// Numbering: lattice.h.
Family flattened_butterfly();

// Tofu: the torus X×Y×Z×2×3×2, by default with Tofu-D's rates (tofu.h). Its last dimensions A, B, C are a
// unit of 12 nodes; a dimension of size 2 has one link, of size 1 none. Numbering: lattice.h.
Family tofu();

// The torus of TPU v4: chips in cubes of 4×4×4, any number of cubes in three dimensions. Chips are routers
// inside hosts and numbered with the last dimension fastest; the cube is group and rack. Links within a cube
// are electrical, those between cubes and around the edges (96 ends on a cube) optical: each runs through
// an optical circuit switch, which is a patch panel here, with no latency of its own. Twisted tori are not
// built.
Family tpu_torus();

// The HammingMesh: x×y boards, each a mesh of a×b accelerators that forward. In each dimension the
// accelerators at both ends of a board's lines are linked to the line's network, which joins all boards that
// stand in one row or column: one switch if its 2·(boards of the line) ports are `radix` or fewer, otherwise
// leaves with radix/2 ports down and spines. Hx1Mesh (a = b = 1) has two links from each accelerator to both
// of its switches. Accelerators are routers inside hosts, numbered by board (second dimension fastest), then
// on the board; `planes` copies give a host a router in each. Diameter, counted from accelerator to
// accelerator with single switches: 4 for 2×2 boards, 8 for 4×4.
Family hammingmesh();

// All of the above, in the order of `weft list topology`.
std::vector<Family> lattice_families();

}  // namespace weft::topologies
