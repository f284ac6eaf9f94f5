/* Processes that do what few do: unusual KIND. With and without the tracer, each must end, say and write the
   same. What it says is in angle brackets, as MPI libraries say much of their own here. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

/* Enough calls for the trace to need more room several times. */
static void exchange(int times) {
  int sent = 1, got;
  for (int i = 0; i < times; ++i) {
    MPI_Sendrecv(&sent, 1, MPI_INT, rank, i % 7, &got, 1, MPI_INT, rank, i % 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

/* Files of the program's own, each with ten bytes. */
static void write_files(int first, int count) {
  char name[64];
  for (int i = first; i < first + count; ++i) {
    snprintf(name, sizeof name, "result.%d.%03d", rank, i);
    const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, "1234567890", 10) != 10) perror(name);
  }
}

static void close_regular_files(void) {
  struct stat status;
  for (int file = 3; file < 4096; ++file) {
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) close(file);
  }
}

static void close_then_open(void) {
  close_regular_files();
  write_files(0, 64);
  exchange(100000);
}

/* Files of its own behind every number that a trace might have. */
static void open_over(void) {
  struct stat status;
  const int own = open("over", O_RDWR | O_CREAT, 0644);
  for (int file = 3; file < 4096; ++file) {
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) continue;
    char path[64], name[256] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (readlink(path, name, sizeof name - 1) < 0 || strstr(name, ".wtrc") == NULL) continue;
    dup2(own, file);
  }
  write_files(0, 8);
  exchange(100000);
}

static void daemon_of(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    for (int file = 0; file < 4096; ++file) close(file);
    write_files(100, 4);
    _exit(0);
  }
  int state;
  waitpid(child, &state, 0);
  printf("<daemon: %d>\n", state);
  exchange(20000);
}

/* What it writes on standard error then goes there. */
static void error_file(void) {
  fflush(stderr);
  close(2);
  char name[64];
  snprintf(name, sizeof name, "data.%d", rank);
  const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
  dprintf(file, "mine\n");
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {300000, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
  exchange(100000);
}

static void* few_bytes(void* unused) {
  volatile char bytes[46000];
  memset((char*)bytes, 1, sizeof bytes);
  return unused;
}
static void* nothing(void* unused) { return unused; }

static void small_stacks(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  int error = pthread_create(&thread, &attributes, few_bytes, NULL);
  if (error == 0) pthread_join(thread, NULL);
  pthread_attr_setstacksize(&attributes, 16384);
  const int least = pthread_create(&thread, &attributes, nothing, NULL);
  if (least == 0) pthread_join(thread, NULL);
  printf("<64 KiB: %d, 16 KiB: %d>\n", error, least);
}

static volatile sig_atomic_t signals = 0;
static void on_signal(int number) {
  (void)number;
  signals = signals + 1;
}

static void alternate_stack(void) {
  stack_t stack = {.ss_sp = malloc(8192), .ss_size = 8192};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  for (int i = 0; i < 1000; ++i) {
    raise(SIGUSR1);
    exchange(20);
  }
  printf("<signals: %d>\n", (int)signals);
}

/* No file can be opened or made any more. */
static void no_more_files(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const int error = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  printf("<filter: %d, open: %d>\n", error, open("/dev/null", O_RDONLY));
  exchange(100000);
}

static void few_descriptors(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = 200;
  setrlimit(RLIMIT_NOFILE, &limit);
  int opened = 0;
  while (open("/dev/null", O_RDONLY) >= 0) ++opened;
  printf("<ended by %d>\n", errno);
  exchange(100000);
}

static void short_files(void) {
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit = {200000, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
  char name[64];
  snprintf(name, sizeof name, "long.%d", rank);
  const int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
  static char bytes[100000];
  int written[3];
  for (int i = 0; i < 3; ++i) written[i] = (int)write(file, bytes, sizeof bytes);
  printf("<%d %d %d: %d>\n", written[0], written[1], written[2], errno);
  exchange(100000);
}

static void little_memory(void) {
  FILE* file = fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  if (fscanf(file, "%lu", &pages) != 1) perror("statm");
  fclose(file);
  const struct rlimit limit = {pages * 4096 + (64ul << 20), RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  exchange(100000);
}

static void children(void) {
  fflush(stdout);
  const pid_t first = vfork();
  if (first == 0) {
    execl("/bin/sh", "sh", "-c", "echo \"<vfork>\"; exit 3", NULL);
    _exit(127);
  }
  int state;
  waitpid(first, &state, 0);
  printf("<exit %d>\n", WEXITSTATUS(state));
  exchange(1000);
}

static void other_user(void) {
  exchange(1000);
  if (setgid(65534) != 0 || setuid(65534) != 0) printf("<not root>\n");
  close_regular_files();
  exchange(100000);
}

static void other_folder(void) {
  if (chdir("/") != 0) perror("/");
  close_regular_files();
  exchange(100000);
}

static void removed_folder(void) {
  const char* folder = getenv("WEFT_TRACE_DIR");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && folder != NULL) {
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) perror(command);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  exchange(100000);
}

static void errno_after(const char* name, int error) {
  printf("<%s %d %d>\n", name, error, errno);
  errno = 1234;
}

static void errors_numbers(void) {
  int value = 1, got, flag;
  MPI_Request request;
  MPI_Comm comm;
  errno = 1234;
  errno_after("Irecv", MPI_Irecv(&got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request));
  errno_after("Test", MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  errno_after("Send", MPI_Send(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD));
  errno_after("Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  errno_after("Comm_dup", MPI_Comm_dup(MPI_COMM_SELF, &comm));
  errno_after("Allreduce", MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM, comm));
  errno_after("Comm_free", MPI_Comm_free(&comm));
  for (int i = 0; i < 100000; ++i) {
    MPI_Sendrecv(&value, 1, MPI_INT, rank, 0, &got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (errno != 1234) errno_after("Sendrecv", 0);
  }
}

/* NCCL's tracer has no business here. */
static void libraries(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[4096];
  int found = 0;
  while (fgets(line, sizeof line, maps) != NULL) found += strstr(line, "libweft_trace_nccl") != NULL;
  fclose(maps);
  printf("<mapped %d times>\n", found);
}

/* A signal at whose handler the process ends. It comes once: while the tracer makes its file longer, which
   calls the function here that is called as the C library's, or else behind all. */
static volatile sig_atomic_t is_awaited;
static void end_awaiting(void) {
  if (!is_awaited) return;
  is_awaited = 0;
  raise(SIGUSR1);
}
ssize_t pwrite(int file, const void* data, size_t bytes, off_t at) {
  end_awaiting();
  return syscall(SYS_pwrite64, file, data, bytes, at);
}
static void on_signal_abort(int number) {
  (void)number;
  printf("<aborts>\n");
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 7);
}
static void on_signal_exit(int number) {
  (void)number;
  printf("<exits>\n");
  exit(7);
}
static void end_by_signal(void (*handler)(int)) {
  signal(SIGUSR1, handler);
  is_awaited = 1;
  exchange(100000);
  end_awaiting();
}
static void abort_in_handler(void) { end_by_signal(on_signal_abort); }
static void exit_in_handler(void) { end_by_signal(on_signal_exit); }

static const struct {
  const char* name;
  void (*run)(void);
} kinds[] = {
    {"close_then_open", close_then_open},
    {"open_over", open_over},
    {"daemon", daemon_of},
    {"error_file", error_file},
    {"small_stacks", small_stacks},
    {"alternate_stack", alternate_stack},
    {"no_more_files", no_more_files},
    {"few_descriptors", few_descriptors},
    {"short_files", short_files},
    {"little_memory", little_memory},
    {"children", children},
    {"other_user", other_user},
    {"other_folder", other_folder},
    {"removed_folder", removed_folder},
    {"errno", errors_numbers},
    {"libraries", libraries},
    {"abort_in_handler", abort_in_handler},
    {"exit_in_handler", exit_in_handler},
};

int main(int count, char** arguments) {
  const char* kind = count > 1 ? arguments[1] : "";
  /* Before anything of MPI: what follows has the numbers of what was closed. */
  if (strcmp(kind, "closed_before") == 0) {
    for (int file = 3; file < 4096; ++file) {
      struct stat status;
      if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) close(file);
    }
  }
  if (strcmp(kind, "closed_stdio") == 0) {
    for (int file = 0; file < 3; ++file) close(file);
    for (int file = 0; file < 3; ++file) {
      char name[64];
      snprintf(name, sizeof name, "stdio.%d", file);
      if (open(name, O_RDWR | O_CREAT | O_APPEND, 0644) != file) abort();
    }
  }
  if (strcmp(kind, "exec_before") == 0) execl(arguments[0], arguments[0], "", NULL);
  int level;
  const int threads = count > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &arguments, threads, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exchange(1000);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    if (strcmp(kinds[i].name, kind) == 0) kinds[i].run();
  }
  MPI_Finalize();
  printf("<done>\n");
  fflush(stdout);
  if (strcmp(kind, "exec_after") == 0) execl("/bin/sh", "sh", "-c", "echo \"<after>\"; exit 7", NULL);
  return strcmp(kind, "status") == 0 ? 5 : 0;
}
