// What an import of profiles met that a reader of the results should know of.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  kAssumedSplits,
  kAssumedRanks,
  kAssumedRanksOfMessages,  // the same where ranks send to single ranks
  kUnknownCalls,
  kUnfitSizes,
  kCallsWithoutKernel,
  kContinuedKernels,
  kOtherCommunication,
  kUnfitMessages,
  kRanksOfNames,
  kOtherSchemas,
  kUnfitGroups,
};
inline constexpr int kKinetoNotes = 30;

class KinetoNotes {
 public:
  void add(KinetoNote note, std::uint64_t count = 1) { counts_[static_cast<std::size_t>(note)] += count; }
  // Something that the note's sentence is to name; of many different ones the first few.
  void name(KinetoNote note, std::string_view what);
  std::uint64_t count(KinetoNote note) const { return counts_[static_cast<std::size_t>(note)]; }
  // Those that were met, with their sentences.
  void report(PackInfo& info) const;

 private:
  std::array<std::uint64_t, kKinetoNotes> counts_{};
  std::array<std::vector<std::string>, kKinetoNotes> names_{};
};

}  // namespace weft::goal
