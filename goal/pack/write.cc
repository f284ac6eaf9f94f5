#include <zstd.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>

#include "goal/file.h"
#include "goal/pack/frame.h"
#include "goal/pack/pack.h"
#include "goal/pack/pack.pb.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using pack::BlockHead;
using pack::BlockType;

// A block ends when one of these is reached: small enough for caches, large enough for zstd.
constexpr int kBlockOps = 1 << 18;
constexpr int kBlockEdges = 1 << 20;
constexpr std::size_t kBlockCounts = 1 << 20;

class Writer {
 public:
  using Sink = std::function<void(std::string_view)>;

  explicit Writer(const Sink& sink) : sink_(sink), context_(ZSTD_createCCtx(), ZSTD_freeCCtx) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, ZSTD_CLEVEL_DEFAULT);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  void write(const Graph& graph, const PackInfo& info) {
    std::string header(pack::kMagic);
    append(header, pack::kVersion);
    emit(header);
    catalog_.set_ranks(graph.ranks());
    for (Rank rank = 0; rank < graph.ranks(); ++rank) write_rank(graph, rank);
    catalog_.set_collectives_begin(written_);
    write_collectives(graph);
    write_catalog(graph, info);
  }

 private:
  void emit(std::string_view bytes) {
    sink_(bytes);
    written_ += bytes.size();
  }

  void block(BlockType type, Rank rank, const google::protobuf::MessageLite& message) {
    const std::size_t size = message.ByteSizeLong();
    if (size > pack::kMaxMessageBytes) {
      throw InputError("an operation of rank " + std::to_string(rank) +
                       " has more dependents than a packed file holds");
    }
    raw_.resize(size);
    message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(raw_.data()));
    frame_.resize(sizeof(BlockHead) + ZSTD_compressBound(size));
    const std::size_t compressed =
        ZSTD_compress2(context_.get(), frame_.data() + sizeof(BlockHead), frame_.size() - sizeof(BlockHead),
                       raw_.data(), raw_.size());
    if (ZSTD_isError(compressed))
      throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(compressed));
    const BlockHead head{type, rank, static_cast<std::uint32_t>(compressed)};
    std::memcpy(frame_.data(), &head, sizeof head);
    emit(std::string_view(frame_.data(), sizeof(BlockHead) + compressed));
  }

  void write_rank(const Graph& graph, Rank rank) {
    const RankView view = graph.rank(rank);
    catalog_.add_rank_begin(written_);
    catalog_.add_rank_ops(view.ops());
    catalog_.add_rank_edges(view.edges());
    for (OpIndex i = 0; i < view.ops();) {
      columns_.Clear();
      const OpIndex first = i;
      while (i < view.ops() && i - first < kBlockOps && columns_.edge_size() < kBlockEdges) add_op(view, i++);
      drop_zero_columns();
      block(BlockType::kOperations, rank, columns_);
    }
  }

  void add_op(const RankView& view, OpIndex i) {
    const OpKind kind = view.kind(i);
    columns_.mutable_kind()->push_back(static_cast<char>(kind));
    columns_.mutable_nic()->push_back(static_cast<char>(view.nic(i)));
    columns_.add_cpu(view.cpu(i));
    if (kind == OpKind::kCalc) {
      columns_.add_nanoseconds(view.value(i));
    } else if (kind == OpKind::kCollective) {
      columns_.add_collective(view.peer(i));
    } else {
      columns_.add_bytes(view.value(i));
      columns_.add_peer(view.peer(i) + 1);  // any is 2^32 - 1 and becomes 0
      columns_.add_tag(view.tag(i) + 1);
      columns_.add_comm(view.comm(i));
    }
    const auto edges = view.dependents(i);
    columns_.add_dependents(static_cast<std::uint32_t>(edges.size()));
    for (const Edge& edge : edges) {
      const std::int64_t distance = std::int64_t{edge.dependent()} - std::int64_t{i};
      columns_.add_edge(pack::zigzag(distance) * 2 + (edge.on_start() ? 1 : 0));
    }
    const std::string_view label = view.label(i);
    columns_.add_label_length(static_cast<std::uint32_t>(label.size()));
    columns_.mutable_labels()->append(label);
  }

  void drop_zero_columns() {
    const auto all_zero = [](const auto& column) {
      for (const auto value : column) {
        if (value != 0) return false;
      }
      return true;
    };
    if (all_zero(columns_.nic())) columns_.clear_nic();
    if (all_zero(columns_.cpu())) columns_.clear_cpu();
    if (all_zero(columns_.comm())) columns_.clear_comm();
    if (columns_.edge_size() == 0) columns_.clear_dependents();
    if (columns_.labels().empty()) columns_.clear_label_length();
  }

  void write_collectives(const Graph& graph) {
    pack::Collectives block_of;
    std::size_t counts = 0;
    for (const Collective& collective : graph.collectives()) {
      pack::Collective* out = block_of.add_collective();
      out->set_kind(static_cast<std::uint32_t>(collective.kind));
      out->set_comm(collective.comm);
      out->set_root(collective.root);
      out->set_bytes(collective.bytes);
      out->set_element_bytes(collective.element_bytes);
      out->mutable_counts()->Add(collective.counts.begin(), collective.counts.end());
      out->mutable_receive_counts()->Add(collective.receive_counts.begin(), collective.receive_counts.end());
      counts += 1 + collective.counts.size() + collective.receive_counts.size();
      if (counts < kBlockCounts) continue;
      block(BlockType::kCollectives, 0, block_of);
      block_of.Clear();
      counts = 0;
    }
    if (counts != 0) block(BlockType::kCollectives, 0, block_of);
  }

  void write_catalog(const Graph& graph, const PackInfo& info) {
    for (std::size_t i = 1; i < graph.communicators().size(); ++i) {
      const Communicator& communicator = graph.communicators()[i];
      pack::Communicator* out = catalog_.add_communicator();
      out->set_name(communicator.name);
      out->mutable_ranks()->Add(communicator.ranks.begin(), communicator.ranks.end());
    }
    for (const auto& [key, value] : info.metadata) {
      pack::Entry* out = catalog_.add_metadata();
      out->set_key(key);
      out->set_value(value);
    }
    for (const Anomaly& anomaly : info.anomalies) {
      pack::Anomaly* out = catalog_.add_anomaly();
      out->set_name(anomaly.name);
      out->set_severity(static_cast<std::uint32_t>(anomaly.severity));
      out->set_sentence(anomaly.sentence);
      out->set_count(anomaly.count);
    }
    const std::uint64_t catalog_begin = written_;
    block(BlockType::kCatalog, 0, catalog_);
    std::string trailer;
    append(trailer, catalog_begin);
    trailer += pack::kEndMagic;
    emit(trailer);
  }

  const Sink& sink_;
  std::uint64_t written_ = 0;
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context_;
  std::string raw_, frame_;
  pack::Operations columns_;
  pack::Catalog catalog_;
};

}  // namespace

std::string to_pack(const Graph& graph, const PackInfo& info) {
  std::string bytes;
  const Writer::Sink sink = [&](std::string_view piece) { bytes += piece; };
  Writer(sink).write(graph, info);
  return bytes;
}

void write_pack_file(const Graph& graph, const PackInfo& info, const std::string& path) {
  FileWriter file(path);
  const Writer::Sink sink = [&](std::string_view piece) { file.write(piece); };
  Writer(sink).write(graph, info);
  file.commit();
}

}  // namespace weft::goal
