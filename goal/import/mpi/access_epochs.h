// One-sided communication of one rank, as far as its own calls tell: its windows, which epoch a call belongs
// to, and at which point of the target's program that epoch can begin there.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

// A point that two ranks' programs have in common: the n-th synchronization on a communicator or window, or
// the n-th exposure of a target (MPI_Win_post) to one origin. An origin that has passed it knows that the
// target has reached it.
struct MeetingPoint {
  std::uint64_t key = 0;     // of the communicator or window
  std::uint32_t origin = 0;  // 1 + the origin of an exposure; 0: a synchronization
  std::uint32_t ordinal = 0;
  auto operator<=>(const MeetingPoint&) const = default;
};

struct AccessWindow {
  // Keeps how the rank stands with one target of its operations.
  struct Target {
    bool locked = false, started = false;
    bool unacknowledged = false;  // something was put there since the last flush
    MeetingPoint exposure;        // of the epoch that MPI_Win_start began
    MeetingPoint last;            // of the last operation
    std::uint32_t exposures = 0;  // how many times MPI_Win_start has named it
  };
  std::uint64_t key = 0;  // the same at all ranks
  std::uint32_t comm = trace::kNoComm;
  bool fenced = false, all_locked = false;
  std::uint64_t synchronizations = 0;  // of all ranks on this window: creation and fences
  std::uint64_t last_number = 0;       // of the last of them, in the order of this rank
  std::map<std::int32_t, Target> targets;
  std::map<std::int32_t, std::uint32_t> exposed_to;  // how many times MPI_Win_post has named an origin
};

class AccessEpochs {
 public:
  AccessEpochs(std::uint32_t rank, std::uint32_t world_size) : rank_(rank), world_size_(world_size) {}

  // Takes note of any call that did not fail, in program order, before the questions below are asked about
  // it.
  void add(const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  // The point that the call just added is, where it synchronizes all ranks of a communicator or window.
  const std::optional<MeetingPoint>& synchronization() const { return synchronization_; }
  // Where the target of the one-sided operation just added can first take it; none outside any epoch.
  const std::optional<MeetingPoint>& meeting() const { return meeting_; }
  // Is that of a lock: its end waits for word from the target, rather than a later call of the target for it?
  bool passive() const { return passive_; }
  // Targets that have to tell that all has arrived before the flush or unlock just added can end, and the
  // point at which each took the last.
  struct Acknowledgement {
    std::int32_t target;
    MeetingPoint meeting;
  };
  const std::vector<Acknowledgement>& acknowledgements() const { return acknowledgements_; }
  // The exposures that the MPI_Win_post just added begins, in the order of its group.
  const std::vector<MeetingPoint>& exposures() const { return exposures_; }
  // Null if the trace does not tell of its creation.
  AccessWindow* window(std::uint64_t number);

 private:
  // The latest synchronization of some ranks. `number` counts all of this rank's.
  struct Latest {
    std::uint64_t number = 0;
    MeetingPoint point;
  };

  void synchronize(std::uint64_t key, std::uint64_t& count, std::uint32_t comm, bool all_ranks);
  void create(const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void change(AccessWindow& window, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void operate(AccessWindow& window, const TraceRecord& record);
  void acknowledge(AccessWindow& window, const TraceRecord& record);

  const std::uint32_t rank_, world_size_;
  std::uint64_t synchronizations_ = 0;
  Latest latest_of_all_;                                           // of all ranks of the world
  std::unordered_map<std::uint32_t, Latest> latest_;               // by communicator
  std::unordered_map<std::uint64_t, std::uint64_t> of_comm_;       // by key of a communicator: how many
  std::unordered_map<std::uint64_t, std::uint64_t> windows_made_;  // on it
  std::unordered_map<std::uint64_t, AccessWindow> windows_;        // by number
  std::optional<MeetingPoint> synchronization_, meeting_;
  bool passive_ = false;
  std::vector<Acknowledgement> acknowledgements_;
  std::vector<MeetingPoint> exposures_;
};

}  // namespace weft::goal
