// Four threads per rank, each with 1000 messages to the same thread of the other rank, all at once.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 4, kMessages = 1000 };
static int rank;

static void* exchange(void* tag) {
  int in, out = 0;
  for (int i = 0; i < kMessages; ++i) {
    MPI_Request r[2];
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, *(int*)tag, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&out, 1, MPI_INT, 1 - rank, *(int*)tag, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    int n;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) {
    printf("no MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t threads[kThreads];
  int tags[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    tags[i] = i;
    pthread_create(&threads[i], NULL, exchange, &tags[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  MPI_Finalize();
  return 0;
}
