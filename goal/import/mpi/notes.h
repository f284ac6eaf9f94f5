// What an import of MPI traces met that a reader of the results should know of.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

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
};
inline constexpr int kNotes = 19;

// Calls that the tracer only counted, by name.
struct UndecodedCalls {
  std::uint64_t calls = 0;
  std::uint64_t ns = 0;
};

class ImportNotes {
 public:
  void add(Note note, std::uint64_t count = 1) { counts_[static_cast<std::size_t>(note)] += count; }
  std::uint64_t count(Note note) const { return counts_[static_cast<std::size_t>(note)]; }

  std::map<std::string, UndecodedCalls> communication;  // not replayed
  std::uint64_t local_calls = 0;                        // lose nothing

 private:
  std::array<std::uint64_t, kNotes> counts_{};
};

}  // namespace weft::goal
