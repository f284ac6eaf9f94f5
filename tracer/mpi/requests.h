// The requests (and probed messages) that are open in this process: from MPI's handle to the trace's number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/mpi/communicators.h"

namespace weft::trace {

// What a receive asked for, in the numbers of its communicator, to which what came is compared.
struct Posted {
  int peer = MPI_ANY_SOURCE, tag = MPI_ANY_TAG;
  std::uint64_t bytes = UINT64_MAX;
};

struct Request {
  enum class Kind : std::uint8_t { kSend, kReceive, kOther, kDuplicate };

  std::uint64_t handle = 0;
  const void* place = nullptr;  // the variable the program got the handle in
  std::uint64_t number = 0;
  Kind kind = Kind::kOther;
  bool persistent = false;
  bool active = true;
  bool status_tells = true;   // MPICH 4.0 fills in none of an MPI_Isendrecv
  bool cancel_asked = false;  // else what its status says of that is chance: MPICH leaves it as it was
  Posted posted;              // of a receive
  Comm* comm = nullptr;       // of a receive: to name its source; of kDuplicate: the new communicator
  const MPI_Comm* new_comm = nullptr;  // kDuplicate: where MPI puts its handle
  Request* next = nullptr;
};

// Not thread-safe: the tracer holds its lock.
//
// Libraries hand out one handle for many requests that were complete from the start (Open MPI's empty
// request, MPICH's lightweight ones), so a handle names a list. Among equal handles the one that came from
// the same variable is taken, else the oldest: any choice is right for the program, since all of them are
// complete.
class Requests {
 public:
  // Null if out of memory.
  Request* add(std::uint64_t handle, const void* place);
  Request* find(std::uint64_t handle, const void* place);
  void remove(Request* request);

 private:
  struct List {
    Request *first, *last;
  };
  void grow();

  List* lists_ = nullptr;
  std::size_t size_ = 0, used_ = 0;
  Request* free_ = nullptr;
};

}  // namespace weft::trace
