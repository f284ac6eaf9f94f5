// Blocks of a packed file as the reader holds them. For this folder only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/catalog.h"
#include "goal/pack/frame.h"

namespace weft::goal::pack {

// In the column `kind`, beside the numbers of OpKind: a send that is synchronous.
inline constexpr char kSynchronousSend = 5;

struct ShapeRecord {
  KindOfOp kind = OpKind::kCalc;
  std::uint8_t nic;
  std::uint16_t cpu;
  std::uint32_t target, comm, column;  // as in pack.proto's Programs, but not as differences
  std::uint64_t tag, value;
  std::uint32_t edge_begin, edge_end;
};

struct ProgramBlock {
  std::vector<ShapeRecord> shapes;
  std::vector<std::uint64_t> edges;
  std::vector<std::uint32_t> tokens;  // shapes, and those of loops.h

  std::uint64_t memory_bytes() const {
    return shapes.size() * sizeof(ShapeRecord) + edges.size() * 8 + tokens.size() * 4 + sizeof *this;
  }
};

struct TableBlock {
  struct Table {
    Rank rank;
    std::uint32_t peers, comms, collectives, end;  // where they begin in `names`
  };
  std::vector<std::uint32_t> names;
  std::vector<Table> tables;

  std::uint64_t memory_bytes() const {
    return names.size() * 4 + tables.size() * sizeof(Table) + sizeof *this;
  }
};

struct LabelBlock {
  std::vector<std::uint32_t> begin;  // into text, one more at the end
  std::string text;
  std::uint64_t file_end = 0;  // byte offset behind the block

  std::uint32_t size() const { return static_cast<std::uint32_t>(begin.size() - 1); }
  std::uint64_t memory_bytes() const { return begin.size() * 4 + text.size() + sizeof *this; }
};

// Each unpacks the block at `at` for `rank`, checks what can be checked within it, and moves `at` behind it.
ProgramBlock read_programs(FrameReader& frames, std::uint64_t& at, Rank rank);
TableBlock read_names(FrameReader& frames, std::uint64_t& at, Rank rank, const FileTables& tables);
LabelBlock read_labels(FrameReader& frames, std::uint64_t& at, Rank rank);

}  // namespace weft::goal::pack
