// One rank's MPI calls, from the program's terms to the graph.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "goal/import/mpi/rank_importer.h"
#include "goal/import/mpi_calls/call.h"
#include "goal/import/mpi_calls/communicator_solver.h"

namespace weft::goal {

// Puts world ranks in the place of ranks of communicators and numbers in that of requests, and hands the
// calls to RankImporter, which has the rules.
class RankCalls {
 public:
  // REQUIRES: solver.solve() was called; `communicators` had begin_rank().
  RankCalls(const MpiImportOptions& options, const CommunicatorSolver& solver, Rank rank,
            CommunicatorTable& communicators, ImportNotes& notes);

  // Changes the call. Throws InputError for what no MPI program can do.
  void add(MpiCall& call);
  void finish(GraphBuilder& builder) { importer_.finish(builder); }
  std::uint64_t elapsed_ns() const { return importer_.elapsed_ns(); }

 private:
  struct Request {
    std::uint64_t number = 0;  // 0: of a call that is not replayed
    std::uint32_t comm = trace::kNoComm;
    bool persistent = false, receives = false;
  };

  // Number of a communicator in known_.
  std::uint32_t local(std::uint32_t number);
  void leave_out(const MpiCall& call);
  bool take_communicators(MpiCall& call);
  bool is_request_maker(trace::Shape shape) const;
  std::int32_t world_rank(std::uint32_t comm, std::int32_t rank) const;
  void take_message(TraceMessage& message, std::uint32_t comm) const;
  void take_requests(TraceRecord& record);
  void take_completions(TraceRecord& record);
  void take_collective(TraceRecord& record) const;

  const CommunicatorSolver& solver_;
  CommunicatorSolver::View view_;
  const Rank rank_;
  ImportNotes& notes_;
  OneSidedTraffic traffic_;  // none: these formats' windows are not decoded
  RankImporter importer_;
  std::vector<TraceCommunicator> known_;
  std::unordered_map<std::uint32_t, std::uint32_t> local_;  // by number of the solver
  std::unordered_map<std::uint64_t, Request> requests_;     // by handle
  std::uint64_t next_request_ = 1;
};

}  // namespace weft::goal
