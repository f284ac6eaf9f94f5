#include "goal/workload/index_patterns.h"

#include <fmt/core.h>

#include <bit>
#include <string_view>
#include <vector>

#include "goal/workload/grid.h"
#include "goal/workload/message_graph.h"
#include "goal/workload/phases.h"

namespace weft::goal {
namespace {

constexpr const char* kSource =
    "W. Dally, B. Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2";
constexpr std::uint32_t kMostShiftDimensions = 32;

// A graph from a function that says where every rank sends to.
template <std::vector<Rank> (*Destinations)(const Parameters&, std::uint32_t ranks)>
Graph generate_index_pattern(const Parameters& parameters, std::uint32_t ranks, std::uint64_t) {
  const std::vector<Rank> to = Destinations(parameters, ranks);
  return repeated_messages(parameters, ranks, messages_to(to, parameters.bytes("size")));
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

std::vector<Rank> tornado(const Parameters& parameters, std::uint32_t ranks) {
  // No dims: one ring of all ranks.
  const Grid grid =
      parameters.text("dims").empty() ? Grid{{ranks}} : grid_of(parameters, ranks, 1, kMostShiftDimensions);
  bool moves = false;
  for (const std::uint32_t k : grid.dims) moves |= k > 2;
  if (!moves) {
    parameters.fail(parameters.text("dims").empty() ? "ranks" : "dims",
                    "a tornado needs a ring of 3 ranks at least: half of a ring of 2 is no step");
  }
  return each(ranks, [&](Rank r) {
    std::vector<std::uint32_t> at = grid.coordinates(r);
    for (std::size_t d = 0; d < at.size(); ++d) at[d] = (at[d] + (grid.dims[d] + 1) / 2 - 1) % grid.dims[d];
    return grid.rank(at);
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

std::vector<Rank> bisection(const Parameters& parameters, std::uint32_t ranks) {
  require_ranks(parameters, ranks, 2);
  if (ranks % 2 != 0) fail_ranks(parameters, ranks, "an even number of", ranks - 1, ranks + 1ull);
  return each(ranks, [=](Rank r) { return r < ranks / 2 ? r + ranks / 2 : r - ranks / 2; });
}

ParameterSpec size_parameter() { return {"size", ParameterType::kBytes, "2MB", "Bytes of each message."}; }

}  // namespace

Workload shift_workload() {
  return {{"shift",
           "Rank r of n sends one message to rank (r + by) mod n.",
           kSource,
           {size_parameter(),
            {"by", ParameterType::kInteger, "1", "How far, in ranks; negative: downwards."},
            iterations_parameter(),
            compute_parameter(),
            ranks_parameter()}},
          generate_index_pattern<shift>};
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
        iterations_parameter(),
        compute_parameter(),
        ranks_parameter()}},
      generate_index_pattern<tornado>};
}

Workload bit_complement_workload() {
  return {{"bit_complement",
           "Rank r of n = 2^b sends one message to the rank with all bits inverted.",
           kSource,
           {size_parameter(), iterations_parameter(), compute_parameter(), ranks_parameter()}},
          generate_index_pattern<bit_complement>};
}

Workload bit_reverse_workload() {
  return {{"bit_reverse",
           "Rank r of n = 2^b sends one message to the rank with the bits in opposite order, as an FFT does.",
           kSource,
           {size_parameter(), iterations_parameter(), compute_parameter(), ranks_parameter()}},
          generate_index_pattern<bit_reverse>};
}

Workload transpose_workload() {
  return {{"transpose",
           "Rank (i, j) of a square sends one message to rank (j, i), as a matrix transposition does.",
           kSource,
           {size_parameter(), iterations_parameter(), compute_parameter(), ranks_parameter()}},
          generate_index_pattern<transpose>};
}

Workload bisection_workload() {
  return {{"bisection",
           "Ranks r and r + n/2 send each other one message: all traffic crosses the middle of the machine.",
           "T. Hoefler, T. Schneider, A. Lumsdaine, "
           "Multistage Switches are not Crossbars, Cluster 2008; here with one fixed pairing",
           {size_parameter(), iterations_parameter(), compute_parameter(), ranks_parameter()}},
          generate_index_pattern<bisection>};
}

}  // namespace weft::goal
