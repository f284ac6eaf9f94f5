#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "topologies/families/algebraic.h"
#include "topologies/families/galois_field.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

using Element = GaloisField::Element;
using Point = std::array<Element, 4>;  // of PG(3, q); its first coordinate that is not 0 is 1

const ModuleInfo& delorme_info() {
  static const ModuleInfo info = {
      .name = "delorme",
      .summary =
          "Polarity graph of a generalized quadrangle: (q + 1)(q² + 1) routers of degree q + 1, diameter 3.",
      .source =
          "C. Delorme, Grands graphes de degré et diamètre donnés, European J. Combinatorics 6, 1985; the "
          "polarity: J. Tits, Ovoïdes et groupes de Suzuki, Archiv der Mathematik 13, 1962",
      .parameters =
          with_router_hosts({{"q", ParameterType::kInteger, "", "Size: an odd power of two, 2, 8 or 32."}},
                            "a third as many as links"),
  };
  return info;
}

std::uint32_t delorme_balanced_hosts(std::uint32_t q) { return (q + 1) / 3; }
std::uint32_t delorme_routers(std::uint32_t q) { return (q + 1) * (q * q + 1); }
std::uint64_t delorme_endpoints(std::uint32_t q) {
  return std::uint64_t{delorme_routers(q)} * delorme_balanced_hosts(q);
}
std::vector<std::uint32_t> delorme_possible() { return within_limit({2, 8, 32, 128}, delorme_endpoints); }

// The points (0, 0, 0, 1), (0, 0, 1, z), (0, 1, y, z), (1, x, y, z), in this order and by their coordinates.
class Space {
 public:
  explicit Space(const GaloisField& field) : field_(field), q_(field.size()) {}

  Point point(std::uint32_t number) const {
    std::uint32_t ones = 3, first = 0;
    for (std::uint32_t of_kind = 1; number >= first + of_kind; of_kind *= q_) {
      first += of_kind;
      --ones;
    }
    number -= first;
    Point point = {};
    point[ones] = 1;
    for (std::uint32_t i = 3; i > ones; --i) {
      point[i] = static_cast<Element>(number % q_);
      number /= q_;
    }
    return point;
  }

  // Returns the number of the point with these coordinates, which must not all be 0.
  std::uint32_t number(const Point& coordinates) const {
    std::uint32_t leading = 0;
    while (coordinates[leading] == 0) ++leading;
    const Element scale = field_.invert(coordinates[leading]);
    std::uint32_t number = 0, first = 0;
    for (std::uint32_t i = leading + 1; i < 4; ++i) {
      number = number * q_ + field_.multiply(coordinates[i], scale);
      first = first * q_ + 1;
    }
    return first + number;
  }

  // The points of the line of W(q) that the polarity gives for a point. With τ the automorphism whose square
  // is t ↦ t², the line has the Plücker coordinates p02, p13, p03, p12 = x0^τ, x1^τ, x2^τ, x3^τ, and
  // p01 = p23 as the quadric of all lines, p01² = p02·p13 + p03·p12, has it.
  std::vector<std::uint32_t> line_of(const Point& point) const {
    Point p;
    for (std::size_t i = 0; i < 4; ++i) p[i] = field_.raise(point[i], tau());
    const Element square = field_.add(field_.multiply(p[0], p[1]), field_.multiply(p[2], p[3]));
    const Element p01 = field_.raise(square, q_ / 2);
    // The rows span the line; signs do not matter in characteristic 2.
    const std::array<Point, 4> rows = {
        Point{0, p01, p[0], p[2]}, {p01, 0, p[3], p[1]}, {p[0], p[3], 0, p01}, {p[2], p[1], p01, 0}};
    const auto is_point = [](const Point& row) { return row != Point{}; };
    const Point& u = *std::find_if(rows.begin(), rows.end(), is_point);
    const Point& v = *std::find_if(rows.begin(), rows.end(), [&](const Point& row) {
      return is_point(row) && number(row) != number(u);
    });
    std::vector<std::uint32_t> found = {number(v)};
    for (std::uint32_t t = 0; t < q_; ++t) {
      Point sum;
      for (std::size_t i = 0; i < 4; ++i) {
        sum[i] = field_.add(u[i], field_.multiply(static_cast<Element>(t), v[i]));
      }
      found.push_back(number(sum));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  // q = 2^(2a-1), τ = 2^a.
  std::uint32_t tau() const {
    std::uint32_t tau = 2;
    while (tau * tau != 2 * q_) tau *= 2;
    return tau;
  }

  const GaloisField& field_;
  std::uint32_t q_;
};

Topology build_delorme(const Parameters& parameters) {
  const std::uint32_t q = read_possible(parameters, "q", delorme_possible(), "an odd power of two");
  const GaloisField field(q);
  const Space space(field);
  RouterNetwork network;
  for (std::uint32_t r = 0; r < delorme_routers(q); ++r) {
    const Point point = space.point(r);
    network.routers.push_back(
        {.name = fmt::format("router {}.{}.{}.{}", point[0], point[1], point[2], point[3]), .group = r});
    for (const std::uint32_t to : space.line_of(point)) {
      if (r < to) network.links.emplace_back(r, to);
    }
  }
  return build_routers(delorme_info().name, parameters, network, delorme_balanced_hosts(q));
}

SizeParameters size_delorme(std::uint64_t wanted) {
  return {
      {"q", std::to_string(least_size(delorme_info().name, wanted, delorme_possible(), delorme_endpoints))}};
}

}  // namespace

Family delorme() { return {delorme_info(), build_delorme, size_delorme}; }

}  // namespace weft::topologies
