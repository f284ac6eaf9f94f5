// When every operation would run if communication cost nothing: the schedule that a graph's compute times
// and dependencies alone allow. Transforms take from it which send meets which receive, and what happens
// when.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal {

struct IdealOptions {
  std::uint64_t message_ns = 0;  // time from a send to its receive
  bool calc = true;              // false: calcs take no time
};

// An operation of any rank by one number: RankView::first_op() + index.
using GlobalOp = std::uint32_t;
inline constexpr GlobalOp kNoOp = 0xFFFFFFFFu;
inline constexpr std::uint64_t kNever = ~0ULL;

// What happened last before something could happen: the start or the finish of an operation, or nothing.
class Cause {
 public:
  Cause() = default;
  Cause(GlobalOp op, bool on_start) : bits_(op | (on_start ? kOnStart : 0)) {}
  bool none() const { return bits_ == kNoOp; }
  GlobalOp op() const { return bits_ & ~kOnStart; }
  bool on_start() const { return (bits_ & kOnStart) != 0; }

 private:
  static constexpr std::uint32_t kOnStart = 0x80000000u;
  std::uint32_t bits_ = kNoOp;
};

// Per operation, by GlobalOp: 28 bytes each.
struct IdealSchedule {
  std::vector<std::uint64_t> start_ns;   // calc, send: the cpu takes it up; recv: posted; collective: called
  std::vector<std::uint64_t> finish_ns;  // kNever where the operation can't finish; so too start_ns
  std::vector<GlobalOp> partner;         // send: the receive that takes it; recv: the send; else kNoOp
  std::vector<Cause> start_cause;
  // recv, collective: the send, the last call, or what its cpu did before; none: it finished where it
  // started.
  std::vector<Cause> finish_cause;
  std::uint64_t makespan_ns = 0;
  std::uint64_t unfinished = 0;  // operations that can't finish: the program can't run to its end
};

// The rules are those of a replay with no overhead, no gaps and eager messages: cpus take work in the order
// in which it became ready, messages match as MPI says (oldest first; wildcards too), and nothing takes time
// but calcs and `message_ns`. A collective has finished on a rank when all those have called it whose data
// the rank needs (all of them, those before it in a scan, the root in a bcast).
// Time n log n. Throws InputError for 2^31 - 1 operations or more, peers and communicators that do not exist,
// collectives on which members disagree, and times past 2^62 ns.
IdealSchedule ideal_schedule(const Graph& graph, const IdealOptions& options = {});

// From a GlobalOp to its rank and index.
class OpPlaces {
 public:
  explicit OpPlaces(const Graph& graph);
  std::pair<Rank, OpIndex> place(GlobalOp op) const;
  GlobalOp global(Rank rank, OpIndex i) const { return first_[rank] + i; }

 private:
  std::vector<GlobalOp> first_;  // per rank, and one more
};

// The longest chain of the schedule, from its last operation back to the start by causes. The times of its
// calcs and message_ns for each message add up to the makespan.
struct CriticalPath {
  std::uint64_t calc_ns = 0;
  std::uint64_t messages = 0, bytes = 0;  // passed from rank to rank along it
  std::uint64_t collectives = 0;          // passed through
  std::uint64_t ops = 0;
  Rank last_rank = 0;  // where it ends
};
CriticalPath critical_path(const Graph& graph, const IdealSchedule& schedule);

// Throws InputError that names `what` and advises `weft goal check`, unless every operation finishes.
void require_complete(const IdealSchedule& schedule, const char* what);

}  // namespace weft::goal
