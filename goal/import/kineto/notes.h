// What an import of profiles met that a reader of the results should know of.
#pragma once

#include <array>
#include <cstdint>

#include "goal/pack/info.h"

namespace weft::goal {

enum class KinetoNote : std::uint8_t {
  kUnexplainedGpuIdleNs,
  kKernelsWithoutLaunch,
  kKernelsBeforeLaunch,
  kInferredStreamWaits,
  kRecordedStreamWaits,
  kThreadWaits,
  kUnknownSize,
  kUnknownTypes,
  kAssumedRoots,
  kAssumedGroups,
  kCutSplits,
  kBrokenEvents,
  kCutOff,
  kMessagesWithoutPeer,
  kCopiedRanks,
  kOtherEvents,
  kJoinedCalls,
  kCallsNotJoined,
};
inline constexpr int kKinetoNotes = 18;

class KinetoNotes {
 public:
  void add(KinetoNote note, std::uint64_t count = 1) { counts_[static_cast<std::size_t>(note)] += count; }
  std::uint64_t count(KinetoNote note) const { return counts_[static_cast<std::size_t>(note)]; }
  // Those that were met, with their sentences.
  void report(PackInfo& info) const;

 private:
  std::array<std::uint64_t, kKinetoNotes> counts_{};
};

}  // namespace weft::goal
