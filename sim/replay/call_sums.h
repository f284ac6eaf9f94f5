// Whether the members of communicators call the same collectives, without a memory of each call.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/core/random.h"

namespace weft::sim {

// What members of a communicator must agree on: equal where they do. Sizes of calls with sizes of their own
// for each rank are left out, as each member may know some only.
inline std::uint64_t call_signature(const goal::Collective& collective) {
  std::uint64_t hash = mix64(static_cast<std::uint64_t>(collective.kind) + 1);
  hash = mix64(hash ^ collective.root);
  for (const char c : collective.algorithm) hash = mix64(hash ^ static_cast<unsigned char>(c));
  if (goal::is_of_neighbors(collective.kind)) return hash;
  hash = mix64(hash ^ (collective.of_v_form() ? 1 : 2));
  return collective.of_v_form() ? hash : mix64(hash ^ collective.bytes);
}

// The calls of each communicator, added up in any order: those of all members, and those of its first. All
// members have called the same where the former are the latter as often as there are members; that others
// add up to this takes one in 2^64.
class CallSums {
 public:
  struct Sum {
    std::uint64_t all = 0, of_first = 0;
  };

  explicit CallSums(std::size_t communicators) : sums_(communicators) {}
  // A member's call: which on its communicator, and its signature.
  void add(std::uint32_t comm, std::uint32_t member, std::uint32_t number, std::uint64_t signature) {
    Sum& sum = sums_[comm];
    const std::uint64_t call = mix64(signature + number);
    sum.all += call;
    if (member == 0) sum.of_first += call;
  }
  const Sum& of(std::uint32_t comm) const { return sums_[comm]; }
  std::uint64_t memory_bytes() const { return sums_.capacity() * sizeof(Sum); }

 private:
  std::vector<Sum> sums_;
};

}  // namespace weft::sim
