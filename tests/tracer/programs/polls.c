// Long rows of tests and probes in vain, each ended by one that finds something, of one rank with itself;
// ../polls_test.cc knows what it does.
#include <errno.h>
#include <mpi.h>
#include <stdio.h>

enum { kPolls = 1000, kMost = 40, kErrno = 77 };
static MPI_Request requests[kMost];
static int data[kMost], out, found, index_of, indices[kMost];
static MPI_Message message;
static int calls;  // of the callback
enum { kTest, kTestany, kTestall, kTestsome, kGetStatus, kIprobe, kImprobe, kFunctions };
static int in_vain[kFunctions];

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "not as expected: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void test(int n) {
  (void)n;
  MPI_Test(&requests[0], &found, MPI_STATUS_IGNORE);
  in_vain[kTest] += !found;
}
static void testany(int n) {
  MPI_Testany(n, requests, &index_of, &found, MPI_STATUS_IGNORE);
  in_vain[kTestany] += !found;
}
static void testall(int n) {
  MPI_Testall(n, requests, &found, MPI_STATUSES_IGNORE);
  in_vain[kTestall] += !found;
}
static void testsome(int n) {
  MPI_Testsome(n, requests, &found, indices, MPI_STATUSES_IGNORE);
  in_vain[kTestsome] += !found;
}
static void get_status(int n) {
  (void)n;
  MPI_Request_get_status(requests[0], &found, MPI_STATUS_IGNORE);
  in_vain[kGetStatus] += !found;
}
static void iprobe(int n) {
  (void)n;
  MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
  in_vain[kIprobe] += !found;
}
static void improbe(int n) {
  (void)n;
  MPI_Improbe(0, 3, MPI_COMM_SELF, &found, &message, MPI_STATUS_IGNORE);
  in_vain[kImprobe] += !found;
}

static void poll_in_vain(void (*poll)(int), int n) {
  for (int i = 0; i < kPolls; ++i) {
    errno = kErrno;
    poll(n);
    require(!found && errno == kErrno, "a poll in vain");
  }
}
static void poll_until_found(void (*poll)(int), int n) {
  do {
    errno = kErrno;
    poll(n);
    require(errno == kErrno, "errno");
  } while (!found);
}

// Requests are made from the last to the first, so that their numbers are not their places.
static void receive(void (*poll)(int), int n) {
  for (int i = n - 1; i >= 0; --i) MPI_Irecv(&data[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
  poll_in_vain(poll, n);
  for (int i = n - 1; i >= 0; --i) {
    MPI_Send(&out, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    if (poll != testall || i == 0) poll_until_found(poll, n);
  }
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}
static void probe(void (*poll)(int)) {
  MPI_Request sent;
  poll_in_vain(poll, 0);
  MPI_Isend(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &sent);
  poll_until_found(poll, 0);
  if (poll == improbe) {
    MPI_Mrecv(&data[0], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&data[0], 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

#ifdef MPICH
static int query(void* state, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_INT, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return state != NULL;
}
static int release(void* state) { return state != NULL; }
static int cancel(void* state, int complete) { return state != NULL && complete; }
// Called by MPI in each test of the request, and probes in vain itself: three times in the 500th.
static int look(void* state, MPI_Status* status) {
  (void)state, (void)status;
  if (++calls != 500) return 0;
  for (int i = 0, there; i < 3; ++i) {
    MPI_Iprobe(0, 99, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
    in_vain[kIprobe] += !there;
  }
  return 0;
}
static int wait(int count, void** states, double timeout, MPI_Status* status) {
  (void)count, (void)states, (void)timeout, (void)status;
  return 0;
}
static void call_back(void) {
  MPIX_Grequest_start(query, release, cancel, look, wait, NULL, &requests[0]);
  poll_in_vain(test, 1);
  require(calls >= kPolls, "calls back");
  MPI_Grequest_complete(requests[0]);
  poll_until_found(test, 1);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  receive(test, 1);
  receive(get_status, 1);
  const int sizes[] = {1, 3, kMost};
  for (int i = 0; i < 3; ++i) {
    receive(testany, sizes[i]);
    receive(testall, sizes[i]);
    receive(testsome, sizes[i]);
  }
  probe(iprobe);
  probe(improbe);
#ifdef MPICH
  call_back();
#endif
  printf("in vain:");
  for (int i = 0; i < kFunctions; ++i) printf(" %d", in_vain[i]);
  printf("\n");
  MPI_Finalize();
  return 0;
}
