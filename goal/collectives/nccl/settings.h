// What users fix of NCCL's choices, as they would with its environment variables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "goal/graph/graph.h"

namespace weft::goal::nccl {

// In the order of NCCL's tables.
enum class Algorithm : std::uint8_t { kTree, kRing, kCollNetDirect, kCollNetChain, kNvls, kNvlsTree, kPat };
inline constexpr int kAlgorithms = 7;
std::string_view name(Algorithm algorithm);  // "tree", "ring", "collnetdirect" …

enum class Protocol : std::uint8_t { kLl, kLl128, kSimple };
inline constexpr int kProtocols = 3;
std::string_view name(Protocol protocol);  // "ll", "ll128", "simple"

// The releases whose tables are known.
enum class Version : std::uint8_t { k2_19, k2_20, k2_30 };  // in their order
// "2.19", "2.20" or "2.30"; throws InputError.
Version parse_version(std::string_view text);
std::string_view name(Version version);

// Algorithms or protocols that may be used for each collective: NCCL_ALGO, NCCL_PROTO. "ring,tree" allows
// those, "^tree" all others, "allreduce:tree;broadcast:ring" one collective each; case does not matter.
// Throws InputError for a word that is none, naming those there are.
class Allowed {
 public:
  Allowed() { masks_.fill(~0u); }
  static Allowed algorithms(std::string_view text);
  static Allowed protocols(std::string_view text);
  bool has(CollectiveKind kind, int entry) const {
    return (masks_[static_cast<std::size_t>(kind)] >> entry & 1u) != 0;
  }
  // Was anything said of the protocols for this kind? (LL128 is then used where NCCL would not by itself.)
  bool given(CollectiveKind kind) const { return masks_[static_cast<std::size_t>(kind)] != ~0u; }

 private:
  std::array<std::uint32_t, kCollectiveKinds> masks_;
};

struct Settings {
  Version version = Version::k2_30;
  bool replayed = false;  // only what can be spelled out as messages
  Allowed algorithms, protocols;
  std::optional<std::uint32_t> min_channels, max_channels;  // NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS
  std::optional<std::uint32_t> threads;                     // NCCL_NTHREADS: 64 to 512 in powers of two
  std::optional<std::uint32_t> ll128_threads;               // NCCL_LL128_NTHREADS
};

}  // namespace weft::goal::nccl
