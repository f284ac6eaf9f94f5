// Numbers for handles: a small hash table from pointers to what is known of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tracer/mpi/hash.h"

namespace weft::trace::nccl {

// Open addressing with linear probing; grows by doubling. `Value` must be all zero where nothing is known
// yet. Not thread-safe.
template <typename Value>
class Handles {
 public:
  // The entry of a handle; null if it has none.
  Value* find(const void* handle) {
    if (capacity_ == 0) return nullptr;
    for (std::size_t i = start(handle);; i = (i + 1) % capacity_) {
      if (!slots_[i].used) return nullptr;
      if (slots_[i].handle == handle && slots_[i].live) return &slots_[i].value;
    }
  }
  // The entry of a handle, made if it has none; null without memory. Entries move when another one is made.
  Value* get(const void* handle) {
    if (Value* found = find(handle)) return found;
    if (2 * (used_ + 1) > capacity_ && !grow()) return nullptr;
    std::size_t i = start(handle);
    while (slots_[i].used) i = (i + 1) % capacity_;
    slots_[i] = {handle, true, true, Value{}};
    ++used_;
    return &slots_[i].value;
  }
  void erase(const void* handle) {
    if (capacity_ == 0) return;
    for (std::size_t i = start(handle); slots_[i].used; i = (i + 1) % capacity_) {
      if (slots_[i].handle == handle) slots_[i].live = false;
    }
  }
  template <typename Visit>
  void for_each(Visit visit) {
    for (std::size_t i = 0; i < capacity_; ++i) {
      if (slots_[i].used && slots_[i].live) visit(slots_[i].value);
    }
  }
  // A forked child starts anew. What the parent had is left where it is.
  void clear() { *this = Handles(); }

 private:
  struct Slot {
    const void* handle;
    bool used, live;
    Value value;
  };
  std::size_t start(const void* handle) const {
    return static_cast<std::size_t>(mix(reinterpret_cast<std::uintptr_t>(handle))) % capacity_;
  }
  bool grow() {
    const std::size_t before = capacity_;
    Slot* old = slots_;
    const std::size_t wanted = before == 0 ? 64 : 2 * before;
    auto* slots = static_cast<Slot*>(calloc(wanted, sizeof(Slot)));
    if (slots == nullptr) return false;
    slots_ = slots;
    capacity_ = wanted;
    used_ = 0;
    for (std::size_t i = 0; i < before; ++i) {
      if (!old[i].used || !old[i].live) continue;
      Value* moved = get(old[i].handle);
      *moved = old[i].value;
    }
    free(old);
    return true;
  }
  Slot* slots_ = nullptr;
  std::size_t capacity_ = 0, used_ = 0;
};

}  // namespace weft::trace::nccl
