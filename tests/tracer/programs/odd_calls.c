/* Calls that reach MPI in ways that few programs take: odd_calls KIND. Each exchanges a known number of
 * bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(MPICH)
#define BCAST_INIT MPI_Bcast_init
#define ALLREDUCE_INIT MPI_Allreduce_init
#else
#include <mpi-ext.h>
#define BCAST_INIT MPIX_Bcast_init
#define ALLREDUCE_INIT MPIX_Allreduce_init
#endif

enum { kLarge = 1000000, kHalf = kLarge / 2, kSmall = 1000 };
static char out[kLarge], in[kLarge];
static int rank, size;

typedef int Sendrecv(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int, MPI_Comm,
                     MPI_Status*);

static void ring_by(Sendrecv* sendrecv, int bytes, int tag) {
  sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, tag, in, bytes, MPI_BYTE, (rank + size - 1) % size, tag,
           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void ring(int bytes, int tag) { ring_by(MPI_Sendrecv, bytes, tag); }

/* Functions that MPI calls back. */
static int on_delete(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)value, (void)state;
  ring(kLarge, 7);
  return MPI_SUCCESS;
}
static int on_copy(MPI_Comm comm, int key, void* state, void* value, void* copy, int* flag) {
  (void)comm, (void)key, (void)state, (void)value, (void)copy;
  ring(kHalf, 8);
  *flag = 0;
  return MPI_SUCCESS;
}
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ring(kHalf, 9);
}
static void add_slowly(void* from, void* to, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)to)[i] += ((int*)from)[i];
  MPI_Sendrecv(out, 500, MPI_BYTE, 0, 10, in, 500, MPI_BYTE, 0, 10, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
static int on_query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  ring(kHalf, 11);
  return MPI_SUCCESS;
}
static int on_free(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int on_cancel(void* state, int complete) {
  (void)state, (void)complete;
  return MPI_SUCCESS;
}

static void at_finalize(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

static void at_copy_and_free(void) {
  int key;
  MPI_Comm first, second;
  MPI_Comm_create_keyval(on_copy, on_delete, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_set_attr(first, key, NULL);
  MPI_Comm_dup(first, &second);
  MPI_Comm_free(&second);
  MPI_Comm_free(&first);
}

/* Frees a communicator with an attribute whose function is to start the send of an exchange. */
static void start_by(MPI_Comm_delete_attr_function* function) {
  int key;
  MPI_Comm comm;
  MPI_Request sending, request;
  MPI_Send_init(out, kHalf, MPI_BYTE, (rank + 1) % size, 25, MPI_COMM_WORLD, &sending);
  MPI_Irecv(in, kHalf, MPI_BYTE, (rank + size - 1) % size, 25, MPI_COMM_WORLD, &request);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, function, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_attr(comm, key, &sending);
  MPI_Comm_free(&comm);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&sending);
}

/* It is left with a jump to MPI_Start, which then returns to MPI. */
__attribute__((optimize("optimize-sibling-calls"))) static int start_last(MPI_Comm comm, int key, void* value,
                                                                          void* state) {
  (void)comm, (void)key, (void)state;
  return MPI_Start((MPI_Request*)value);
}
static void at_last_call(void) { start_by(start_last); }

/* Its instructions are in no file: MPI_Start(value). */
static void at_run_time_code(void) {
  unsigned char code[] = {0x48, 0x83, 0xEC, 8,                   /* sub $8, %rsp */
                          0x48, 0x89, 0xD7,                      /* mov %rdx, %rdi */
                          0x48, 0xB8, 0,    0, 0, 0, 0, 0, 0, 0, /* mov $MPI_Start, %rax */
                          0xFF, 0xD0,                            /* call *%rax */
                          0x48, 0x83, 0xC4, 8,                   /* add $8, %rsp */
                          0xC3};                                 /* ret */
  void* const start = (void*)MPI_Start;
  memcpy(code + 9, &start, sizeof start);
  void* place = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) abort();
  memcpy(place, code, sizeof code);
  start_by((MPI_Comm_delete_attr_function*)place);
}

static void at_error(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Send(out, -1, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
}

static void at_reduction(void) {
  MPI_Op op;
  int value = 1, sum = 0;
  MPI_Op_create(add_slowly, 1, &op);
  MPI_Reduce_local(&value, &sum, 1, MPI_INT, op);
  MPI_Op_free(&op);
}

static void at_wait(void) {
  MPI_Request request;
  MPI_Grequest_start(on_query, on_free, on_cancel, NULL, &request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The library's own functions, as language bindings and plug-ins find them. */
static void by_handle(void) {
  Dl_info where;
  if (dladdr(dlsym(RTLD_NEXT, "PMPI_Type_size"), &where) == 0) abort();
  void* library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  if (library == NULL) abort();
  ring_by((Sendrecv*)dlsym(library, "MPI_Sendrecv"), kHalf, 12);
  ring_by((Sendrecv*)dlsym(library, "PMPI_Sendrecv"), kHalf, 13);
  ring_by((Sendrecv*)dlsym(RTLD_DEFAULT, "MPI_Sendrecv"), kSmall, 14);
  ring_by((Sendrecv*)dlsym(RTLD_NEXT, "MPI_Sendrecv"), kSmall, 15);
  if (dlsym(library, "MPI_No_such") != NULL || dlerror() == NULL) abort();
}

static void get_status(void) {
  for (int i = 0; i < 5; ++i) {
    MPI_Request request;
    int flag = 0;
    MPI_Irecv(in, kLarge, MPI_BYTE, (rank + size - 1) % size, 16, MPI_COMM_WORLD, &request);
    MPI_Request sending;
    MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE); /* in vain */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, kLarge, MPI_BYTE, (rank + 1) % size, 16, MPI_COMM_WORLD, &sending);
    while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
  }
}

/* Statuses with something in them that MPI need not change. */
static void matched(void) {
  for (int i = 0; i < 4; ++i) {
    MPI_Request sending, request;
    MPI_Message message;
    MPI_Status status;
    memset(&status, 0xff, sizeof status);
    MPI_Isend(out, kSmall, MPI_BYTE, (rank + 1) % size, 17, MPI_COMM_WORLD, &sending);
    MPI_Mprobe((rank + size - 1) % size, 17, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(in, kSmall, MPI_BYTE, &message, &request);
    MPI_Wait(&request, &status);
    MPI_Wait(&sending, &status);
  }
}

static void cancelled(void) {
  MPI_Request request;
  MPI_Status status;
  int flag;
  MPI_Irecv(in, kSmall, MPI_BYTE, MPI_ANY_SOURCE, 18, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  if (!flag) abort();
}

#if defined(MPICH)
static void isendrecv(void) {
  MPI_Request requests[3];
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Isendrecv(out, kLarge, MPI_BYTE, to, 19, in, kLarge, MPI_BYTE, from, 19, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Isendrecv_replace(out, kHalf, MPI_BYTE, to, 20, from, 20, MPI_COMM_WORLD, &requests[0]);
  MPI_Isendrecv(out, kSmall, MPI_BYTE, to, 21, in, kSmall, MPI_BYTE, MPI_PROC_NULL, 21, MPI_COMM_WORLD,
                &requests[1]);
  MPI_Irecv(in, kSmall, MPI_BYTE, from, 21, MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}
#else
static void isendrecv(void) {}
#endif

/* Null pointers and counts below zero, which MPI refuses with an error. */
static void refuse(int error) {
  if (error == MPI_SUCCESS) abort();
}
static void wrong_arguments(void) {
  MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, request;
  MPI_Status statuses[2];
  MPI_Message message;
  int flag, index, indices[2], count;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  refuse(MPI_Wait(NULL, statuses));
  refuse(MPI_Test(NULL, &flag, statuses));
  refuse(MPI_Test(none, NULL, statuses));
  refuse(MPI_Waitall(2, NULL, statuses));
  refuse(MPI_Waitall(-1, none, statuses));
  refuse(MPI_Testall(2, NULL, &flag, statuses));
  refuse(MPI_Testall(-1, none, &flag, statuses));
  refuse(MPI_Testall(2, none, NULL, statuses));
  refuse(MPI_Waitany(2, NULL, &index, statuses));
  refuse(MPI_Waitany(-1, none, &index, statuses));
  refuse(MPI_Waitany(2, none, NULL, statuses));
  refuse(MPI_Testany(2, NULL, &index, &flag, statuses));
  refuse(MPI_Testany(-1, none, &index, &flag, statuses));
  refuse(MPI_Testany(2, none, NULL, &flag, statuses));
  refuse(MPI_Testany(2, none, &index, NULL, statuses));
  refuse(MPI_Waitsome(2, NULL, &count, indices, statuses));
  refuse(MPI_Waitsome(-1, none, &count, indices, statuses));
  refuse(MPI_Waitsome(2, none, NULL, indices, statuses));
  refuse(MPI_Testsome(2, NULL, &count, indices, statuses));
  refuse(MPI_Testsome(-1, none, &count, indices, statuses));
  refuse(MPI_Testsome(2, none, NULL, indices, statuses));
  refuse(MPI_Start(NULL));
  refuse(MPI_Startall(2, NULL));
  refuse(MPI_Startall(-1, none));
  refuse(MPI_Request_free(NULL));
  refuse(MPI_Cancel(NULL));
  refuse(MPI_Request_get_status(none[0], NULL, statuses));
  refuse(MPI_Isend(out, kSmall, MPI_BYTE, rank, 28, MPI_COMM_WORLD, NULL));
  refuse(MPI_Irecv(in, kSmall, MPI_BYTE, rank, 28, MPI_COMM_WORLD, NULL));
  refuse(MPI_Mprobe(rank, 28, MPI_COMM_WORLD, NULL, statuses));
  refuse(MPI_Comm_dup(MPI_COMM_WORLD, NULL));
#if defined(MPICH) /* where Open MPI crashes by itself, or ends the program */
  refuse(MPI_Comm_free(NULL));
  refuse(MPI_Comm_disconnect(NULL));
  refuse(MPI_Win_free(NULL));
  refuse(MPI_Iprobe(rank, 28, MPI_COMM_WORLD, NULL, statuses));
  refuse(MPI_Improbe(rank, 28, MPI_COMM_WORLD, NULL, &message, statuses));
  refuse(MPI_Mrecv(in, kSmall, MPI_BYTE, NULL, statuses));
  refuse(MPI_Imrecv(in, kSmall, MPI_BYTE, NULL, &request));
#endif
  ring(kHalf, 29);
}

/* Messages that are longer than their receives, which MPI calls an error. They come all the same. */
static void refuse_as_truncated(int error) {
  int its_class;
  MPI_Error_class(error, &its_class);
  if (its_class != MPI_ERR_TRUNCATE) abort();
}
static void truncated(void) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request sending, requests[2];
  MPI_Message message;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Isend(out, 2000, MPI_BYTE, to, 30, MPI_COMM_WORLD, &sending);
  refuse_as_truncated(MPI_Recv(in, 10, MPI_BYTE, from, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
  MPI_Isend(out, 3000, MPI_BYTE, to, 31, MPI_COMM_WORLD, &sending);
  MPI_Irecv(in, 20, MPI_BYTE, MPI_ANY_SOURCE, 31, MPI_COMM_WORLD, &requests[0]);
  refuse_as_truncated(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
  refuse_as_truncated(MPI_Sendrecv(out, 4000, MPI_BYTE, to, 32, in, 30, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                                   MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  MPI_Isend(out, 5000, MPI_BYTE, to, 33, MPI_COMM_WORLD, &sending);
  MPI_Mprobe(from, 33, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  refuse_as_truncated(MPI_Mrecv(in, 40, MPI_BYTE, &message, MPI_STATUS_IGNORE));
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
  MPI_Irecv(in, 50, MPI_BYTE, MPI_ANY_SOURCE, 34, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in + 50, 7000, MPI_BYTE, MPI_ANY_SOURCE, 35, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(out, 7000, MPI_BYTE, to, 35, MPI_COMM_WORLD);
  MPI_Send(out, 6000, MPI_BYTE, to, 34, MPI_COMM_WORLD);
  refuse(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE); /* what that has left */
}

/* In a grid of RANKS by one both neighbors are one rank, here in both dimensions. */
static void both_ways(void) {
  MPI_Comm grid;
  const int sides[] = {size, 1}, periodic[] = {1, 1};
  const int send_counts[] = {10, 20, 30, 40}, places[] = {0, 100, 200, 300};
#if defined(MPICH) /* MPICH 4.0 takes what one rank sends to another in the order of the neighbors. */
  const int counts[] = {10, 20, 30, 40};
#else
  const int counts[] = {20, 10, 40, 30};
#endif
  MPI_Request request;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periodic, 0, &grid);
  for (int i = 0; i < 400; ++i) out[i] = (char)(1 + i / 100);
  MPI_Neighbor_alltoallv(out, send_counts, places, MPI_BYTE, in, counts, places, MPI_BYTE, grid);
  for (int i = 0; i < 4; ++i) {
    if (in[places[i] + counts[i] - 1] * 10 != counts[i]) abort();
  }
  MPI_Ineighbor_alltoallv(out, send_counts, places, MPI_BYTE, in, send_counts, places, MPI_BYTE, grid,
                          &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&grid);
}

/* Each step is a thread of its own, joined before the next begins. */
static void* step(void* unused) {
  ring(kSmall, 22);
  ring(kSmall, 23);
  return unused;
}
static void steps(void) {
  for (int i = 0; i < 40; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, step, NULL) != 0) abort();
    pthread_join(thread, NULL);
  }
}

/* Two threads, of which each waits until the other has made a call. */
static sem_t turns[2];
static void* take_turns(void* which) {
  const int own = which != NULL;
  for (int i = 0; i < 20; ++i) {
    sem_wait(&turns[own]);
    ring(kSmall, 26 + own);
    sem_post(&turns[1 - own]);
  }
  return NULL;
}
static void in_turn(void) {
  pthread_t threads[2];
  sem_init(&turns[0], 0, 1);
  sem_init(&turns[1], 0, 0);
  for (int i = 0; i < 2; ++i) {
    if (pthread_create(&threads[i], NULL, take_turns, i == 0 ? NULL : &turns[1]) != 0) abort();
  }
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

/* Made in one order by all, started in the other by some. */
static void persistent(void) {
  MPI_Request requests[2];
  double value = 1, sum;
  BCAST_INIT(out, 3000, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  ALLREDUCE_INIT(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Start(&requests[rank % 2]);
    MPI_Start(&requests[1 - rank % 2]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

/* Two communicators of the same ranks; making one by its group is in no order with the other. */
static void made_in_any_order(void) {
  MPI_Comm first, second;
  MPI_Request request;
  MPI_Group all;
  double value = 1, sum;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  if (rank % 2 == 0) MPI_Comm_create_group(MPI_COMM_WORLD, all, 7, &second);
  MPI_Comm_idup(MPI_COMM_WORLD, &first, &request);
  if (rank % 2 != 0) MPI_Comm_create_group(MPI_COMM_WORLD, all, 7, &second);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Group_free(&all);
  MPI_Bcast(out, 3000, MPI_BYTE, 0, first);
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, second);
  MPI_Bcast(out, 2000, MPI_BYTE, 1, second);
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
}

/* Two more processes, which the ring then has too. */
static void ring_with_spawned(MPI_Comm between, int high) {
  MPI_Comm all;
  int own, ranks;
  MPI_Intercomm_merge(between, high, &all);
  MPI_Comm_rank(all, &own);
  MPI_Comm_size(all, &ranks);
  MPI_Sendrecv(out, kHalf, MPI_BYTE, (own + 1) % ranks, 24, in, kHalf, MPI_BYTE, (own + ranks - 1) % ranks,
               24, all, MPI_STATUS_IGNORE);
  MPI_Comm_free(&all);
}
static char* program;

/* A library that is loaded after MPI_Init, and communicates; once it is begun also as the process ends, with
   the end of MPI. */
#if defined(LATE_LIBRARY)
static int is_begun;
void exchange_late(int own, int ranks) {
  rank = own;
  size = ranks;
  ring(kHalf, 36);
}
void begin_late(int own, int ranks) {
  exchange_late(own, ranks);
  is_begun = 1;
}
__attribute__((destructor)) static void end_late(void) {
  if (!is_begun) return;
  ring(kLarge, 37);
  MPI_Finalize();
}
#endif
static void call_late_library(const char* function, int how) {
  char path[4096];
  const char* slash = strrchr(program, '/');
  snprintf(path, sizeof path, "%.*s" LATE, (int)(slash - program + 1), program);
  void* library = dlopen(path, RTLD_LOCAL | how);
  if (library == NULL) abort();
  ((void (*)(int, int))dlsym(library, function))(rank, size);
}
static void at_late_destructor(void) {
  call_late_library("begin_late", RTLD_NOW);
  printf("done\n");
  exit(0);
}
static void seen_late(void) { call_late_library("exchange_late", RTLD_NOW); }
static void unseen_late(void) { call_late_library("exchange_late", RTLD_NOW | RTLD_DEEPBIND); }
static void unseen_lazily(void) { call_late_library("exchange_late", RTLD_LAZY | RTLD_DEEPBIND); }

static void spawn(void) {
  MPI_Comm between;
  char* arguments[] = {"spawned", NULL};
  MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  ring_with_spawned(between, 0);
}
static void spawned(void) {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  ring_with_spawned(parent, 1);
}

static const struct {
  const char* name;
  void (*run)(void);
} kinds[] = {
    {"at_finalize", at_finalize},
    {"at_copy_and_free", at_copy_and_free},
    {"at_last_call", at_last_call},
    {"at_run_time_code", at_run_time_code},
    {"at_error", at_error},
    {"at_reduction", at_reduction},
    {"at_wait", at_wait},
    {"by_handle", by_handle},
    {"get_status", get_status},
    {"matched", matched},
    {"cancelled", cancelled},
    {"isendrecv", isendrecv},
    {"steps", steps},
    {"in_turn", in_turn},
    {"persistent", persistent},
    {"wrong_arguments", wrong_arguments},
    {"truncated", truncated},
    {"at_late_destructor", at_late_destructor},
    {"seen_late", seen_late},
    {"unseen_late", unseen_late},
    {"unseen_lazily", unseen_lazily},
    {"both_ways", both_ways},
    {"made_in_any_order", made_in_any_order},
    {"spawn", spawn},
    {"spawned", spawned},
};

#if !defined(LATE_LIBRARY)
int main(int count, char** arguments) {
  int provided;
  program = arguments[0];
  const int level = strcmp(arguments[1], "steps") == 0     ? MPI_THREAD_MULTIPLE
                    : strcmp(arguments[1], "in_turn") == 0 ? MPI_THREAD_SERIALIZED
                                                           : MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &arguments, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ring(kSmall, 1);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    if (strcmp(kinds[i].name, arguments[1]) == 0) kinds[i].run();
  }
  MPI_Finalize();
  printf("done\n");
  return 0;
}
#endif
