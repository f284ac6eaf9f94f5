// The cpus of a share's ranks: first come, first served.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/replay/rank_state.h"
#include "sim/units/large_pages.h"

namespace weft::sim {

// What it works on, and what waits for it. Work goes by its owner's numbers; each has a link, which the owner
// keeps: `link(work)` is a reference to it.
struct alignas(16) Cpu {
  static constexpr std::uint32_t kNone = RankState::kNone;
  std::uint32_t current = kNone, head = kNone, tail = kNone;

  bool is_idle() const { return current == kNone; }
  bool has_waiting() const { return head != kNone; }
  template <typename Link>
  void queue(std::uint32_t work, Link&& link) {
    link(work) = kNone;
    if (head == kNone) {
      head = work;
    } else {
      link(tail) = work;
    }
    tail = work;
  }
  // REQUIRES: has_waiting().
  template <typename Link>
  std::uint32_t take(Link&& link) {
    const std::uint32_t work = head;
    head = link(work);
    return work;
  }
};

class Cpus {
 public:
  // Those of a rank, by the numbers that they have in the graph, ascending.
  void add(RankState& rank, const std::vector<std::uint16_t>& names) {
    rank.first_cpu = static_cast<std::uint32_t>(names_.size());
    rank.cpus = static_cast<std::uint32_t>(names.size());
    rank.sparse_cpus = !names.empty() && names.size() < names.back() + std::size_t{1};
    names_.insert(names_.end(), names.begin(), names.end());
  }
  // When all ranks have been added.
  void open() { cpus_.resize(names_.size()); }

  Cpu& operator[](std::uint32_t index) { return cpus_[index]; }
  const Cpu& operator[](std::uint32_t index) const { return cpus_[index]; }
  std::uint32_t index(const Cpu& cpu) const { return static_cast<std::uint32_t>(&cpu - cpus_.data()); }
  // The index of the rank's cpu with this number, and back.
  std::uint32_t of(const RankState& rank, std::uint16_t name) const {
    return rank.sparse_cpus ? sparse(rank, name) : rank.first_cpu + name;
  }
  std::uint16_t name(std::uint32_t index) const { return names_[index]; }

  std::size_t size() const { return cpus_.size(); }
  bool are_idle() const {
    return std::all_of(cpus_.begin(), cpus_.end(), [](const Cpu& cpu) { return cpu.is_idle(); });
  }
  std::uint64_t memory_bytes() const { return cpus_.capacity() * sizeof(Cpu); }

 private:
  [[gnu::noinline]] std::uint32_t sparse(const RankState& rank, std::uint16_t name) const {
    const auto first = names_.begin() + rank.first_cpu;
    return static_cast<std::uint32_t>(std::lower_bound(first, first + rank.cpus, name) - names_.begin());
  }

  LargeVector<Cpu> cpus_;             // of each rank
  std::vector<std::uint16_t> names_;  // of each cpu
};

}  // namespace weft::sim
