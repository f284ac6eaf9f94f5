// Which calls of a rank the replay has nothing for, as far as the call alone tells, and their account.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/trace_records.h"

namespace weft::goal {

// Is that a process of another MPI_COMM_WORLD? The graph has none of these.
inline bool is_outside(std::int32_t rank) { return rank == trace::kOutsideWorld; }
// Are messages of the call, all that it has, with such a process, or is one in its communicator?
bool is_with_outside(const TraceRecord& record, const std::vector<TraceCommunicator>& known);

// The communicator whose ranks agree on the one that the call makes.
std::uint32_t agreeing(const TraceRecord& record);
// Does a call of this shape make a request that a Wait or Test may complete?
bool makes_request(trace::Shape shape);

// What all calls of a rank are, of which those that are not replayed have a share.
class CallAccount {
 public:
  explicit CallAccount(NotReplayed& sums) : sums_(sums) {}

  void add(const TraceRecord& record);
  // The count of a function that is not decoded, where it is more than the calls that were added.
  void add(const TraceCounter& counter);
  // A persistent request was started that moves so many bytes.
  void add_started(std::uint64_t bytes) { sums_.all_bytes += bytes; }
  void leave_out(const TraceRecord& record);
  void finish(std::uint64_t elapsed_ns);

 private:
  struct Undecoded {
    std::uint64_t calls = 0, ns = 0;
  };
  NotReplayed& sums_;
  std::map<std::string, Undecoded, std::less<>> undecoded_;
};

}  // namespace weft::goal
