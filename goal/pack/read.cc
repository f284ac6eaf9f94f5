#include <zstd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "goal/file.h"
#include "goal/pack/frame.h"
#include "goal/pack/pack.h"
#include "goal/pack/pack.pb.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using pack::BlockHead;
using pack::BlockType;

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file_name)
      : bytes_(bytes), file_name_(file_name), context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {}

  Graph read(PackInfo* info) {
    check_header();
    const std::uint64_t catalog_begin = find_catalog();
    std::uint64_t at = catalog_begin;
    read_block(at, BlockType::kCatalog, catalog_);
    if (at != bytes_.size() - pack::kTrailerBytes) damaged(catalog_begin, "the catalog");
    read_catalog(catalog_begin);
    for (at = catalog_.collectives_begin(); at < catalog_begin;) read_collectives(at);
    if (at != catalog_begin) damaged(at, "the collectives");
    at = pack::kHeaderBytes;
    for (Rank rank = 0; rank < catalog_.ranks(); ++rank) read_rank(rank, at);
    if (at != catalog_.collectives_begin()) damaged(at, "the operations");
    if (info != nullptr) fill(*info);
    return builder_.finish();
  }

 private:
  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const {
    throw InputError(SourceLocation{.file = file_name_, .byte_offset = static_cast<std::int64_t>(offset)},
                     message);
  }
  [[noreturn]] void damaged(std::uint64_t offset, const std::string& what,
                            const std::string& why = "") const {
    fail(offset, what + " is damaged here" + (why.empty() ? "" : ": " + why));
  }
  static std::string block_name(BlockType type, Rank rank) {
    switch (type) {
      case BlockType::kOperations:
        return "the block of rank " + std::to_string(rank);
      case BlockType::kCollectives:
        return "a block of collectives";
      case BlockType::kCatalog:
        return "the catalog";
    }
    return "a block of unknown type";
  }

  void check_header() const {
    if (bytes_.size() < pack::kHeaderBytes || !bytes_.starts_with(pack::kMagic)) {
      fail(0, "this is not a packed GOAL file; it should begin with " + std::string(pack::kMagic));
    }
    const auto version = load<std::uint32_t>(bytes_.data() + pack::kMagic.size());
    if (version != pack::kVersion) {
      fail(pack::kMagic.size(), "found format version " + std::to_string(version) +
                                    "; this program reads version " + std::to_string(pack::kVersion));
    }
  }

  std::uint64_t find_catalog() const {
    if (bytes_.size() < pack::kHeaderBytes + pack::kTrailerBytes || !bytes_.ends_with(pack::kEndMagic))
      fail_truncated();
    const std::uint64_t trailer = bytes_.size() - pack::kTrailerBytes;
    const auto begin = load<std::uint64_t>(bytes_.data() + trailer);
    if (begin < pack::kHeaderBytes || begin > trailer) damaged(trailer, "the trailer");
    return begin;
  }

  // The file has no trailer: walk over the blocks to say where it was cut.
  [[noreturn]] void fail_truncated() const {
    std::uint64_t at = pack::kHeaderBytes;
    while (at + sizeof(BlockHead) <= bytes_.size()) {
      const auto head = load<BlockHead>(bytes_.data() + at);
      const std::uint64_t left = bytes_.size() - at - sizeof head;
      if (head.bytes > left) {
        fail(at, "the file ends within " + block_name(head.type, head.rank) + ": " +
                     std::to_string(head.bytes) + " bytes are needed, " + std::to_string(left) +
                     " are there");
      }
      at += sizeof head + head.bytes;
    }
    fail(bytes_.size(), "the file ends before its catalog and trailer");
  }

  // Reads the block at `at` into `message` and moves `at` behind it. Returns the rank of its head.
  template <typename Message>
  void read_block(std::uint64_t& at, BlockType type, Message& message, Rank rank = 0) {
    const std::string name = block_name(type, rank);
    if (at + sizeof(BlockHead) > bytes_.size()) damaged(at, name);
    const auto head = load<BlockHead>(bytes_.data() + at);
    if (head.type != type || head.rank != rank) {
      fail(at, "found " + block_name(head.type, head.rank) + "; expected " + name);
    }
    const char* frame = bytes_.data() + at + sizeof head;
    if (head.bytes > bytes_.size() - at - sizeof head)
      damaged(at, name, "its length is beyond the end of the file");
    const unsigned long long size = ZSTD_getFrameContentSize(frame, head.bytes);
    if (size > pack::kMaxMessageBytes) damaged(at, name, "its head gives no sensible size");
    if (size > capacity_) {
      capacity_ = size;
      buffer_ = std::make_unique_for_overwrite<char[]>(size);
    }
    const std::size_t got = ZSTD_decompressDCtx(context_.get(), buffer_.get(), size, frame, head.bytes);
    if (ZSTD_isError(got)) damaged(at, name, ZSTD_getErrorName(got));
    if (got != size || !message.ParseFromArray(buffer_.get(), static_cast<int>(size))) damaged(at, name);
    at += sizeof head + head.bytes;
  }

  void read_catalog(std::uint64_t at) {
    const auto ranks = static_cast<int>(catalog_.ranks());
    if (catalog_.rank_begin_size() != ranks || catalog_.rank_ops_size() != ranks ||
        catalog_.rank_edges_size() != ranks || catalog_.collectives_begin() < pack::kHeaderBytes ||
        catalog_.collectives_begin() > at) {
      damaged(at, "the catalog", "its index does not fit the file");
    }
    sizes_.push_back(catalog_.ranks());
    std::vector<bool> is_member;
    for (const pack::Communicator& in : catalog_.communicator()) {
      Communicator communicator{in.name(), {in.ranks().begin(), in.ranks().end()}};
      is_member.assign(in.ranks().empty() ? 0 : catalog_.ranks(), false);
      for (const Rank rank : communicator.ranks) {
        if (rank >= catalog_.ranks() || is_member[rank])
          damaged(at, "the catalog", "a communicator has a bad member");
        is_member[rank] = true;
      }
      sizes_.push_back(communicator.ranks.empty() ? catalog_.ranks()
                                                  : static_cast<std::uint32_t>(communicator.ranks.size()));
      if (builder_.add_communicator(std::move(communicator)) + 1 != sizes_.size()) {
        damaged(at, "the catalog", "two communicators are equal");
      }
    }
    std::uint64_t ops = 0, edges = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      ops += catalog_.rank_ops(rank);
      edges += catalog_.rank_edges(rank);
    }
    // A packed operation or edge takes far less than 8 bits only where thousands are alike; a claim beyond
    // any plausible rate is not worth reserving for.
    if (ops / 4096 <= bytes_.size() && edges / 4096 <= bytes_.size()) builder_.reserve(ops, edges);
  }

  void read_collectives(std::uint64_t& at) {
    const std::uint64_t begin = at;
    pack::Collectives block;
    read_block(at, BlockType::kCollectives, block);
    for (const pack::Collective& in : block.collective()) {
      if (in.kind() >= kCollectiveKinds || in.comm() >= sizes_.size()) {
        damaged(begin, "a block of collectives", "unknown kind or communicator");
      }
      const std::uint32_t size = sizes_[in.comm()];
      const auto fits = [size](const auto& counts) {
        return counts.empty() || counts.size() == static_cast<int>(size);
      };
      if (in.root() >= size || in.element_bytes() == 0 || !fits(in.counts()) || !fits(in.receive_counts())) {
        damaged(begin, "a block of collectives", "root or counts do not fit the communicator");
      }
      collectives_.push_back({static_cast<CollectiveKind>(in.kind()),
                              in.comm(),
                              in.root(),
                              in.bytes(),
                              in.element_bytes(),
                              {in.counts().begin(), in.counts().end()},
                              {in.receive_counts().begin(), in.receive_counts().end()}});
    }
  }

  void read_rank(Rank rank, std::uint64_t& at) {
    const int index = static_cast<int>(rank);
    const std::uint64_t ops = catalog_.rank_ops(index);
    if (at != catalog_.rank_begin(index))
      damaged(at, "the index", "rank " + std::to_string(rank) + " is elsewhere");
    std::uint64_t edges = 0;
    while (builder_.ops_in_rank() < ops) {
      const std::uint64_t begin = at;
      read_block(at, BlockType::kOperations, columns_, rank);
      add_ops(rank, begin, ops);
      edges += static_cast<std::uint64_t>(columns_.edge_size());
    }
    if (builder_.ops_in_rank() != ops || edges != catalog_.rank_edges(index)) {
      damaged(at, "the index",
              "rank " + std::to_string(rank) + " has more operations or fewer edges than it says");
    }
    builder_.end_rank();
  }

  void add_ops(Rank rank, std::uint64_t begin, std::uint64_t ops_of_rank) {
    const pack::Operations& in = columns_;
    const auto bad = [&](const char* column) {
      damaged(begin, block_name(BlockType::kOperations, rank), std::string("the column '") + column + "'");
    };
    const std::string& kinds = in.kind();
    const auto count = static_cast<std::int64_t>(kinds.size());
    std::int64_t calcs = 0, collectives = 0;
    for (const char kind : kinds) {
      if (kind < 1 || kind > 4) bad("kind");
      calcs += kind == static_cast<char>(OpKind::kCalc);
      collectives += kind == static_cast<char>(OpKind::kCollective);
    }
    const std::int64_t messages = count - calcs - collectives;
    const auto optional = [](std::int64_t size, std::int64_t wanted) { return size == 0 || size == wanted; };
    if (count == 0) bad("kind");
    if (!optional(static_cast<std::int64_t>(in.nic().size()), count)) bad("nic");
    if (!optional(in.cpu_size(), count)) bad("cpu");
    if (in.nanoseconds_size() != calcs) bad("nanoseconds");
    if (in.bytes_size() != messages) bad("bytes");
    if (in.peer_size() != messages) bad("peer");
    if (in.tag_size() != messages) bad("tag");
    if (!optional(in.comm_size(), messages)) bad("comm");
    if (in.collective_size() != collectives) bad("collective");
    if (!optional(in.dependents_size(), count)) bad("dependents");
    if (!optional(in.label_length_size(), count)) bad("label_length");

    const char* label = in.labels().data();
    const char* const labels_end = label + in.labels().size();
    int calc = 0, collective = 0, message = 0, edge = 0;
    for (int k = 0; k < static_cast<int>(count); ++k) {
      Op op{.kind = static_cast<OpKind>(kinds[static_cast<std::size_t>(k)])};
      if (!in.nic().empty()) op.nic = static_cast<std::uint8_t>(in.nic()[static_cast<std::size_t>(k)]);
      if (in.cpu_size() != 0) {
        if (in.cpu(k) > 0xFFFF) bad("cpu");
        op.cpu = static_cast<std::uint16_t>(in.cpu(k));
      }
      std::string_view label_of;
      if (in.label_length_size() != 0) {
        if (in.label_length(k) > static_cast<std::uint64_t>(labels_end - label)) bad("label_length");
        label_of = {label, in.label_length(k)};
        label += label_of.size();
      }
      const OpIndex index = builder_.ops_in_rank();
      if (op.kind == OpKind::kCollective) {
        const std::uint32_t which = in.collective(collective++);
        if (which >= collectives_.size()) bad("collective");
        builder_.add_collective(collectives_[which], op.cpu, op.nic, label_of);
      } else {
        if (op.kind == OpKind::kCalc) {
          op.value = in.nanoseconds(calc++);
        } else {
          op.value = in.bytes(message);
          op.peer = in.peer(message) - 1;
          op.tag = in.tag(message) - 1;
          if (in.comm_size() != 0) op.comm = in.comm(message);
          ++message;
          if (op.peer >= catalog_.ranks() && !(op.peer == kAny && op.kind == OpKind::kRecv)) bad("peer");
          if (op.comm >= sizes_.size()) bad("comm");
        }
        builder_.add(op, label_of);
      }
      if (in.dependents_size() == 0) continue;
      if (in.dependents(k) > static_cast<std::uint32_t>(in.edge_size() - edge)) bad("dependents");
      for (const int end = edge + static_cast<int>(in.dependents(k)); edge < end; ++edge) {
        const std::int64_t dependent = std::int64_t{index} + pack::unzigzag(in.edge(edge) >> 1);
        if (dependent < 0 || static_cast<std::uint64_t>(dependent) >= ops_of_rank) bad("edge");
        builder_.add_edge(index, static_cast<OpIndex>(dependent), (in.edge(edge) & 1) != 0);
      }
    }
    if (edge != in.edge_size()) bad("edge");
  }

  void fill(PackInfo& info) const {
    info = {};
    for (const pack::Entry& entry : catalog_.metadata()) info.metadata[entry.key()] = entry.value();
    for (const pack::Anomaly& in : catalog_.anomaly()) {
      // A severity that a later version may add is at least as bad as the worst known here.
      const auto severity = static_cast<Severity>(std::min<std::uint32_t>(in.severity(), 2));
      info.anomalies.push_back({in.name(), severity, in.sentence(), in.count()});
    }
  }

  std::string_view bytes_;
  const std::string& file_name_;
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context_;
  std::unique_ptr<char[]> buffer_;
  std::uint64_t capacity_ = 0;
  GraphBuilder builder_;
  pack::Operations columns_;  // reused: its columns keep their memory
  pack::Catalog catalog_;
  std::vector<std::uint32_t> sizes_;  // of communicators
  std::vector<Collective> collectives_;
};

}  // namespace

Graph parse_pack(std::string_view bytes, const std::string& file_name, PackInfo* info) {
  return Reader(bytes, file_name).read(info);
}

Graph read_pack_file(const std::string& path, PackInfo* info) {
  const FileView file(path);
  return parse_pack(file.bytes(), path, info);
}

}  // namespace weft::goal
