#include "goal/pack/unpacked.h"

#include <string_view>

#include "goal/pack/labels.h"
#include "goal/pack/loops.h"
#include "goal/pack/pack.pb.h"

namespace weft::goal::pack {
namespace {

// Throws unless a column has one entry for each of `wanted`, or none where it may be missing.
class Columns {
 public:
  Columns(const FrameReader& frames, std::uint64_t begin, BlockType type, Rank rank)
      : frames_(frames), begin_(begin), type_(type), rank_(rank) {}

  [[noreturn]] void bad(const char* column) const {
    frames_.damaged(begin_, type_, rank_, std::string("the column '") + column + "'");
  }
  template <typename Column>
  void need(const Column& column, std::size_t wanted, const char* name) const {
    if (static_cast<std::size_t>(column.size()) != wanted) bad(name);
  }
  template <typename Column>
  void allow(const Column& column, std::size_t wanted, const char* name) const {
    if (column.size() != 0) need(column, wanted, name);
  }

 private:
  const FrameReader& frames_;
  std::uint64_t begin_;
  BlockType type_;
  Rank rank_;
};

void read_shapes(const Programs& in, const Columns& columns, ProgramBlock& block) {
  const std::size_t count = in.kind().size();
  columns.allow(in.nic(), count, "nic");
  columns.need(in.cpu(), in.cpu_size() == 0 ? 0 : count, "cpu");
  columns.need(in.target(), count, "target");
  columns.allow(in.tag(), count, "tag");
  columns.allow(in.comm(), count, "comm");
  columns.allow(in.column(), count, "column");
  columns.allow(in.dependents(), count, "dependents");
  block.shapes.resize(count);
  std::int64_t target = 0, tag = 0;
  int value = 0;
  std::uint64_t edge = 0;
  for (int s = 0; s < static_cast<int>(count); ++s) {
    ShapeRecord& shape = block.shapes[static_cast<std::size_t>(s)];
    const char kind = in.kind()[static_cast<std::size_t>(s)];
    if (kind < 1 || kind > kSynchronousSend) columns.bad("kind");
    shape.kind =
        kind == kSynchronousSend ? KindOfOp(OpKind::kSend, true) : KindOfOp(static_cast<OpKind>(kind));
    shape.nic = in.nic().empty() ? 0 : static_cast<std::uint8_t>(in.nic()[static_cast<std::size_t>(s)]);
    if (in.cpu_size() != 0 && in.cpu(s) > 0xFFFF) columns.bad("cpu");
    shape.cpu = in.cpu_size() == 0 ? 0 : static_cast<std::uint16_t>(in.cpu(s));
    // Sums of what a damaged file may hold must not overflow.
    target = static_cast<std::int64_t>(static_cast<std::uint64_t>(target) +
                                       static_cast<std::uint64_t>(in.target(s)));
    if (target < 0 || target > 0xFFFFFFFF) columns.bad("target");
    shape.target = static_cast<std::uint32_t>(target);
    if (in.tag_size() != 0) {
      tag =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(tag) + static_cast<std::uint64_t>(in.tag(s)));
    }
    shape.tag = static_cast<std::uint64_t>(tag);
    shape.comm = in.comm_size() == 0 ? 0 : in.comm(s);
    shape.column = in.column_size() == 0 ? 0 : in.column(s);
    shape.value = 0;
    if (shape.kind != OpKind::kCollective && shape.column == 0) {
      if (value == in.value_size()) columns.bad("value");
      shape.value = in.value(value++);
    }
    const std::uint64_t dependents = in.dependents_size() == 0 ? 0 : in.dependents(s);
    if (dependents > static_cast<std::uint64_t>(in.edge_size()) - edge) columns.bad("dependents");
    shape.edge_begin = static_cast<std::uint32_t>(edge);
    edge += dependents;
    shape.edge_end = static_cast<std::uint32_t>(edge);
  }
  if (value != in.value_size()) columns.bad("value");
  if (edge != static_cast<std::uint64_t>(in.edge_size())) columns.bad("edge");
  block.edges.assign(in.edge().begin(), in.edge().end());
}

void read_tokens(const Programs& in, const Columns& columns, ProgramBlock& block) {
  block.tokens.reserve(static_cast<std::size_t>(in.token_size()));
  std::uint32_t named = 0;
  std::size_t depth = 0;
  bool empty_body = false;
  for (int t = 0; t < in.token_size(); ++t) {
    const std::uint32_t token = in.token(t);
    if (token == 1) {
      if (++depth > kMaxLoopDepth || ++t == in.token_size() || in.token(t) < 2 || in.token(t) > 0x7FFFFFFFu) {
        columns.bad("token");
      }
      block.tokens.push_back(kLoop);
      block.tokens.push_back(in.token(t));
      empty_body = true;
      continue;
    }
    if (token == 2) {
      if (depth-- == 0 || empty_body) columns.bad("token");
      block.tokens.push_back(kLoopEnd);
      continue;
    }
    empty_body = false;
    const std::uint32_t shape = token == 0 ? named++ : token - 3;
    if (shape >= named || shape >= block.shapes.size()) columns.bad("token");
    block.tokens.push_back(shape);
  }
  if (depth != 0) columns.bad("token");
}

}  // namespace

ProgramBlock read_programs(FrameReader& frames, std::uint64_t& at, Rank rank) {
  const Columns columns(frames, at, BlockType::kPrograms, rank);
  Programs in;
  frames.parse(at, BlockType::kPrograms, rank, in);
  ProgramBlock block;
  read_shapes(in, columns, block);
  read_tokens(in, columns, block);
  return block;
}

TableBlock read_names(FrameReader& frames, std::uint64_t& at, Rank rank, const FileTables& tables) {
  const Columns columns(frames, at, BlockType::kTables, rank);
  Tables in;
  frames.parse(at, BlockType::kTables, rank, in);
  TableBlock block;
  const auto count = static_cast<std::size_t>(in.rank_size());
  columns.need(in.peers(), count, "peers");
  columns.need(in.comms(), count, "comms");
  columns.need(in.collectives(), count, "collectives");
  int peer = 0, comm = 0, collective = 0;
  // Takes `number` names that are stored as differences.
  const auto take = [&](const auto& column, int& next, std::uint32_t number, std::uint64_t before,
                        std::uint64_t bound, const char* name) {
    if (number > static_cast<std::uint32_t>(column.size() - next)) columns.bad(name);
    for (; number > 0; --number) {
      before += static_cast<std::uint64_t>(column.Get(next++));
      if (before >= bound) columns.bad(name);
      block.names.push_back(static_cast<std::uint32_t>(before));
    }
  };
  const auto names = [&] { return static_cast<std::uint32_t>(block.names.size()); };
  for (int t = 0; t < static_cast<int>(count); ++t) {
    TableBlock::Table table{.rank = in.rank(t), .peers = names()};
    if (table.rank >= tables.ranks) columns.bad("rank");
    take(in.peer(), peer, in.peers(t), table.rank, tables.ranks, "peer");
    table.comms = names();
    for (std::uint32_t k = 0; k < in.comms(t); ++k) {
      take(in.comm(), comm, 1, 0, tables.communicators.size(), "comm");
    }
    table.collectives = names();
    take(in.collective(), collective, in.collectives(t), 0, tables.collectives.size(), "collective");
    table.end = names();
    block.tables.push_back(table);
  }
  if (peer != in.peer_size()) columns.bad("peer");
  if (comm != in.comm_size()) columns.bad("comm");
  if (collective != in.collective_size()) columns.bad("collective");
  return block;
}

LabelBlock read_labels(FrameReader& frames, std::uint64_t& at, Rank rank) {
  const Columns columns(frames, at, BlockType::kLabels, rank);
  Labels in;
  frames.parse(at, BlockType::kLabels, rank, in);
  LabelBlock block;
  block.begin.push_back(0);
  std::string_view text = in.text();
  std::string label;
  if (in.length_size() == 0) columns.bad("length");
  for (const std::uint32_t length : in.length()) {
    if (block.text.size() >= kMaxBlockText) columns.bad("text");
    if (length == 1) {
      label = label_after(label);
      if (label.empty()) columns.bad("length");
      block.text += label;
    } else if (length > 1) {
      if (length - 2 > text.size()) columns.bad("length");
      label = text.substr(0, length - 2);
      text.remove_prefix(length - 2);
      block.text += label;
    }
    block.begin.push_back(static_cast<std::uint32_t>(block.text.size()));
  }
  if (!text.empty()) columns.bad("text");
  return block;
}

}  // namespace weft::goal::pack
