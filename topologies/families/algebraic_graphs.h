// Graphs from finite fields that more than one family is made of. Routers are numbered from 0; links join the
// lower number to the higher, in ascending order.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/families/galois_field.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {

// McKay–Miller–Širáň graphs, for prime powers q = 4w + δ, δ ∈ {-1, 0, 1}, q ≥ 3: 2q² routers (s, a, b) with
// s ∈ {0, 1} and a, b ∈ GF(q), numbered s·q² + a·q + b. (0, x, y) and (0, x, y') are linked if y - y' is in
// the generator set X; (1, m, c) and (1, m, c') if c - c' is in X'; (0, x, y) and (1, m, c) if y = m·x + c.
// Degree (3q - δ)/2, diameter 2. Sources: B. D. McKay, M. Miller, J. Širáň, "A note on large graphs of
// diameter two and given maximum degree", J. Combinatorial Theory B 74, 1998; P. R. Hafner, "Geometric
// realisation of the graphs of McKay–Miller–Širáň", J. Combinatorial Theory B 90, 2004.
struct MmsGenerators {
  std::vector<GaloisField::Element> first, second;  // X and X', ascending; each (q - δ)/2 elements
};
std::vector<std::uint32_t> mms_sizes(std::uint32_t last);  // every possible q up to `last`
std::uint32_t mms_degree(std::uint32_t q);
// Throws std::logic_error if a set is not symmetric (X = -X), which would be a mistake here.
MmsGenerators mms_generators(const GaloisField& field);
RouterLinks mms_links(const GaloisField& field);

// The projective plane PG(2, q): q² + q + 1 points, and as many lines, line i being all points whose product
// with point i is 0. Points are numbered (x, y, 1) at x·q + y, then (x, 1, 0), then (1, 0, 0).
class ProjectivePlane {
 public:
  explicit ProjectivePlane(const GaloisField& field) : field_(field) {}
  static std::uint32_t points(std::uint32_t q) { return q * q + q + 1; }
  // The q + 1 points of line `line`, ascending.
  std::vector<std::uint32_t> on_line(std::uint32_t line) const;
  // The Erdős–Rényi (Brown) polarity graph: point u is linked to the points of line u. A point on its own
  // line (an absolute point, a quadric) comes as a link to itself. Sources: P. Erdős, A. Rényi, V. T. Sós,
  // "On a problem of graph theory", Studia Sci. Math. Hungar. 1, 1966; W. G. Brown, "On graphs that do not
  // contain a Thomsen graph", Canad. Math. Bull. 9, 1966.
  RouterLinks polarity_links() const;

 private:
  const GaloisField& field_;
};

// The star product of a graph with a Paley graph: every router u of `outer` becomes the q2 routers
// u·q2 + x, linked as the Paley graph of the field has it (x and y, where x - y is a square); its link u–v
// with u ≤ v becomes links (u, x)–(v, ζx) for all x, with ζ a primitive element, which is no square. `outer`
// may have links u–u. REQUIRES: q2 ≡ 1 mod 4. Source: J.-C. Bermond, C. Delorme, G. Farhi, "Large graphs with
// given degree and diameter III", Annals of Discrete Mathematics 13, 1982.
RouterLinks star_product_with_paley(std::uint32_t outer_routers, const RouterLinks& outer,
                                    const GaloisField& inner);
// The sizes of Paley graphs up to `last`: prime powers ≡ 1 mod 4.
std::vector<std::uint32_t> paley_sizes(std::uint32_t last);

}  // namespace weft::topologies
