// Eigenvalues of a network's matrices: how well it is knit.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/analysis/router_graph.h"

namespace weft::topologies {

// The spectrum is that of the graph of routers, where a link counts 1 and parallel links their number. For a
// regular graph of degree k the spectral gap k - λ2(A) is the algebraic connectivity.
struct Spectrum {
  double algebraic_connectivity = 0;  // second smallest eigenvalue of the Laplacian; 0 if not connected
  double largest = 0, second = 0;     // the two largest eigenvalues of the adjacency matrix A
  double smallest = 0;                // the least eigenvalue of A
  double gap = 0;                     // largest - second
  bool regular = false;               // all routers have the same number of links
  // Regular, and every eigenvalue of A but ±degree is at most 2·sqrt(degree - 1): as good an expander as can
  // be. Source: A. Lubotzky, R. Phillips, P. Sarnak, Ramanujan graphs, Combinatorica 8(3), 1988.
  bool ramanujan = false;
};

// Zeros for a single router. Throws std::runtime_error if the iteration does not converge.
Spectrum spectrum(const RouterGraph& graph);

// The least μ > 0 with L·x = μ·W·x and W·x summing to 0: L the Laplacian with each edge's weight (by arc,
// equal in both directions), W the diagonal of the vertices' weights, not all of which may be 0 (0 or more).
// 0 if not all vertices with weight are connected, or fewer than two have any. Every split into two sides
// with equal sums of vertex weight cuts at least μ/4 · (that sum over both sides) of edge weight; with
// weights of 1 that is λ2·n/4. Source: M. Fiedler, Algebraic connectivity of graphs, Czechoslovak Math. J.
// 23(2), 1973; B. Mohar, Isoperimetric numbers of graphs, J. Combinatorial Theory B 47, 1989.
double weighted_connectivity(const ArcGraph& graph, const std::vector<double>& edge_weight,
                             const std::vector<double>& vertex_weight);

}  // namespace weft::topologies
