// One row of a routing table while it is filled.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace weft::routing {

// Different sets of ports, each a mask with a bit for a port, numbered as they come.
class PortSets {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit PortSets(std::size_t words) : words_(words), places_(8, kNone) {}

  std::uint32_t size() const { return size_; }
  std::size_t words() const { return words_; }
  std::span<const std::uint64_t> mask(std::uint32_t number) const {
    return {masks_.data() + number * words_, words_};
  }
  // Gives this set's number; it is added if it is new and there are fewer than `most`, else kNone.
  std::uint32_t number_of(const std::uint64_t* mask, std::uint32_t most);

 private:
  bool is_at(std::uint32_t number, const std::uint64_t* mask) const;
  // Where it is, or the free place where it belongs: open addressing.
  std::size_t place_of(const std::uint64_t* mask) const;
  void grow();

  std::size_t words_;
  std::uint32_t size_ = 0, last_ = 0;
  std::vector<std::uint64_t> masks_;
  std::vector<std::uint32_t> places_;
};

// A code of one or two bytes for each destination, and the sets that codes from 1 on stand for. Code 0: the
// set is to be computed, as there are too many different ones.
class RowBuilder {
 public:
  // `most_sets`: how many different sets it keeps.
  RowBuilder(std::size_t ports, std::uint32_t columns, bool wide, std::uint32_t most_sets);
  // If it turns out to need more sets than that, its codes get two bytes, for so many; those from
  // `special_from` on keep their distance from the last one.
  void may_widen(std::uint32_t most_sets, std::uint32_t special_from) {
    wide_sets_ = most_sets;
    special_from_ = special_from;
  }

  // The codes of `count` destinations from `first` on, 64 at most: `ports` has a word for each port, with the
  // bits of those destinations that it leads nearer to.
  void fill(std::uint32_t first, std::uint32_t count, std::span<const std::uint64_t> ports);
  void set(std::uint32_t column, std::uint32_t code);
  // Gives each of the sets another code.
  void renumber(std::span<const std::uint32_t> code_of_set);

  // Too few of the codes so far stand for a set for the row to be worth its memory.
  bool is_futile() const { return filled_ >= kTrial && computed_ * 2 > filled_; }
  bool has_computed() const { return computed_ > 0; }
  const PortSets& sets() const { return sets_; }
  bool wide() const { return wide_; }
  // Takes the codes away.
  std::vector<std::uint8_t> release() { return std::move(codes_); }

 private:
  // As many destinations decide whether a row is worth it.
  static constexpr std::uint32_t kTrial = 512;

  void widen();

  bool wide_;
  std::uint32_t wide_sets_ = 0, special_from_ = 0;
  std::uint32_t most_sets_, filled_ = 0, computed_ = 0;
  std::vector<std::uint8_t> codes_;
  PortSets sets_;
  std::vector<std::uint64_t> masks_;  // of the destinations being filled in
};

}  // namespace weft::routing
