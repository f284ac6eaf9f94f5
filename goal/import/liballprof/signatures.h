// The arguments of MPI functions, in the order of the C binding, as liballprof prints them.
#pragma once

#include <cstdint>
#include <string_view>

#include "goal/import/mpi_calls/call.h"

namespace weft::goal {

// A letter an argument.
//   x          not looked at (one field)
//   I          buffer sent from, which may be MPI_IN_PLACE
//   n t d g    count, datatype, peer, tag of what is sent, or of the only side
//   N T D G    the same of what is received
//   m r        communicator, root
//   V W        counts sent to each, received from each (two fields: address and numbers)
//   A          displacements (one field or two)
//   q          address of a request
//   c Q        number of requests, address of the first
//   k y        color, key
//   *          whatever follows
struct AllprofSignature {
  std::string_view name;  // "MPI_Send"
  std::string_view arguments;
  trace::Function function;
  CommCreation::How how = CommCreation::How::kUnknown;  // of those that make a communicator
};

// Null for functions that are only counted.
const AllprofSignature* allprof_signature(std::string_view name);

}  // namespace weft::goal
