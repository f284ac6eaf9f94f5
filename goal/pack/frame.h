// The framing of a packed file: header, blocks, trailer, and zstd. For this folder only.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/raw_bytes.h"

namespace google::protobuf {
class MessageLite;
}

namespace weft::goal::pack {

inline constexpr std::string_view kMagic = "WEFTGOAL";
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::string_view kEndMagic = "WEFTDONE";
inline constexpr std::uint64_t kHeaderBytes = 12;   // magic, version
inline constexpr std::uint64_t kTrailerBytes = 16;  // offset of the catalog, end magic
// Protocol Buffers can't hold messages of 2 GiB or more.
inline constexpr std::uint64_t kMaxMessageBytes = 0x7FFFFFFF;

enum class BlockType : std::uint32_t {
  kOperations = 1,  // version 1 only
  kCollectives = 2,
  kCatalog = 3,
  kPrograms = 4,
  kTables = 5,
  kValues = 6,
  kLabels = 7,
};

// Stands before each zstd frame.
struct BlockHead {
  BlockType type;
  std::uint32_t rank;   // whose it is; programs and tables: the first rank that uses it; else 0
  std::uint32_t bytes;  // of the zstd frame behind it
};
static_assert(sizeof(BlockHead) == 12);

inline std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
inline std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// The blocks of a packed file that lies in memory. Whatever is wrong is an InputError with file, byte and
// rank.
class FrameReader {
 public:
  FrameReader(std::string_view bytes, std::string file_name);

  std::string_view bytes() const { return bytes_; }
  // Returns the version, or throws if this is no packed file or of a later version.
  std::uint32_t check_header() const;
  // Returns the byte offset of the catalog's block; a file without trailer is refused with the block it ends
  // in.
  std::uint64_t find_catalog() const;

  // Unpacks the block at `at`, which must be of that type and `rank` (not compared for programs and tables:
  // there `rank` is whom it is read for), and moves `at` behind it. What it returns holds until the next
  // call.
  std::string_view unpack(std::uint64_t& at, BlockType type, Rank rank);
  void parse(std::uint64_t& at, BlockType type, Rank rank, google::protobuf::MessageLite& message);

  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const;
  // "FILE: byte N: WHAT is damaged here: WHY"
  [[noreturn]] void damaged(std::uint64_t offset, const std::string& what, const std::string& why = "") const;
  [[noreturn]] void damaged(std::uint64_t offset, BlockType type, Rank rank,
                            const std::string& why = "") const {
    damaged(offset, block_name(type, rank), why);
  }
  static std::string block_name(BlockType type, Rank rank);

 private:
  [[noreturn]] void fail_truncated() const;

  std::string_view bytes_;
  std::string file_name_;
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context_;
  std::unique_ptr<char[]> buffer_;
  std::uint64_t capacity_ = 0;
};

// Receives the bytes of a file piece by piece, in order.
using Sink = std::function<void(std::string_view)>;

// Writes header, blocks and trailer.
class FrameWriter {
 public:
  explicit FrameWriter(const Sink& sink);

  std::uint64_t written() const { return written_; }
  // `parts` are offsets into `bytes` where what stands there changes its nature: zstd starts afresh.
  void block(BlockType type, Rank rank, std::string_view bytes, const std::vector<std::size_t>& parts = {});
  void block(BlockType type, Rank rank, const google::protobuf::MessageLite& message);
  void trailer(std::uint64_t catalog_begin);

 private:
  void emit(std::string_view bytes);

  const Sink& sink_;
  std::uint64_t written_ = 0;
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context_;
  std::string raw_, frame_;
};

}  // namespace weft::goal::pack
