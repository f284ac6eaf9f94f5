/* A small MPI program with known traffic, for an even number of ranks; real_program_test.sh has what must
   come out. Every rank computes a little between its calls, so that the graph has compute as well. */
#include <mpi.h>
#include <stdlib.h>

static volatile double sink;
static void compute(void) {
  for (int i = 0; i < 20000; ++i) sink += i;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double data[64] = {0}, other[64] = {0};
  compute();

  /* A ring, nonblocking. */
  MPI_Request requests[2];
  MPI_Irecv(other, 64, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(data, 10, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
  compute();
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  /* Everyone to rank 0, which takes any source; the sizes tell the ranks apart. */
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      MPI_Recv(other, 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else {
    MPI_Send(data, rank, MPI_DOUBLE, 0, 100 + rank, MPI_COMM_WORLD);
  }

  /* Even and odd ranks, in reverse order; the first of each half sends to the last. */
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int half_rank, half_size;
  MPI_Comm_rank(half, &half_rank);
  MPI_Comm_size(half, &half_size);
  if (half_rank == 0) MPI_Send(data, 5, MPI_INT, half_size - 1, 7, half);
  if (half_rank == half_size - 1) {
    MPI_Status status;
    MPI_Probe(0, 7, half, &status);
    MPI_Recv(other, 5, MPI_INT, 0, 7, half, MPI_STATUS_IGNORE);
  }
  MPI_Allreduce(MPI_IN_PLACE, data, 3, MPI_DOUBLE, MPI_SUM, half);
  MPI_Comm_free(&half);

  /* A persistent exchange with the neighbour, twice, then one with nobody. */
  MPI_Send_init(data, 2, MPI_DOUBLE, rank ^ 1, 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(other, 2, MPI_DOUBLE, rank ^ 1, 9, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, requests);
    int done = 0;
    while (!done) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    compute();
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Sendrecv(data, 4, MPI_DOUBLE, MPI_PROC_NULL, 3, other, 4, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);

  /* Rank r sends r + 1 ints to each other rank. */
  int* counts = calloc(4 * (size_t)size, sizeof(int));
  for (int i = 0; i < size; ++i) {
    counts[i] = rank + 1;
    counts[2 * size + i] = i + 1;
    counts[3 * size + i] = i * (i + 1) / 2;
  }
  int* out = calloc((size_t)size * 16, sizeof(int));
  int* in = calloc((size_t)size * 16, sizeof(int));
  MPI_Alltoallv(out, counts, counts + size, MPI_INT, in, counts + 2 * size, counts + 3 * size, MPI_INT,
                MPI_COMM_WORLD);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Bcast(data, 6, MPI_DOUBLE, 2, MPI_COMM_WORLD);

  /* The other collectives. Counts of 1, 2, 3 … where they may differ. */
  int* parts = counts + 2 * size;
  int* places = counts + 3 * size;
  MPI_Gather(data, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Gatherv(out, rank + 1, MPI_INT, in, parts, places, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Scatter(out, 2, MPI_INT, in, 2, MPI_INT, 3, MPI_COMM_WORLD);
  MPI_Scatterv(out, parts, places, MPI_INT, in, rank + 1, MPI_INT, 3, MPI_COMM_WORLD);
  MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(out, rank + 1, MPI_INT, in, parts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, 3, MPI_INT, MPI_COMM_WORLD);
  MPI_Reduce(data, other, 5, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce_scatter(out, in, parts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Scan(data, other, 7, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Exscan(data, other, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  free(counts);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
