// The requests of one rank that are open, with the operations that stand for them.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "goal/graph/graph.h"
#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/partitioned.h"
#include "goal/import/mpi/rank_program.h"

namespace weft::goal {

struct OpenOperation {
  OpIndex op = RankProgram::kNone;  // the active operation; kNone: inactive, or no operation (MPI_PROC_NULL)
  OpIndex send = RankProgram::kNone;  // of MPI_Isendrecv, beside the receive
  bool persistent = false;
  bool local = false;         // a buffered send: complete without the receiver
  bool left_out = false;      // of a file, or with another world: never has an operation
  bool cancel_asked = false;  // and `op` has not been seen complete since
  bool operation = false;     // has `prototype`
  Op prototype;               // what Start starts …
  std::uint64_t bytes = 0;    // … and the bytes it is given to move
};

class RequestTable {
 public:
  RequestTable(RankProgram& program, Partitioned& partitioned, ImportNotes& notes)
      : program_(program), partitioned_(partitioned), notes_(notes) {}

  // A new one, in the place of what had that number.
  OpenOperation& operator[](std::uint64_t number) { return requests_[number]; }
  // Null if no decoded call made it.
  OpenOperation* find(std::uint64_t number);
  // One that isn't persistent is complete.
  void erase(std::uint64_t number) { requests_.erase(number); }
  // A freed operation goes on, but nothing waits for it.
  void free(std::uint64_t number);
  // MPI_Cancel. What it did shows when the request completes, if ever it does.
  void ask_to_cancel(std::uint64_t number);
  // No call follows: receives that were to be cancelled are.
  void finish();

  // Does a Wait or Test wait for requests alone that have no operations: of files, with other worlds, and
  // what other functions made? With others, what it waited for is not known, which is noted.
  bool waits_for_left_out(const TraceRecord& record);
  // These requests, which no operation waits for, are complete.
  void settle(const TraceRecord& record);

 private:
  void drop_if_cancelled(OpenOperation& request);

  RankProgram& program_;
  Partitioned& partitioned_;
  ImportNotes& notes_;
  std::unordered_map<std::uint64_t, OpenOperation> requests_;
};

}  // namespace weft::goal
