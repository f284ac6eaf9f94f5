#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "topologies/families/algebraic.h"
#include "topologies/families/galois_field.h"
#include "topologies/families/router_network.h"

namespace weft::topologies {
namespace {

const ModuleInfo& spectralfly_info() {
  static const ModuleInfo info = {
      .name = "spectralfly",
      .summary = "Ramanujan graph of Lubotzky, Phillips and Sarnak: up to q³ - q routers of degree p + 1.",
      .source =
          "S. Young, S. Aksoy, J. Firoz, R. Gioiosa, T. Hagge, M. Kempton, J. Escobedo, M. Raugas, "
          "SpectralFly: Ramanujan graphs as flexible and efficient interconnection networks, IPDPS 2022; "
          "A. Lubotzky, R. Phillips, P. Sarnak, Ramanujan graphs, Combinatorica 8, 1988",
      .parameters = with_router_hosts(
          {
              {"p", ParameterType::kInteger, "", "Links of a router less 1: an odd prime."},
              {"q", ParameterType::kInteger, "", "Size: an odd prime above 2√p, not p."},
          },
          "p - 1"),
  };
  return info;
}

bool is_square_mod(std::uint32_t value, std::uint32_t q) {
  for (std::uint32_t root = 1; root < q; ++root) {
    if (root * root % q == value % q) return true;
  }
  return false;
}

std::uint32_t spectralfly_routers(std::uint32_t p, std::uint32_t q) {
  return q * (q * q - 1) / (is_square_mod(p, q) ? 2 : 1);
}
std::uint64_t spectralfly_endpoints(std::uint32_t p, std::uint32_t q) {
  return std::uint64_t{spectralfly_routers(p, q)} * (p - 1);
}

std::vector<std::uint32_t> odd_primes() {
  std::vector<std::uint32_t> primes;
  for (std::uint32_t n = 3; n < 256; n += 2) {
    if (is_prime(n)) primes.push_back(n);
  }
  return primes;
}
std::vector<std::uint32_t> spectralfly_possible_q(std::uint32_t p) {
  return within_limit(odd_primes(), [p](std::uint32_t q) {
    return p == q || q * q <= 4 * p ? std::uint64_t{0} : spectralfly_endpoints(p, q);
  });
}
std::vector<std::uint32_t> possible_p() {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t p : odd_primes()) {
    if (!spectralfly_possible_q(p).empty()) found.push_back(p);
  }
  return found;
}

using Matrix = std::array<std::uint32_t, 4>;  // a b / c d, mod q

// The elements of PGL(2, q), written with their first entry that is not 0 scaled to 1.
class Group {
 public:
  explicit Group(std::uint32_t q) : q_(q), inverse_(q, 0) {
    for (std::uint32_t a = 1; a < q; ++a) {
      for (std::uint32_t b = 1; b < q; ++b) {
        if (a * b % q == 1) inverse_[a] = b;
      }
    }
  }
  Matrix product(const Matrix& a, const Matrix& b) const {
    return normal({a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                   a[2] * b[1] + a[3] * b[3]});
  }
  Matrix normal(Matrix m) const {
    for (std::uint32_t& entry : m) entry %= q_;
    const std::uint32_t scale = inverse_[m[0] != 0 ? m[0] : m[1]];
    for (std::uint32_t& entry : m) entry = entry * scale % q_;
    return m;
  }
  // Different for different elements, below q³ + q².
  std::uint32_t key(const Matrix& m) const {
    return m[0] != 0 ? (m[1] * q_ + m[2]) * q_ + m[3] : (q_ * q_ + m[2]) * q_ + m[3];
  }

 private:
  std::uint32_t q_;
  std::vector<std::uint32_t> inverse_;
};

// The p + 1 generators: one for each way to write p as a sum of four squares a0² + a1² + a2² + a3² with a0
// odd and positive (p ≡ 1 mod 4), or a0 even and the first that is not 0 positive (p ≡ 3 mod 4).
std::vector<Matrix> generators(std::uint32_t p, std::uint32_t q, const Group& group) {
  const auto prime = static_cast<std::int32_t>(p), field = static_cast<std::int32_t>(q);
  std::int32_t x = 0, y = 0;  // x² + y² + 1 ≡ 0
  for (std::int32_t i = 0; i < field * field; ++i) {
    x = i / field;
    y = i % field;
    if ((x * x + y * y + 1) % field == 0) break;
  }
  std::int32_t most = 0;
  while ((most + 1) * (most + 1) <= prime) ++most;
  const auto positive = [&](std::int32_t a0, std::int32_t a1, std::int32_t a2, std::int32_t a3) {
    if (prime % 4 == 1) return a0 > 0 && a0 % 2 != 0;
    if (a0 % 2 != 0) return false;
    for (const std::int32_t a : {a0, a1, a2, a3}) {
      if (a != 0) return a > 0;
    }
    return false;
  };
  const auto mod = [&](std::int32_t value) {
    return static_cast<std::uint32_t>((value % field + field) % field);
  };
  std::vector<Matrix> found;
  for (std::int32_t a0 = 0; a0 <= most; ++a0) {
    for (std::int32_t a1 = -most; a1 <= most; ++a1) {
      for (std::int32_t a2 = -most; a2 <= most; ++a2) {
        for (std::int32_t a3 = -most; a3 <= most; ++a3) {
          if (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3 != prime || !positive(a0, a1, a2, a3)) continue;
          found.push_back(group.normal({mod(a0 + a1 * x + a3 * y), mod(-a1 * y + a2 + a3 * x),
                                        mod(-a1 * y - a2 + a3 * x), mod(a0 - a1 * x - a3 * y)}));
        }
      }
    }
  }
  return found;
}

Topology build_spectralfly(const Parameters& parameters) {
  const std::uint32_t p = read_possible(parameters, "p", possible_p(), "an odd prime");
  const std::uint32_t q = read_possible(parameters, "q", spectralfly_possible_q(p),
                                        fmt::format("an odd prime above 2√{}, not {},", p, p));
  const Group group(q);
  const std::vector<Matrix> steps = generators(p, q, group);
  constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::vector<std::uint32_t> number(std::size_t{q} * q * (q + 1), kNone);
  std::vector<Matrix> elements = {{1, 0, 0, 1}};
  number[group.key(elements[0])] = 0;
  RouterNetwork network;
  for (std::uint32_t r = 0; r < elements.size(); ++r) {
    network.routers.push_back({.name = fmt::format("router {}", r), .group = r});
    for (const Matrix& step : steps) {
      const Matrix next = group.product(elements[r], step);
      std::uint32_t& to = number[group.key(next)];
      if (to == kNone) {
        to = static_cast<std::uint32_t>(elements.size());
        elements.push_back(next);
      }
      if (r < to) network.links.emplace_back(r, to);
    }
  }
  std::sort(network.links.begin(), network.links.end());
  return build_routers(spectralfly_info().name, parameters, network, p - 1);
}

// The diameter is about (4/3)·log_p of the number of routers (N. T. Sardari, Diameter of Ramanujan graphs and
// random Cayley graphs, Combinatorica 39, 2019): the fewest links with which that is 3 or less.
SizeParameters size_spectralfly(std::uint64_t wanted) {
  std::vector<SizedShape> shapes;
  for (const std::uint32_t p : possible_p()) {
    const auto power = [](double base, int exponent) {
      double result = 1;
      for (int i = 0; i < exponent; ++i) result *= base;
      return result;
    };
    for (const std::uint32_t q : spectralfly_possible_q(p)) {
      if (power(spectralfly_routers(p, q), 4) > power(p, 9)) continue;
      shapes.push_back(
          {2 * p, spectralfly_endpoints(p, q), {{"p", std::to_string(p)}, {"q", std::to_string(q)}}});
    }
  }
  return least_ports(spectralfly_info().name, wanted, shapes);
}

}  // namespace

Family spectralfly() { return {spectralfly_info(), build_spectralfly, size_spectralfly}; }

}  // namespace weft::topologies
