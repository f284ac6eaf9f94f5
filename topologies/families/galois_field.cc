#include "topologies/families/galois_field.h"

#include <fmt/core.h>

#include <stdexcept>

namespace weft::topologies {
namespace {

std::uint32_t smallest_factor(std::uint32_t n) {
  for (std::uint32_t f = 2; f * f <= n; ++f) {
    if (n % f == 0) return f;
  }
  return n;
}

// The sum of two polynomials over GF(p), each as the digits of a number; `scale` times the second.
std::uint32_t add_digits(std::uint32_t a, std::uint32_t b, std::uint32_t scale, std::uint32_t p) {
  std::uint32_t sum = 0;
  for (std::uint32_t place = 1; a > 0 || b > 0; place *= p) {
    sum += (a % p + b % p * scale) % p * place;
    a /= p;
    b /= p;
  }
  return sum;
}

// The powers of x modulo x^m - low, from 1 until one comes again or is 0.
std::vector<GaloisField::Element> powers_of_x(std::uint32_t low, std::uint32_t q, std::uint32_t p) {
  std::vector<GaloisField::Element> powers;
  std::uint32_t element = 1;
  do {
    powers.push_back(static_cast<GaloisField::Element>(element));
    const std::uint32_t top = element / (q / p), rest = element % (q / p) * p;
    element = add_digits(rest, low, top, p);
  } while (element > 1 && powers.size() < q);
  return powers;
}

}  // namespace

bool is_prime(std::uint32_t n) { return n >= 2 && smallest_factor(n) == n; }

bool is_prime_power(std::uint32_t n) {
  if (n < 2) return false;
  const std::uint32_t p = smallest_factor(n);
  while (n % p == 0) n /= p;
  return n == 1;
}

std::vector<std::uint32_t> prime_powers(std::uint32_t first, std::uint32_t last) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t n = first; n <= last; ++n) {
    if (is_prime_power(n)) found.push_back(n);
  }
  return found;
}

GaloisField::GaloisField(std::uint32_t q) : size_(q), characteristic_(smallest_factor(q)) {
  if (!is_prime_power(q) || q > kLargest) throw std::logic_error(fmt::format("there is no GF({}) here", q));
  const std::uint32_t p = characteristic_;
  // If x has q - 1 powers, they are all polynomials but 0, so that each has an inverse: a field.
  for (std::uint32_t low = 1; power_.size() != q - 1; ++low) power_ = powers_of_x(low, q, p);
  log_.assign(q, 0);
  for (std::uint32_t i = 0; i + 1 < q; ++i) log_[power_[i]] = i;
  const std::vector<Element> once = power_;
  power_.insert(power_.end(), once.begin(), once.end());

  sum_.resize(std::size_t{q} * q);
  negative_.resize(q);
  for (std::uint32_t a = 0; a < q; ++a) {
    for (std::uint32_t b = 0; b < q; ++b) {
      const auto sum = static_cast<Element>(p == q ? (a + b) % p : add_digits(a, b, 1, p));
      sum_[std::size_t{a} * q + b] = sum;
      if (sum == 0) negative_[a] = static_cast<Element>(b);
    }
  }
}

GaloisField::Element GaloisField::raise(Element a, std::uint32_t exponent) const {
  if (exponent == 0) return 1;
  if (a == 0) return 0;
  return power_[std::uint64_t{log_[a]} * exponent % (size_ - 1)];
}

}  // namespace weft::topologies
