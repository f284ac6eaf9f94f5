// Finite fields and the prime powers they exist for.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::topologies {

bool is_prime(std::uint32_t n);
// Is `n` a prime or a power of one? 1 is not.
bool is_prime_power(std::uint32_t n);
// All from `first` to `last`, ascending.
std::vector<std::uint32_t> prime_powers(std::uint32_t first, std::uint32_t last);

// The field GF(q). Its elements are numbered: 0 and 1 are zero and one; for a prime q they are the integers
// mod q; for q = p^m the digits of a number to base p, the lowest first, are the coefficients of a polynomial
// in x, taken modulo the first polynomial of degree m of which x is a primitive root. Source: R. Lidl,
// H. Niederreiter, "Finite Fields", chapters 2 and 9.
class GaloisField {
 public:
  using Element = std::uint16_t;
  static constexpr std::uint32_t kLargest = 4096;

  // REQUIRES: a prime power of kLargest or less (std::logic_error otherwise). Takes q² steps and 2·q² bytes.
  explicit GaloisField(std::uint32_t q);

  std::uint32_t size() const { return size_; }
  std::uint32_t characteristic() const { return characteristic_; }
  Element add(Element a, Element b) const { return sum_[std::size_t{a} * size_ + b]; }
  Element negate(Element a) const { return negative_[a]; }
  Element subtract(Element a, Element b) const { return add(a, negate(b)); }
  Element multiply(Element a, Element b) const {
    return a == 0 || b == 0 ? Element{0} : power_[log_[a] + log_[b]];
  }
  // REQUIRES: a is not 0.
  Element invert(Element a) const { return power_[size_ - 1 - log_[a]]; }
  // ξ^exponent for the primitive element ξ, whose powers are all elements but 0. For a prime q it is the
  // smallest there is.
  Element primitive_power(std::uint32_t exponent) const { return power_[exponent % (size_ - 1)]; }
  // a^exponent; 0^0 is 1.
  Element raise(Element a, std::uint32_t exponent) const;
  // Is `a` the square of an element other than 0? REQUIRES: q is odd.
  bool is_square(Element a) const { return a != 0 && log_[a] % 2 == 0; }

 private:
  std::uint32_t size_, characteristic_;
  std::vector<Element> sum_;  // of a and b at a·q + b
  std::vector<Element> negative_;
  std::vector<Element> power_;      // ξ^0 to ξ^(2q-2)
  std::vector<std::uint32_t> log_;  // of ξ^i at ξ^i: i
};

}  // namespace weft::topologies
