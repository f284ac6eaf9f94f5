// What an import of MPI traces met that a reader of the results should know of.
#pragma once

#include <array>
#include <cstdint>

#include "goal/not_replayed.h"

namespace weft::goal {

enum class Note : std::uint8_t {
  kPolls,
  kPollingNs,
  kComputeBetweenPollsNs,
  kProbes,
  kSynchronousSends,
  kCommunicatorCreations,
  kUnresolvedWildcards,
  kUnknownCompletions,
  kFailedCalls,
  kTruncatedMessages,
  kCancelled,
  kOutsideWorld,
  kIntercommunicatorCollectives,
  kRanksWithoutFinalize,
  kTruncatedRanks,
  kSendsWithoutPartner,
  kReceivesWithoutPartner,
  kCollectivesWithoutPartner,
  kOutsideRegion,
  kStrangeRanks,
  kOneSided,
  kWindows,
  kSharedWindows,
  kLostArrivals,
  kUngatedArrivals,
  kPartitions,
  kLostPartitions,
  kSpawnedRanks,
  kThreadWaits,
  kThreadWaitsNs,
  kMixedWaitsNs,
  kNeverReceived,
};
inline constexpr int kNotes = 32;

class ImportNotes {
 public:
  void add(Note note, std::uint64_t count = 1) {
    if (counting_ || note == Note::kOutsideRegion) counts_[static_cast<std::size_t>(note)] += count;
  }
  // Outside of the region asked for nothing is counted but that.
  void set_counting(bool counting) { counting_ = counting; }
  std::uint64_t count(Note note) const { return counts_[static_cast<std::size_t>(note)]; }

  NotReplayed not_replayed;
  std::uint64_t local_calls = 0;  // lose nothing

 private:
  bool counting_ = true;
  std::array<std::uint64_t, kNotes> counts_{};
};

}  // namespace weft::goal
