// The labels of one rank of a GOAL text: a name to operation map without an allocation per label.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

// Maps labels to operations by open addressing. The characters of a label must outlive the table's use of it.
class LabelTable {
 public:
  // Costs no more than the insertions since the last clear().
  void clear() {
    if (slots_.size() > kFirstSlots + 8 * names_.size()) slots_.clear();
    std::fill(slots_.begin(), slots_.end(), Slot{});
    names_.clear();
  }

  // The operation with this label, kNone, or kSeveral.
  static constexpr OpIndex kNone = 0xFFFFFFFFu;
  static constexpr OpIndex kSeveral = 0xFFFFFFFEu;
  OpIndex find(std::string_view label) const {
    if (slots_.empty()) return kNone;
    const std::uint32_t hash = hash_of(label);
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Slot& slot = slots_[i];
      if (slot.name == 0) return kNone;
      if (slot.hash == hash && names_[slot.name - 1].label == label) return names_[slot.name - 1].op;
    }
  }

  // Adds a label and returns true; or returns false if it is there already, and marks it as kSeveral.
  bool insert(std::string_view label, OpIndex op) {
    if (names_.size() * 2 >= slots_.size()) grow();
    const std::uint32_t hash = hash_of(label);
    for (std::size_t i = hash & mask();; i = (i + 1) & mask()) {
      Slot& slot = slots_[i];
      if (slot.name != 0) {
        Name& name = names_[slot.name - 1];
        if (slot.hash != hash || name.label != label) continue;
        name.op = kSeveral;
        return false;
      }
      names_.push_back({label, op});
      slot = {hash, static_cast<std::uint32_t>(names_.size())};
      return true;
    }
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t name = 0;  // index into names_ plus one; 0: free
  };
  struct Name {
    std::string_view label;
    OpIndex op;
  };

  static constexpr std::size_t kFirstSlots = 64;

  std::size_t mask() const { return slots_.size() - 1; }

  static std::uint32_t hash_of(std::string_view label) {
    std::uint64_t hash = label.size();
    while (label.size() >= 8) {
      hash = step(hash, load(label.data(), 8));
      label.remove_prefix(8);
    }
    hash = step(hash, load(label.data(), label.size()));
    return static_cast<std::uint32_t>(hash ^ (hash >> 32));
  }
  static std::uint64_t load(const char* bytes, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    return word;
  }
  static std::uint64_t step(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    return hash ^ (hash >> 29);
  }

  void grow() {
    slots_.assign(std::max(kFirstSlots, slots_.size() * 2), Slot{});
    for (std::size_t n = 0; n < names_.size(); ++n) {
      const std::uint32_t hash = hash_of(names_[n].label);
      std::size_t i = hash & mask();
      while (slots_[i].name != 0) i = (i + 1) & mask();
      slots_[i] = {hash, static_cast<std::uint32_t>(n + 1)};
    }
  }

  std::vector<Slot> slots_;
  std::vector<Name> names_;
};

}  // namespace weft::goal
