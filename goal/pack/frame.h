// The framing of a packed file: header, blocks, trailer. For read.cc and write.cc only.
#pragma once

#include <cstdint>
#include <string_view>

#include "goal/raw_bytes.h"

namespace weft::goal::pack {

inline constexpr std::string_view kMagic = "WEFTGOAL";
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::string_view kEndMagic = "WEFTDONE";
inline constexpr std::uint64_t kHeaderBytes = 12;   // magic, version
inline constexpr std::uint64_t kTrailerBytes = 16;  // offset of the catalog, end magic
// Protocol Buffers can't hold messages of 2 GiB or more.
inline constexpr std::uint64_t kMaxMessageBytes = 0x7FFFFFFF;

enum class BlockType : std::uint32_t { kOperations = 1, kCollectives = 2, kCatalog = 3 };

// Stands before each zstd frame.
struct BlockHead {
  BlockType type;
  std::uint32_t rank;   // of operations; else 0
  std::uint32_t bytes;  // of the zstd frame behind it
};
static_assert(sizeof(BlockHead) == 12);

inline std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace weft::goal::pack
