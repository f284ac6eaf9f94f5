/* Four processes, one GPU each, that call everything the NCCL tracer decodes, and check what they get. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/tracer/standin/api.h"

enum { RANKS = 4, N = 100000 };

static int rank;

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "rank %d: %s is wrong\n", rank, what);
  exit(1);
}

/* A kernel of the stand-in: takes that many microseconds. */
static void kernel(long us) {
  struct timespec t = {0, us * 1000};
  nanosleep(&t, NULL);
}

static void launch(long us, cudaStream_t stream) {
  void* arguments[] = {&us};
  dim3 one = {1, 1, 1};
  cudaLaunchKernel((void*)kernel, one, one, arguments, 0, stream);
}

static float in[N * RANKS], out[N * RANKS];

static void fill(float base) {
  for (int i = 0; i < N * RANKS; ++i) in[i] = base + (float)(i % 1000);
  memset(out, 0, sizeof out);
}

static void streams_and_events(ncclComm_t world) {
  cudaStream_t compute, communicate;
  cudaEvent_t computed;
  cudaStreamCreateWithFlags(&compute, 1);
  cudaStreamCreateWithFlags(&communicate, 1);
  cudaEventCreate(&computed);
  fill((float)rank);
  launch(3000, compute);
  cudaEventRecord(computed, compute);
  cudaStreamWaitEvent(communicate, computed, 0);
  ncclAllReduce(in, out, N, ncclFloat32, ncclSum, world, communicate);
  launch(1000, compute); /* beside the allreduce */
  cudaStreamSynchronize(communicate);
  for (int i = 0; i < N; ++i) check(out[i] == 6.0f + 4.0f * (float)(i % 1000), "the sum");
  ncclAllReduce(in, out, 16, ncclFloat32, ncclMax, world, compute);
  cudaDeviceSynchronize();
  check(out[5] == 8.0f, "the maximum");
}

static void every_collective(ncclComm_t world, cudaStream_t s) {
  fill((float)(100 * rank));
  ncclReduceScatter(in, out, N, ncclFloat32, ncclSum, world, s);
  cudaStreamSynchronize(s);
  check(out[7] == 600.0f + 4.0f * (float)((rank * N + 7) % 1000), "what was reduced and scattered");
  ncclAllGather(in, out, N, ncclFloat32, world, s);
  cudaStreamSynchronize(s);
  for (int r = 0; r < RANKS; ++r)
    check(out[r * N + 3] == 100.0f * (float)r + 3.0f, "what was gathered by all");
  ncclBroadcast(in, out, N, ncclFloat32, 2, world, s);
  cudaStreamSynchronize(s);
  check(out[9] == 209.0f, "what was broadcast");
  ncclReduce(in, out, N, ncclFloat32, ncclSum, 1, world, s);
  cudaStreamSynchronize(s);
  if (rank == 1) check(out[9] == 636.0f, "what was reduced");
  ncclAlltoAll(in, out, N, ncclFloat32, world, s);
  cudaStreamSynchronize(s);
  for (int r = 0; r < RANKS; ++r) {
    check(out[r * N + 1] == 100.0f * (float)r + (float)((rank * N + 1) % 1000), "what was exchanged");
  }
  ncclGather(in, out, N, ncclFloat32, 3, world, s);
  ncclScatter(in, out, N, ncclFloat32, 0, world, s);
  cudaStreamSynchronize(s);
  check(out[2] == (float)((rank * N + 2) % 1000), "what was scattered");
}

static void groups(ncclComm_t world, cudaStream_t s) {
  const int right = (rank + 1) % RANKS, left = (rank + RANKS - 1) % RANKS;
  fill((float)(1000 * rank));
  ncclGroupStart();
  ncclSend(in, N, ncclFloat32, right, world, s);
  ncclGroupStart();
  ncclSend(in + N, N / 2, ncclFloat32, left, world, s);
  ncclGroupEnd();
  ncclRecv(out, N, ncclFloat32, left, world, s);
  ncclRecv(out + N, N / 2, ncclFloat32, right, world, s);
  ncclGroupEnd();
  cudaStreamSynchronize(s);
  check(out[5] == 1000.0f * (float)left + 5.0f && out[N] == 1000.0f * (float)right, "what came in the group");
}

static void split(ncclComm_t world, cudaStream_t s) {
  ncclComm_t half;
  float mine = (float)rank, both[2];
  /* Keys turn the order round. */
  ncclCommSplit(world, rank % 2, -rank, &half, NULL);
  ncclAllGather(&mine, both, 1, ncclFloat32, half, s);
  cudaStreamSynchronize(s);
  check(both[0] == (float)(2 + rank % 2) && both[1] == (float)(rank % 2), "what the half gathered");
  ncclComm_t some;
  ncclCommSplit(world, rank == 0 ? -1 : 5, rank, &some, NULL);
  check((some == NULL) == (rank == 0), "the communicator of a rank without colour");
  /* Two communicators in one group, each on a stream of its own. */
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, 1);
  fill(1.0f);
  ncclGroupStart();
  ncclAllReduce(in, out, N, ncclFloat32, ncclSum, world, s);
  ncclAllReduce(in, out + N, N, ncclFloat32, ncclSum, half, other);
  ncclGroupEnd();
  cudaDeviceSynchronize();
  check(out[4] == 20.0f && out[N + 4] == 10.0f, "the sums of two communicators");
  ncclCommDestroy(half);
}

static void graph(ncclComm_t world, cudaStream_t s) {
  cudaGraph_t captured;
  cudaGraphExec_t executable;
  fill(2.0f);
  cudaStreamBeginCapture(s, 0);
  launch(500, s);
  ncclAllReduce(in, out, N, ncclFloat32, ncclSum, world, s);
  cudaMemcpyAsync(out + N, out, N * sizeof(float), 3, s);
  cudaStreamEndCapture(s, &captured);
  cudaGraphInstantiate(&executable, captured, 0);
  cudaGraphLaunch(executable, s);
  cudaGraphLaunch(executable, s);
  cudaStreamSynchronize(s);
  check(out[N + 1] == 12.0f, "what the graph left");
}

static void add_one(void* number) { ++*(int*)number; }

/* Copies in other forms, and work of the host on a stream. */
static void other_calls(cudaStream_t s) {
  int number = 1;
  unsigned char *bytes = (unsigned char*)out, *source = (unsigned char*)in;
  cudaMemset(out, 7, 100);
  cudaDeviceSynchronize();
  check(bytes[99] == 7, "what was set");
  cudaMemcpyPeerAsync(out, 0, in, 0, 200, s);
  /* 3 rows of 10 bytes, which lie 16 and 32 bytes apart. */
  cudaMemcpy2DAsync(bytes + 1000, 16, source, 32, 10, 3, 3, s);
  cudaLaunchHostFunc(s, add_one, &number);
  cudaLaunchHostFunc(s, add_one, &number);
  cudaStreamSynchronize(s);
  check(bytes[150] == source[150] && bytes[1041] == source[73] && number == 3, "what other forms copied");
  cudaGraph_t captured;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(s, 0);
  launch(0, s);
  cudaStreamEndCapture(s, &captured);
  cudaGraphInstantiateWithParams(&executable, captured, NULL);
  cudaGraphLaunch(executable, s);
}

static int run(const ncclUniqueId* id, int dies) {
  ncclComm_t world;
  cudaStream_t s;
  void* handle;
  check(ncclCommInitRank(&world, RANKS, *id, rank) == 0, "initialisation");
  cudaStreamCreateWithFlags(&s, 1);
  ncclCommRegister(world, in, sizeof in, &handle);
  streams_and_events(world);
  if (dies) raise(SIGKILL);
  /* A child that no handler of fork() knows of ends as processes do. */
  if (syscall(SYS_fork) == 0) exit(0);
  wait(NULL);
  every_collective(world, s);
  groups(world, s);
  split(world, s);
  graph(world, s);
  other_calls(s);
  cudaDeviceSynchronize();
  ncclCommFinalize(world);
  ncclCommDestroy(world);
  return 0;
}

/* With an argument, all are killed after the first few calls. */
int main(int argc, char** argv) {
  (void)argv;
  ncclUniqueId* id = mmap(NULL, sizeof *id, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ncclGetUniqueId(id);
  setenv("WORLD_SIZE", "4", 1);
  for (int r = 0; r < RANKS; ++r) {
    if (fork() != 0) continue;
    char text[8];
    snprintf(text, sizeof text, "%d", rank = r);
    setenv("RANK", text, 1);
    return run(id, argc > 1);
  }
  int failed = 0, status;
  while (wait(&status) > 0) failed |= status != 0;
  return failed;
}
