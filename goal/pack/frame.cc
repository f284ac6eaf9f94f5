#include "goal/pack/frame.h"

#include <google/protobuf/message_lite.h>

#include <cstring>
#include <new>
#include <stdexcept>

#include "sim/units/input_error.h"

namespace weft::goal::pack {
namespace {

// zstd can't pack better than this; a frame that claims more is not worth an allocation.
constexpr std::uint64_t kMaxRatio = 1 << 16;
// A part smaller than this is not worth tables of its own.
constexpr std::size_t kMinPart = 4096;

std::size_t checked(std::size_t result) {
  if (ZSTD_isError(result)) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(result));
  return result;
}

// A context, which zstd has no memory for if it is null.
template <typename Context>
Context* there(Context* context) {
  if (context == nullptr) throw std::bad_alloc();
  return context;
}

}  // namespace

FrameReader::FrameReader(std::string_view bytes, std::string file_name)
    : bytes_(bytes), file_name_(std::move(file_name)), context_(there(ZSTD_createDCtx()), ZSTD_freeDCtx) {}

void FrameReader::fail(std::uint64_t offset, const std::string& message) const {
  throw InputError(SourceLocation{.file = file_name_, .byte_offset = static_cast<std::int64_t>(offset)},
                   message);
}

void FrameReader::damaged(std::uint64_t offset, const std::string& what, const std::string& why) const {
  fail(offset, what + " is damaged here" + (why.empty() ? "" : ": " + why));
}

std::string FrameReader::block_name(BlockType type, Rank rank) {
  const std::string of_rank = " of rank " + std::to_string(rank);
  switch (type) {
    case BlockType::kOperations:
      return "the block" + of_rank;
    case BlockType::kCollectives:
      return "a block of collectives";
    case BlockType::kCatalog:
      return "the catalog";
    case BlockType::kPrograms:
      return "the block of the program" + of_rank;
    case BlockType::kTables:
      return "the block of the peers" + of_rank;
    case BlockType::kValues:
      return "the block of values" + of_rank;
    case BlockType::kLabels:
      return "the block of labels" + of_rank;
  }
  return "a block of unknown type";
}

std::uint32_t FrameReader::check_header() const {
  if (!bytes_.starts_with(kMagic)) {
    fail(0, "this is not a packed GOAL file; it should begin with " + std::string(kMagic));
  }
  if (bytes_.size() < kHeaderBytes) fail(bytes_.size(), "the file ends within its header of 12 bytes");
  const auto version = load<std::uint32_t>(bytes_.data() + kMagic.size());
  if (version == 0 || version > kVersion) {
    fail(kMagic.size(), "found format version " + std::to_string(version) +
                            "; this program reads versions 1 to " + std::to_string(kVersion));
  }
  return version;
}

std::uint64_t FrameReader::find_catalog() const {
  if (bytes_.size() < kHeaderBytes + kTrailerBytes || !bytes_.ends_with(kEndMagic)) fail_truncated();
  const std::uint64_t trailer = bytes_.size() - kTrailerBytes;
  const auto begin = load<std::uint64_t>(bytes_.data() + trailer);
  if (begin < kHeaderBytes || begin > trailer) damaged(trailer, "the trailer");
  return begin;
}

// The file has no trailer: walk over the blocks to say where it was cut.
void FrameReader::fail_truncated() const {
  std::uint64_t at = kHeaderBytes;
  while (at + sizeof(BlockHead) <= bytes_.size()) {
    const auto head = load<BlockHead>(bytes_.data() + at);
    const std::uint64_t left = bytes_.size() - at - sizeof head;
    if (head.bytes > left) {
      fail(at, "the file ends within " + block_name(head.type, head.rank) + ": " +
                   std::to_string(head.bytes) + " bytes are needed, " + std::to_string(left) + " are there");
    }
    at += sizeof head + head.bytes;
  }
  fail(bytes_.size(), "the file ends before its catalog and trailer");
}

std::string_view FrameReader::unpack(std::uint64_t& at, BlockType type, Rank rank) {
  if (at > bytes_.size() || sizeof(BlockHead) > bytes_.size() - at) {
    damaged(std::min<std::uint64_t>(at, bytes_.size()), type, rank, "its head is beyond the end of the file");
  }
  const auto head = load<BlockHead>(bytes_.data() + at);
  const bool shared = type == BlockType::kPrograms || type == BlockType::kTables;
  if (head.type != type || (head.rank != rank && !shared)) {
    fail(at, "found " + block_name(head.type, head.rank) + "; expected " + block_name(type, rank));
  }
  const char* frame = bytes_.data() + at + sizeof head;
  if (head.bytes > bytes_.size() - at - sizeof head) {
    damaged(at, type, rank, "its length is beyond the end of the file");
  }
  const unsigned long long size = ZSTD_getFrameContentSize(frame, head.bytes);
  if (size > kMaxMessageBytes || size / kMaxRatio > head.bytes) {
    damaged(at, type, rank, "its head gives no sensible size");
  }
  if (size > capacity_) {
    capacity_ = size;
    buffer_ = std::make_unique_for_overwrite<char[]>(size);
  }
  const std::size_t got = ZSTD_decompressDCtx(context_.get(), buffer_.get(), size, frame, head.bytes);
  if (ZSTD_isError(got)) damaged(at, type, rank, ZSTD_getErrorName(got));
  if (got != size) damaged(at, type, rank);
  at += sizeof head + head.bytes;
  return {buffer_.get(), size};
}

void FrameReader::parse(std::uint64_t& at, BlockType type, Rank rank,
                        google::protobuf::MessageLite& message) {
  const std::uint64_t begin = at;
  const std::string_view raw = unpack(at, type, rank);
  if (!message.ParseFromArray(raw.data(), static_cast<int>(raw.size()))) damaged(begin, type, rank);
}

FrameWriter::FrameWriter(const Sink& sink) : sink_(sink), context_(there(ZSTD_createCCtx()), ZSTD_freeCCtx) {
  checked(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, ZSTD_CLEVEL_DEFAULT));
  checked(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1));
  std::string header(kMagic);
  append(header, kVersion);
  emit(header);
}

void FrameWriter::emit(std::string_view bytes) {
  sink_(bytes);
  written_ += bytes.size();
}

void FrameWriter::block(BlockType type, Rank rank, std::string_view bytes,
                        const std::vector<std::size_t>& parts) {
  frame_.resize(sizeof(BlockHead) + ZSTD_compressBound(bytes.size()) + 16 * parts.size());
  checked(ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only));
  checked(ZSTD_CCtx_setPledgedSrcSize(context_.get(), bytes.size()));
  ZSTD_outBuffer out{frame_.data(), frame_.size(), sizeof(BlockHead)};
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  const auto pack_up_to = [&](std::size_t end, ZSTD_EndDirective directive) {
    in.size = end;
    if (checked(ZSTD_compressStream2(context_.get(), &out, &in, directive)) != 0) {
      throw std::runtime_error("zstd: more room is needed than ZSTD_compressBound says");
    }
  };
  std::size_t begin = 0;
  for (const std::size_t part : parts) {
    if (part - begin < kMinPart || bytes.size() - part < kMinPart) continue;
    pack_up_to(part, ZSTD_e_flush);
    begin = part;
  }
  pack_up_to(bytes.size(), ZSTD_e_end);
  const BlockHead head{type, rank, static_cast<std::uint32_t>(out.pos - sizeof(BlockHead))};
  std::memcpy(frame_.data(), &head, sizeof head);
  emit(std::string_view(frame_.data(), out.pos));
}

void FrameWriter::block(BlockType type, Rank rank, const google::protobuf::MessageLite& message) {
  const std::size_t size = message.ByteSizeLong();
  if (size > kMaxMessageBytes) {
    throw InputError("rank " + std::to_string(rank) +
                     " has more operations with very many dependents than a packed file holds");
  }
  raw_.resize(size);
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(raw_.data()));
  block(type, rank, raw_);
}

void FrameWriter::trailer(std::uint64_t catalog_begin) {
  std::string bytes;
  append(bytes, catalog_begin);
  bytes += kEndMagic;
  emit(bytes);
}

}  // namespace weft::goal::pack
