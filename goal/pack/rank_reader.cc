#include <algorithm>

#include "goal/pack/inside.h"
#include "goal/pack/loops.h"
#include "goal/pack/packed_file.h"

namespace weft::goal {

using pack::BlockType;

namespace {

std::string at_operation(const std::string& why, OpIndex position) {
  return why + ", at operation " + std::to_string(position);
}

// Whom a rank's places stand for.
class Names {
 public:
  Names(PackedFile::Inside& file, Rank rank, const OpIndex& position)
      : file_(file),
        place_(file.table(rank)),
        position_(position),
        rank_(rank),
        ranks_(file.index->tables.ranks) {
    const pack::TableBlock::Table& table = *place_.table;
    const std::uint32_t* names = place_.block->names.data();
    peers_ = {names + table.peers, names + table.comms};
    comms_ = {names + table.comms, names + table.collectives};
    collectives_ = {names + table.collectives, names + table.end};
    how_ = static_cast<int>(file.index->ranks[rank].table % 3);
    shift_ = rank >= table.rank ? rank - table.rank : rank + ranks_ - table.rank;
    mask_ = rank ^ table.rank;
  }

  Rank peer(std::uint32_t place) const {
    if (place >= peers_.size()) bad("peer");
    const Rank peer = peers_[place];
    if (how_ == 2) return peer;
    if (how_ == 0) return peer < ranks_ - shift_ ? peer + shift_ : peer - (ranks_ - shift_);
    if ((peer ^ mask_) >= ranks_) bad("peer");
    return peer ^ mask_;
  }
  std::uint32_t comm(std::uint32_t place) const {
    if (place >= comms_.size()) bad("comm");
    return comms_[place];
  }
  std::uint32_t collective(std::uint32_t place) const {
    if (place >= collectives_.size()) bad("collective");
    return collectives_[place];
  }
  [[noreturn]] void bad(const char* column) const {
    file_.frames.damaged(
        place_.offset, BlockType::kTables, rank_,
        at_operation(std::string("its program asks for more of the column '") + column + "' than there is",
                     position_));
  }

 private:
  PackedFile::Inside& file_;
  PackedFile::Inside::TablePlace place_;
  const OpIndex& position_;  // of the reader, for messages
  Rank rank_, ranks_, shift_, mask_;
  int how_;
  std::span<const std::uint32_t> peers_, comms_, collectives_;
};

}  // namespace

RankReader::RankReader(PackedFile::Inside& file, Rank rank, const PackedFile::Parts& parts)
    : file_(&file),
      rank_(rank),
      ops_(file.index->ranks[rank].ops),
      with_values_(parts.values),
      values_at_(file.index->ranks[rank].values),
      labels_at_(parts.labels ? file.index->ranks[rank].labels : 0) {
  if (ops_ == 0) return;
  const auto& program = file.index->programs[file.index->ranks[rank].program];
  program_block_ = program.block;
  token_ = program.token;
}

void RankReader::bad_program(const char* why) const {
  file_->frames.damaged(file_->index->program_blocks[program_block_], BlockType::kPrograms, rank_,
                        at_operation(why, position_));
}

void RankReader::bad_values(const char* why) const {
  file_->frames.damaged(values_at_, BlockType::kValues, rank_, at_operation(why, position_));
}

bool RankReader::next(OpBlock& out, std::uint32_t most) {
  out.first = position_;
  out.ops.clear();
  out.edges.clear();
  out.edge_begin.assign(1, 0);
  out.labels.clear();
  const std::uint32_t count = std::min(most, ops_ - position_);
  if (count == 0) return false;
  const Names names(*file_, rank_, position_);
  std::shared_ptr<const pack::ProgramBlock> program = file_->program_block(program_block_, rank_);
  std::shared_ptr<const pack::ValueBlock> values;
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t next = next_shape(program);  // may change the block
    const pack::ShapeRecord& shape = program->shapes[next];
    Op op{.kind = shape.kind, .nic = shape.nic, .cpu = shape.cpu};
    if (shape.kind == OpKind::kCollective) {
      op.peer = names.collective(shape.target);
      op.comm = file_->index->tables.collectives[op.peer].comm;
      op.tag = meet(op.comm);
    } else {
      if (shape.column == 0) {
        op.value = shape.value;
      } else if (with_values_) {
        op.value = next_value(values, shape.column);
      }
      if (shape.kind != OpKind::kCalc) {
        op.peer = shape.target == 0 ? kAny : names.peer(shape.target - 1);
        if (op.peer == kAny && shape.kind == OpKind::kSend) names.bad("peer");
        op.comm = shape.comm == 0 ? kWorld : names.comm(shape.comm - 1);
        op.tag = next_tag(shape.tag);
      }
    }
    out.ops.push_back(op);
    for (std::uint32_t e = shape.edge_begin; e < shape.edge_end; ++e) {
      const std::uint64_t code = program->edges[e];
      if (code >= 2) {
        const std::int64_t dependent = std::int64_t{position_} + pack::unzigzag((code >> 1) - 1);
        if (dependent < 0 || dependent >= std::int64_t{ops_}) bad_program("the column 'edge'");
        dependent_before_ = static_cast<OpIndex>(dependent);
      }
      out.edges.emplace_back(dependent_before_, (code & 1) != 0);
    }
    out.edge_begin.push_back(static_cast<std::uint32_t>(out.edges.size()));
    ++position_;
  }
  edges_ += out.edges.size();
  if (labels_at_ != 0) add_labels(out);
  if (position_ == ops_) check_end(*program);
  return true;
}

// Moves to the next operation's token, through loops and into the next block.
std::uint32_t RankReader::next_shape(std::shared_ptr<const pack::ProgramBlock>& program) {
  while (true) {
    if (token_ >= program->tokens.size()) {
      if (!loops_.empty() || std::size_t{program_block_} + 1 >= file_->index->program_blocks.size()) {
        bad_program("it has fewer operations than the catalog says");
      }
      program = file_->program_block(++program_block_, rank_);
      token_ = 0;
      continue;
    }
    const std::uint32_t token = program->tokens[token_++];
    if (token < program->shapes.size()) return token;
    if (token == pack::kLoop && loops_.size() < pack::kMaxLoopDepth) {
      const std::uint32_t rounds = program->tokens[token_++];
      loops_.push_back({token_, rounds - 1});
    } else if (token == pack::kLoopEnd && !loops_.empty()) {
      if (loops_.back().left == 0) {
        loops_.pop_back();
      } else {
        --loops_.back().left;
        token_ = loops_.back().begin;
      }
    } else {
      bad_program("a program does not begin where the catalog says");
    }
  }
}

std::uint64_t RankReader::next_value(std::shared_ptr<const pack::ValueBlock>& values, std::uint32_t column) {
  if (values_left_ == 0) {
    if (values_at_ == 0) bad_program("it asks for values that the rank doesn't have");
    values = file_->value_block(values_at_, rank_);
    values_left_ = static_cast<std::uint32_t>(values->values.size());
    cursors_.assign(values->column_begin.begin(), values->column_begin.end() - 1);
  } else if (values == nullptr) {
    values = file_->value_block(values_at_, rank_);
  }
  if (column > values->columns() || cursors_[column - 1] == values->column_begin[column]) {
    bad_values("its columns do not fit the rank's program");
  }
  const std::uint64_t value = values->values[cursors_[column - 1]++];
  if (--values_left_ == 0) values_at_ = values->file_end;
  return value;
}

std::uint32_t RankReader::next_tag(std::uint64_t code) {
  if (code == 0) return kAny;
  const bool counts = code % 2 == 0;
  const std::uint64_t tag =
      counts ? tag_before_ + static_cast<std::uint64_t>(pack::unzigzag(code / 2 - 1)) : code / 2;
  if (tag >= kAny) bad_program("the column 'tag'");
  if (counts) tag_before_ = static_cast<std::uint32_t>(tag);
  return static_cast<std::uint32_t>(tag);
}

// The position of the rank's next collective on the communicator.
std::uint32_t RankReader::meet(std::uint32_t comm) {
  const auto at = std::lower_bound(met_.begin(), met_.end(), std::pair(comm, std::uint32_t{0}));
  if (at != met_.end() && at->first == comm) return at->second++;
  met_.insert(at, {comm, 1});
  return 0;
}

void RankReader::add_labels(OpBlock& out) {
  std::shared_ptr<const pack::LabelBlock> labels = file_->label_block(labels_at_, rank_);
  out.labels.reserve(out.ops.size());
  while (out.labels.size() < out.ops.size()) {
    if (label_ == labels->size()) {
      labels_at_ = labels->file_end;
      label_ = 0;
      labels = file_->label_block(labels_at_, rank_);
    }
    const std::uint32_t begin = labels->begin[label_], end = labels->begin[label_ + 1];
    out.labels.emplace_back(labels->text, begin, end - begin);
    ++label_;
  }
  if (position_ == ops_ && label_ != labels->size()) {
    file_->frames.damaged(labels_at_, BlockType::kLabels, rank_,
                          "it has more labels than the rank operations");
  }
}

void RankReader::check_end(const pack::ProgramBlock& program) {
  for (; !loops_.empty(); loops_.pop_back()) {
    if (loops_.back().left != 0 || program.tokens[token_++] != pack::kLoopEnd) {
      bad_program("it has more operations than the catalog says");
    }
  }
  if (edges_ != file_->index->ranks[rank_].edges)
    bad_program("it has other dependencies than the catalog says");
  if (values_left_ != 0) bad_values("it has more values than the rank's program asks for");
}

}  // namespace weft::goal
