// The MPI library's own functions, and what differs between the libraries' binary interfaces.
//
// Compiled once per library, against that library's mpi.h; nothing is linked: the library is found at run
// time.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
extern "C" {
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
}

#include <cstdint>

namespace weft::trace {

// Pointers to the profiling entries (PMPI_Send …) of every function the header declares.
struct Real {
#define X(name, call_class) decltype(&::name) P##name;
#include "tracer/mpi/function_table.inc"
#undef X
};
extern Real real __attribute__((visibility("hidden")));

// Fills `real` from the library behind this dlopen handle; false if one of the decoded functions is missing.
bool find_real_functions(void* mpi);
// The entry of `real` for function number i of the table; null where the library lacks it.
void* real_function(int i);

// Handles as numbers: pointers in Open MPI, ints in MPICH.
template <typename Handle>
inline std::uint64_t bits(Handle handle) {
  return (std::uint64_t)(handle);
}

#if defined(OPEN_MPI)
// Open MPI's predefined handles are addresses of objects in the library. They are looked up, so that this
// library does not need that one to be loaded first and globally.
struct Predefined {
  void *comm_world, *comm_self, *comm_null, *request_null, *message_no_proc, *datatype_null, *datatype_byte,
      *op_no_op;
};
extern Predefined predefined;
inline MPI_Comm comm_world() { return static_cast<MPI_Comm>(predefined.comm_world); }
inline MPI_Comm comm_self() { return static_cast<MPI_Comm>(predefined.comm_self); }
inline MPI_Comm comm_null() { return static_cast<MPI_Comm>(predefined.comm_null); }
inline MPI_Request request_null() { return static_cast<MPI_Request>(predefined.request_null); }
inline MPI_Message message_no_proc() { return static_cast<MPI_Message>(predefined.message_no_proc); }
inline MPI_Datatype datatype_null() { return static_cast<MPI_Datatype>(predefined.datatype_null); }
inline MPI_Datatype datatype_byte() { return static_cast<MPI_Datatype>(predefined.datatype_byte); }
inline MPI_Op op_no_op() { return static_cast<MPI_Op>(predefined.op_no_op); }
// The fields behind MPI_Get_count and MPI_Test_cancelled; part of the binary interface, since statuses are
// allocated by the application.
inline std::uint64_t status_bytes(const MPI_Status& status) { return status._ucount; }
// Whether it also has the bytes of a message that was longer than its receive; MPICH leaves those of another.
constexpr bool kTellsTruncatedBytes = true;
inline bool status_cancelled(const MPI_Status& status) { return status._cancelled != 0; }
#elif defined(MPICH)
inline MPI_Comm comm_world() { return MPI_COMM_WORLD; }
inline MPI_Comm comm_self() { return MPI_COMM_SELF; }
inline MPI_Comm comm_null() { return MPI_COMM_NULL; }
inline MPI_Request request_null() { return MPI_REQUEST_NULL; }
inline MPI_Message message_no_proc() { return MPI_MESSAGE_NO_PROC; }
inline MPI_Datatype datatype_null() { return MPI_DATATYPE_NULL; }
inline MPI_Datatype datatype_byte() { return MPI_BYTE; }
inline MPI_Op op_no_op() { return MPI_NO_OP; }
inline std::uint64_t status_bytes(const MPI_Status& status) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1) << 32) |
         static_cast<std::uint32_t>(status.count_lo);
}
constexpr bool kTellsTruncatedBytes = false;
inline bool status_cancelled(const MPI_Status& status) { return (status.count_hi_and_cancelled & 1) != 0; }
#else
#error "neither Open MPI's nor MPICH's mpi.h"
#endif

// What lies behind an argument of a call, or `none` where the program gave a null pointer. MPI may refuse
// that with an error, and the tracer must not make a crash of it.
template <typename T>
inline T behind(const T* place, T none) {
  return place != nullptr ? *place : none;
}
// A flag, count or index that a call has set.
inline int behind(const int* place) { return behind(place, 0); }
// How many elements of an array the tracer may look at; MPI refuses the rest.
template <typename T>
inline int readable(int n, const T* array) {
  return n < 0 || array == nullptr ? 0 : n;
}

int error_class(int error);

// Bytes of one element; 0 for MPI_DATATYPE_NULL and where it is not known.
std::uint64_t type_size(MPI_Datatype type);

}  // namespace weft::trace
