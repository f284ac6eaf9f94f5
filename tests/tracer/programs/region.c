// Two ranks exchange messages in and out of regions: tag 1 before any, 2 in "solver" (20 times, then an
// allreduce), 3 while MPI_Pcontrol has switched off, 4 at the end. A receive of tag 6 is posted in the region
// and completed behind it; rank 1 leaves "solver" before it sends what rank 0 receives there with tag 5.
#include <mpi.h>

#include "tracer/weft_region.h"

static int rank, in, out;

static void exchange(int tag, int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, tag, &in, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Request request;
  weft_region_begin("too early");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exchange(1, 10);
  weft_region_begin("solver");
  exchange(2, 20);
  MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&in, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    weft_region_end("solver");
  } else {
    weft_region_end("solver");
    MPI_Send(&out, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  }
  MPI_Pcontrol(0);
  MPI_Pcontrol(0);
  exchange(3, 5);
  MPI_Pcontrol(1);
  weft_region_begin("solver");
  MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD, &request);
  MPI_Send(&out, 1, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD);
  weft_region_end("solver");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  exchange(4, 7);
  MPI_Finalize();
  return 0;
}
