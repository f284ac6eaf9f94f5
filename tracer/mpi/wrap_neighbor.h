// Wrappers of collectives among neighbors of a process topology, in all their forms. Template arguments as in
// wrap_collective.h; of the persistent forms Request is MPI_Info, MPI_Request*.
#pragma once

#include "tracer/mpi/collective.h"

namespace weft::trace {

// In a grid's ring of one or two ranks both neighbors are one. What goes in one direction then comes in from
// the other (MPI 4.0, section 8.6) in Open MPI's blocking forms; its other forms and MPICH 4.0 match in the
// order of the neighbors, as records do.
#if defined(OPEN_MPI)
constexpr bool kBlockingMatchesOpposite = true;
#else
constexpr bool kBlockingMatchesOpposite = false;
#endif

// Asks for the meaning of arguments only after the call, and only if it succeeded.
class NeighborCollective {
 public:
  NeighborCollective(const Call& call, MPI_Comm comm) : record_(call), comm_(record_.find(comm)) {
    known_ = comm_ != nullptr && !record_.failed() && record_.communicators().find_neighbors(comm, comm_);
  }
  bool known() const { return known_; }
  void send(Side side) { send_ = side; }
  void receive(Side side) { receive_ = side; }
  void send(const Counts& counts) { send_counts_ = counts; }
  void receive(const Counts& counts) { receive_counts_ = counts; }

  void write() { write_record(nullptr, false); }
  void write(const MPI_Request* request) { write_record(request, false); }
  void write(MPI_Info, const MPI_Request* request) { write_record(request, true); }

 private:
  void write_record(const MPI_Request* request, bool persistent) {
    const int out = known_ ? comm_->destinations : 0, in = known_ ? comm_->sources : 0;
    const auto numbers = 2 * (static_cast<std::size_t>(out) + static_cast<std::size_t>(in));
    if (!record_.begin(numbers * kMaxVarintBytes)) return;
    record_.comm(comm_);
    put_ranks(known_ ? comm_->neighbors : nullptr, out);
    put_ranks(known_ ? comm_->neighbors + out : nullptr, in);
    Writer& writer = record_.out();
    writer.byte((send_counts_.given() ? kHasSendVector : 0) |
                (receive_counts_.given() ? kHasReceiveVector : 0));
    writer.number(send_.count);
    writer.number(send_.element_bytes);
    writer.number(receive_.count);
    writer.number(receive_.element_bytes);
    for (int i = 0; send_counts_.given() && i < out; ++i) writer.number(send_counts_.bytes(i));
    const bool opposite = kBlockingMatchesOpposite && request == nullptr;
    for (int i = 0; receive_counts_.given() && i < in; ++i) {
      writer.number(receive_counts_.bytes(opposite && is_both_ways(i) ? i ^ 1 : i));
    }
    if (request != nullptr) record_.made(request, Request::Kind::kOther, persistent, nullptr);
  }
  // Is source i both neighbors in its dimension of a grid: a ring of one or two?
  bool is_both_ways(int i) const {
    const int* const sources = comm_->neighbors + comm_->destinations;
    return comm_->grid && sources[i] == sources[i ^ 1];
  }
  void put_ranks(const int* ranks, int n) {
    record_.out().number(static_cast<std::uint64_t>(n));
    for (int i = 0; i < n; ++i) record_.out().signed_number(ranks[i] < 0 ? kProcNull : ranks[i]);
  }

  Record record_;
  Comm* comm_;
  bool known_ = false;
  Side send_, receive_;
  Counts send_counts_, receive_counts_;
};

// MPI_Neighbor_allgather and MPI_Neighbor_alltoall
template <Function f, auto real_function, class N, class... Request>
int neighbor_exchange(const void* out, N out_count, MPI_Datatype out_type, void* in, N in_count,
                      MPI_Datatype in_type, MPI_Comm comm, Request... request) {
  Call call(f);
  const int error = (real.*real_function)(out, out_count, out_type, in, in_count, in_type, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  NeighborCollective it(call, comm);
  if (it.known()) {
    it.send({out_count, out_type});
    it.receive({in_count, in_type});
  }
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class D, class... Request>
int neighbor_allgatherv(const void* out, N out_count, MPI_Datatype out_type, void* in, const N* in_counts,
                        const D* in_places, MPI_Datatype in_type, MPI_Comm comm, Request... request) {
  Call call(f);
  const int error =
      (real.*real_function)(out, out_count, out_type, in, in_counts, in_places, in_type, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  NeighborCollective it(call, comm);
  if (it.known()) {
    it.send({out_count, out_type});
    it.receive(Counts(in_counts, in_type));
  }
  it.write(request...);
  return error;
}

// MPI_Neighbor_alltoallv and, with a datatype for each neighbor, MPI_Neighbor_alltoallw
template <Function f, auto real_function, class N, class D, class Type, class... Request>
int neighbor_alltoallv(const void* out, const N* out_counts, const D* out_places, Type out_type, void* in,
                       const N* in_counts, const D* in_places, Type in_type, MPI_Comm comm,
                       Request... request) {
  Call call(f);
  const int error = (real.*real_function)(out, out_counts, out_places, out_type, in, in_counts, in_places,
                                          in_type, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  NeighborCollective it(call, comm);
  if (it.known()) {
    it.send(Counts(out_counts, out_type));
    it.receive(Counts(in_counts, in_type));
  }
  it.write(request...);
  return error;
}

}  // namespace weft::trace
