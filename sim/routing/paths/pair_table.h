// Values by pair of numbers, close together in memory: one look-up is mostly one line of the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft::routing {

// A hash table with open addressing that is empty again at once. References last until the next add().
template <typename Value>
class PairTable {
 public:
  static std::uint64_t key(std::uint32_t from, std::uint32_t to) { return std::uint64_t{from} << 32 | to; }

  // Null: there is none.
  const Value* find(std::uint64_t key) const {
    if (count_ == 0) return nullptr;
    const Slot& slot = slots_[place(key)];
    return slot.round == round_ ? &slot.value : nullptr;
  }
  // Returns the value, Value() if there was none; then `fresh`.
  struct Added {
    Value& value;
    bool fresh;
  };
  Added add(std::uint64_t key) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    const bool fresh = slot.round != round_;
    if (fresh) {
      slot = {key, round_, Value()};
      ++count_;
    }
    return {slot.value, fresh};
  }
  void clear() {
    count_ = 0;
    if (++round_ != 0) return;
    slots_.clear();
    round_ = 1;
  }
  // Into the cache.
  void fetch(std::uint64_t key) const {
    if (count_ > 0) __builtin_prefetch(&slots_[first_place(key)]);
  }
  bool empty() const { return count_ == 0; }
  // Calls visit(key, value) for each, in no order.
  template <typename Visit>
  void each(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.round == round_) visit(slot.key, slot.value);
    }
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t round = 0;  // it is taken in this one
    Value value{};
  };

  std::size_t first_place(std::uint64_t key) const {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
    return key * kGolden >> 32 & (slots_.size() - 1);
  }
  // Where it is, or could be.
  std::size_t place(std::uint64_t key) const {
    std::size_t at = first_place(key);
    while (slots_[at].round == round_ && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(before.empty() ? 16 : 2 * before.size(), Slot());
    for (const Slot& slot : before) {
      if (slot.round == round_) slots_[place(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;  // none, or a power of two
  std::size_t count_ = 0;
  std::uint32_t round_ = 1;
};

}  // namespace weft::routing
