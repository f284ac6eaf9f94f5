// A collective operation over an intercommunicator: collectives of each group, and messages between the two.
//
// Source: MPI 4.0, section 6.2.3 (what moves); the leader schemes of Open MPI's coll/inter and MPICH's
// intercommunicator algorithms (how).
#pragma once

#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/mpi/communicators.h"
#include "goal/import/mpi/rank_program.h"
#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

class TwoGroups {
 public:
  TwoGroups(std::uint32_t rank, CommunicatorTable& communicators, RankProgram& program)
      : rank_(rank), communicators_(communicators), program_(program) {}

  // Is there something that stands for this call? Not for persistent ones, and not for scans, which MPI does
  // not have between groups.
  static bool has(trace::Function function);
  // Adds what this rank does. The last of its operations; kNone if it does nothing. The thread goes on at
  // once. Throws InputError for roots and counts that the groups have no ranks for.
  // REQUIRES: has(record.function), over an intercommunicator with no process outside of the world.
  OpIndex replay(RankProgram::Thread& thread, const TraceRecord& record,
                 const std::vector<TraceCommunicator>& known);
  // Adds what this rank does in an agreement on a new communicator's context over intercommunicator `id`, and
  // returns what replay() does.
  OpIndex agree(RankProgram::Thread& thread, const TraceRecord& record, std::uint32_t id,
                const std::vector<TraceCommunicator>& known);

 private:
  void plan(const TraceRecord& record);
  void by_root(const TraceRecord& record);
  void by_all(const TraceRecord& record);
  void to_root(const TraceRecord& record, CollectiveKind kind);
  void from_root(const TraceRecord& record, CollectiveKind kind);
  void reduce_exchange_share(const TraceRecord& record, CollectiveKind share);
  void allgather(const TraceRecord& record);
  void allgatherv(const TraceRecord& record);
  void alltoall(const TraceRecord& record);
  std::uint32_t in_union(std::int32_t world_rank) const;
  void check_counts(const std::vector<std::uint64_t>& counts, std::size_t ranks) const;
  std::int32_t remote_root(const TraceRecord& record) const;

  void stage() { stages_.emplace_back(); }
  void local(CollectiveKind kind, std::uint64_t bytes, std::uint32_t element_bytes = 1);
  void local(Collective collective);
  void send(std::int32_t to, std::uint64_t bytes);
  void recv(std::int32_t from, std::uint64_t bytes);
  void exchange(std::uint64_t sent, std::uint64_t received);
  Op message(OpKind kind, std::int32_t peer, std::uint64_t bytes) const;
  bool leads() const { return groups_->ranks[0] == static_cast<std::int32_t>(rank_); }
  OpIndex run(RankProgram::Thread& thread);

  const std::uint32_t rank_;
  CommunicatorTable& communicators_;
  RankProgram& program_;
  // The members down to tag_ are of the call at hand. Each stage begins when the one before has ended.
  std::vector<std::vector<Op>> stages_;
  const TraceCommunicator* groups_ = nullptr;
  std::uint32_t local_ = 0, between_ = 0;  // the graph's numbers
  std::uint32_t thread_ = 0;
  std::uint32_t tag_ = 0;
  // Collectives so far, by communicator: all members call them in one order, and their messages meet by it.
  std::vector<std::uint32_t> made_;
};

}  // namespace weft::goal
