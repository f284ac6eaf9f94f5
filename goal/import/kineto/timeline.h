// A rank's events in the order that questions about them need.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "goal/import/kineto/notes.h"
#include "goal/import/kineto/rank_trace.h"

namespace weft::goal {

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// GPU operations of a stream, or those that a thread launched, in order.
struct Lane {
  std::vector<std::uint32_t> gpu;      // indices of events
  std::vector<std::int64_t> launched;  // never falls
  std::vector<std::int64_t> ended;     // never falls
  // The last one that was launched before one time and ended by another, or kNone.
  std::uint32_t last(std::int64_t launched_before, std::int64_t ended_by) const;
  // The first one launched at that time or later, or kNone.
  std::uint32_t next(std::int64_t launched_from) const;
};

class Timeline {
 public:
  // Sorts the trace's events. It must stay.
  explicit Timeline(RankTrace& trace);

  const RankTrace& trace() const { return trace_; }
  // The host's event that launched it, or kNone.
  std::uint32_t launch(std::uint32_t gpu) const { return launch_[gpu]; }
  // When it was launched; when it began, if that is not known.
  std::int64_t launched(std::uint32_t gpu) const;
  const std::vector<Lane>& streams() const { return streams_; }
  // Operations that a thread launched, without those that communicate.
  const Lane& compute_of(std::uint32_t thread) const { return compute_of_thread_[thread]; }
  const Lane& compute() const { return compute_; }
  // Does any operation of the stream communicate?
  bool communicates(std::uint32_t stream) const { return communicating_[stream]; }
  // Events of a thread: [first, last) of trace().host, by their begin; of two, the one around the other
  // first.
  std::pair<std::uint32_t, std::uint32_t> events_of(std::uint32_t thread) const {
    return {thread_begin_[thread], thread_begin_[thread + 1]};
  }
  // The host's call of that correlation, or kNone.
  std::uint32_t host_of(std::uint64_t correlation) const;
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }

 private:
  void sort();
  void find_launches();
  void fill_lanes();

  RankTrace& trace_;
  std::unordered_map<std::uint64_t, std::uint32_t> host_by_correlation_;
  std::vector<std::uint32_t> launch_;
  std::vector<std::uint32_t> thread_begin_;
  std::vector<Lane> streams_, compute_of_thread_;
  Lane compute_;
  std::vector<bool> communicating_;
  std::int64_t begin_ = 0, end_ = 0;
};

// Which calls each communicating GPU operation carries out. Those of unknown size are left out and counted.
std::map<std::uint32_t, std::vector<std::uint32_t>> match_calls(RankTrace& trace, const Timeline& timeline,
                                                                KinetoNotes& notes);

// For GPU operations, which operations of other streams they waited for by events.
std::map<std::uint32_t, std::vector<std::uint32_t>> stream_waits(const Timeline& timeline,
                                                                 KinetoNotes& notes);

// Leaves only what the host began within steps `first` to `last` (ProfilerStep#N), and what it launched
// there. Throws InputError if the profile has no such steps.
void keep_steps(RankTrace& trace, std::int64_t first, std::int64_t last);

}  // namespace weft::goal
