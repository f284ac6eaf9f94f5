// What policies share that choose nodes: ranks are then dealt out to these.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/placement/placement.h"

namespace weft::placement {

// A policy's parameters, and behind them `distribution`: how ranks go to the nodes it has chosen.
std::vector<ParameterSpec> with_distribution(std::vector<ParameterSpec> parameters);
// The ranks on these nodes, in their order. REQUIRES: as many as Request::nodes().
Outcome deal_ranks(const Setup& setup, const std::vector<std::uint32_t>& nodes);

// Numbers of the free hosts, ascending.
std::vector<std::uint32_t> list_free(const Machine& machine);
// "10 hosts are needed, and 8 are free".
Outcome too_few(std::uint32_t needed, std::uint32_t free);

// The value of a text parameter as a place in `words`. REQUIRES: they are its limits' words.
std::size_t choose_word(const Parameters& parameters, const std::string& name,
                        const std::vector<std::string>& words);

// Purposes of the random streams (RandomStream) of policies, so that none repeats another's draws.
inline constexpr std::uint64_t kRandomPurpose = 0x706C6163;
inline constexpr std::uint64_t kRoundRobinPurpose = kRandomPurpose + 1;
inline constexpr std::uint64_t kUnitsPurpose = kRandomPurpose + 2;
inline constexpr std::uint64_t kMatrixPurpose = kRandomPurpose + 3;

// Puts `list` into an order drawn at random, all orders equally likely (Fisher and Yates).
template <typename Item, typename Random>
void shuffle(std::vector<Item>& list, Random& random) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
}

}  // namespace weft::placement
