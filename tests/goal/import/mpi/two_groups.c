/* Every collective operation between two groups, for 5 ranks: world ranks 0 and 1, and 4, 3, 2 in that order.
   two_groups_program_test.sh has what must come out. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int out[64], in[64], in_group, size, other_size, low;
static double real_out[64], real_in[64];
static MPI_Comm both;

/* Of an operation with a root: what this rank gives as root, which is rank `root` of the low or high group.
 */
static int root_of(int in_low, int root) {
  if (in_low != low) return root;
  return in_group == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void expect(int found, int expected, const char* what) {
  if (found == expected) return;
  fprintf(stderr, "%s: %d, not %d\n", what, found, expected);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void by_root(void) {
  int counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
  MPI_Bcast(out, 12, MPI_INT, root_of(1, 1), both);
  MPI_Reduce(real_out, real_in, 5, MPI_DOUBLE, MPI_SUM, root_of(0, 2), both);
  if (!low && in_group == 2) expect((int)real_in[0], 2, "sum of the low group");
  MPI_Gather(out, 3, MPI_INT, in, 3, MPI_INT, root_of(1, 0), both);
  MPI_Gatherv(out, in_group + 1, MPI_INT, in, counts, places, MPI_INT, root_of(0, 0), both);
  MPI_Scatter(out, 7, MPI_INT, in, 7, MPI_INT, root_of(0, 1), both);
  MPI_Scatterv(out, counts, places, MPI_INT, in, in_group + 1, MPI_INT, root_of(1, 0), both);
}

static void by_all(void) {
  const int low_parts[2] = {1, 2}, high_parts[3] = {10, 11, 12};
  int places[3] = {0, 16, 32}, to[3], from[3], shares[3] = {low ? 2 : 1, low ? 4 : 2, 3};
  MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
  MPI_Barrier(both);
  MPI_Allreduce(real_out, real_in, 6, MPI_DOUBLE, MPI_SUM, both);
  expect((int)real_in[0], other_size, "sum of the other group");
  MPI_Allgather(out, low ? 2 : 3, MPI_INT, in, low ? 3 : 2, MPI_INT, both);
  MPI_Allgatherv(out, low ? low_parts[in_group] : high_parts[in_group], MPI_INT, in,
                 low ? high_parts : low_parts, places, MPI_INT, both);
  MPI_Alltoall(out, low ? 2 : 5, MPI_INT, in, low ? 5 : 2, MPI_INT, both);
  /* From rank i of the low group to rank j of the high one 1 + i + 2 j, and 4 back. */
  for (int i = 0; i < 3; ++i) {
    to[i] = low ? 1 + in_group + 2 * i : 4;
    from[i] = low ? 4 : 1 + i + 2 * in_group;
  }
  MPI_Alltoallv(out, to, places, MPI_INT, in, from, places, MPI_INT, both);
  int places_bytes[3] = {0, 64, 128};
  MPI_Alltoallw(out, to, places_bytes, types, in, from, places_bytes, types, both);
  MPI_Reduce_scatter(out, in, shares, MPI_INT, MPI_SUM, both);
  MPI_Reduce_scatter_block(out, in, low ? 3 : 2, MPI_INT, MPI_SUM, both);
}

/* Two at once, which end in any order. */
static void nonblocking(void) {
  MPI_Request requests[2];
  MPI_Iallreduce(real_out, real_in, 2, MPI_DOUBLE, MPI_SUM, both, &requests[0]);
  MPI_Ibcast(in, 9, MPI_INT, root_of(0, 0), both, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm own;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  low = rank < 2;
  for (int i = 0; i < 64; ++i) real_out[i] = 1;
  MPI_Comm_split(MPI_COMM_WORLD, low, low ? rank : -rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, low ? 4 : 0, 3, &both);
  MPI_Comm_rank(both, &in_group);
  MPI_Comm_size(both, &size);
  MPI_Comm_remote_size(both, &other_size);
  by_root();
  by_all();
  nonblocking();
  MPI_Comm_free(&both);
  MPI_Comm_free(&own);
  MPI_Finalize();
  return 0;
}
