// The tracer's function for each MPI function: a wrapper that records it, or one that counts it.
#include <string.h>
#include <strings.h>

#include "tracer/mpi/clocks.h"
#include "tracer/mpi/completion.h"
#include "tracer/mpi/function_table.h"
#include "tracer/mpi/tracer_library.h"
#include "tracer/mpi/wrap_collective.h"
#include "tracer/mpi/wrap_communicator.h"
#include "tracer/mpi/wrap_file.h"
#include "tracer/mpi/wrap_neighbor.h"
#include "tracer/mpi/wrap_one_sided.h"
#if defined(MPICH)
#include "tracer/mpi/wrap_partitioned.h"
#endif
#include "tracer/mpi/wrap_point_to_point.h"

namespace weft::trace {

namespace {

// Functions without a record of their own: local ones are counted; the others are also timed, and put on the
// timeline by name.
template <int i, CallClass call_class, class Signature>
struct Counted;
template <int i, CallClass call_class, class Result, class... Arguments>
struct Counted<i, call_class, Result(Arguments...)> {
  static Result call(Arguments... arguments) {
    const auto function = reinterpret_cast<Result (*)(Arguments...)>(real_function(i));
    if constexpr (call_class == CallClass::kLocal) {
      if (here.call_depth == 0) count_local(i);
      return function(arguments...);
    } else {
      Call call(Function::kUndecoded, about_undecoded(i));
      const Result result = function(arguments...);
      if (call.traced()) {
        call.left(result);
        record_undecoded(i, call);
      }
      return result;
    }
  }
};
// MPI_Pcontrol alone takes arguments of any number, and does nothing in the library: it is for tools like
// this.
template <int i, CallClass call_class, class Result, class... Arguments>
struct Counted<i, call_class, Result(Arguments..., ...)> {
  static Result call(Arguments... arguments, ...) {
    count_local(i);
    pcontrol(arguments...);
    return reinterpret_cast<Result (*)(Arguments..., ...)>(real_function(i))(arguments...);
  }
};

enum TableIndex : int {
#define X(name, call_class) kIndex_##name,
#include "tracer/mpi/function_table.inc"
#undef X
};

void* const counted[] = {
#define X(name, call_class) \
  reinterpret_cast<void*>(&Counted<kIndex_##name, CallClass::call_class, decltype(::name)>::call),
#include "tracer/mpi/function_table.inc"
#undef X
};

struct Decoded {
  const char* name;
  void* wrapper;
};

template <class Signature>
void* address(Signature* wrapper) {
  return reinterpret_cast<void*>(wrapper);
}

// Rows of the table: the plain form, and where the library has it the large-count form beside it. The
// arguments after the wrapper's name are the template arguments behind function and library function.
#define PLAIN(name, wrapper) \
  { "MPI_" #name, address(&wrapper) }
#define ROW(name, wrapper, ...)                                                                        \
  {                                                                                                    \
    "MPI_" #name,                                                                                      \
        address<decltype(::MPI_##name)>(wrapper<Function::k##name, &Real::PMPI_##name, ##__VA_ARGS__>) \
  }
#define LARGE(name, wrapper, ...)                                                             \
  {                                                                                           \
    "MPI_" #name "_c", address<decltype(::MPI_##name##_c)>(                                   \
                           wrapper<Function::k##name, &Real::PMPI_##name##_c, ##__VA_ARGS__>) \
  }
#if defined(MPICH)
#define SIZED(name, wrapper) ROW(name, wrapper, int), LARGE(name, wrapper, MPI_Count)
#define SIZED_V(name, wrapper) ROW(name, wrapper, int, int), LARGE(name, wrapper, MPI_Count, MPI_Aint)
#else
#define SIZED(name, wrapper) ROW(name, wrapper, int)
#define SIZED_V(name, wrapper) ROW(name, wrapper, int, int)
#endif
// The persistent form, which Open MPI 4 has under names of its own.
#if defined(MPICH)
#define INIT_ROW(name, wrapper, ...)                                                                       \
  {                                                                                                        \
    "MPI_" #name "_init", address<decltype(::MPI_##name##_init)>(                                          \
                              wrapper<Function::k##name##_init, &Real::PMPI_##name##_init, ##__VA_ARGS__>) \
  }
#else
#define INIT_ROW(name, wrapper, ...)                                                                         \
  {                                                                                                          \
    "MPIX_" #name "_init", address<decltype(::MPIX_##name##_init)>(                                          \
                               wrapper<Function::k##name##_init, &Real::PMPIX_##name##_init, ##__VA_ARGS__>) \
  }
#endif
#if defined(MPICH)
#define INIT(name, wrapper)                                                                                \
  INIT_ROW(name, wrapper, int), {                                                                          \
    "MPI_" #name "_init_c", address<decltype(::MPI_##name##_init_c)>(                                      \
                                wrapper<Function::k##name##_init, &Real::PMPI_##name##_init_c, MPI_Count>) \
  }
#define INIT_V(name, wrapper)                                                                    \
  INIT_ROW(name, wrapper, int, int), {                                                           \
    "MPI_" #name "_init_c",                                                                      \
        address<decltype(::MPI_##name##_init_c)>(                                                \
            wrapper<Function::k##name##_init, &Real::PMPI_##name##_init_c, MPI_Count, MPI_Aint>) \
  }
#else
#define INIT(name, wrapper) INIT_ROW(name, wrapper, int)
#define INIT_V(name, wrapper) INIT_ROW(name, wrapper, int, int)
#endif
#define CREATE(name)                                                                                   \
  {                                                                                                    \
    "MPI_" #name,                                                                                      \
        address(&CommCreate<Function::k##name, &Real::PMPI_##name, decltype(Real::PMPI_##name)>::call) \
  }
#define FILE_ROW(name)                                                                                 \
  {                                                                                                    \
    "MPI_" #name,                                                                                      \
        address(&FileAccess<Function::k##name, &Real::PMPI_##name, decltype(Real::PMPI_##name)>::call) \
  }
#if defined(MPICH)
#define FILE_SIZED(name)                                                                                   \
  FILE_ROW(name), {                                                                                        \
    "MPI_" #name "_c",                                                                                     \
        address(                                                                                           \
            &FileAccess<Function::k##name, &Real::PMPI_##name##_c, decltype(Real::PMPI_##name##_c)>::call) \
  }
#else
#define FILE_SIZED(name) FILE_ROW(name)
#endif

const Decoded decoded[] = {
    PLAIN(Init, init),
    PLAIN(Init_thread, init_thread),
    PLAIN(Finalize, finalize),
    PLAIN(Abort, abort_mpi),
    SIZED(Send, send),
    SIZED(Bsend, send),
    SIZED(Ssend, send),
    SIZED(Rsend, send),
    SIZED(Recv, recv),
    SIZED(Isend, isend),
    SIZED(Ibsend, isend),
    SIZED(Issend, isend),
    SIZED(Irsend, isend),
    SIZED(Irecv, irecv),
    SIZED(Send_init, send_init),
    SIZED(Bsend_init, send_init),
    SIZED(Ssend_init, send_init),
    SIZED(Rsend_init, send_init),
    SIZED(Recv_init, recv_init),
    PLAIN(Start, start_request),
    PLAIN(Startall, startall),
    PLAIN(Request_free, request_free),
    PLAIN(Cancel, cancel),
    PLAIN(Request_get_status, request_get_status),
    SIZED(Sendrecv, sendrecv),
    SIZED(Sendrecv_replace, sendrecv_replace),
    PLAIN(Probe, probe),
    PLAIN(Iprobe, iprobe),
    PLAIN(Mprobe, mprobe),
    PLAIN(Improbe, improbe),
    SIZED(Mrecv, mrecv),
    SIZED(Imrecv, imrecv),
    PLAIN(Wait, wait),
    PLAIN(Waitall, waitall),
    PLAIN(Waitany, waitany),
    PLAIN(Waitsome, waitsome),
    PLAIN(Test, test),
    PLAIN(Testall, testall),
    PLAIN(Testany, testany),
    PLAIN(Testsome, testsome),
    ROW(Barrier, barrier),
    ROW(Ibarrier, barrier),
    SIZED(Bcast, bcast),
    SIZED(Ibcast, bcast),
    SIZED(Gather, gather),
    SIZED(Igather, gather),
    SIZED_V(Gatherv, gatherv),
    SIZED_V(Igatherv, gatherv),
    SIZED(Scatter, scatter),
    SIZED(Iscatter, scatter),
    SIZED_V(Scatterv, scatterv),
    SIZED_V(Iscatterv, scatterv),
    SIZED(Allgather, all_exchange),
    SIZED(Iallgather, all_exchange),
    SIZED_V(Allgatherv, allgatherv),
    SIZED_V(Iallgatherv, allgatherv),
    SIZED(Alltoall, all_exchange),
    SIZED(Ialltoall, all_exchange),
    SIZED_V(Alltoallv, alltoallv),
    SIZED_V(Ialltoallv, alltoallv),
    SIZED_V(Alltoallw, alltoallw),
    SIZED_V(Ialltoallw, alltoallw),
    SIZED(Reduce, reduce),
    SIZED(Ireduce, reduce),
    SIZED(Allreduce, all_reduce),
    SIZED(Iallreduce, all_reduce),
    SIZED(Reduce_scatter, reduce_scatter),
    SIZED(Ireduce_scatter, reduce_scatter),
    SIZED(Reduce_scatter_block, reduce_scatter_block),
    SIZED(Ireduce_scatter_block, reduce_scatter_block),
    SIZED(Scan, all_reduce),
    SIZED(Iscan, all_reduce),
    SIZED(Exscan, all_reduce),
    SIZED(Iexscan, all_reduce),
    CREATE(Comm_dup),
    CREATE(Comm_dup_with_info),
    CREATE(Comm_split),
    CREATE(Comm_split_type),
    CREATE(Comm_create),
    CREATE(Comm_create_group),
    CREATE(Cart_create),
    CREATE(Cart_sub),
    CREATE(Graph_create),
    CREATE(Dist_graph_create),
    CREATE(Dist_graph_create_adjacent),
    CREATE(Intercomm_create),
    CREATE(Intercomm_merge),
    ROW(Comm_idup, comm_idup),
    ROW(Comm_free, comm_free),
    ROW(Comm_disconnect, comm_free),
    INIT_ROW(Barrier, barrier),
    INIT(Bcast, bcast),
    INIT(Gather, gather),
    INIT_V(Gatherv, gatherv),
    INIT(Scatter, scatter),
    INIT_V(Scatterv, scatterv),
    INIT(Allgather, all_exchange),
    INIT_V(Allgatherv, allgatherv),
    INIT(Alltoall, all_exchange),
    INIT_V(Alltoallv, alltoallv),
    INIT_V(Alltoallw, alltoallw),
    INIT(Reduce, reduce),
    INIT(Allreduce, all_reduce),
    INIT(Reduce_scatter, reduce_scatter),
    INIT(Reduce_scatter_block, reduce_scatter_block),
    INIT(Scan, all_reduce),
    INIT(Exscan, all_reduce),
    SIZED(Neighbor_allgather, neighbor_exchange),
    SIZED(Ineighbor_allgather, neighbor_exchange),
    INIT(Neighbor_allgather, neighbor_exchange),
    SIZED_V(Neighbor_allgatherv, neighbor_allgatherv),
    SIZED_V(Ineighbor_allgatherv, neighbor_allgatherv),
    INIT_V(Neighbor_allgatherv, neighbor_allgatherv),
    SIZED(Neighbor_alltoall, neighbor_exchange),
    SIZED(Ineighbor_alltoall, neighbor_exchange),
    INIT(Neighbor_alltoall, neighbor_exchange),
    SIZED_V(Neighbor_alltoallv, neighbor_alltoallv),
    SIZED_V(Ineighbor_alltoallv, neighbor_alltoallv),
    INIT_V(Neighbor_alltoallv, neighbor_alltoallv),
    ROW(Neighbor_alltoallw, neighbor_alltoallv, int, MPI_Aint),
    ROW(Ineighbor_alltoallw, neighbor_alltoallv, int, MPI_Aint),
    INIT_ROW(Neighbor_alltoallw, neighbor_alltoallv, int, MPI_Aint),
#if defined(MPICH)
    LARGE(Neighbor_alltoallw, neighbor_alltoallv, MPI_Count, MPI_Aint),
    LARGE(Ineighbor_alltoallw, neighbor_alltoallv, MPI_Count, MPI_Aint),
#endif
    FILE_SIZED(File_read),
    FILE_SIZED(File_read_at),
    FILE_SIZED(File_read_all),
    FILE_SIZED(File_read_at_all),
    FILE_SIZED(File_read_shared),
    FILE_SIZED(File_read_ordered),
    FILE_SIZED(File_write),
    FILE_SIZED(File_write_at),
    FILE_SIZED(File_write_all),
    FILE_SIZED(File_write_at_all),
    FILE_SIZED(File_write_shared),
    FILE_SIZED(File_write_ordered),
    FILE_SIZED(File_iread),
    FILE_SIZED(File_iread_at),
    FILE_SIZED(File_iread_all),
    FILE_SIZED(File_iread_at_all),
    FILE_SIZED(File_iread_shared),
    FILE_SIZED(File_iwrite),
    FILE_SIZED(File_iwrite_at),
    FILE_SIZED(File_iwrite_all),
    FILE_SIZED(File_iwrite_at_all),
    FILE_SIZED(File_iwrite_shared),
    FILE_SIZED(File_read_all_begin),
    FILE_SIZED(File_read_at_all_begin),
    FILE_SIZED(File_read_ordered_begin),
    FILE_SIZED(File_write_all_begin),
    FILE_SIZED(File_write_at_all_begin),
    FILE_SIZED(File_write_ordered_begin),
    ROW(Win_create, win_create, int),
    ROW(Win_allocate, win_allocate, int),
    ROW(Win_allocate_shared, win_allocate, int),
    PLAIN(Win_create_dynamic, win_create_dynamic),
    PLAIN(Win_free, win_free),
    ROW(Win_fence, win_sync, int),
    PLAIN(Win_lock, win_lock),
    ROW(Win_unlock, win_target),
    ROW(Win_lock_all, win_sync, int),
    ROW(Win_unlock_all, win_sync),
    ROW(Win_flush, win_target),
    ROW(Win_flush_all, win_sync),
    ROW(Win_flush_local, win_target),
    ROW(Win_flush_local_all, win_sync),
    ROW(Win_sync, win_sync),
    ROW(Win_post, win_group),
    ROW(Win_start, win_group),
    ROW(Win_complete, win_sync),
    ROW(Win_wait, win_sync),
    PLAIN(Win_test, win_test),
    SIZED(Put, put),
    SIZED(Get, get),
    SIZED(Accumulate, accumulate),
    SIZED(Get_accumulate, get_accumulate),
    PLAIN(Fetch_and_op, fetch_and_op),
    PLAIN(Compare_and_swap, compare_and_swap),
    SIZED(Rput, put),
    SIZED(Rget, get),
    SIZED(Raccumulate, accumulate),
    SIZED(Rget_accumulate, get_accumulate),
#if defined(MPICH)
    SIZED(Isendrecv, isendrecv),
    SIZED(Isendrecv_replace, isendrecv_replace),
    LARGE(Win_create, win_create, MPI_Aint),
    LARGE(Win_allocate, win_allocate, MPI_Aint),
    LARGE(Win_allocate_shared, win_allocate, MPI_Aint),
    ROW(Comm_idup_with_info, comm_idup, MPI_Info),
    PLAIN(Session_init, session_init),
    PLAIN(Session_finalize, session_finalize),
    PLAIN(Comm_create_from_group, comm_create_from_group),
    ROW(Psend_init, psend_init),
    ROW(Precv_init, precv_init),
    PLAIN(Pready, pready),
    PLAIN(Pready_range, pready_range),
    PLAIN(Pready_list, pready_list),
    PLAIN(Parrived, parrived),
#endif
};

void* wrapper(const char* name) {
  for (int i = 0; i < kFunctions; ++i) {
    if (strcmp(function_table[i].name, name) != 0) continue;
    if (real_function(i) == nullptr) return nullptr;
    for (const Decoded& row : decoded) {
      if (strcmp(row.name, name) == 0) return row.wrapper;
    }
    return counted[i];
  }
  return nullptr;
}

const TracerLibrary library{&wrapper, &region};

}  // namespace

}  // namespace weft::trace

extern "C" __attribute__((visibility("default"))) const weft::trace::TracerLibrary* weft_trace_open(
    void* mpi) {
  weft::trace::read_test_clock();  // before the first call
  return weft::trace::find_real_functions(mpi) ? &weft::trace::library : nullptr;
}

extern "C" __attribute__((visibility("default"))) const char* weft_trace_coverage(const char* name,
                                                                                  int* covered) {
  using namespace weft::trace;
  for (const TableEntry& entry : function_table) {
    if (strcasecmp(entry.name, name) != 0) continue;
    *covered = entry.call_class == CallClass::kLocal ? kCoveredCounted : kCoveredTimed;
    for (const Decoded& row : decoded) {
      if (strcmp(row.name, entry.name) == 0) *covered = kCoveredDecoded;
    }
    return entry.name;
  }
  return nullptr;
}
