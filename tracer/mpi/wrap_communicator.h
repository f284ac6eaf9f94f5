// Wrappers of the calls that make and free communicators, and of those that begin and end MPI.
#pragma once

#include "tracer/mpi/hash.h"
#include "tracer/mpi/tracer.h"

namespace weft::trace {

// Every blocking call of the form f(parent, …, &new communicator).
template <Function f, auto real_function, class Signature>
struct CommCreate;
template <Function f, auto real_function, class... Arguments>
struct CommCreate<f, real_function, int (*)(MPI_Comm, Arguments...)> {
  static int call(MPI_Comm parent, Arguments... arguments) {
    Call call(f, about(parent));
    const int error = (real.*real_function)(parent, arguments...);
    if (!call.traced()) return error;
    call.left(error);
    Record record(call);
    const Comm* p = record.find(parent);
    MPI_Comm* const created = last(arguments...);
    const Comm* c = record.failed() || *created == comm_null()
                        ? nullptr
                        : record.define(*created, p, order_of(arguments...));
    if (record.begin()) {
      record.comm(p);
      record.comm(c);
    }
    return error;
  }

 private:
  // MPI_Comm_create_group is matched by its tag, and in no order with the collectives of its parent (MPI 4.0,
  // section 7.4.2): with these it may be called in another order on each rank.
  static std::uint64_t order_of(Arguments... arguments) {
    if constexpr (f == Function::kComm_create_group) {
      return [](MPI_Group, int tag, MPI_Comm*) {
        return combine(1, static_cast<std::uint64_t>(tag));
      }(arguments...);
    }
    return 0;
  }
  static MPI_Comm* last(MPI_Comm* created) { return created; }
  template <class First, class... Rest>
  static MPI_Comm* last(First, Rest... rest) {
    return last(rest...);
  }
};

// MPI_Comm_idup and MPI_Comm_idup_with_info; Info is MPI_Info or absent.
template <Function f, auto real_function, class... Info>
int comm_idup(MPI_Comm parent, Info... info, MPI_Comm* created, MPI_Request* request) {
  Call call(f, about(parent));
  const int error = (real.*real_function)(parent, info..., created, request);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  const Comm* p = record.find(parent);
  Comm* c = record.failed() || p == nullptr ? nullptr : record.communicators().define_duplicate(p);
  if (record.begin()) {
    record.comm(p);
    record.comm(c);
    record.made(request, c != nullptr ? Request::Kind::kDuplicate : Request::Kind::kOther, false, c, created);
  }
  return error;
}

// MPI_Comm_free and MPI_Comm_disconnect
template <Function f, auto real_function>
int comm_free(MPI_Comm* comm) {
  Call call(f, about(behind(comm, comm_null())));
  if (!call.traced()) return (real.*real_function)(comm);
  const MPI_Comm before = behind(comm, comm_null());
  // Known before it is gone, should an undecoded call have made it.
  Comm* c = nullptr;
  {
    Record record(call);
    c = record.find(before);
  }
  call.left((real.*real_function)(comm));
  Record record(call);
  if (record.begin()) record.comm(c);
  if (c != nullptr && !record.failed()) record.communicators().forget(c);
  return call.error();
}

inline int init(int* argc, char*** argv) {
  Call call(Function::kInit);
  const int error = real.PMPI_Init(argc, argv);
  if (error == MPI_SUCCESS && call.outermost()) after_init();
  call.left(error);
  if (call.error() == MPI_SUCCESS && call.outermost()) start(call);
  return call.error();
}

inline int init_thread(int* argc, char*** argv, int required, int* provided) {
  Call call(Function::kInit_thread);
  const int error = real.PMPI_Init_thread(argc, argv, required, provided);
  if (error == MPI_SUCCESS && call.outermost()) after_init();
  call.left(error);
  if (call.error() == MPI_SUCCESS && call.outermost()) start(call);
  return call.error();
}

inline int finalize() {
  Call call(Function::kFinalize);
  if (!call.traced()) return real.PMPI_Finalize();
  before_finalize();  // some programs do not come back from it
  call.left(real.PMPI_Finalize());
  {
    Record record(call);
    record.begin();
  }
  end_world();
  return call.error();
}

#if defined(MPICH)
inline int session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  Call call(Function::kSession_init);
  call.left(real.PMPI_Session_init(info, handler, session));
  if (call.error() == MPI_SUCCESS && call.outermost()) start_session(call, *session);
  return call.error();
}

inline int session_finalize(MPI_Session* session) {
  Call call(Function::kSession_finalize);
  if (!call.traced()) return real.PMPI_Session_finalize(session);
  if (behind(session, MPI_SESSION_NULL) != MPI_SESSION_NULL)
    before_session_finalize();  // some programs do not come back from it
  call.left(real.PMPI_Session_finalize(session));
  {
    Record record(call);
    record.begin();
  }
  if (call.error() == MPI_SUCCESS) end_session();
  return call.error();
}

inline int comm_create_from_group(MPI_Group group, const char* label, MPI_Info info, MPI_Errhandler handler,
                                  MPI_Comm* created) {
  Call call(Function::kComm_create_from_group);
  const int error = real.PMPI_Comm_create_from_group(group, label, info, handler, created);
  if (!call.traced()) return error;
  call.left(error);
  std::uint64_t hash = 1;
  for (const char* at = label; at != nullptr && *at != '\0'; ++at)
    hash = combine(hash, static_cast<unsigned char>(*at));
  Record record(call);
  const Comm* c =
      record.failed() || *created == comm_null() ? nullptr : record.define(*created, nullptr, hash);
  if (record.begin()) {
    record.comm(nullptr);
    record.comm(c);
  }
  return error;
}
#endif

inline int abort_mpi(MPI_Comm comm, int code) {
  Call call(Function::kAbort);
  if (call.traced()) {
    call.left(MPI_SUCCESS);
    {
      Record record(call);
      record.begin();
    }
    stop(End::kAbort);
  }
  return real.PMPI_Abort(comm, code);
}

}  // namespace weft::trace
