// What an import of NCCL traces met that a reader of the results should know of.
#pragma once

#include <array>
#include <cstdint>

#include "goal/pack/info.h"

namespace weft::goal {

enum class NcclNote : std::uint8_t {
  kTimedKernels,
  kUntimedKernels,
  kSynchronizeNs,
  kEnqueueNs,
  kCreations,
  kCreationNs,
  kMeasuredNs,
  kAlone,
  kUnknownCommunicator,
  kFailedCalls,
  kUnknownStreams,
  kChoices,
  kChoicesUnmatched,
  kChoicesWithoutModel,
  kUnclosedGroups,
  kIncompleteProcesses,
  kSharedThreads,
  kProfiledOnly,
};
inline constexpr int kNcclNotes = 18;

class NcclNotes {
 public:
  void add(NcclNote note, std::uint64_t count = 1) { counts_[static_cast<std::size_t>(note)] += count; }
  std::uint64_t count(NcclNote note) const { return counts_[static_cast<std::size_t>(note)]; }
  void report(PackInfo& info) const;

 private:
  std::array<std::uint64_t, kNcclNotes> counts_{};
};

// Adds to what `info` says of calls of CUDA that are not replayed what a reader has to reckon with.
void explain_left_out(PackInfo& info);

}  // namespace weft::goal
