#include "goal/pack/read_v1.h"

#include <string>

#include "goal/pack/catalog.h"
#include "goal/pack/pack.pb.h"

namespace weft::goal::pack {
namespace {

class Reader {
 public:
  explicit Reader(FrameReader& frames) : frames_(frames) {}

  Graph read(PackInfo* info) {
    const std::uint64_t catalog_begin = frames_.find_catalog();
    std::uint64_t at = catalog_begin;
    frames_.parse(at, BlockType::kCatalog, 0, catalog_);
    if (at != frames_.bytes().size() - kTrailerBytes) frames_.damaged(catalog_begin, "the catalog");
    check_index(catalog_begin);
    tables_ = read_tables(frames_, catalog_, catalog_begin);
    for (std::size_t i = 1; i < tables_.communicators.size(); ++i) {
      if (builder_.add_communicator(tables_.communicators[i]) != i) {
        frames_.damaged(catalog_begin, "the catalog", "two communicators are equal");
      }
    }
    at = kHeaderBytes;
    for (Rank rank = 0; rank < catalog_.ranks(); ++rank) read_rank(rank, at);
    if (at != catalog_.collectives_begin()) frames_.damaged(at, "the operations");
    if (info != nullptr) *info = info_of(catalog_);
    return builder_.finish();
  }

 private:
  void check_index(std::uint64_t at) {
    const auto ranks = static_cast<int>(catalog_.ranks());
    if (catalog_.rank_begin_size() != ranks || catalog_.rank_ops_size() != ranks ||
        catalog_.rank_edges_size() != ranks) {
      frames_.damaged(at, "the catalog", "its index does not fit the file");
    }
    std::uint64_t ops = 0, edges = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      ops += catalog_.rank_ops(rank);
      edges += catalog_.rank_edges(rank);
    }
    // A packed operation or edge takes far less than 8 bits only where thousands are alike; a claim beyond
    // any plausible rate is not worth reserving for.
    const std::size_t size = frames_.bytes().size();
    if (ops / 4096 <= size && edges / 4096 <= size) builder_.reserve(ops, edges);
  }

  void read_rank(Rank rank, std::uint64_t& at) {
    const int index = static_cast<int>(rank);
    const std::uint64_t ops = catalog_.rank_ops(index);
    if (at != catalog_.rank_begin(index))
      frames_.damaged(at, "the index", "rank " + std::to_string(rank) + " is elsewhere");
    std::uint64_t edges = 0;
    while (builder_.ops_in_rank() < ops) {
      const std::uint64_t begin = at;
      frames_.parse(at, BlockType::kOperations, rank, columns_);
      add_ops(rank, begin, ops);
      edges += static_cast<std::uint64_t>(columns_.edge_size());
    }
    if (builder_.ops_in_rank() != ops || edges != catalog_.rank_edges(index)) {
      frames_.damaged(at, "the index",
                      "rank " + std::to_string(rank) + " has more operations or fewer edges than it says");
    }
    builder_.end_rank();
  }

  [[noreturn]] void bad_column(Rank rank, std::uint64_t begin, const char* column) const {
    frames_.damaged(begin, BlockType::kOperations, rank, std::string("the column '") + column + "'");
  }

  // Does each column have as many values as the kinds of operations ask for?
  void check_columns(Rank rank, std::uint64_t begin) const {
    const Operations& in = columns_;
    const auto check = [&](bool right, const char* column) {
      if (!right) bad_column(rank, begin, column);
    };
    const auto count = static_cast<std::int64_t>(in.kind().size());
    std::int64_t calcs = 0, collectives = 0;
    for (const char kind : in.kind()) {
      check(kind >= 1 && kind <= 4, "kind");
      calcs += kind == static_cast<char>(OpKind::kCalc);
      collectives += kind == static_cast<char>(OpKind::kCollective);
    }
    const std::int64_t messages = count - calcs - collectives;
    const auto optional = [](std::int64_t size, std::int64_t wanted) { return size == 0 || size == wanted; };
    check(count != 0, "kind");
    check(optional(static_cast<std::int64_t>(in.nic().size()), count), "nic");
    check(optional(in.cpu_size(), count), "cpu");
    check(in.nanoseconds_size() == calcs, "nanoseconds");
    check(in.bytes_size() == messages, "bytes");
    check(in.peer_size() == messages, "peer");
    check(in.tag_size() == messages, "tag");
    check(optional(in.comm_size(), messages), "comm");
    check(in.collective_size() == collectives, "collective");
    check(optional(in.dependents_size(), count), "dependents");
    check(optional(in.label_length_size(), count), "label_length");
  }

  void add_ops(Rank rank, std::uint64_t begin, std::uint64_t ops_of_rank) {
    check_columns(rank, begin);
    const Operations& in = columns_;
    const auto bad = [&](const char* column) { bad_column(rank, begin, column); };
    const std::string& kinds = in.kind();
    const auto count = static_cast<std::int64_t>(kinds.size());
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
        if (which >= tables_.collectives.size()) bad("collective");
        builder_.add_collective(tables_.collectives[which], op.cpu, op.nic, label_of);
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
          if (op.comm >= tables_.communicators.size()) bad("comm");
        }
        builder_.add(op, label_of);
      }
      if (in.dependents_size() == 0) continue;
      if (in.dependents(k) > static_cast<std::uint32_t>(in.edge_size() - edge)) bad("dependents");
      for (const int end = edge + static_cast<int>(in.dependents(k)); edge < end; ++edge) {
        const std::int64_t dependent = std::int64_t{index} + unzigzag(in.edge(edge) >> 1);
        if (dependent < 0 || static_cast<std::uint64_t>(dependent) >= ops_of_rank) bad("edge");
        builder_.add_edge(index, static_cast<OpIndex>(dependent), (in.edge(edge) & 1) != 0);
      }
    }
    if (edge != in.edge_size()) bad("edge");
  }

  FrameReader& frames_;
  GraphBuilder builder_;
  FileTables tables_;
  Operations columns_;  // reused: its columns keep their memory
  Catalog catalog_;
};

}  // namespace

Graph read_version_1(FrameReader& frames, PackInfo* info) { return Reader(frames).read(info); }

}  // namespace weft::goal::pack
