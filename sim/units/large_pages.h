// Memory in large pages for arrays that are read here and there.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace weft {

// An allocator that asks the system for pages of 2 MiB where an array has half of one or more. An array of
// hundreds of megabytes that is visited at random then stays within reach of the processor's address
// translation (TLB). Only a matter of speed: where there are no such pages, it has others.
template <typename T>
class LargePageAllocator {
 public:
  using value_type = T;
  LargePageAllocator() = default;
  template <typename U>
  explicit LargePageAllocator(const LargePageAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kPage / 2) return static_cast<T*>(::operator new(bytes, std::align_val_t(alignof(T))));
    const std::size_t whole_pages = (bytes + kPage - 1) / kPage * kPage;
    void* memory = std::aligned_alloc(kPage, whole_pages);
    if (memory == nullptr) throw std::bad_alloc();
    (void)madvise(memory, whole_pages, MADV_HUGEPAGE);  // advice: it may be refused
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kPage / 2) {
      ::operator delete(memory, std::align_val_t(alignof(T)));
    } else {
      std::free(memory);
    }
  }
  bool operator==(const LargePageAllocator&) const { return true; }

 private:
  static constexpr std::size_t kPage = std::size_t{1} << 21;
};

template <typename T>
using LargeVector = std::vector<T, LargePageAllocator<T>>;

}  // namespace weft
