// Replays the one-sided communication of one rank, as origin and as target. ONE_SIDED.md of this folder has
// the rules.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "goal/import/mpi/access_epochs.h"
#include "goal/import/mpi/communicators.h"
#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/one_sided_traffic.h"
#include "goal/import/mpi/rank_program.h"

namespace weft::goal {

class OneSided {
 public:
  OneSided(std::uint32_t rank, std::uint32_t world_size, OneSidedTraffic& traffic,
           CommunicatorTable& communicators, RankProgram& program, ImportNotes& notes)
      : rank_(rank),
        world_size_(world_size),
        epochs_(rank, world_size),
        traffic_(traffic),
        communicators_(communicators),
        program_(program),
        notes_(notes) {}

  // Takes note of any call that did not fail. To be called before anything is replayed of it.
  void see(const TraceRecord& record, const std::vector<TraceCommunicator>& known) {
    epochs_.add(record, known);
  }
  // Replays a call on a window. False if it can't be.
  bool replay(RankProgram::Thread& thread, const TraceRecord& record,
              const std::vector<TraceCommunicator>& known);
  // The operation that the request of the last call stands for.
  OpIndex request() const { return request_; }
  // Did the call just replayed synchronize with processes of another MPI_COMM_WORLD, which is left out?
  bool waits_outside() const { return waits_outside_; }
  // To be called when the call seen has been replayed: what may arrive from then on.
  void admit(const RankProgram::Thread& thread);
  // What arrives at no point of this rank's program has to be taken all the same.
  void finish();

 private:
  // What a window's epochs at this rank have yet to wait for.
  struct State {
    std::uint32_t messages = kWorld;                      // the graph's communicator for them
    std::map<std::int32_t, std::vector<OpIndex>> begun;   // by target: its operations here
    std::vector<OpIndex> arrived;                         // at this rank, in epochs of fences or exposures
    std::map<std::uint32_t, std::vector<OpIndex>> since;  // by origin: arrived since its last flush
    std::vector<std::uint32_t> started, posted;
  };

  Op message(OpKind kind, std::uint32_t tag, std::uint32_t peer, std::uint64_t bytes, const State& state,
             std::uint32_t cpu) const;
  void create(RankProgram::Thread& thread, const TraceRecord& record,
              const std::vector<TraceCommunicator>& known);
  void synchronize_all(RankProgram::Thread& thread, const TraceRecord& record,
                       const std::vector<TraceCommunicator>& known, State& state);
  void agree(RankProgram::Thread& thread, const TraceRecord& record,
             const std::vector<TraceCommunicator>& known, std::uint32_t comm, CollectiveKind kind);
  void change(RankProgram::Thread& thread, const TraceRecord& record,
              const std::vector<TraceCommunicator>& known, State& state);
  std::vector<std::uint32_t> members(const TraceRecord& record) const;
  void operate(RankProgram::Thread& thread, const TraceRecord& record, State& state);
  void join_begun(RankProgram::Thread& thread, const TraceRecord& record, State& state, std::int32_t target);
  void join_acknowledgements(RankProgram::Thread& thread, const TraceRecord& record, State& state);
  void end_exposure(RankProgram::Thread& thread, const TraceRecord& record, State& state);
  void admit(const MeetingPoint& point, Before gate);
  void take(const std::vector<Arrival>& arrivals, Before gate);

  const std::uint32_t rank_, world_size_;
  AccessEpochs epochs_;
  OneSidedTraffic& traffic_;
  CommunicatorTable& communicators_;
  RankProgram& program_;
  ImportNotes& notes_;
  std::unordered_map<std::uint64_t, State> windows_;  // by key
  OpIndex request_ = RankProgram::kNone;
  bool waits_outside_ = false;
};

}  // namespace weft::goal
