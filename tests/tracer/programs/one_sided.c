// One-sided communication in all its forms, on 4 ranks; ../one_sided_test.cc knows what it does.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kLong = 64 };
static int rank, left, right;
static MPI_Win window;
static long memory[kLong], mine[kLong];

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "rank %d: not as expected: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fences(void) {
  for (int i = 0; i < kLong; ++i) mine[i] = rank;
  MPI_Win_fence(0, window);
  MPI_Put(mine, 3, MPI_LONG, right, 0, 3, MPI_LONG, window);
  MPI_Accumulate(mine, 2, MPI_LONG, right, 8, 2, MPI_LONG, MPI_SUM, window);
  MPI_Put(mine, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, window);
  MPI_Win_fence(0, window);
  require(memory[0] == left && memory[2] == left, "put");
  MPI_Get(mine, 5, MPI_LONG, right, 0, 5, MPI_LONG, window);
  MPI_Win_fence(0, window);
  require(mine[0] == rank, "get");
}

static void locks(void) {
  long before = 0, one = 1, other = 7;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
  MPI_Put(mine, 4, MPI_LONG, right, 16, 4, MPI_LONG, window);
  MPI_Win_flush(right, window);
  MPI_Put(mine, 6, MPI_LONG, right, 16, 6, MPI_LONG, window);
  MPI_Win_flush_local(right, window);
  MPI_Win_unlock(right, window);
  MPI_Win_lock_all(0, window);
  // All to rank 0.
  MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 40, MPI_SUM, window);
  MPI_Win_flush(0, window);
  MPI_Fetch_and_op(NULL, &before, MPI_LONG, 0, 40, MPI_NO_OP, window);
  MPI_Compare_and_swap(&one, &other, &before, MPI_LONG, right, 41, window);
  MPI_Get_accumulate(mine, 2, MPI_LONG, memory + 60, 2, MPI_LONG, right, 42, 2, MPI_LONG, MPI_SUM, window);
  MPI_Win_flush_all(window);
  MPI_Win_flush_local_all(window);
  MPI_Win_sync(window);
  MPI_Request requests[4];
  long to[8];
  MPI_Rput(mine, 7, MPI_LONG, right, 48, 7, MPI_LONG, window, &requests[0]);
  MPI_Rget(to, 8, MPI_LONG, left, 24, 8, MPI_LONG, window, &requests[1]);
  MPI_Raccumulate(mine, 1, MPI_LONG, right, 58, 1, MPI_LONG, MPI_SUM, window, &requests[2]);
  MPI_Rget_accumulate(NULL, 0, MPI_LONG, &before, 1, MPI_LONG, right, 59, 1, MPI_LONG, MPI_NO_OP, window,
                      &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
}

// The even ranks put to the odd one on their right.
static void exposures(void) {
  MPI_Group world, one;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  const int partner = rank ^ 1;
  MPI_Group_incl(world, 1, &partner, &one);
  for (int i = 0; i < 2; ++i) {
    if (rank % 2 == 0) {
      MPI_Win_start(one, 0, window);
      MPI_Put(mine, 9, MPI_LONG, partner, 0, 9, MPI_LONG, window);
      MPI_Win_complete(window);
    } else {
      MPI_Win_post(one, 0, window);
      int done = 0;
      if (i == 0) {
        MPI_Win_wait(window);
      } else {
        while (!done) MPI_Win_test(window, &done);
      }
    }
  }
  MPI_Group_free(&one);
  MPI_Group_free(&world);
}

int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  fences();
  locks();
  exposures();
  MPI_Win_free(&window);

  // Windows of other kinds, and of a part of the ranks. (Open MPI 4.1 can't make two at once in disjoint
  // parts: both take the same name in /dev/shm.)
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2 == 0 ? 0 : MPI_UNDEFINED, -rank, &half);
  long* part;
  if (rank % 2 == 0) {
    MPI_Win_allocate(kLong * sizeof(long), sizeof(long), MPI_INFO_NULL, half, &part, &window);
    int half_rank;
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_free(&half);
    MPI_Win_fence(0, window);
    MPI_Put(mine, 10, MPI_LONG, 1 - half_rank, 0, 10, MPI_LONG, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
  }
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_free(&window);
  MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
  MPI_Win_free(&window);
#ifdef MPICH
  MPI_Win_create_c(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put_c(mine, (MPI_Count)11, MPI_LONG, right, 0, (MPI_Count)11, MPI_LONG, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
#endif
  MPI_Finalize();
  return 0;
}
