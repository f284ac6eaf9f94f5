#include "tools/sweep/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <filesystem>
#include <map>
#include <thread>

#include "sim/results/output_file.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"
#include "tools/sweep/shell.h"

namespace weft::sweep {
namespace {

struct Process {
  std::vector<std::string> words;
  std::string input = "/dev/null", errors;
  rlim_t memory = RLIM_INFINITY;
};

// While one exists, signals that end the process and news of children wait to be taken by next().
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&set_, signal);
    struct sigaction hangup {};
    // nohup stays in force.
    if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&set_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int next() const {
    int signal = 0;
    while (sigwait(&set_, &signal) != 0) {
    }
    return signal;
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t set_{}, before_{};
};

// In a child that has not become another program yet.
[[noreturn]] void give_up() {
  _exit(127);  // tidy: exit because nothing of this process may run in its child
}

void redirect(const char* path, int flags, int descriptor) {
  const int opened = open(path, flags | O_CLOEXEC, 0666);
  if (opened < 0 || dup2(opened, descriptor) < 0) give_up();
}

// A group of its own: Ctrl-C comes once, from here. It ends with this process, however that ends.
pid_t start(const Process& process, const sigset_t& mask) {
  std::vector<char*> words;
  for (const std::string& word : process.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0)
    throw InputError(fmt::format("can't start a process: {}", std::generic_category().message(errno)));
  if (child > 0) return child;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) give_up();
  rlimit data{};
  getrlimit(RLIMIT_DATA, &data);
  data.rlim_cur = std::min(data.rlim_max, process.memory);
  setrlimit(RLIMIT_DATA, &data);
  redirect(process.input.c_str(), O_RDONLY, 0);
  redirect("/dev/null", O_WRONLY, 1);
  redirect(process.errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 2);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  execvp(words[0], words.data());
  give_up();
}

// Runs the processes, so many side by side; returns the signal that ended that early, or 0. `ended` is
// called with the number and status of each.
int run_all(const std::vector<Process>& processes, std::size_t slots,
            const std::function<void(std::size_t, int)>& ended) {
  const Signals signals;
  std::map<pid_t, std::size_t> running;
  std::size_t next = 0;
  int stopped = 0;
  for (;;) {
    while (stopped == 0 && running.size() < slots && next < processes.size()) {
      running[start(processes[next], signals.before())] = next;
      ++next;
    }
    if (running.empty()) return stopped;
    const int signal = signals.next();
    if (signal != SIGCHLD) {
      stopped = signal;
      for (const auto& [pid, number] : running) kill(-pid, signal);
    }
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = running.find(pid);
      if (found == running.end()) continue;
      ended(found->second, status);
      running.erase(found);
    }
  }
}

std::vector<std::string> command(const Folder& folder, const Point& point, const std::string& program) {
  return {program, "sim", folder.scenario_file(point), "-o", folder.run_folder(point), "-q"};
}

void remove_empty_errors(const Folder& folder, const Point& point) {
  std::error_code ignored;
  if (folder.done(point)) std::filesystem::remove(folder.error_file(point), ignored);
}

int run_local(const Folder& folder, const std::vector<const Point*>& points, const RunRequest& request,
              rlim_t memory) {
  std::vector<Process> processes;
  for (const Point* point : points) {
    processes.push_back({.words = command(folder, *point, request.program),
                         .errors = folder.error_file(*point),
                         .memory = memory});
  }
  std::size_t done = 0;
  return run_all(processes, request.slots, [&](std::size_t number, int) {
    remove_empty_errors(folder, *points[number]);
    if (request.tell) request.tell(++done, points.size());
  });
}

// GNU parallel: O. Tange, "GNU Parallel: The Command-Line Power Tool", ;login: 36(1), 2011.
int run_parallel(const Folder& folder, const std::vector<const Point*>& points, const RunRequest& request,
                 rlim_t memory) {
  const std::string jobs = folder.path() + "/parallel.txt";
  results::OutputFile file(jobs);
  for (const Point* point : points) {
    std::string line = memory == RLIM_INFINITY ? "" : fmt::format("ulimit -S -d {}; ", memory / 1024);
    for (const std::string& word : command(folder, *point, request.program)) line += quoted(word) + " ";
    file.write(line + "2> " + quoted(folder.error_file(*point)) + "\n");
  }
  file.close();
  const Process parallel{
      .words = {"env", "PARALLEL_SHELL=/bin/sh", "parallel", "--will-cite", "--jobs",
                std::to_string(request.slots), "--joblog", folder.path() + "/parallel.log"},
      .input = jobs,
      .errors = folder.path() + "/parallel.err"};
  int status = 0;
  const int stopped = run_all({parallel}, 1, [&](std::size_t, int s) { status = s; });
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    throw InputError("GNU parallel is not there: install it (parallel), or use --engine local");
  }
  for (const Point* point : points) remove_empty_errors(folder, *point);
  if (request.tell) request.tell(points.size(), points.size());
  return stopped;
}

std::vector<const Point*> open_points(const Folder& folder, const std::set<std::string>& only) {
  std::vector<const Point*> open = folder.open_points();
  if (!only.empty()) std::erase_if(open, [&](const Point* point) { return !only.contains(point->name); });
  return open;
}

}  // namespace

std::uint32_t most_threads(const Folder& folder) {
  std::uint32_t threads = 1;
  for (const Point& point : folder.points()) threads = std::max(threads, point.threads);
  return threads;
}

std::size_t default_slots(const Folder& folder) {
  return std::max<std::size_t>(1, std::thread::hardware_concurrency() / most_threads(folder));
}

int run_points(const Folder& folder, const RunRequest& request) {
  const std::vector<const Point*> open = open_points(folder, request.only);
  if (open.empty()) return 0;
  const std::uint64_t available = available_memory();
  const rlim_t share = available > RLIM_INFINITY / 2 ? RLIM_INFINITY : available / request.slots;
  const int stopped = request.engine == Engine::kLocal ? run_local(folder, open, request, share)
                                                       : run_parallel(folder, open, request, share);
  if (stopped != 0) return stopped;
  RunRequest alone = request;
  alone.slots = 1;
  alone.tell = {};
  return run_local(folder, open_points(folder, request.only), alone, RLIM_INFINITY);
}

}  // namespace weft::sweep
