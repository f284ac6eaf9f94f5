// Reads a packed file (version 2) rank by rank and block by block, in bounded memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/pack/pack.h"

namespace weft::goal {

namespace pack {
struct ProgramBlock;
struct ValueBlock;
}  // namespace pack

// Consecutive operations of one rank and what waits for them.
struct OpBlock {
  OpIndex first = 0;  // index of ops[0] within the rank
  std::vector<Op> ops;
  std::vector<std::uint32_t> edge_begin;  // into edges; ops.size() + 1 of them
  std::vector<Edge> edges;
  std::vector<std::string> labels;  // one for each operation, or none at all

  std::span<const Edge> dependents(std::size_t k) const {
    return {edges.data() + edge_begin[k], edges.data() + edge_begin[k + 1]};
  }
};

class FileView;
class RankReader;

// An open file that serves any number of ranks side by side: what they share is held once, what is unpacked
// is kept in a cache of bounded size and unpacked again if it must be. Not for use by several threads at
// once: each makes a PackedFile of its own from the first.
class PackedFile {
 public:
  struct Options {
    std::uint64_t cache_bytes = 256 << 20;  // of unpacked blocks; one of each kind is always kept
  };
  // Reads the catalog and the collectives. Throws InputError with the byte offset where they are damaged, and
  // for files of version 1, which read_pack_file reads whole.
  explicit PackedFile(const std::string& path);
  PackedFile(const std::string& path, const Options& options);
  PackedFile(std::unique_ptr<FileView> file, const std::string& file_name, const Options& options);
  // Reads bytes, which must outlive it. `file_name` is for messages only.
  PackedFile(std::string_view bytes, const std::string& file_name, const Options& options);
  // A further reader of the same file, for another thread, with caches of its own. It may outlive `same`.
  PackedFile(const PackedFile& same, const Options& options);
  ~PackedFile();
  PackedFile(const PackedFile&) = delete;
  PackedFile& operator=(const PackedFile&) = delete;

  // Are these the first bytes of a packed graph of this version?
  static bool is_one(std::string_view bytes);

  Rank ranks() const;
  std::uint64_t ops() const;
  std::uint64_t edges() const;
  OpIndex ops(Rank rank) const;
  std::uint64_t edges(Rank rank) const;
  bool has_labels(Rank rank) const;
  // Ranks with equal numbers do the same operations with the same dependencies; peers, communicators,
  // collectives, and values that vary within the rank may differ.
  std::uint32_t program(Rank rank) const;
  const std::vector<Communicator>& communicators() const;
  const std::vector<Collective>& collectives() const;
  const PackInfo& info() const;
  std::string_view bytes() const;
  const std::string& file_name() const;

  // What a reader unpacks beside the operations.
  struct Parts {
    bool labels = true;
    bool values = true;  // those that vary within a rank; otherwise they are given as 0
  };
  // A reader that stands before the rank's first operation; the file must outlive it. REQUIRES: rank <
  // ranks().
  RankReader rank(Rank rank);
  RankReader rank(Rank rank, const Parts& parts);

  struct Index;
  struct Inside;

 private:
  friend class RankReader;
  std::unique_ptr<Inside> inside_;
};

// A place within a rank: a few hundred bytes, whatever the size of the rank.
class RankReader {
 public:
  // Replaces `block` by the next operations, at most `most`, at least one unless the rank is at its end: then
  // false. What it did not check before it checks now, and throws InputError with rank and byte offset.
  // A collective has its index among PackedFile::collectives() as peer, and its position among the rank's
  // collectives on that communicator as tag, as in a Graph.
  bool next(OpBlock& block, std::uint32_t most);
  Rank rank() const { return rank_; }
  OpIndex position() const { return position_; }

 private:
  friend class PackedFile;
  struct Loop {
    std::uint32_t begin;  // first token of the body
    std::uint32_t left;   // rounds after this one
  };
  RankReader(PackedFile::Inside& file, Rank rank, const PackedFile::Parts& parts);
  std::uint32_t next_shape(std::shared_ptr<const pack::ProgramBlock>& program);
  std::uint64_t next_value(std::shared_ptr<const pack::ValueBlock>& values, std::uint32_t column);
  std::uint32_t next_tag(std::uint64_t code);
  std::uint32_t meet(std::uint32_t comm);
  void add_labels(OpBlock& out);
  void check_end(const pack::ProgramBlock& program);
  [[noreturn]] void bad_program(const char* why) const;
  [[noreturn]] void bad_values(const char* why) const;

  PackedFile::Inside* file_;
  Rank rank_;
  OpIndex position_ = 0, ops_;
  bool with_values_;
  std::uint32_t program_block_ = 0, token_ = 0;
  std::uint32_t tag_before_ = 0;
  OpIndex dependent_before_ = 0;
  std::uint64_t edges_ = 0;
  std::vector<Loop> loops_;
  std::uint64_t values_at_;             // byte offset of the block of values at hand, or next; 0: none
  std::uint32_t values_left_ = 0;       // in the block at hand; 0: it is the next
  std::vector<std::uint32_t> cursors_;  // into it, by column
  std::uint64_t labels_at_;             // as values_at_
  std::uint32_t label_ = 0;             // within the block of labels
  std::vector<std::pair<std::uint32_t, std::uint32_t>> met_;  // per communicator used: collectives so far
};

}  // namespace weft::goal
