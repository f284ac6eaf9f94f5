// A packed file as a program to be replayed: what must be known of it beforehand, and readers of its ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/packed_file.h"
#include "goal/pack/program_outline.h"

namespace weft::goal {

// After it has been made it does not change: safe to read from any number of threads, which open() readers
// of their own.
class PackedProgram {
 public:
  // Reads each program of the file once (a program that ranks share is read for one of them), so the time it
  // takes is that of reading what differs. Throws InputError for a file of another kind or version, and where
  // it is damaged; values are checked when they are read for a replay.
  PackedProgram(std::unique_ptr<FileView> file, const std::string& file_name);
  // Reads bytes, which must outlive it. `least_block`: operations in a block of the outlines, at least; 0:
  // that depends on the ranks.
  PackedProgram(std::string_view bytes, const std::string& file_name, OpIndex least_block = 0);

  const ProgramFacts& facts() const { return facts_; }
  const PackInfo& info() const { return file_.info(); }
  OpIndex ops(Rank rank) const { return file_.ops(rank); }
  const ProgramOutline& outline(Rank rank) const { return outlines_[of_rank_[rank]]; }
  // For one thread. `readers`: how many there will be; they share the memory for unpacked blocks, a quarter
  // of a gigabyte and 4 KiB a rank at most.
  std::unique_ptr<PackedFile> open(std::uint32_t readers) const;
  // Bytes of the outlines.
  std::uint64_t memory_bytes() const;
  // The whole file in memory.
  Graph graph() const;

 private:
  void outline_programs(OpIndex least_block);

  PackedFile file_;
  ProgramFacts facts_;
  std::vector<ProgramOutline> outlines_;  // number 0: of ranks without operations
  std::vector<std::uint32_t> of_rank_;
};

}  // namespace weft::goal
