// Numbers for MPI's rule that messages do not overtake each other.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::sim {

// The messages between a rank and a peer on one communicator, in one of the two directions.
struct MessageStream {
  std::uint32_t rank = 0, peer = 0, communicator = 0;
  bool operator==(const MessageStream&) const = default;
};

// A counter for each stream, 0 at first. A hash table with open addressing: 16 bytes an entry, at most three
// quarters of the table in use, no other allocation. The counters of neighbouring peers lie side by side.
// Entries stay for good. Counts must stay below 2^32: a rank has fewer operations.
class StreamCounters {
 public:
  StreamCounters() : lines_(4) {}
  // Adds one and returns the count before.
  std::uint32_t next(const MessageStream& stream) { return add_to(find(stream), stream); }
  // Adds one if the count is `expected`, and tells whether it was.
  bool advance(const MessageStream& stream, std::uint32_t expected);
  std::uint64_t size() const { return used_; }  // counters that are not 0

 private:
  struct Entry {
    MessageStream stream;
    std::uint32_t count = 0;  // 0: the entry is free
  };
  static constexpr std::size_t kLine = 4;
  struct alignas(64) Line {
    Entry entries[kLine];
  };
  Entry& at(std::size_t index) { return lines_[index / kLine].entries[index % kLine]; }
  const Entry& at(std::size_t index) const { return lines_[index / kLine].entries[index % kLine]; }
  std::size_t find(const MessageStream& stream) const;  // its entry, or the free one where it belongs
  std::uint32_t add_to(std::size_t index, const MessageStream& stream);
  void grow();

  std::vector<Line> lines_;  // as many as a power of two
  std::size_t used_ = 0;
};

}  // namespace weft::sim
