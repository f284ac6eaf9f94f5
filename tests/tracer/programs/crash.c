// 100 calls in each of two ranks; then rank 0 waits for a message that never comes, and rank 1 ends as the
// argument says:
//   segv, kill, exit, _exit, abort   by a bad store, SIGKILL, exit() without MPI_Finalize, _exit(), MPI_Abort
//   hang                             it waits for rank 0; an alarm then ends both
//   forever                          as hang, without an alarm
//   wait, reduce                     as hang, but in MPI_Waitall, or in a collective of a split communicator
//   put                              as hang, but in MPI_Win_fence
//   threads                          as hang, and a second thread waits too
//   polls                            1000 times MPI_Iprobe in vain, then _exit()
//   many                             100,000 more calls; both ranks end well
//   limit                            the same, but no file may grow beyond 600 kB
//   fork                             a child exits; both ranks end well
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, value;

static void calls(int n) {
  for (int i = 0; i < n; ++i) {
    MPI_Sendrecv_replace(&value, 1, MPI_INT, rank, i, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static int is(const char* mode, const char* wanted) { return strcmp(mode, wanted) == 0; }

static void end_well(const char* mode) {
  const struct rlimit limit = {600000, 600000};
  if (is(mode, "limit")) setrlimit(RLIMIT_FSIZE, &limit);
  if (is(mode, "limit") || is(mode, "many")) calls(100000);
  if (is(mode, "fork")) {
    const pid_t child = fork();
    if (child == 0) exit(0);
    waitpid(child, NULL, 0);
  }
  MPI_Finalize();
  exit(0);
}

static void* wait_too(void* none) {
  int got;
  MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return none;
}

static void hang(const char* mode) {
  pthread_t thread;
  MPI_Request requests[2];
  MPI_Comm both;
  MPI_Win window;
  if (is(mode, "reduce")) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &both);
  if (is(mode, "put")) MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (rank == 0) return;
  if (!is(mode, "forever")) alarm(1);
  if (is(mode, "threads")) pthread_create(&thread, NULL, wait_too, NULL);
  if (is(mode, "hang") || is(mode, "forever") || is(mode, "threads"))
    MPI_Recv(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (is(mode, "wait")) {
    for (int i = 0; i < 2; ++i) MPI_Irecv(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  if (is(mode, "reduce")) MPI_Bcast(&value, 1, MPI_INT, 1, both);
  if (is(mode, "put")) MPI_Win_fence(0, window);
}

static void end(const char* mode) {
  usleep(300000);  // rank 0 is in its call by then
  if (is(mode, "segv")) *(volatile int*)8 = 1;
  if (is(mode, "kill")) kill(getpid(), SIGKILL);
  if (is(mode, "exit")) exit(3);
  if (is(mode, "_exit")) _exit(3);
  if (is(mode, "abort")) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int i = 0, flag; i < 1000; ++i) MPI_Iprobe(0, 4, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  _exit(3);
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  int level;
  if (is(mode, "threads")) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  } else {
    MPI_Init(&argc, &argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  calls(100);
  if (is(mode, "many") || is(mode, "limit") || is(mode, "fork")) end_well(mode);
  const char* const hanging[] = {"hang", "forever", "wait", "reduce", "put", "threads"};
  for (unsigned i = 0; i < sizeof hanging / sizeof hanging[0]; ++i) {
    if (is(mode, hanging[i])) hang(mode);
  }
  if (rank == 0) {
    MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  end(mode);
}
