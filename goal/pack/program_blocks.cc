#include "goal/pack/program_blocks.h"

#include <algorithm>

#include "goal/pack/loops.h"

namespace weft::goal::pack {
namespace {

// A block of programs or tables ends when one of these is reached: small enough to hold many unpacked, large
// enough for zstd.
constexpr int kBlockTokens = 1 << 16;
constexpr int kBlockShapes = 1 << 14;
constexpr int kBlockEdges = 1 << 17;
constexpr int kBlockNames = 1 << 16;

constexpr std::uint32_t kTokenNew = 0, kTokenLoop = 1, kTokenEnd = 2, kFirstShapeToken = 3;

template <typename Column>
bool all_zero(const Column& column) {
  return std::all_of(column.begin(), column.end(), [](const auto value) { return value == 0; });
}

void add_offsets(const std::vector<std::uint64_t>& offsets,
                 google::protobuf::RepeatedField<std::int64_t>& out) {
  std::uint64_t before = 0;
  for (const std::uint64_t offset : offsets) {
    out.Add(static_cast<std::int64_t>(offset - before));
    before = offset;
  }
}

}  // namespace

std::uint32_t ProgramBlocks::add(Rank rank, const std::vector<std::uint32_t>& tokens,
                                 const std::vector<Symbol>& symbols, const ShapeBook& book) {
  if (local_.size() < symbols.size()) local_.resize(symbols.size(), kAny);
  const auto begin_block = [&] {
    first_rank_ = rank;
    programs_in_block_.push_back(0);
  };
  if (block_.token_size() == 0) begin_block();
  ++programs_in_block_.back();
  program_begin_.push_back(static_cast<std::uint32_t>(block_.token_size()));
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (depth == 0 && i > 0 &&
        (block_.token_size() >= kBlockTokens || block_.kind().size() >= kBlockShapes ||
         block_.edge_size() >= kBlockEdges)) {
      flush();
      begin_block();
    }
    if (tokens[i] == kLoop) {
      block_.add_token(kTokenLoop);
      block_.add_token(tokens[++i]);
      ++depth;
    } else if (tokens[i] == kLoopEnd) {
      block_.add_token(kTokenEnd);
      --depth;
    } else if (local_[tokens[i]] == kAny) {
      block_.add_token(kTokenNew);
      local_[tokens[i]] = static_cast<std::uint32_t>(in_block_.size());
      in_block_.push_back(tokens[i]);
      add_shape(symbols[tokens[i]], book);
    } else {
      block_.add_token(kFirstShapeToken + local_[tokens[i]]);
    }
  }
  const auto number = static_cast<std::uint32_t>(program_begin_.size() - 1);
  if (block_.token_size() >= kBlockTokens || block_.kind().size() >= kBlockShapes) flush();
  return number;
}

void ProgramBlocks::add_shape(const Symbol& symbol, const ShapeBook& book) {
  const ShapeFields& fields = book.fields(symbol.shape);
  block_.mutable_kind()->push_back(kind_byte(fields.kind));
  block_.mutable_nic()->push_back(static_cast<char>(fields.nic));
  block_.add_cpu(fields.cpu);
  block_.add_target(fields.target - target_);
  block_.add_tag(static_cast<std::int64_t>(fields.tag) - tag_);
  target_ = fields.target;
  tag_ = static_cast<std::int64_t>(fields.tag);
  block_.add_comm(fields.comm);
  block_.add_column(symbol.column);
  if (fields.kind != OpKind::kCollective && symbol.column == 0) block_.add_value(symbol.value);
  const auto edges = book.edges(symbol.shape);
  block_.add_dependents(static_cast<std::uint32_t>(edges.size()));
  block_.mutable_edge()->Add(edges.begin(), edges.end());
}

void ProgramBlocks::flush() {
  if (block_.token_size() != 0) {
    if (all_zero(block_.nic())) block_.clear_nic();
    if (all_zero(block_.cpu())) block_.clear_cpu();
    if (all_zero(block_.tag())) block_.clear_tag();
    if (all_zero(block_.comm())) block_.clear_comm();
    if (all_zero(block_.column())) block_.clear_column();
    if (block_.edge_size() == 0) block_.clear_dependents();
    block_begin_.push_back(frames_.written());
    frames_.block(BlockType::kPrograms, first_rank_, block_);
    block_.Clear();
    target_ = tag_ = 0;
  }
  for (const std::uint32_t symbol : in_block_) local_[symbol] = kAny;
  in_block_.clear();
}

void ProgramBlocks::describe(Catalog& catalog) const {
  add_offsets(block_begin_, *catalog.mutable_program_block());
  catalog.mutable_programs_in_block()->Add(programs_in_block_.begin(), programs_in_block_.end());
  catalog.mutable_program_begin()->Add(program_begin_.begin(), program_begin_.end());
}

std::uint64_t TableBlocks::add(Rank rank, Rank ranks, const std::vector<std::uint32_t>& peers,
                               const std::vector<std::uint32_t>& comms,
                               const std::vector<std::uint32_t>& collectives) {
  Digest rest;
  rest.add(peers.size());
  rest.add(comms.size());
  rest.add(collectives.size());
  for (const std::uint32_t comm : comms) rest.add(comm);
  for (const std::uint32_t collective : collectives) rest.add(collective);
  Digest form[3] = {rest, rest, rest};
  for (const std::uint32_t peer : peers) {
    form[0].add(peer >= rank ? peer - rank : peer + ranks - rank);
    form[1].add(peer ^ rank);
    form[2].add(peer);
  }
  for (std::uint64_t how = 0; how < 3; ++how) {
    form[how].add(how);
    const auto found = known_.find(form[how]);
    if (found != known_.end()) return std::uint64_t{found->second} * 3 + how;
  }
  for (const Digest& digest : form) known_.emplace(digest, tables_);
  if (block_.rank_size() == 0) tables_in_block_.push_back(0);
  ++tables_in_block_.back();
  block_.add_rank(rank);
  block_.add_peers(static_cast<std::uint32_t>(peers.size()));
  block_.add_comms(static_cast<std::uint32_t>(comms.size()));
  block_.add_collectives(static_cast<std::uint32_t>(collectives.size()));
  std::int64_t before = rank;
  for (const std::uint32_t peer : peers) {
    block_.add_peer(peer - before);
    before = peer;
  }
  block_.mutable_comm()->Add(comms.begin(), comms.end());
  before = 0;
  for (const std::uint32_t collective : collectives) {
    block_.add_collective(collective - before);
    before = collective;
  }
  const std::uint64_t added = std::uint64_t{tables_++} * 3;
  if (block_.peer_size() + block_.comm_size() + block_.collective_size() + block_.rank_size() >=
      kBlockNames) {
    flush();
  }
  return added;
}

void TableBlocks::flush() {
  if (block_.rank_size() == 0) return;
  block_begin_.push_back(frames_.written());
  frames_.block(BlockType::kTables, block_.rank(0), block_);
  block_.Clear();
}

void TableBlocks::describe(Catalog& catalog) const {
  add_offsets(block_begin_, *catalog.mutable_table_block());
  catalog.mutable_tables_in_block()->Add(tables_in_block_.begin(), tables_in_block_.end());
}

}  // namespace weft::goal::pack
