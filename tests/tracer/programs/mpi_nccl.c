/* An MPI program whose ranks have a GPU each: MPI and NCCL in turn. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/tracer/standin/api.h"

enum { N = 1000 };

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s is wrong\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank, ranks;
  ncclUniqueId id;
  ncclComm_t comm;
  cudaStream_t stream;
  static double in[N], out[N];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) ncclGetUniqueId(&id);
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  /* In NCCL the ranks are the other way round. */
  check(ncclCommInitRank(&comm, ranks, id, ranks - 1 - rank) == 0, "initialisation");
  cudaStreamCreateWithFlags(&stream, 1);
  for (int i = 0; i < N; ++i) in[i] = rank + i;
  ncclAllReduce(in, out, N, ncclFloat64, ncclSum, comm, stream);
  cudaStreamSynchronize(stream);
  double sum = 0;
  MPI_Allreduce(&out[1], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  check(sum == ranks * (ranks * (ranks - 1) / 2.0 + ranks), "the sum");
  ncclGroupStart(); /* from MPI rank r to r+1, which is to one less in NCCL */
  ncclSend(in, N, ncclFloat64, (2 * ranks - 2 - rank) % ranks, comm, stream);
  ncclRecv(out, N, ncclFloat64, (ranks - rank) % ranks, comm, stream);
  ncclGroupEnd();
  cudaStreamSynchronize(stream);
  check(out[3] == (rank + ranks - 1) % ranks + 3, "what came");
  MPI_Barrier(MPI_COMM_WORLD);
  ncclCommDestroy(comm);
  MPI_Finalize();
  return 0;
}
