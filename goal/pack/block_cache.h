// Unpacked blocks that were used last, up to a number of bytes. For this folder only.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

namespace weft::goal::pack {

// Block needs memory_bytes(). Keys are byte offsets in the file.
template <typename Block>
class BlockCache {
 public:
  explicit BlockCache(std::uint64_t budget) : budget_(budget) {}

  // The block at `offset`, made by `unpack()` if it isn't here. It lives as long as somebody holds it.
  template <typename Unpack>
  std::shared_ptr<const Block> get(std::uint64_t offset, const Unpack& unpack) {
    const auto found = entries_.find(offset);
    if (found != entries_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return found->second->block;
    }
    std::shared_ptr<const Block> block = unpack();
    bytes_ += block->memory_bytes();
    order_.push_front({offset, block});
    entries_[offset] = order_.begin();
    while (bytes_ > budget_ && order_.size() > 1) {
      bytes_ -= order_.back().block->memory_bytes();
      entries_.erase(order_.back().offset);
      order_.pop_back();
    }
    return block;
  }

 private:
  struct Entry {
    std::uint64_t offset;
    std::shared_ptr<const Block> block;
  };
  std::uint64_t budget_, bytes_ = 0;
  std::list<Entry> order_;  // the one used last in front
  std::unordered_map<std::uint64_t, typename std::list<Entry>::iterator> entries_;  // only asked
};

}  // namespace weft::goal::pack
