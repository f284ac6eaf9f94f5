// Computing that takes longer while collectives of the same rank are under way, as on a GPU, whose cores and
// memory they use, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/units/quantity.h"

namespace weft::sim {

// A calc proceeds at 1/slowdown of its speed while at least one collective is under way at its rank, begun
// and not ended, whether or not something of it moves. The end of a calc is looked at when it would be
// without more of that: what was lost since is added, until nothing was. Exact to `slowdown` ns. Not for
// several threads.
class Overlap {
 public:
  // `slowdown`: 1 or more. Ranks and cpus go by their numbers in a share.
  Overlap(double slowdown, std::size_t ranks, std::size_t cpus)
      : lost_(static_cast<std::uint64_t>((1 - 1 / slowdown) * kOne + 0.5)),
        ranks_(ranks),
        seen_(cpus),
        sum_(cpus) {}

  // A collective begins, or has ended, at a rank.
  void begin(std::uint32_t rank, Time now) {
    UnderWay& own = ranks_[rank];
    if (own.count++ == 0) own.since = now;
  }
  void end(std::uint32_t rank, Time now) {
    UnderWay& own = ranks_[rank];
    if (--own.count == 0) own.all += now - own.since;
  }
  // A cpu has gone on for so long with what was lost; in all.
  void count(std::uint32_t cpu, Time lost) { sum_[cpu] += lost; }
  Time lost_by(std::uint32_t cpu) const { return sum_[cpu]; }
  // A cpu of the rank begins a calc, or goes on with it for what was lost.
  void begin_calc(std::uint32_t rank, std::uint32_t cpu, Time now) { seen_[cpu] = all(rank, now); }
  // What was lost since then; zero: the calc has ended.
  Time lost(std::uint32_t rank, std::uint32_t cpu, Time now) const {
    const auto beside = static_cast<unsigned __int128>((all(rank, now) - seen_[cpu]).ps());
    const Time lost = Time::ps(static_cast<std::int64_t>((beside * lost_) >> kBits));
    return lost < Time::ns(1) ? Time() : lost;
  }
  std::uint64_t memory_bytes() const {
    return ranks_.capacity() * sizeof(UnderWay) + (seen_.capacity() + sum_.capacity()) * sizeof(Time);
  }

 private:
  static constexpr int kBits = 32;
  static constexpr double kOne = static_cast<double>(std::uint64_t{1} << kBits);

  // With `count` collectives since a time; all: how long there were any, before.
  struct UnderWay {
    Time since, all;
    std::uint32_t count = 0;
  };
  Time all(std::uint32_t rank, Time now) const {
    const UnderWay& own = ranks_[rank];
    return own.count == 0 ? own.all : own.all + (now - own.since);
  }

  std::uint64_t lost_;  // of a time beside collectives, times 2^kBits
  std::vector<UnderWay> ranks_;
  std::vector<Time> seen_;  // by cpu: all() when its calc began
  std::vector<Time> sum_;   // by cpu: what was lost
};

}  // namespace weft::sim
