/* Ranks that all run on one core and compute for a known processor time between their calls, longer and
   shorter, so that each is interrupted again and again. Prints what it burned and what it used in all, in
   nanoseconds. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

static long long cpu_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* The core with the lowest number that this process may use. */
static void stay_on_one_core(void) {
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &all)) continue;
    CPU_SET(core, &one);
    break;
  }
  sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char** argv) {
  enum { kRounds = 40 };
  stay_on_one_core();
  MPI_Init(&argc, &argv);
  const long long begin = cpu_ns();
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  long long burned = 0;
  for (int round = 0; round < kRounds; ++round) {
    const long long goal = (round % 4 + 1) * 1000000LL, from = cpu_ns();
    while (cpu_ns() - from < goal) {
    }
    burned += cpu_ns() - from;
    int in = 0, out = rank;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  printf("rank %d burned %lld used %lld\n", rank, burned, cpu_ns() - begin);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
