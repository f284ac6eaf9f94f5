// MPI 4's Sessions on 4 ranks, without MPI_Init, or (argument "both") beside it; ../sessions_test.cc knows
// what it does.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank;

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "rank %d: not as expected: %s\n", rank, what);
  exit(1);
}

// A ring of `count` ints on a communicator of every `stride`-th process.
static void ring(int stride, int count, const char* label) {
  MPI_Session session;
  MPI_Group all, some;
  MPI_Comm comm;
  int size, out[8] = {0}, in[8], sum = 0;
  require(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session) == MPI_SUCCESS, "a session");
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_rank(all, &rank);
  MPI_Group_size(all, &size);
  int range[1][3] = {{rank % stride, size - stride + rank % stride, stride}};
  MPI_Group_range_incl(all, 1, range, &some);
  MPI_Comm_create_from_group(some, label, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &out[0]);
  MPI_Sendrecv(out, count, MPI_INT, (out[0] + 1) % size, 3, in, count, MPI_INT, (out[0] + size - 1) % size, 3,
               comm, MPI_STATUS_IGNORE);
  require(in[0] == (out[0] + size - 1) % size, "a message");
  MPI_Allreduce(&in[0], &sum, 1, MPI_INT, MPI_SUM, comm);
  require(sum == size * (size - 1) / 2, "a sum");
  MPI_Comm_free(&comm);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
  const int both = argc > 1;
  // MPICH 4.0.2 can't begin again once all is finalized.
  MPI_Session first;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
  ring(1, 5, "all");
  if (both) MPI_Init(&argc, &argv);
  ring(2, 7, "halves");
  if (both) MPI_Barrier(MPI_COMM_WORLD);
  if (both) MPI_Finalize();
  ring(4, 6, "alone");
  MPI_Session_finalize(&first);
  return 0;
}
