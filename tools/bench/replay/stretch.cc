#include "tools/bench/replay/stretch.h"

#include <algorithm>
#include <map>
#include <vector>

#include "goal/pack/frame.h"
#include "goal/pack/pack.pb.h"
#include "goal/raw_bytes.h"
#include "sim/units/input_error.h"

namespace weft::bench {
namespace {

using goal::pack::BlockHead;
using goal::pack::BlockType;

constexpr const char* kName = "the file to stretch";

[[noreturn]] void fail(const std::string& why) { throw InputError(SourceLocation{.file = kName}, why); }

struct Gain {
  std::uint64_t ops = 0, edges = 0;
};

// Gives loops more rounds, program by program, in the tokens of one block.
class Stretcher {
 public:
  Stretcher(goal::pack::Programs& block, std::uint32_t factor) : block_(block), factor_(factor) {}

  // The program between two tokens; programs come in their order.
  Gain stretch(int begin, int end) {
    best_ = {};
    best_rounds_ = -1;
    for (at_ = begin; at_ < end;) {
      if (block_.token(at_) != 1) {
        sum_up();
        continue;
      }
      const int rounds = at_ + 1;
      const Gain loop = sum_up();
      if (loop.ops > best_.ops) {
        best_ = loop;
        best_rounds_ = rounds;
      }
    }
    if (best_rounds_ < 0) fail("a program has no loop");
    const std::uint64_t rounds = std::uint64_t{block_.token(best_rounds_)} * factor_;
    if (rounds > 0x7FFFFFFF) fail("a loop would have more than 2^31 - 1 rounds");
    block_.set_token(best_rounds_, static_cast<std::uint32_t>(rounds));
    return {best_.ops * (factor_ - 1), best_.edges * (factor_ - 1)};
  }

 private:
  // What an operation or a loop at the token has; moves behind it.
  Gain sum_up() {
    const std::uint32_t token = block_.token(at_++);
    if (token == 1) {
      const std::uint64_t rounds = block_.token(at_++);
      Gain all;
      while (block_.token(at_) != 2) {
        const Gain part = sum_up();
        all.ops += part.ops * rounds;
        all.edges += part.edges * rounds;
      }
      ++at_;
      return all;
    }
    const int shape = token == 0 ? named_++ : static_cast<int>(token) - 3;
    if (block_.column_size() != 0 && block_.column(shape) != 0) fail("it has values that vary");
    return {1, block_.dependents_size() == 0 ? 0 : block_.dependents(shape)};
  }

  goal::pack::Programs& block_;
  std::uint32_t factor_;
  int at_ = 0, named_ = 0, best_rounds_ = -1;
  Gain best_;
};

// Byte offsets that are stored as differences, once blocks have moved.
void move(google::protobuf::RepeatedField<std::int64_t>& column,
          const std::map<std::int64_t, std::int64_t>& moved) {
  std::int64_t before = 0, moved_before = 0;
  for (std::int64_t& difference : column) {
    before += difference;
    difference = moved.at(before) - moved_before;
    moved_before += difference;
  }
}

void add_gains(const std::vector<Gain>& gains, goal::pack::Catalog& catalog) {
  std::int64_t program = 0;
  for (int r = 0; r < static_cast<int>(catalog.ranks()); ++r) {
    program += catalog.rank_program(r);
    if (catalog.rank_ops(r) == 0) continue;
    if (catalog.rank_values(r) != 0 || catalog.rank_labels(r) != 0)
      fail("it has values that vary, or labels");
    const Gain& gain = gains.at(static_cast<std::size_t>(program));
    catalog.set_rank_ops(r, catalog.rank_ops(r) + gain.ops);
    catalog.set_rank_edges(r, catalog.rank_edges(r) + gain.edges);
    if (catalog.rank_ops(r) > 0x7FFFFFFF) fail("a rank would have more than 2^31 - 1 operations");
  }
}

}  // namespace

std::string stretched(std::string_view file, std::uint32_t factor) {
  goal::pack::FrameReader frames(file, kName);
  if (frames.check_header() != goal::pack::kVersion) fail("it is not of version 2");
  const std::uint64_t catalog_begin = frames.find_catalog();
  goal::pack::Catalog catalog;
  std::uint64_t at = catalog_begin;
  frames.parse(at, BlockType::kCatalog, 0, catalog);

  std::string out;
  const goal::pack::Sink sink = [&out](std::string_view piece) { out += piece; };
  goal::pack::FrameWriter writer(sink);
  std::map<std::int64_t, std::int64_t> moved;
  std::vector<Gain> gains;
  int program_block = 0, program = 0;
  for (at = goal::pack::kHeaderBytes; at < catalog_begin;) {
    const auto head = goal::load<BlockHead>(file.data() + at);
    moved[static_cast<std::int64_t>(at)] = static_cast<std::int64_t>(writer.written());
    const std::string bytes(frames.unpack(at, head.type, head.rank));
    if (head.type != BlockType::kPrograms) {
      writer.block(head.type, head.rank, bytes);
      continue;
    }
    goal::pack::Programs block;
    if (!block.ParseFromString(bytes)) fail("a block of programs is damaged");
    Stretcher stretcher(block, factor);
    for (std::uint32_t left = catalog.programs_in_block(program_block++); left > 0; --left, ++program) {
      const bool is_last = left == 1;
      gains.push_back(stretcher.stretch(
          static_cast<int>(catalog.program_begin(program)),
          is_last ? block.token_size() : static_cast<int>(catalog.program_begin(program + 1))));
    }
    writer.block(head.type, head.rank, block);
  }
  moved[static_cast<std::int64_t>(catalog_begin)] = static_cast<std::int64_t>(writer.written());
  add_gains(gains, catalog);
  move(*catalog.mutable_program_block(), moved);
  move(*catalog.mutable_table_block(), moved);
  catalog.set_collectives_begin(
      static_cast<std::uint64_t>(moved.at(static_cast<std::int64_t>(catalog.collectives_begin()))));
  const std::uint64_t begin = writer.written();
  writer.block(BlockType::kCatalog, 0, catalog);
  writer.trailer(begin);
  return out;
}

}  // namespace weft::bench
