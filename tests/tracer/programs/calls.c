// Makes every MPI call the tracer decodes at least once, on 4 ranks; ../mpi_test.cc knows what it does.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, left, right;

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "rank %d: not as expected: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Evens 2, 0 and odds 3, 1, in that order: the first of each sends to the second.
static void in_a_sub_communicator(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  double numbers[10] = {0};
  int half_rank;
  MPI_Comm_rank(half, &half_rank);
  if (half_rank == 0) MPI_Send(numbers, 3, MPI_DOUBLE, 1, 11, half);
  if (half_rank == 1) MPI_Recv(numbers, 10, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, half, MPI_STATUS_IGNORE);
  MPI_Bcast(numbers, 2, MPI_DOUBLE, 1, half);
  MPI_Comm_free(&half);
}

static void waits_and_tests(void) {
  int in[8], out[8] = {0};
  MPI_Request r[5];
  MPI_Status statuses[5];
  MPI_Irecv(in, 2, MPI_INT, left, 21, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(in + 2, 2, MPI_INT, MPI_ANY_SOURCE, 22, MPI_COMM_WORLD, &r[1]);
  r[2] = MPI_REQUEST_NULL;
  MPI_Isend(out, 2, MPI_INT, right, 21, MPI_COMM_WORLD, &r[3]);
  MPI_Issend(out, 1, MPI_INT, right, 22, MPI_COMM_WORLD, &r[4]);
  MPI_Waitall(5, r, MPI_STATUSES_IGNORE);

  // One completion at a time.
  MPI_Irecv(in, 2, MPI_INT, left, 23, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(out, 2, MPI_INT, right, 23, MPI_COMM_WORLD, &r[1]);
  int index, flag = 0, done = 0;
  MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
  MPI_Wait(&r[1 - index], MPI_STATUS_IGNORE);
  MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
  require(index == MPI_UNDEFINED, "Waitany of null requests");

  MPI_Irecv(in, 2, MPI_INT, left, 24, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(out, 2, MPI_INT, right, 24, MPI_COMM_WORLD, &r[1]);
  int indices[5], count;
  for (done = 0; done < 2; done += count) MPI_Waitsome(2, r, &count, indices, statuses);

  MPI_Irecv(in, 2, MPI_INT, left, 25, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(out, 2, MPI_INT, right, 25, MPI_COMM_WORLD, &r[1]);
  while (!flag) MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);

  MPI_Irecv(in, 2, MPI_INT, left, 26, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(out, 2, MPI_INT, right, 26, MPI_COMM_WORLD, &r[1]);
  for (done = 0; done < 2;) {
    MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE);
    if (flag) ++done;
  }

  MPI_Irecv(in, 2, MPI_INT, left, 27, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(out, 2, MPI_INT, right, 27, MPI_COMM_WORLD, &r[1]);
  for (done = 0; done < 2; done += count) MPI_Testsome(2, r, &count, indices, MPI_STATUSES_IGNORE);

  MPI_Irecv(in, 2, MPI_INT, left, 28, MPI_COMM_WORLD, &r[0]);
  MPI_Ssend(out, 1, MPI_INT, right == 0 ? MPI_PROC_NULL : right, 28, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &statuses[0]);
    MPI_Test_cancelled(&statuses[0], &flag);
    require(flag, "the receive nobody sends to is cancelled");
  } else {
    for (flag = 0; !flag;) MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
  }
}

static void persistent(void) {
  int in = 0, out = rank;
  MPI_Request r[2], other[3];
  MPI_Recv_init(&in, 1, MPI_INT, left, 31, MPI_COMM_WORLD, &r[0]);
  MPI_Send_init(&out, 1, MPI_INT, right, 31, MPI_COMM_WORLD, &r[1]);
  MPI_Startall(2, r);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Start(&r[0]);
  MPI_Start(&r[1]);
  MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);  // inactive
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  MPI_Bsend_init(&out, 1, MPI_INT, right, 32, MPI_COMM_WORLD, &other[0]);
  MPI_Ssend_init(&out, 1, MPI_INT, right, 32, MPI_COMM_WORLD, &other[1]);
  MPI_Rsend_init(&out, 1, MPI_INT, right, 32, MPI_COMM_WORLD, &other[2]);
  for (int i = 0; i < 3; ++i) MPI_Request_free(&other[i]);
}

static void exchanges_and_probes(void) {
  int in[4], out[4] = {0}, flag;
  MPI_Status status;
  MPI_Sendrecv(out, 3, MPI_INT, right, 41, in, 4, MPI_INT, left, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(out, 2, MPI_INT, right, 42, MPI_ANY_SOURCE, 42, MPI_COMM_WORLD, &status);
  MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 43, in, 1, MPI_INT, MPI_PROC_NULL, 43, MPI_COMM_WORLD,
               &status);

  MPI_Request r[6];
  for (int i = 0; i < 4; ++i) MPI_Isend(out, 1 + i, MPI_INT, right, 44 + i, MPI_COMM_WORLD, &r[i]);
  MPI_Probe(left, 44, MPI_COMM_WORLD, &status);
  MPI_Recv(in, 4, MPI_INT, left, 44, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (flag = 0; !flag;) MPI_Iprobe(MPI_ANY_SOURCE, 45, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Recv(in, 4, MPI_INT, left, 45, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Message message;
  MPI_Mprobe(MPI_ANY_SOURCE, 46, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(in, 4, MPI_INT, &message, MPI_STATUS_IGNORE);
  for (flag = 0; !flag;) MPI_Improbe(left, 47, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  MPI_Imrecv(in, 4, MPI_INT, &message, &r[4]);
  MPI_Waitall(5, r, MPI_STATUSES_IGNORE);

  char* buffer = malloc(4096);
  void* back;
  int size;
  MPI_Buffer_attach(buffer, 4096);
  MPI_Irecv(in, 1, MPI_INT, left, 51, MPI_COMM_WORLD, &r[0]);
  MPI_Irecv(in + 1, 1, MPI_INT, left, 52, MPI_COMM_WORLD, &r[1]);
  MPI_Irecv(in + 2, 1, MPI_INT, left, 53, MPI_COMM_WORLD, &r[2]);
  MPI_Irecv(in + 3, 1, MPI_INT, left, 54, MPI_COMM_WORLD, &r[3]);
  MPI_Barrier(MPI_COMM_WORLD);  // ready sends need posted receives
  MPI_Bsend(out, 1, MPI_INT, right, 51, MPI_COMM_WORLD);
  MPI_Ibsend(out, 1, MPI_INT, right, 52, MPI_COMM_WORLD, &r[4]);
  MPI_Rsend(out, 1, MPI_INT, right, 53, MPI_COMM_WORLD);
  MPI_Irsend(out, 1, MPI_INT, right, 54, MPI_COMM_WORLD, &r[5]);
  MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
  MPI_Buffer_detach(&back, &size);
  free(buffer);
}

static void collectives(void) {
  MPI_Comm w = MPI_COMM_WORLD;
  double a[64] = {0}, b[64] = {0};
  // Part i has i + 1 elements; what goes from i to j has i + 2j.
  int parts[4] = {1, 2, 3, 4}, places[4] = {0, 1, 3, 6}, to[4], from[4], spread[4] = {0, 16, 32, 48};
  int to_bytes[4], from_bytes[4], byte_places[4] = {0, 128, 256, 384};
  MPI_Datatype types[4] = {MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE};
  for (int i = 0; i < 4; ++i) {
    to[i] = to_bytes[i] = rank + 2 * i;
    from[i] = from_bytes[i] = i + 2 * rank;
  }
  MPI_Barrier(w);
  MPI_Bcast(a, 5, MPI_DOUBLE, 2, w);
  MPI_Gather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, 1, w);
  MPI_Gatherv(a, rank + 1, MPI_DOUBLE, b, parts, places, MPI_DOUBLE, 1, w);
  MPI_Scatter(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, 1, w);
  MPI_Scatterv(a, parts, places, MPI_DOUBLE, b, rank + 1, MPI_DOUBLE, 1, w);
  MPI_Allgather(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, w);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_DOUBLE, w);
  MPI_Allgatherv(a, rank + 1, MPI_DOUBLE, b, parts, places, MPI_DOUBLE, w);
  MPI_Alltoall(a, 2, MPI_DOUBLE, b, 4, MPI_FLOAT, w);
  MPI_Alltoallv(a, to, spread, MPI_DOUBLE, b, from, spread, MPI_DOUBLE, w);
  MPI_Alltoallw(a, to_bytes, byte_places, types, b, from_bytes, byte_places, types, w);
  MPI_Reduce(a, b, 6, MPI_DOUBLE, MPI_SUM, 3, w);
  MPI_Allreduce(a, b, 7, MPI_DOUBLE, MPI_SUM, w);
  MPI_Allreduce(MPI_IN_PLACE, b, 7, MPI_DOUBLE, MPI_SUM, w);
  MPI_Reduce_scatter(a, b, parts, MPI_DOUBLE, MPI_SUM, w);
  MPI_Reduce_scatter_block(a, b, 3, MPI_DOUBLE, MPI_SUM, w);
  MPI_Scan(a, b, 8, MPI_DOUBLE, MPI_SUM, w);
  MPI_Exscan(a, b, 9, MPI_DOUBLE, MPI_SUM, w);
  MPI_Gather(rank == 1 ? MPI_IN_PLACE : a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, 1, w);
  MPI_Scatterv(a, parts, places, MPI_DOUBLE, rank == 1 ? MPI_IN_PLACE : b, rank + 1, MPI_DOUBLE, 1, w);

  MPI_Request r[17];
  double c[17][64] = {{0}};
  int n = 0;
  MPI_Ibarrier(w, &r[n++]);
  MPI_Ibcast(c[1], 5, MPI_DOUBLE, 2, w, &r[n++]);
  MPI_Igather(a, 2, MPI_DOUBLE, c[2], 2, MPI_DOUBLE, 1, w, &r[n++]);
  MPI_Igatherv(a, rank + 1, MPI_DOUBLE, c[3], parts, places, MPI_DOUBLE, 1, w, &r[n++]);
  MPI_Iscatter(a, 2, MPI_DOUBLE, c[4], 2, MPI_DOUBLE, 1, w, &r[n++]);
  MPI_Iscatterv(a, parts, places, MPI_DOUBLE, c[5], rank + 1, MPI_DOUBLE, 1, w, &r[n++]);
  MPI_Iallgather(a, 2, MPI_DOUBLE, c[6], 2, MPI_DOUBLE, w, &r[n++]);
  MPI_Iallgatherv(a, rank + 1, MPI_DOUBLE, c[7], parts, places, MPI_DOUBLE, w, &r[n++]);
  MPI_Ialltoall(a, 2, MPI_DOUBLE, c[8], 4, MPI_FLOAT, w, &r[n++]);
  MPI_Ialltoallv(a, to, spread, MPI_DOUBLE, c[9], from, spread, MPI_DOUBLE, w, &r[n++]);
  MPI_Ialltoallw(a, to_bytes, byte_places, types, c[10], from_bytes, byte_places, types, w, &r[n++]);
  MPI_Ireduce(a, c[11], 6, MPI_DOUBLE, MPI_SUM, 3, w, &r[n++]);
  MPI_Iallreduce(a, c[12], 7, MPI_DOUBLE, MPI_SUM, w, &r[n++]);
  MPI_Ireduce_scatter(a, c[13], parts, MPI_DOUBLE, MPI_SUM, w, &r[n++]);
  MPI_Ireduce_scatter_block(a, c[14], 3, MPI_DOUBLE, MPI_SUM, w, &r[n++]);
  MPI_Iscan(a, c[15], 8, MPI_DOUBLE, MPI_SUM, w, &r[n++]);
  MPI_Iexscan(a, c[16], 9, MPI_DOUBLE, MPI_SUM, w, &r[n++]);
  MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
}

static void communicators(void) {
  MPI_Comm w = MPI_COMM_WORLD, c[15];
  MPI_Request request;
  MPI_Group world, first;
  int dims[2] = {2, 2}, periods[2] = {0, 0}, remain[2] = {1, 0};
  int index[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 3, 2}, degree = 1;
  int range[1][3] = {{0, 1, 1}};
  MPI_Comm_group(w, &world);
  MPI_Group_range_incl(world, 1, range, &first);
  MPI_Comm_dup(w, &c[0]);
  MPI_Comm_dup_with_info(w, MPI_INFO_NULL, &c[1]);
  MPI_Comm_idup(w, &c[2], &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(c[2]);
  MPI_Comm_split_type(w, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c[3]);
  MPI_Comm_create(w, first, &c[4]);
  c[5] = MPI_COMM_NULL;
  if (rank < 2) MPI_Comm_create_group(w, first, 5, &c[5]);
  MPI_Cart_create(w, 2, dims, periods, 0, &c[6]);
  MPI_Cart_sub(c[6], remain, &c[7]);
  MPI_Graph_create(w, 4, index, edges, 0, &c[8]);
  int neighbour = rank ^ 1;
  MPI_Dist_graph_create(w, 1, &rank, &degree, &neighbour, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c[9]);
  MPI_Dist_graph_create_adjacent(w, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &c[10]);
  MPI_Comm_split(w, rank / 2, rank, &c[11]);
  MPI_Intercomm_create(c[11], 0, w, rank < 2 ? 2 : 0, 9, &c[12]);
  // Rank i of one side sends to rank 1 - i of the other.
  int local_rank, number = 0;
  MPI_Comm_rank(c[12], &local_rank);
  MPI_Sendrecv_replace(&number, 1, MPI_INT, 1 - local_rank, 61, MPI_ANY_SOURCE, 61, c[12], MPI_STATUS_IGNORE);
  // From rank 0 to all of the other side.
  MPI_Bcast(&number, 1, MPI_INT, rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0, c[12]);
  MPI_Intercomm_merge(c[12], rank < 2, &c[13]);
  MPI_Barrier(c[13]);
  MPI_Comm_dup(c[0], &c[14]);
  MPI_Comm_disconnect(&c[14]);
  for (int i = 0; i < 14; ++i) {
    if (c[i] != MPI_COMM_NULL) MPI_Comm_free(&c[i]);
  }
  MPI_Group_free(&first);
  MPI_Group_free(&world);
}

// The forms with counts of type MPI_Count, where the library has them.
static void large_counts(void) {
#if MPI_VERSION >= 4
  double in[4], out[4] = {0};
  MPI_Count parts[4] = {1, 1, 1, 1};
  MPI_Aint places[4] = {0, 1, 2, 3};
  MPI_Request r[2];
  MPI_Irecv_c(in, 4, MPI_DOUBLE, left, 71, MPI_COMM_WORLD, &r[0]);
  MPI_Isend_c(out, 3, MPI_DOUBLE, right, 71, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Allgatherv_c(out, 1, MPI_DOUBLE, in, parts, places, MPI_DOUBLE, MPI_COMM_WORLD);
#endif
}

static void undecoded_and_failed(void) {
  int value = rank, n;
  MPI_File file;
  char name[64];
  snprintf(name, sizeof name, "/tmp/weft_calls_%d_%d", (int)getpid(), rank);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_set_size(file, 100);
  MPI_File_sync(file);
  MPI_File_sync(file);
  MPI_File_close(&file);
  for (int i = 0; i < 100; ++i) MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  require(MPI_Send(&value, 1, MPI_INT, 77, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "a send to rank 77 of 4");
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  require(size == 4, "4 ranks");
  left = (rank + 3) % 4;
  right = (rank + 1) % 4;
  in_a_sub_communicator();
  waits_and_tests();
  persistent();
  exchanges_and_probes();
  collectives();
  communicators();
  large_counts();
  undecoded_and_failed();
  MPI_Finalize();
  return 0;
}
