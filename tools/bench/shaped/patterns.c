// Patterns of messages on four ranks, timed: PATTERN BYTES TIMES REPETITIONS. Prints, for each repetition,
// the seconds from a barrier to the end of the last rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static char *in, *out;

// Both ways between ranks 0 and 1.
static void exchange(int bytes) {
  if (rank > 1) return;
  MPI_Sendrecv(out, bytes, MPI_BYTE, 1 - rank, 0, in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

// One way, then the other.
static void ping_pong(int bytes) {
  if (rank > 1) return;
  if (rank == 0) MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

// All to rank 0.
static void incast(int bytes) {
  if (rank != 0) {
    MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    return;
  }
  MPI_Request requests[64];
  for (int i = 1; i < ranks; ++i) {
    MPI_Irecv(in + (size_t)i * bytes, bytes, MPI_BYTE, i, 0, MPI_COMM_WORLD, &requests[i - 1]);
  }
  MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
}

// With both neighbors in a ring.
static void halo(int bytes) {
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Request requests[4];
  MPI_Irecv(in, bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in + bytes, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out + bytes, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void alltoall(int bytes) { MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD); }

static void allreduce(int bytes) { MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static void bcast(int bytes) { MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }

static void allgather(int bytes) { MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD); }

// The transpositions of a 3-D FFT whose data are pencils: within rows of a grid of ranks, then within
// columns.
static void fft(int bytes) {
  static MPI_Comm rows = MPI_COMM_NULL, columns = MPI_COMM_NULL;
  if (rows == MPI_COMM_NULL) {
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &rows);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &columns);
  }
  MPI_Alltoall(out, bytes / 2, MPI_BYTE, in, bytes / 2, MPI_BYTE, rows);
  MPI_Alltoall(in, bytes / ranks * 2, MPI_BYTE, out, bytes / ranks * 2, MPI_BYTE, columns);
}

static const struct {
  const char* name;
  void (*run)(int bytes);
} kPatterns[] = {
    {"exchange", exchange}, {"ping_pong", ping_pong}, {"incast", incast},
    {"halo", halo},         {"alltoall", alltoall},   {"allreduce", allreduce},
    {"bcast", bcast},       {"allgather", allgather}, {"fft", fft},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 5 || ranks > 64) MPI_Abort(MPI_COMM_WORLD, 2);
  const int bytes = atoi(argv[2]), times = atoi(argv[3]), repetitions = atoi(argv[4]);
  in = calloc(ranks + 2, bytes);
  out = calloc(ranks + 2, bytes);
  size_t pattern = 0;
  while (pattern < sizeof kPatterns / sizeof *kPatterns && strcmp(kPatterns[pattern].name, argv[1]) != 0) {
    ++pattern;
  }
  if (pattern == sizeof kPatterns / sizeof *kPatterns) MPI_Abort(MPI_COMM_WORLD, 2);
  // Connects every rank with every other, and makes communicators.
  MPI_Alltoall(out, 1, MPI_BYTE, in, 1, MPI_BYTE, MPI_COMM_WORLD);
  if (strcmp(argv[1], "fft") == 0) fft(ranks);
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < times; ++i) kPatterns[pattern].run(bytes);
    double mine = MPI_Wtime() - start, all = 0;
    if (repetitions == 1) break;  // a trace: nothing behind what is timed
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%.6f\n", all);
  }
  MPI_Finalize();
  return 0;
}
