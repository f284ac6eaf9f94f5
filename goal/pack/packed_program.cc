#include "goal/pack/packed_program.h"

#include <algorithm>
#include <cmath>

#include "goal/file.h"
#include "goal/pack/pack.h"

namespace weft::goal {
namespace {

// A block costs some 80 bytes an operation in the window of each rank that has the program, and 4 bytes of
// outline: the sum is least where both are equal. Smaller ones than `least` are not worth the reader's call.
OpIndex best_block(OpIndex ops, std::uint32_t ranks_with_it, OpIndex least) {
  constexpr double kWindowBytes = 80, kGateBytes = 4;
  const double best = std::sqrt(kGateBytes * ops / (kWindowBytes * ranks_with_it));
  return std::max(least, static_cast<OpIndex>(best));
}

// With very many ranks their windows count more than the calls.
OpIndex least_block_for(Rank ranks) {
  constexpr OpIndex kLeast = 16, kMost = 64;
  return std::clamp((1u << 20) / std::max(ranks, 1u), kLeast, kMost);
}

}  // namespace

PackedProgram::PackedProgram(std::unique_ptr<FileView> file, const std::string& file_name)
    : file_(std::move(file), file_name, {}) {
  outline_programs(0);
}

PackedProgram::PackedProgram(std::string_view bytes, const std::string& file_name, OpIndex least_block)
    : file_(bytes, file_name, {}) {
  outline_programs(least_block);
}

void PackedProgram::outline_programs(OpIndex least_block) {
  const Rank ranks = file_.ranks();
  if (least_block == 0) least_block = least_block_for(ranks);
  facts_ = {ranks, file_.ops(), file_.communicators(), file_.collectives()};
  std::vector<std::uint32_t> uses;
  for (Rank r = 0; r < ranks; ++r) {
    if (file_.ops(r) == 0) continue;
    if (file_.program(r) >= uses.size()) uses.resize(file_.program(r) + std::size_t{1});
    ++uses[file_.program(r)];
  }
  std::vector<std::uint32_t> known(uses.size(), 0);  // its outline's number
  outlines_.emplace_back();
  of_rank_.resize(ranks);
  for (Rank r = 0; r < ranks; ++r) {
    const OpIndex ops = file_.ops(r);
    if (ops == 0) continue;
    std::uint32_t& number = known[file_.program(r)];
    if (number == 0 || outlines_[number].ops != ops) {
      RankReader reader = file_.rank(r, {.labels = false, .values = false});
      number = static_cast<std::uint32_t>(outlines_.size());
      outlines_.push_back(outline_of(reader, ops, best_block(ops, uses[file_.program(r)], least_block)));
      facts_.max_nic = std::max(facts_.max_nic, outlines_.back().max_nic);
      facts_.has_wildcards |= outlines_.back().has_wildcards;
    }
    of_rank_[r] = number;
  }
}

std::unique_ptr<PackedFile> PackedProgram::open(std::uint32_t readers) const {
  constexpr std::uint64_t kBytes = 256 << 20, kBytesOfRank = 4096;
  return std::make_unique<PackedFile>(
      file_, PackedFile::Options{.cache_bytes = (kBytes + kBytesOfRank * file_.ranks()) / readers});
}

std::uint64_t PackedProgram::memory_bytes() const {
  std::uint64_t bytes = 4 * of_rank_.capacity();
  for (const ProgramOutline& outline : outlines_) bytes += outline.memory_bytes();
  return bytes;
}

Graph PackedProgram::graph() const { return parse_pack(file_.bytes(), file_.file_name()); }

}  // namespace weft::goal
