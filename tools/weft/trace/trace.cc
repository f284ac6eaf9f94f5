#include "tools/weft/trace/trace.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "goal/import/mpi/trace_files.h"
#include "goal/import/mpi/trace_summary.h"
#include "sim/units/input_error.h"
#include "sim/units/printable.h"
#include "tools/weft/cli/memory_limit.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/trace/trace_check.h"
#include "tools/weft/trace/trace_info.h"
#include "tools/weft/trace/trace_info_json.h"
#include "tools/weft/trace/trace_nccl.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMpiLibrary = "libweft_trace_mpi.so";
constexpr const char* kNcclLibrary = "libweft_trace_nccl.so";

struct Options {
  std::string directory;
  std::string checked;  // a program that is looked at, and not run
  bool json = false;
  bool force = false;
  std::vector<std::string> command;
};

// The environment of the command, as NAME=VALUE strings.
class Environment {
 public:
  Environment() {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const std::size_t equals = text.find('=');
      if (equals != std::string::npos) values_[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  const std::string* find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }
  void set(const std::string& name, const std::string& value) { values_[name] = value; }
  // What the user has set is left alone; true if it was set here.
  bool set_default(const std::string& name, const std::string& value) {
    return values_.try_emplace(name, value).second;
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> all;
    for (const auto& [name, value] : values_) all.push_back(name + "=" + value);
    return all;
  }

 private:
  std::map<std::string, std::string> values_;
};

// A preload library: in $WEFT_TRACER_DIR, or where a build (in that folder of tracer/) or an installation
// puts it beside this program.
fs::path find_library(const Environment& environment, const char* name, const char* of) {
  std::vector<fs::path> folders;
  if (const std::string* folder = environment.find("WEFT_TRACER_DIR")) {
    folders.push_back(*folder);
  } else {
    const fs::path self = fs::read_symlink("/proc/self/exe").parent_path();
    folders = {self / "../../tracer" / of, self / "../lib/weft", self};
  }
  std::string tried;
  for (const fs::path& folder : folders) {
    const fs::path path = (folder / name).lexically_normal();
    std::error_code error;
    if (fs::exists(path, error)) return fs::absolute(path);
    tried += (tried.empty() ? "" : ", ") + path.string();
  }
  throw InputError("the tracer's library was not found (tried " + tried +
                   "); build it with 'bazel build //tracer/" + of +
                   "', or set WEFT_TRACER_DIR to its folder");
}

// Lists the traces of both kinds, MPI's before NCCL's.
std::vector<fs::path> all_traces_in(const fs::path& directory) {
  std::vector<fs::path> found = goal::trace_files(directory, goal::kMpiTraces);
  const std::vector<fs::path> nccl = goal::trace_files(directory, goal::kNcclTraces);
  found.insert(found.end(), nccl.begin(), nccl.end());
  return found;
}

fs::path prepare_directory(const Options& options) {
  std::error_code error;
  fs::create_directories(options.directory, error);
  if (error || !fs::is_directory(options.directory)) {
    throw InputError(options.directory + ": cannot make this directory" +
                     (error ? ": " + error.message() : ""));
  }
  const std::vector<fs::path> old = all_traces_in(options.directory);
  if (!old.empty() && !options.force) {
    throw InputError(
        fmt::format("{} already holds {} traces; choose another directory, or --force to delete them",
                    options.directory, old.size()));
  }
  for (const fs::path& path : old) fs::remove(path);
  return fs::absolute(options.directory);
}

// The dynamic linker ends a name there.
void check_preload(const std::string& library) {
  if (library.find_first_of(" :\t\n") == std::string::npos) return;
  throw InputError(
      "the tracer's library can't be preloaded from '" + library +
      "', as LD_PRELOAD ends a name at a blank or colon; install Weft elsewhere, or set WEFT_TRACER_DIR to "
      "a link to that folder that has neither");
}

// A program built with gcc's -fsanitize=address ends at once where another library is preloaded before the
// sanitizer's, unless it is told to let that pass; the tracer's library has none of the functions it looks
// at.
void let_sanitizer_start(Environment& environment) {
  constexpr std::string_view kOption = "verify_asan_link_order";
  const std::string* given = environment.find("ASAN_OPTIONS");
  if (given == nullptr || given->empty())
    return environment.set("ASAN_OPTIONS", fmt::format("{}=0", kOption));
  if (given->find(kOption) != std::string::npos) return;
  environment.set("ASAN_OPTIONS", fmt::format("{}:{}=0", *given, kOption));
}

// The library does nothing in a program without MPI and NCCL. It loads that for NCCL where it is used.
void prepare_environment(const fs::path& directory, const std::string& library,
                         const std::string& nccl_library, Environment& environment) {
  // Only NCCL looks at this, also where it is linked statically; a plugin of the user's own stays.
  environment.set_default("NCCL_PROFILER_PLUGIN", nccl_library);
  const std::string* preloaded = environment.find("LD_PRELOAD");
  environment.set("LD_PRELOAD",
                  preloaded == nullptr || preloaded->empty() ? library : library + ":" + *preloaded);
  environment.set("WEFT_TRACE_DIR", directory.string());
  let_sanitizer_start(environment);
  // Tracing is often done on a small machine, in a container: without these, Open MPI's mpirun refuses to run
  // as root or with more ranks than cores. Other programs do not look at them.
  if (environment.set_default("OMPI_MCA_rmaps_base_oversubscribe", "1")) {
    std::fprintf(stderr,
                 "weft trace: Open MPI may start more ranks than there are cores "
                 "(OMPI_MCA_rmaps_base_oversubscribe=1)\n");
  }
  if (geteuid() == 0) {
    environment.set_default("OMPI_ALLOW_RUN_AS_ROOT", "1");
    environment.set_default("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
}

std::vector<char*> c_strings(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Runs the command to its end and returns its exit status, 128 + N after signal N. Signals sent to this
// process alone are passed on; Ctrl-C reaches the command by itself.
int run_command(const Options& options, const Environment& environment) {
  sigset_t waited, before;
  sigemptyset(&waited);
  for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&waited, number);
  sigprocmask(SIG_BLOCK, &waited, &before);
  std::vector<std::string> arguments = options.command, variables = environment.entries();
  const std::vector<char*> argv = c_strings(arguments), envp = c_strings(variables);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &before);
  pid_t child = 0;
  lift_memory_limit();  // it is not the command's
  const int failure = posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  int status = 0;
  while (failure == 0) {
    siginfo_t signal_info;
    const int number = sigwaitinfo(&waited, &signal_info);
    if (number == SIGCHLD && waitpid(child, &status, WNOHANG) == child) break;
    if ((number == SIGINT || number == SIGTERM) && signal_info.si_code == SI_USER) kill(child, number);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (failure != 0) throw InputError("cannot run '" + options.command[0] + "': " + std::strerror(failure));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// How the ranks' traces end, where that is before MPI_Finalize.
std::string ends_text(const goal::TraceSummary& summary, const std::string& directory) {
  std::uint64_t cut = 0, stopped = 0;
  for (const goal::RankState& rank : summary.ranks) {
    stopped += rank.end == goal::RankEnd::kStopped;
    cut += rank.end == goal::RankEnd::kCut || rank.end == goal::RankEnd::kRunning ||
           rank.end == goal::RankEnd::kOpen;
  }
  std::string text;
  if (stopped > 0) {
    text += fmt::format("  cut       {} traces end where their files could not be made longer\n", stopped);
  }
  if (cut > 0) {
    text += fmt::format(
        "  cut       {} traces end before MPI_Finalize: a rank crashed or was killed\n"
        "            'weft trace info {}' tells where each rank was\n",
        cut, directory);
  }
  return text;
}

bool is_cut(const goal::RankState& rank) {
  return rank.end == goal::RankEnd::kStopped || rank.end == goal::RankEnd::kCut ||
         rank.end == goal::RankEnd::kRunning || rank.end == goal::RankEnd::kOpen;
}

void print(const goal::TraceSummary& summary, const Options& options) {
  std::set<std::string> libraries;
  for (const std::string& library : summary.libraries) libraries.insert(short_library(library));
  std::string text =
      fmt::format("\nweft trace: {} ranks on {} host{}, {}\n", summary.ranks.size(), summary.hosts.size(),
                  summary.hosts.size() == 1 ? "" : "s", fmt::join(libraries, " and "));
  text += fmt::format("  calls     {} ({} in the files, {:.1f} a call)\n", summary.calls,
                      fmt::format("{:.2f} MB", static_cast<double>(summary.file_bytes) * 1e-6),
                      static_cast<double>(summary.file_bytes) /
                          static_cast<double>(std::max<std::uint64_t>(summary.calls, 1)));
  text += fmt::format("  sent      {:.3f} MB from point to point\n",
                      static_cast<double>(summary.sent_bytes) * 1e-6);
  text += fmt::format("  elapsed   {:.3f} s {}\n", static_cast<double>(summary.elapsed_ns) * 1e-9,
                      summary.span());
  if (summary.spawned > 0) {
    text += fmt::format(
        "  spawned   {} of these ranks are of programs that the first one started (MPI_Comm_spawn): the "
        "import "
        "leaves them and what is exchanged with them out, and counts it\n",
        summary.spawned);
  }
  if (!summary.one_run()) {
    text += fmt::format(
        "  warning   these {} traces are not those of one run of {} ranks: were several MPI programs "
        "started, "
        "or one with another library's mpirun?\n",
        summary.ranks.size() - summary.spawned, summary.world_size);
  }
  for (const std::string& library : summary.unseen_callers) {
    text += fmt::format(
        "  warning   {} calls MPI past the tracer (loaded with RTLD_DEEPBIND?): none of its calls is here\n",
        printable(library));
  }
  text += ends_text(summary, options.directory);
  for (const goal::FunctionUse& use : summary.functions) {
    if (use.coverage != goal::Coverage::kTimed || use.calls == 0) continue;
    text += fmt::format("  warning   {} calls of {}: counted, but not replayed\n", use.calls, use.name);
  }
  const bool cut = std::any_of(summary.ranks.begin(), summary.ranks.end(), is_cut);
  text += fmt::format("  where     {}\n  next      weft import mpi {} -o NAME.weft{}\n", options.directory,
                      options.directory, cut ? " --partial" : "");
  print_text(text, stderr);
}

int trace(const Options& options) {
  if (options.checked.empty() && options.json)
    throw InputError("--json goes with --check, or 'weft trace info'");
  if (!options.checked.empty()) {
    if (!options.command.empty()) {
      throw InputError("--check runs nothing, and so takes no command: '" + options.command[0] + "'");
    }
    const std::string text =
        trace_check(options.checked, find_library(Environment(), kMpiLibrary, "mpi").string(), options.json);
    print_text(text);
    return 0;
  }
  if (options.directory.empty())
    throw InputError("--output is required, before the command: the directory for the traces");
  if (options.command.empty()) {
    throw InputError("no command; expected weft trace -o DIR -- mpirun -n 8 PROGRAM …");
  }
  Environment environment;
  // Before anything is created.
  const fs::path mpi_library = find_library(environment, kMpiLibrary, "mpi");
  const fs::path nccl_library = find_library(environment, kNcclLibrary, "nccl");
  check_preload(mpi_library.string());
  const fs::path directory = prepare_directory(options);
  prepare_environment(directory, mpi_library.string(), nccl_library.string(), environment);
  const int status = run_command(options, environment);
  if (!fs::is_directory(directory)) {
    std::fprintf(stderr, "weft trace: the folder for the traces, %s, was removed while the command ran\n",
                 options.directory.c_str());
    return status;
  }
  const std::string nccl = nccl_summary(options.directory);
  const bool has_mpi = !goal::trace_files(directory, goal::kMpiTraces).empty();
  if (has_mpi) print(goal::summarize_traces(directory), options);
  print_text(nccl, stderr);
  if (!has_mpi && nccl.empty()) {
    const std::string message = fmt::format(
        "'{}' left no trace: no process in it called MPI_Init through a shared MPI library, or made an NCCL "
        "communicator (a program linked statically to MPI, or a library loaded with RTLD_DEEPBIND or "
        "dlmopen, "
        "cannot be traced; ranks on other nodes need 'mpirun -x LD_PRELOAD -x WEFT_TRACE_DIR'; what sets "
        "LD_PRELOAD anew on the way to the program, such as env, a script or sudo, takes the tracer away)",
        options.command[0]);
    if (status == 0) throw InputError(message);
    print_text("weft trace: " + message + "\n", stderr);
  }
  return status;
}

}  // namespace

void add_trace(Command& command, int& exit_code) {
  const auto options = std::make_shared<Options>();
  const Option output = command.add_option("-o,--output", options->directory,
                                           "Directory for the traces, one file per rank or process");
  const Option force =
      command.add_flag("--force", options->force, "Delete traces that are in the directory already");
  command
      .add_option("--check", options->checked,
                  "Run nothing; tell which MPI functions this program calls, and which are traced how")
      .excludes(output)
      .excludes(force);
  command.add_flag("--json", options->json, "With --check: as JSON");
  command.add_option("COMMAND", options->command, "What to run, with its options: mpirun -n 8 PROGRAM …")
      .command();
  command.footer(
      "Example:\n  weft trace -o lj_trace -- mpirun -n 8 lmp -in examples/quickstart/in.lj\n\n"
      "Programs with Open MPI, MPICH or NCCL, or two of them, are traced without being rebuilt. The exit "
      "status is the command's.\n"
      "With Open MPI, ranks on other nodes need: mpirun -x LD_PRELOAD -x WEFT_TRACE_DIR …\n"
      "As root, and on machines with fewer cores than ranks, Open MPI's refusals are switched off.");
  add_trace_info(command);
  command.callback([options, &exit_code] { exit_code = trace(*options); });
}

}  // namespace weft::cli
