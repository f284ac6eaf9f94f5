// What the ranks of a communicator of the stand-in NCCL share: POSIX shared memory, by a name that the unique
// id carries.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

namespace standin {

inline constexpr int kMaxRanks = 16;
inline constexpr std::size_t kSlotBytes = 65536, kBoxBytes = 16384;

inline void take_a_break() {
  const timespec t{0, 50'000};
  nanosleep(&t, nullptr);
}

// All zero bytes is a barrier nobody has come to.
struct Barrier {
  std::atomic<std::uint32_t> arrived, rounds;
  void wait(int ranks) {
    const std::uint32_t round = rounds.load();
    if (arrived.fetch_add(1) + 1 == static_cast<std::uint32_t>(ranks)) {
      arrived = 0;
      ++rounds;
      return;
    }
    while (rounds.load() == round) take_a_break();
  }
};

struct Box {
  std::atomic<std::uint32_t> full;
  std::uint32_t bytes;
  char data[kBoxBytes];
};

struct Segment {
  std::atomic<int> attached;
  Barrier stream_barrier, host_barrier;
  int colors[kMaxRanks], keys[kMaxRanks];
  char slots[kMaxRanks][kSlotBytes];
  Box boxes[kMaxRanks][kMaxRanks];  // from, to
};

// Returns when all ranks have it; its name is gone then.
inline Segment* attach(const std::string& name, int ranks) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(Segment)) != 0) {
    std::perror(name.c_str());
    std::exit(1);
  }
  void* memory = mmap(nullptr, sizeof(Segment), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) std::exit(1);
  auto* segment = static_cast<Segment*>(memory);
  ++segment->attached;
  while (segment->attached < ranks) take_a_break();
  segment->host_barrier.wait(ranks);
  shm_unlink(name.c_str());  // whoever comes first
  return segment;
}

}  // namespace standin
