// A library to preload: chosen system calls, allocations and new threads of a program fail, or the program is
// killed there. README.md has the variables that choose.
//
// System calls are caught by a seccomp filter, so that those that libraries make among themselves (the
// buffered writes of <stdio.h>) are seen like the program's own. Only x86-64.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <iterator>

extern "C" {  // glibc's own allocator, which ours stands before
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {

// What can fail. The order is that of the counters.
enum Call : uint32_t {
  kWrite,
  kPrint,
  kOpen,
  kClose,
  kRename,
  kUnlink,
  kMkdir,
  kTruncate,
  kSync,
  kLock,
  kMalloc,
  kThread,
  kCalls
};
constexpr const char* kNames[kCalls] = {"write", "print",    "open", "close", "rename", "unlink",
                                        "mkdir", "truncate", "sync", "lock",  "malloc", "thread"};
constexpr uint32_t kFaults = kCalls;  // the counter of those that failed

enum class Action : uint8_t { kNone, kFail, kShort, kKill };
struct Named {
  const char* name;
  Action action;
  int error;
};
constexpr Named kActions[] = {
    {"ENOSPC", Action::kFail, ENOSPC}, {"EIO", Action::kFail, EIO},       {"EDQUOT", Action::kFail, EDQUOT},
    {"EINTR", Action::kFail, EINTR},   {"EMFILE", Action::kFail, EMFILE}, {"EROFS", Action::kFail, EROFS},
    {"ENOLCK", Action::kFail, ENOLCK}, {"ENOMEM", Action::kFail, ENOMEM}, {"EAGAIN", Action::kFail, EAGAIN},
    {"none", Action::kNone, 0},        {"short", Action::kShort, 0},      {"kill", Action::kKill, 0},
};

// The call that fails is the `first` of those selected, and after it each `step`-th; a step of 0: none.
bool selected[kCalls];
Action action = Action::kNone;
int error_number = 0;
uint64_t first = 0, step = 0;
const char* file_part = nullptr;  // null: of any file

std::atomic<uint64_t> calls = 0;
std::atomic<bool> begun = false;  // main() has been called
using Counter = std::atomic<uint64_t>;
Counter private_counters[kCalls + 1];
Counter* counters = private_counters;

// A call that isn't caught: the filter knows it by its last argument, which no call that is caught has.
constexpr uint64_t kOurs = 0x9d5c'a8f1'36e2'b047;
long system_call(long number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0,
                 uint64_t e = 0) {
  const long result = syscall(number, a, b, c, d, e, kOurs);
  return result < 0 ? -errno : result;
}

// Counts the call; is it one that fails? A kill does not come back.
bool fails(Call call) {
  if (!begun.load(std::memory_order_relaxed)) return false;
  counters[call].fetch_add(1, std::memory_order_relaxed);
  if (action == Action::kNone || !selected[call]) return false;
  const uint64_t number = calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (number != first && (number < first || step == 0 || (number - first) % step != 0)) return false;
  counters[kFaults].fetch_add(1, std::memory_order_relaxed);
  if (action == Action::kKill) system_call(SYS_kill, static_cast<uint64_t>(getpid()), SIGKILL);
  return true;
}

// The calls that are caught.
struct Caught {
  uint32_t number;
  Call call;
};
constexpr Caught kCaught[] = {
    {SYS_write, kWrite},        {SYS_pwrite64, kWrite},   {SYS_writev, kWrite},   {SYS_open, kOpen},
    {SYS_openat, kOpen},        {SYS_creat, kOpen},       {SYS_close, kClose},    {SYS_rename, kRename},
    {SYS_renameat, kRename},    {SYS_renameat2, kRename}, {SYS_unlink, kUnlink},  {SYS_unlinkat, kUnlink},
    {SYS_rmdir, kUnlink},       {SYS_mkdir, kMkdir},      {SYS_mkdirat, kMkdir},  {SYS_ftruncate, kTruncate},
    {SYS_fallocate, kTruncate}, {SYS_fsync, kSync},       {SYS_fdatasync, kSync}, {SYS_flock, kLock},
};

// Is the file of this descriptor one that is meant?
bool is_meant(uint64_t descriptor) {
  if (file_part == nullptr) return true;
  char link[32] = "/proc/self/fd/", path[4096];
  char* at = link + strlen(link);
  uint64_t first_place = 1;
  while (descriptor / first_place >= 10) first_place *= 10;
  for (uint64_t place = first_place; place > 0; place /= 10) {
    *at++ = static_cast<char>('0' + descriptor / place % 10);
  }
  const long length = system_call(SYS_readlink, reinterpret_cast<uint64_t>(link),
                                  reinterpret_cast<uint64_t>(path), sizeof path - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return strstr(path, file_part) != nullptr;
}

bool is_written(uint64_t descriptor) {
  struct stat status {};
  if (system_call(SYS_fstat, descriptor, reinterpret_cast<uint64_t>(&status)) != 0 ||
      !S_ISREG(status.st_mode))
    return false;
  return (system_call(SYS_fcntl, descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

// Which of them this one is; kCalls: of no interest.
Call kind_of(uint32_t number, const uint64_t* arguments) {
  for (const Caught& caught : kCaught) {
    if (caught.number != number) continue;
    if (caught.call == kOpen && number != SYS_creat) {
      const uint64_t flags = arguments[number == SYS_openat ? 2 : 1];
      if ((flags & O_ACCMODE) == O_RDONLY) return kCalls;
    }
    if (caught.call != kWrite && caught.call != kClose) return file_part == nullptr ? caught.call : kCalls;
    if (caught.call == kWrite && arguments[0] == STDOUT_FILENO) return kPrint;
    return arguments[0] > STDERR_FILENO && is_written(arguments[0]) && is_meant(arguments[0]) ? caught.call
                                                                                              : kCalls;
  }
  return kCalls;
}

long answer(uint32_t number, const uint64_t* arguments) {
  const Call call = kind_of(number, arguments);
  uint64_t bytes = arguments[2];
  if (call != kCalls && fails(call)) {
    if (action == Action::kFail) {
      // A descriptor is closed even where that fails.
      if (call == kClose) system_call(SYS_close, arguments[0]);
      return -error_number;
    }
    if (call != kWrite && call != kPrint) return -EINVAL;
    if (number != SYS_writev && bytes > 1) bytes = (bytes + 2) / 3;
  }
  return system_call(number, arguments[0], arguments[1], bytes, arguments[3], arguments[4]);
}

void on_caught(int, siginfo_t* info, void* context) {
  const int saved = errno;
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  uint64_t arguments[5];
  constexpr int kRegisters[5] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8};
  for (int i = 0; i < 5; ++i) arguments[i] = static_cast<uint64_t>(registers[kRegisters[i]]);
  registers[REG_RAX] = answer(static_cast<uint32_t>(info->si_syscall), arguments);
  errno = saved;
}

[[noreturn]] void give_up(const char* what) {
  system_call(SYS_write, STDERR_FILENO, reinterpret_cast<uint64_t>(what), strlen(what));
  _exit(99);  // the test knows it
}

void install_filter() {
  struct sigaction how {};
  how.sa_sigaction = on_caught;
  how.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  sigaction(SIGSYS, &how, nullptr);
  constexpr uint32_t kLastArgument = offsetof(seccomp_data, args) + 5 * sizeof(uint64_t);
  constexpr size_t kCount = std::size(kCaught);
  sock_filter filter[kCount + 8];
  sock_filter* at = filter;
  *at++ = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kLastArgument);
  *at++ = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(kOurs), 0, 3);
  *at++ = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kLastArgument + 4);
  *at++ = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(kOurs >> 32), 0, 1);
  *at++ = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  *at++ = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  for (size_t i = 0; i < kCount; ++i) {
    *at++ = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kCaught[i].number, static_cast<uint8_t>(kCount - i), 0);
  }
  *at++ = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  *at++ = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const sock_fprog program{.len = static_cast<unsigned short>(at - filter), .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    give_up("failing_system: this system has no seccomp filters\n");
  }
}

// WEFT_FAULT: CALL[,CALL…]:ACTION@FIRST[+STEP].
void read_fault(const char* text) {
  while (true) {
    const size_t length = strcspn(text, ",:");
    bool known = false;
    for (uint32_t call = 0; call < kCalls; ++call) {
      if (strlen(kNames[call]) != length || strncmp(text, kNames[call], length) != 0) continue;
      selected[call] = known = true;
    }
    if (!known) give_up("failing_system: WEFT_FAULT names a call that is not known\n");
    text += length;
    if (*text++ != ',') break;
  }
  const size_t length = strcspn(text, "@");
  bool known = false;
  for (const Named& named : kActions) {
    if (strlen(named.name) != length || strncmp(text, named.name, length) != 0) continue;
    action = named.action;
    error_number = named.error;
    known = true;
  }
  if (!known || text[length] != '@') give_up("failing_system: WEFT_FAULT: expected CALL:ACTION@FIRST\n");
  char* end = nullptr;
  first = strtoull(text + length + 1, &end, 10);
  if (*end == '+') step = strtoull(end + 1, nullptr, 10);
}

// WEFT_FAULT_COUNTERS: a file that has room for them; they outlive the process there.
void map_counters(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  void* memory = mmap(nullptr, sizeof private_counters, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || memory == MAP_FAILED) give_up("failing_system: can't map WEFT_FAULT_COUNTERS\n");
  close(file);
  counters = static_cast<Counter*>(memory);
}

// WEFT_FAULT_PROGRAM: what it starts is left alone.
bool is_program(const char* program) {
  const char* slash = strrchr(program_invocation_name, '/');
  return program == nullptr || strcmp(program, slash == nullptr ? program_invocation_name : slash + 1) == 0;
}

__attribute__((constructor)) void start() {
  if (!is_program(getenv("WEFT_FAULT_PROGRAM"))) return;
  if (const char* fault = getenv("WEFT_FAULT")) read_fault(fault);
  file_part = getenv("WEFT_FAULT_FILE");
  if (const char* path = getenv("WEFT_FAULT_COUNTERS")) map_counters(path);
  for (uint32_t call = 0; call < kMalloc; ++call) {
    if (selected[call]) return install_filter();
  }
}

int (*program_main)(int, char**, char**) = nullptr;

int armed_main(int count, char** arguments, char** environment) {
  if (is_program(getenv("WEFT_FAULT_PROGRAM"))) begun = true;
  return program_main(count, arguments, environment);
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

// What a program does before its main() is out of its hands: faults begin there.
EXPORTED int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments, void (*init)(),
                               void (*fini)(), void (*loader_fini)(), void* stack_end) {
  program_main = main;
  return next<decltype(&__libc_start_main)>("__libc_start_main")(armed_main, count, arguments, init, fini,
                                                                 loader_fini, stack_end);
}

// A thread that blocked our signal would be killed by the next call that is caught.
EXPORTED int pthread_sigmask(int how, const sigset_t* signals, sigset_t* before) {
  static const auto real = next<decltype(&pthread_sigmask)>("pthread_sigmask");
  if (signals == nullptr || how == SIG_UNBLOCK) return real(how, signals, before);
  sigset_t others = *signals;
  sigdelset(&others, SIGSYS);
  return real(how, &others, before);
}

EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*),
                            void* argument) {
  static const auto real = next<decltype(&pthread_create)>("pthread_create");
  return fails(kThread) ? EAGAIN : real(thread, attributes, work, argument);
}

EXPORTED void* malloc(size_t bytes) {
  if (!fails(kMalloc)) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}

EXPORTED void* calloc(size_t count, size_t bytes) {
  if (!fails(kMalloc)) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}

EXPORTED void* realloc(void* memory, size_t bytes) {
  if (!fails(kMalloc)) return __libc_realloc(memory, bytes);
  errno = ENOMEM;
  return nullptr;
}

EXPORTED void* aligned_alloc(size_t alignment, size_t bytes) {
  if (!fails(kMalloc)) return __libc_memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}

EXPORTED int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (fails(kMalloc)) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
