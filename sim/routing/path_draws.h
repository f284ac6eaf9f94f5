// The random draws that paths follow from under the built-in rule: the same in every network model, so that
// a message takes the same path in each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/core/random.h"
#include "sim/routing/hash_choice.h"

namespace weft::routing {

// What makes the hashes of one switch differ from another's.
inline std::uint64_t switch_salt(std::uint64_t seed, std::uint32_t switch_index) {
  return sim::RandomStream(seed, switch_index, 0x5A17).next();
}

// Stable identity of the flow that is the `number`-th of its source, from 0.
inline std::uint64_t flow_identity(std::uint32_t source, std::uint32_t number) {
  return std::uint64_t{source} << 32 | number;
}
// And of the connection between two hosts' NICs with this number; all its messages take its paths.
inline std::uint64_t connection_identity(std::uint32_t source, std::uint32_t destination,
                                         std::uint8_t source_nic, std::uint8_t destination_nic,
                                         std::uint32_t channel) {
  const std::uint64_t nics = std::uint64_t{source_nic} << 8 | destination_nic;
  return sim::mix64(sim::mix64(std::uint64_t{source} << 32 | destination) +
                    (std::uint64_t{channel} << 16 | nics));
}
// The stream of a flow's paths. Its first number, cut to 32 bits, is the flow's entropy.
inline sim::RandomStream flow_draws(std::uint64_t seed, std::uint64_t identity) {
  return sim::RandomStream(seed, identity, 0xE47);
}
// The NIC that a flow hashed over its host's NICs takes, below `count`.
inline std::uint32_t hashed_nic(std::uint32_t entropy, std::size_t count) {
  return hash_choice(entropy, 0x21C, count);
}

}  // namespace weft::routing
