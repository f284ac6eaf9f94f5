/* With -DLAYER a library of a program's own that stands before MPI: it sets itself up in MPI_Init, and gives
   messages other tags. Else that program. */
#include <mpi.h>
#include <stdio.h>

#if defined(LAYER)
static MPI_Comm own = MPI_COMM_NULL;
static int sends = 0;
int MPI_Init(int* count, char*** arguments) {
  const int error = PMPI_Init(count, arguments);
  PMPI_Comm_dup(MPI_COMM_WORLD, &own);
  return error;
}
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(data, count, type, to, tag + 1000, comm);
}
int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  return PMPI_Recv(data, count, type, from, tag + 1000, comm, status);
}
MPI_Comm layer_comm(void) { return own; }
int layer_sends(void) { return sends; }
#else
MPI_Comm layer_comm(void);
int layer_sends(void);
int main(int count, char** arguments) {
  int rank, value = 1, sum = 0;
  char data[64] = {0};
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, layer_comm());
  for (int i = 0; i < 10; ++i) {
    if (rank % 2 == 0) MPI_Send(data, 64, MPI_BYTE, rank + 1, i, MPI_COMM_WORLD);
    if (rank % 2 == 1) MPI_Recv(data, 64, MPI_BYTE, rank - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  printf("sum %d, sends %d\n", sum, layer_sends());
  return 0;
}
#endif
