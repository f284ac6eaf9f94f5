#include "topologies/families/algebraic_graphs.h"

#include <algorithm>
#include <stdexcept>

namespace weft::topologies {
namespace {

using Element = GaloisField::Element;

std::int32_t mms_delta(std::uint32_t q) { return q % 4 == 3 ? -1 : static_cast<std::int32_t>(q % 4); }

// The links inside one subgroup: elements that differ by a generator.
void add_cayley_links(const GaloisField& field, const std::vector<Element>& generators, std::uint32_t first,
                      RouterLinks& links) {
  for (std::uint32_t b = 0; b < field.size(); ++b) {
    for (const Element g : generators) {
      const std::uint32_t to = field.add(static_cast<Element>(b), g);
      if (b < to) links.emplace_back(first + b, first + to);
    }
  }
}

}  // namespace

std::vector<std::uint32_t> mms_sizes(std::uint32_t last) { return prime_powers(3, last); }

std::uint32_t mms_degree(std::uint32_t q) {
  return static_cast<std::uint32_t>((3 * static_cast<std::int32_t>(q) - mms_delta(q)) / 2);
}

MmsGenerators mms_generators(const GaloisField& field) {
  const std::uint32_t q = field.size();
  MmsGenerators sets;
  const auto powers = [&](std::vector<Element>& set, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t i = first; i <= last; i += 2) set.push_back(field.primitive_power(i));
  };
  switch (mms_delta(q)) {
    case 1:
      powers(sets.first, 0, q - 3);
      powers(sets.second, 1, q - 2);
      break;
    case 0:
      powers(sets.first, 0, q - 2);
      powers(sets.second, 1, q - 1);
      break;
    default: {
      const std::uint32_t w = (q + 1) / 4;
      powers(sets.first, 0, 2 * w - 2);
      powers(sets.first, 2 * w - 1, 4 * w - 3);
      powers(sets.second, 1, 2 * w - 1);
      powers(sets.second, 2 * w, 4 * w - 2);
    }
  }
  for (std::vector<Element>* set : {&sets.first, &sets.second}) {
    std::sort(set->begin(), set->end());
    for (const Element g : *set) {
      if (!std::binary_search(set->begin(), set->end(), field.negate(g))) {
        throw std::logic_error("a generator set of an MMS graph is not symmetric");
      }
    }
  }
  return sets;
}

RouterLinks mms_links(const GaloisField& field) {
  const std::uint32_t q = field.size();
  const MmsGenerators sets = mms_generators(field);
  RouterLinks links;
  links.reserve(std::size_t{q} * q * mms_degree(q));
  for (std::uint32_t a = 0; a < q; ++a) {
    add_cayley_links(field, sets.first, a * q, links);
    add_cayley_links(field, sets.second, q * q + a * q, links);
  }
  for (std::uint32_t x = 0; x < q; ++x) {
    for (std::uint32_t m = 0; m < q; ++m) {
      const Element product = field.multiply(static_cast<Element>(m), static_cast<Element>(x));
      for (std::uint32_t c = 0; c < q; ++c) {
        links.emplace_back(x * q + field.add(product, static_cast<Element>(c)), q * q + m * q + c);
      }
    }
  }
  std::sort(links.begin(), links.end());
  return links;
}

std::vector<std::uint32_t> ProjectivePlane::on_line(std::uint32_t line) const {
  const std::uint32_t q = field_.size();
  // The coordinates of line a·x + b·y + c·z = 0.
  const bool affine = line < q * q, last = line == q * q + q;
  const auto a = static_cast<Element>(affine ? line / q : last ? 1 : line - q * q);
  const auto b = static_cast<Element>(affine ? line % q : last ? 0 : 1);
  const auto c = static_cast<Element>(affine ? 1 : 0);
  std::vector<std::uint32_t> found;
  const auto divide = [&](Element over, Element under) {
    return field_.multiply(field_.negate(over), field_.invert(under));
  };
  if (b != 0) {
    for (std::uint32_t x = 0; x < q; ++x) {
      const Element rest = field_.add(field_.multiply(a, static_cast<Element>(x)), c);
      found.push_back(x * q + divide(rest, b));
    }
  } else if (a != 0) {
    const std::uint32_t x = divide(c, a);
    for (std::uint32_t y = 0; y < q; ++y) found.push_back(x * q + y);
  }
  // At infinity, (x, 1, 0) and (1, 0, 0).
  if (a != 0) {
    found.push_back(q * q + divide(b, a));
  } else {
    if (b == 0) {
      for (std::uint32_t x = 0; x < q; ++x) found.push_back(q * q + x);
    }
    found.push_back(q * q + q);
  }
  return found;
}

RouterLinks ProjectivePlane::polarity_links() const {
  RouterLinks links;
  for (std::uint32_t u = 0; u < points(field_.size()); ++u) {
    for (const std::uint32_t v : on_line(u)) {
      if (u <= v) links.emplace_back(u, v);
    }
  }
  return links;
}

RouterLinks star_product_with_paley(std::uint32_t outer_routers, const RouterLinks& outer,
                                    const GaloisField& inner) {
  const std::uint32_t q = inner.size();
  const auto paley = [&](std::uint32_t x, std::uint32_t y) {
    return inner.is_square(inner.subtract(static_cast<Element>(x), static_cast<Element>(y)));
  };
  RouterLinks links;
  for (std::uint32_t u = 0; u < outer_routers; ++u) {
    for (std::uint32_t x = 0; x < q; ++x) {
      for (std::uint32_t y = x + 1; y < q; ++y) {
        if (paley(x, y)) links.emplace_back(u * q + x, u * q + y);
      }
    }
  }
  const Element multiplier = inner.primitive_power(1);
  for (const auto& [u, v] : outer) {
    for (std::uint32_t x = 0; x < q; ++x) {
      const std::uint32_t y = inner.multiply(multiplier, static_cast<Element>(x));
      if (u != v) {
        links.emplace_back(u * q + x, v * q + y);
      } else if (x != y && !paley(x, y)) {
        links.emplace_back(u * q + std::min(x, y), u * q + std::max(x, y));
      }
    }
  }
  std::sort(links.begin(), links.end());
  return links;
}

std::vector<std::uint32_t> paley_sizes(std::uint32_t last) {
  std::vector<std::uint32_t> sizes = prime_powers(5, last);
  sizes.erase(std::remove_if(sizes.begin(), sizes.end(), [](std::uint32_t q) { return q % 4 != 1; }),
              sizes.end());
  return sizes;
}

}  // namespace weft::topologies
