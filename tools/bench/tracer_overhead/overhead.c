// Times MPI calls of one process with itself, and prints nanoseconds of processor time per call: the least of
// several rounds.
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { kCalls = 20000, kRounds = 35 };

// Other work on the machine may take the core away; this clock then stands still.
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static MPI_Comm self;
static int in, out;

static void exchange(void) {  // 3 calls
  MPI_Request r[2];
  MPI_Irecv(&in, 1, MPI_INT, 0, 1, self, &r[0]);
  MPI_Isend(&out, 1, MPI_INT, 0, 1, self, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}
static void probe(void) {
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, 2, self, &flag, MPI_STATUS_IGNORE);
}
static void allreduce(void) { MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, self); }
static void comm_rank(void) {
  int rank;
  MPI_Comm_rank(self, &rank);
}

static void measure(const char* name, void (*call)(void), int calls) {
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double start = now();
    for (int i = 0; i < kCalls; ++i) call();
    const double ns = (now() - start) * 1e9 / ((double)kCalls * calls);
    if (ns < least) least = ns;
  }
  printf("%s %.1f\n", name, least);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  measure("Irecv+Isend+Waitall", exchange, 3);
  measure("Allreduce", allreduce, 1);
  measure("Iprobe", probe, 1);
  measure("Comm_rank", comm_rank, 1);
  MPI_Finalize();
  return 0;
}
