#include "tracer/mpi/real.h"

#include "tracer/mpi/real_dlsym.h"

namespace weft::trace {

Real real;

#if defined(OPEN_MPI)
Predefined predefined;

namespace {

// A program linked to the library may have its own copy of an object (a copy relocation), which then is the
// one that all use; it comes first in the global scope. A library loaded locally is not in that scope.
void* find_object(void* mpi, const char* name) {
  void* global = dlsym(RTLD_DEFAULT, name);
  return global != nullptr ? global : dlsym(mpi, name);
}

bool find_predefined(void* mpi) {
  predefined.comm_world = find_object(mpi, "ompi_mpi_comm_world");
  predefined.comm_self = find_object(mpi, "ompi_mpi_comm_self");
  predefined.comm_null = find_object(mpi, "ompi_mpi_comm_null");
  predefined.request_null = find_object(mpi, "ompi_request_null");
  predefined.message_no_proc = find_object(mpi, "ompi_message_no_proc");
  predefined.datatype_null = find_object(mpi, "ompi_mpi_datatype_null");
  predefined.datatype_byte = find_object(mpi, "ompi_mpi_byte");
  predefined.op_no_op = find_object(mpi, "ompi_mpi_op_no_op");
  return predefined.comm_world != nullptr && predefined.comm_self != nullptr &&
         predefined.comm_null != nullptr && predefined.request_null != nullptr &&
         predefined.message_no_proc != nullptr && predefined.datatype_null != nullptr &&
         predefined.datatype_byte != nullptr && predefined.op_no_op != nullptr;
}
}  // namespace
#else
namespace {
bool find_predefined(void*) { return true; }
}  // namespace
#endif

bool find_real_functions(void* mpi) {
  Dlsym* const find = find_dlsym();
  if (find == nullptr) return false;
#define X(name, call_class) real.P##name = reinterpret_cast<decltype(real.P##name)>(find(mpi, "P" #name));
#include "tracer/mpi/function_table.inc"
#undef X
  // What the tracer itself calls. A library that has these has the rest of MPI-1.
  return find_predefined(mpi) && real.PMPI_Comm_rank != nullptr && real.PMPI_Comm_size != nullptr &&
         real.PMPI_Comm_group != nullptr && real.PMPI_Group_rank != nullptr &&
         real.PMPI_Comm_test_inter != nullptr && real.PMPI_Comm_remote_group != nullptr &&
         real.PMPI_Group_size != nullptr && real.PMPI_Group_translate_ranks != nullptr &&
         real.PMPI_Group_free != nullptr && real.PMPI_Type_size_x != nullptr &&
         real.PMPI_Error_class != nullptr && real.PMPI_Get_library_version != nullptr &&
         real.PMPI_Query_thread != nullptr;
}

void* real_function(int i) {
  // All members are function pointers, in the table's order.
  return reinterpret_cast<void**>(&real)[i];
}

int error_class(int error) {
  int its_class = error;
  if (error != MPI_SUCCESS) real.PMPI_Error_class(error, &its_class);
  return its_class;
}

std::uint64_t type_size(MPI_Datatype type) {
  MPI_Count size = 0;
  if (type == datatype_null() || real.PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  return static_cast<std::uint64_t>(size);
}

}  // namespace weft::trace
