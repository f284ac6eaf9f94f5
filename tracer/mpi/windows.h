// The windows of one-sided communication in this process: from MPI's handle to the trace's number.
#pragma once

#include <cstdint>

#include "tracer/mpi/communicators.h"

namespace weft::trace {

struct Window {
  std::uint64_t handle = 0;
  std::uint64_t number = 0;  // from 1
  Comm* comm = nullptr;      // whose ranks targets are; it holds a reference
  Window* next = nullptr;
};

// Not thread-safe: the tracer holds its lock.
class Windows {
 public:
  // `comm` may be null (it was not known). Null if out of memory.
  Window* add(std::uint64_t handle, Comm* comm);
  // Null if there is none.
  Window* find(std::uint64_t handle);
  void remove(Window* window);

 private:
  static constexpr unsigned kBuckets = 256;
  Window** bucket(std::uint64_t handle);

  Window* buckets_[kBuckets] = {};
  std::uint64_t next_number_ = 1;
};

}  // namespace weft::trace
