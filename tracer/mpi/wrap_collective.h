// Wrappers of collective operations. N is the type of counts and D that of displacements: int and int, or
// MPI_Count and MPI_Aint in the _c forms. Request is MPI_Request* in the nonblocking forms, MPI_Info,
// MPI_Request* in the persistent ones, and absent else.
#pragma once

#include "tracer/mpi/collective.h"

namespace weft::trace {

template <Function f, auto real_function, class... Request>
int barrier(MPI_Comm comm, Request... request) {
  Call call(f, about(comm));
  const int error = (real.*real_function)(comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective(call, comm).write(request...);
  return error;
}

template <Function f, auto real_function, class N, class... Request>
int bcast(void* buffer, N count, MPI_Datatype type, int root, MPI_Comm comm, Request... request) {
  Call call(f, about(comm, root));
  const int error = (real.*real_function)(buffer, count, type, root, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  it.root(root);
  if (it.known()) it.send({count, type});
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class... Request>
int gather(const void* out, N out_count, MPI_Datatype out_type, void* in, N in_count, MPI_Datatype in_type,
           int root, MPI_Comm comm, Request... request) {
  Call call(f, about(comm, root));
  const int error =
      (real.*real_function)(out, out_count, out_type, in, in_count, in_type, root, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  it.root(root);
  if (it.known()) {
    if (it.at_root()) it.receive({in_count, in_type});
    if (out == MPI_IN_PLACE) {
      it.in_place();
      it.send({in_count, in_type});
    } else if (!it.in_root_group()) {
      it.send({out_count, out_type});
    }
  }
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class D, class... Request>
int gatherv(const void* out, N out_count, MPI_Datatype out_type, void* in, const N* in_counts,
            const D* in_places, MPI_Datatype in_type, int root, MPI_Comm comm, Request... request) {
  Call call(f, about(comm, root));
  const int error = (real.*real_function)(out, out_count, out_type, in, in_counts, in_places, in_type, root,
                                          comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  it.root(root);
  if (it.known()) {
    if (it.at_root()) it.receive(Counts(in_counts, in_type), it.peers());
    if (out == MPI_IN_PLACE) {
      it.in_place();
      it.send(Side(Counts(in_counts, in_type), it.rank()));
    } else if (!it.in_root_group()) {
      it.send({out_count, out_type});
    }
  }
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class... Request>
int scatter(const void* out, N out_count, MPI_Datatype out_type, void* in, N in_count, MPI_Datatype in_type,
            int root, MPI_Comm comm, Request... request) {
  Call call(f, about(comm, root));
  const int error =
      (real.*real_function)(out, out_count, out_type, in, in_count, in_type, root, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  it.root(root);
  if (it.known()) {
    if (it.at_root()) it.send({out_count, out_type});
    if (in == MPI_IN_PLACE) {
      it.in_place();
      it.receive({out_count, out_type});
    } else if (!it.in_root_group()) {
      it.receive({in_count, in_type});
    }
  }
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class D, class... Request>
int scatterv(const void* out, const N* out_counts, const D* out_places, MPI_Datatype out_type, void* in,
             N in_count, MPI_Datatype in_type, int root, MPI_Comm comm, Request... request) {
  Call call(f, about(comm, root));
  const int error = (real.*real_function)(out, out_counts, out_places, out_type, in, in_count, in_type, root,
                                          comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  it.root(root);
  if (it.known()) {
    if (it.at_root()) it.send(Counts(out_counts, out_type), it.peers());
    if (in == MPI_IN_PLACE) {
      it.in_place();
      it.receive(Side(Counts(out_counts, out_type), it.rank()));
    } else if (!it.in_root_group()) {
      it.receive({in_count, in_type});
    }
  }
  it.write(request...);
  return error;
}

// MPI_Allgather and MPI_Alltoall
template <Function f, auto real_function, class N, class... Request>
int all_exchange(const void* out, N out_count, MPI_Datatype out_type, void* in, N in_count,
                 MPI_Datatype in_type, MPI_Comm comm, Request... request) {
  Call call(f, about(comm));
  const int error = (real.*real_function)(out, out_count, out_type, in, in_count, in_type, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  if (it.known()) {
    if (out == MPI_IN_PLACE) {
      it.in_place();
      it.send({in_count, in_type});
    } else {
      it.send({out_count, out_type});
    }
    it.receive({in_count, in_type});
  }
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class D, class... Request>
int allgatherv(const void* out, N out_count, MPI_Datatype out_type, void* in, const N* in_counts,
               const D* in_places, MPI_Datatype in_type, MPI_Comm comm, Request... request) {
  Call call(f, about(comm));
  const int error =
      (real.*real_function)(out, out_count, out_type, in, in_counts, in_places, in_type, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  if (it.known()) {
    const Counts in_parts(in_counts, in_type);
    if (out == MPI_IN_PLACE) {
      it.in_place();
      it.send(Side(in_parts, it.rank()));
    } else {
      it.send({out_count, out_type});
    }
    it.receive(in_parts, it.peers());
  }
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class D, class... Request>
int alltoallv(const void* out, const N* out_counts, const D* out_places, MPI_Datatype out_type, void* in,
              const N* in_counts, const D* in_places, MPI_Datatype in_type, MPI_Comm comm,
              Request... request) {
  Call call(f, about(comm));
  const int error = (real.*real_function)(out, out_counts, out_places, out_type, in, in_counts, in_places,
                                          in_type, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  if (it.known()) {
    const bool in_place = out == MPI_IN_PLACE;
    if (in_place) it.in_place();
    it.send(in_place ? Counts(in_counts, in_type) : Counts(out_counts, out_type), it.peers());
    it.receive(Counts(in_counts, in_type), it.peers());
  }
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class D, class... Request>
int alltoallw(const void* out, const N* out_counts, const D* out_places, const MPI_Datatype* out_types,
              void* in, const N* in_counts, const D* in_places, const MPI_Datatype* in_types, MPI_Comm comm,
              Request... request) {
  Call call(f, about(comm));
  const int error = (real.*real_function)(out, out_counts, out_places, out_types, in, in_counts, in_places,
                                          in_types, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  if (it.known()) {
    const bool in_place = out == MPI_IN_PLACE;
    if (in_place) it.in_place();
    it.send(in_place ? Counts(in_counts, in_types) : Counts(out_counts, out_types), it.peers());
    it.receive(Counts(in_counts, in_types), it.peers());
  }
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class... Request>
int reduce(const void* out, void* in, N count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
           Request... request) {
  Call call(f, about(comm, root));
  const int error = (real.*real_function)(out, in, count, type, op, root, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  it.root(root);
  if (out == MPI_IN_PLACE) it.in_place();
  if (it.known()) it.send({count, type});
  it.write(request...);
  return error;
}

// MPI_Allreduce, MPI_Scan and MPI_Exscan
template <Function f, auto real_function, class N, class... Request>
int all_reduce(const void* out, void* in, N count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
               Request... request) {
  Call call(f, about(comm));
  const int error = (real.*real_function)(out, in, count, type, op, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  if (out == MPI_IN_PLACE) it.in_place();
  if (it.known()) it.send({count, type});
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class... Request>
int reduce_scatter(const void* out, void* in, const N* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   Request... request) {
  Call call(f, about(comm));
  const int error = (real.*real_function)(out, in, counts, type, op, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  if (out == MPI_IN_PLACE) it.in_place();
  if (it.known()) {
    const Counts parts(counts, type);
    Side whole;
    whole.element_bytes = parts.element_bytes();
    for (int i = 0; i < it.group_size(); ++i) whole.count += parts.elements(i);
    it.send(whole);
    it.receive(parts, it.group_size());
  }
  it.write(request...);
  return error;
}

template <Function f, auto real_function, class N, class... Request>
int reduce_scatter_block(const void* out, void* in, N count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                         Request... request) {
  Call call(f, about(comm));
  const int error = (real.*real_function)(out, in, count, type, op, comm, request...);
  if (!call.traced()) return error;
  call.left(error);
  Collective it(call, comm);
  if (out == MPI_IN_PLACE) it.in_place();
  if (it.known()) {
    Side whole(count, type);
    whole.count *= static_cast<std::uint64_t>(it.group_size());
    it.send(whole);
    it.receive({count, type});
  }
  it.write(request...);
  return error;
}

}  // namespace weft::trace
