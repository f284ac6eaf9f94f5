// Partitioned communication under MPI 4 on 2 ranks, with two threads that give partitions;
// ../partitioned_test.cc knows what it does.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { kPartitions = 6, kLongs = 10, kAll = kPartitions * kLongs };
static int rank;
static long data[kAll];
static MPI_Request request;

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "rank %d: not as expected: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void* give_rest(void* unused) {
  int list[] = {5, 1};
  MPI_Pready_list(2, list, request);
  return unused;
}

static void send(void) {
  pthread_t thread;
  MPI_Psend_init(data, kPartitions, kLongs, MPI_LONG, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kAll; ++i) data[i] = round * kAll + i;
    MPI_Start(&request);
    MPI_Pready(4, request);
    pthread_create(&thread, NULL, give_rest, NULL);
    pthread_join(thread, NULL);
    MPI_Pready_range(2, 3, request);
    MPI_Pready(0, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

// Half as many partitions, twice as long.
static void receive(void) {
  MPI_Precv_init(data, kPartitions / 2, 2 * kLongs, MPI_LONG, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int round = 0; round < 2; ++round) {
    MPI_Start(&request);
    for (int arrived = 0; !arrived;) MPI_Parrived(request, 1, &arrived);
    require(data[3 * kLongs] == round * kAll + 3 * kLongs, "a partition");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    require(data[kAll - 1] == round * kAll + kAll - 1, "all of it");
  }
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(level == MPI_THREAD_MULTIPLE, "the level of threads");
  rank == 0 ? send() : receive();
  MPI_Finalize();
  return 0;
}
