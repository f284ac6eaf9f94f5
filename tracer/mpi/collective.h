// The record of a collective operation: what its arguments mean for this rank.
#pragma once

#include "tracer/mpi/tracer.h"

namespace weft::trace {

// A count argument per rank, as ints or, in the _c forms, as MPI_Count; with one datatype or one for each.
class Counts {
 public:
  Counts() = default;
  Counts(const int* counts, MPI_Datatype type) : ints_(counts), bytes_each_(type_size(type)) {}
  Counts(const MPI_Count* counts, MPI_Datatype type) : wide_(counts), bytes_each_(type_size(type)) {}
  template <class N>
  Counts(const N* counts, const MPI_Datatype* types) : Counts(counts, datatype_null()) {
    types_ = types;
  }

  bool given() const { return ints_ != nullptr || wide_ != nullptr; }
  // Bytes of one element; 0 where each rank has a type of its own.
  std::uint64_t element_bytes() const { return bytes_each_; }
  std::uint64_t elements(int i) const {
    return static_cast<std::uint64_t>(ints_ != nullptr ? ints_[i] : wide_[i]);
  }
  std::uint64_t bytes(int i) const {
    const std::uint64_t n = elements(i);
    return n == 0 ? 0 : n * (types_ != nullptr ? type_size(types_[i]) : bytes_each_);
  }

 private:
  const int* ints_ = nullptr;
  const MPI_Count* wide_ = nullptr;
  const MPI_Datatype* types_ = nullptr;
  std::uint64_t bytes_each_ = 0;
};

// One side's count and element size.
struct Side {
  std::uint64_t count = 0, element_bytes = 0;
  Side() = default;
  template <class N>
  Side(N n, MPI_Datatype type) : count(static_cast<std::uint64_t>(n)), element_bytes(type_size(type)) {}
  // Rank i's part of a v operation.
  Side(const Counts& counts, int i) : count(counts.elements(i)), element_bytes(counts.element_bytes()) {}
};

// Asks for a collective's meaning only after the call, and only if it succeeded: MPI does not look at all
// arguments at all ranks, so neither may the tracer.
class Collective {
 public:
  Collective(const Call& call, MPI_Comm comm) : record_(call), comm_(record_.find(comm)) {}

  // Whether arguments may be looked at.
  bool known() const { return comm_ != nullptr && !record_.failed(); }
  bool inter() const { return comm_->inter; }
  int rank() const { return comm_->rank; }

  void root(int rank) {
    flags_ |= kHasRoot;
    root_ = rank == MPI_PROC_NULL ? kProcNull : rank == MPI_ROOT ? kRootHere : rank;
  }
  // Whether this process is the root: it alone in its group has the arguments "significant at root".
  bool at_root() const { return inter() ? root_ == kRootHere : root_ == comm_->rank; }
  // Tells whether this process is on the root's side of an intercommunicator, where all but the root take no
  // part.
  bool in_root_group() const { return inter() && (root_ == kRootHere || root_ == kProcNull); }

  void in_place() { flags_ |= kInPlace; }
  void send(Side side) { send_ = side; }
  void receive(Side side) {
    flags_ |= kHasReceiveCount;
    receive_ = side;
  }
  // `ranks`: how many counts there are.
  void send(const Counts& counts, int ranks) {
    flags_ |= kHasSendVector;
    send_counts_ = counts;
    send_ranks_ = ranks;
    send_.element_bytes = counts.element_bytes();
  }
  void receive(const Counts& counts, int ranks) {
    flags_ |= kHasReceiveVector;
    receive_counts_ = counts;
    receive_ranks_ = ranks;
  }
  int peers() const { return comm_->peers(); }
  int group_size() const { return comm_->size; }

  void write() { write_record(nullptr, false); }
  void write(const MPI_Request* request) { write_record(request, false); }
  void write(MPI_Info, const MPI_Request* request) { write_record(request, true); }

 private:
  void write_record(const MPI_Request* request, bool persistent);

  Record record_;
  Comm* comm_;
  std::uint8_t flags_ = 0;
  std::int32_t root_ = kUndefined;
  Side send_, receive_;
  Counts send_counts_, receive_counts_;
  int send_ranks_ = 0, receive_ranks_ = 0;
};

}  // namespace weft::trace
