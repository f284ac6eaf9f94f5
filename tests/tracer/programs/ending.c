// Ends as its argument says: "kill" (itself, after more than the tracer's flush interval of calls), "exit"
// (without MPI_Finalize) or "abort".
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double start = MPI_Wtime();
  do {
    MPI_Sendrecv_replace(&value, 1, MPI_INT, rank, 0, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(2000);
  } while (MPI_Wtime() - start < 1.5);
  if (strcmp(argv[1], "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  return 0;
}
