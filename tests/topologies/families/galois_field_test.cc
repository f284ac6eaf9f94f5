// Finite fields: the axioms, on all elements.
#include "topologies/families/galois_field.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

namespace weft::topologies {

using Element = GaloisField::Element;

std::vector<Element> elements(const GaloisField& field) {
  std::vector<Element> all(field.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Element>(i);
  return all;
}

TEST_CASE("prime powers: as listed in the OEIS, A246655 and A000040") {
  CHECK(prime_powers(0, 53) == std::vector<std::uint32_t>{2,  3,  4,  5,  7,  8,  9,  11, 13, 16, 17, 19,
                                                          23, 25, 27, 29, 31, 32, 37, 41, 43, 47, 49, 53});
  CHECK(prime_powers(24, 24).empty());
  CHECK(is_prime_power(4096));
  CHECK_FALSE(is_prime_power(4095));
  std::vector<std::uint32_t> primes;
  for (std::uint32_t n = 0; n < 40; ++n) {
    if (is_prime(n)) primes.push_back(n);
  }
  CHECK(primes == std::vector<std::uint32_t>{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37});
}

TEST_CASE("Galois field: commutative groups under addition and multiplication, and distributive") {
  for (const std::uint32_t q : {2, 3, 4, 5, 7, 8, 9, 16, 25, 27}) {
    const GaloisField f(q);
    REQUIRE(f.size() == q);
    std::uint32_t failures = 0;
    for (const Element a : elements(f)) {
      failures += f.add(a, 0) != a || f.multiply(a, 1) != a || f.multiply(a, 0) != 0;
      failures += f.add(a, f.negate(a)) != 0;
      if (a != 0) failures += f.multiply(a, f.invert(a)) != 1;
      Element sum = 0;
      for (std::uint32_t i = 0; i < f.characteristic(); ++i) sum = f.add(sum, a);
      failures += sum != 0;
      for (const Element b : elements(f)) {
        failures += f.add(a, b) >= q || f.multiply(a, b) >= q;
        failures += f.add(a, b) != f.add(b, a) || f.multiply(a, b) != f.multiply(b, a);
        failures += f.add(f.subtract(a, b), b) != a;
        failures += f.multiply(a, b) == 0 && a != 0 && b != 0;
        for (const Element c : elements(f)) {
          failures += f.add(f.add(a, b), c) != f.add(a, f.add(b, c));
          failures += f.multiply(f.multiply(a, b), c) != f.multiply(a, f.multiply(b, c));
          failures += f.multiply(a, f.add(b, c)) != f.add(f.multiply(a, b), f.multiply(a, c));
        }
      }
    }
    INFO("q = " << q);
    CHECK(failures == 0);
  }
}

TEST_CASE("Galois field: prime ones are the integers mod q") {
  for (const std::uint32_t q : {2u, 3u, 13u, 101u}) {
    const GaloisField f(q);
    CHECK(f.characteristic() == q);
    std::uint32_t failures = 0;
    for (const Element a : elements(f)) {
      for (const Element b : elements(f)) {
        failures += f.add(a, b) != (std::uint32_t{a} + b) % q;
        failures += f.multiply(a, b) != std::uint32_t{a} * b % q;
      }
    }
    CHECK(failures == 0);
  }
}

TEST_CASE("Galois field: the primitive element makes all others, for primes it is the smallest one") {
  for (const std::uint32_t q : {2, 3, 4, 8, 9, 25, 49, 81, 128, 343}) {
    const GaloisField f(q);
    std::set<Element> powers;
    Element product = 1;
    for (std::uint32_t i = 0; i + 1 < q; ++i) {
      powers.insert(f.primitive_power(i));
      CHECK(f.primitive_power(i) == product);
      product = f.multiply(product, f.primitive_power(1));
    }
    CHECK(product == 1);
    CHECK(powers.size() == q - 1);
    CHECK(powers.count(0) == 0);
  }
  // Smallest primitive roots, OEIS A001918.
  const std::pair<std::uint32_t, std::uint32_t> roots[] = {
      {3, 2}, {5, 2}, {7, 3}, {11, 2}, {13, 2}, {17, 3}, {19, 2}, {23, 5}, {41, 6}, {71, 7}, {191, 19}};
  for (const auto& [p, root] : roots) CHECK(GaloisField(p).primitive_power(1) == root);
}

TEST_CASE("Galois field: squares and powers are what repeated multiplication gives") {
  for (const std::uint32_t q : {5, 8, 9, 27, 49}) {
    const GaloisField f(q);
    std::set<Element> squares;
    for (const Element a : elements(f)) {
      if (a != 0) squares.insert(f.multiply(a, a));
      Element product = 1;
      for (std::uint32_t exponent = 0; exponent <= 2 * q; ++exponent) {
        CHECK(f.raise(a, exponent) == product);
        product = f.multiply(product, a);
      }
    }
    if (q % 2 == 0) continue;
    for (const Element a : elements(f)) CHECK(f.is_square(a) == (squares.count(a) == 1));
  }
}

TEST_CASE("Galois field: there is none of 6 elements") {
  for (const std::uint32_t q : {0u, 1u, 6u, 28u, 4097u, 8192u})
    CHECK_THROWS_AS(GaloisField(q), std::logic_error);
}

}  // namespace weft::topologies
