#include "goal/workload/index_patterns.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <string_view>
#include <vector>

#include "goal/workload/message_graph.h"

namespace weft::goal {
namespace {

constexpr const char* kSource =
    "W. Dally, B. Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2";

// A graph from a function that says where every rank sends to.
template <std::vector<Rank> (*Destinations)(const Parameters&, std::uint32_t ranks)>
Graph generate(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  return permutation_graph(Destinations(parameters, ranks), parameters.bytes("size"));
}

template <typename Function>
std::vector<Rank> each(std::uint32_t ranks, Function destination) {
  std::vector<Rank> to(ranks);
  for (Rank r = 0; r < ranks; ++r) to[r] = destination(r);
  return to;
}

// Throws for a number of ranks that the pattern can't have. The nearest one above may be more than there are.
[[noreturn]] void fail_ranks(const Parameters& parameters, std::uint32_t ranks, std::string_view form,
                             std::uint64_t below, std::uint64_t above) {
  parameters.fail("ranks", fmt::format("this pattern needs {} ranks and gets {}; the nearest are {} and {}",
                                       form, ranks, below, above));
}

std::vector<Rank> shift(const Parameters& parameters, std::uint32_t ranks) {
  require_ranks(parameters, ranks, 2);
  const std::int64_t by = parameters.integer("by");
  // Negative values shift down.
  const auto offset = static_cast<std::uint64_t>((by % static_cast<std::int64_t>(ranks) + ranks) %
                                                 static_cast<std::int64_t>(ranks));
  if (offset == 0) parameters.fail("by", fmt::format("with {} ranks, every one would send to itself", ranks));
  return each(ranks, [=](Rank r) { return static_cast<Rank>((r + offset) % ranks); });
}

// "[4,4,8]"; nothing means one ring of all ranks.
std::vector<std::uint32_t> dimensions(const Parameters& parameters, std::uint32_t ranks) {
  const std::string_view text = parameters.text("dims");
  if (text.empty()) return {ranks};
  const auto fail = [&] { parameters.fail("dims", "it must be written like [4,4,8]"); };
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') fail();
  std::vector<std::uint32_t> dims;
  std::uint64_t product = 1;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  for (;;) {
    std::uint32_t dim = 0;
    const auto [stop, error] = std::from_chars(at, end, dim);
    if (error != std::errc() || dim == 0 || (stop != end && *stop != ',')) fail();
    dims.push_back(dim);
    product *= dim;
    if (product > ranks) break;
    if (stop == end) break;
    at = stop + 1;
  }
  if (product != ranks) {
    parameters.fail("dims", fmt::format("the dimensions must multiply to the number of ranks, {}", ranks));
  }
  return dims;
}

std::vector<Rank> tornado(const Parameters& parameters, std::uint32_t ranks) {
  const std::vector<std::uint32_t> dims = dimensions(parameters, ranks);
  bool moves = false;
  for (const std::uint32_t k : dims) moves |= k > 2;
  if (!moves) {
    parameters.fail(parameters.text("dims").empty() ? "ranks" : "dims",
                    "a tornado needs a ring of 3 ranks at least: half of a ring of 2 is no step");
  }
  return each(ranks, [&](Rank r) {
    std::uint64_t to = 0, place = 1;
    Rank rest = r;
    // The last dimension varies fastest.
    for (std::size_t d = dims.size(); d-- > 0;) {
      const std::uint64_t k = dims[d];
      to += place * ((rest % k + (k + 1) / 2 - 1) % k);
      place *= k;
      rest /= dims[d];
    }
    return static_cast<Rank>(to);
  });
}

// The b of n = 2^b.
int address_bits(const Parameters& parameters, std::uint32_t ranks) {
  require_ranks(parameters, ranks, 2);
  const std::uint64_t below = std::bit_floor(ranks);
  if (below != ranks) fail_ranks(parameters, ranks, "a power of two", below, 2 * below);
  return std::countr_zero(ranks);
}

std::vector<Rank> bit_complement(const Parameters& parameters, std::uint32_t ranks) {
  address_bits(parameters, ranks);
  return each(ranks, [=](Rank r) { return ranks - 1 - r; });
}

std::vector<Rank> bit_reverse(const Parameters& parameters, std::uint32_t ranks) {
  const int bits = address_bits(parameters, ranks);
  require_ranks(parameters, ranks, 4);  // of 2, both are palindromes
  return each(ranks, [=](Rank r) {
    Rank to = 0;
    for (int b = 0; b < bits; ++b) to |= (r >> b & 1u) << (bits - 1 - b);
    return to;
  });
}

std::vector<Rank> transpose(const Parameters& parameters, std::uint32_t ranks) {
  require_ranks(parameters, ranks, 4);
  std::uint64_t side = 2;
  while ((side + 1) * (side + 1) <= ranks) ++side;
  if (side * side != ranks) {
    fail_ranks(parameters, ranks, "a square number of", side * side, (side + 1) * (side + 1));
  }
  return each(ranks, [=](Rank r) { return static_cast<Rank>(r % side * side + r / side); });
}

ParameterSpec size_parameter() { return {"size", ParameterType::kBytes, "2MB", "Bytes of each message."}; }

}  // namespace

Workload shift_workload() {
  return {{"shift",
           "Rank r of n sends one message to rank (r + by) mod n.",
           kSource,
           {size_parameter(),
            {"by", ParameterType::kInteger, "1", "How far, in ranks; negative: downwards."},
            ranks_parameter()}},
          generate<shift>};
}

Workload tornado_workload() {
  return {
      {"tornado",
       "Every rank sends one message nearly halfway around its ring, ⌈k/2⌉ - 1 ranks on: the worst case of "
       "minimal routing.",
       kSource,
       {size_parameter(),
        {"dims", ParameterType::kText, "",
         "Torus of the ranks, [4,4,8]: a step in every dimension, the last varying fastest; empty: one "
         "ring."},
        ranks_parameter()}},
      generate<tornado>};
}

Workload bit_complement_workload() {
  return {{"bit_complement",
           "Rank r of n = 2^b sends one message to the rank with all bits inverted.",
           kSource,
           {size_parameter(), ranks_parameter()}},
          generate<bit_complement>};
}

Workload bit_reverse_workload() {
  return {{"bit_reverse",
           "Rank r of n = 2^b sends one message to the rank with the bits in opposite order, as an FFT does.",
           kSource,
           {size_parameter(), ranks_parameter()}},
          generate<bit_reverse>};
}

Workload transpose_workload() {
  return {{"transpose",
           "Rank (i, j) of a square sends one message to rank (j, i), as a matrix transposition does.",
           kSource,
           {size_parameter(), ranks_parameter()}},
          generate<transpose>};
}

}  // namespace weft::goal
