// How fast importers make graphs of long traces, and how much memory they take.
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "goal/import/importers.h"
#include "sim/units/module.h"
#include "tools/bench/import/made_up.h"

using namespace weft;
using namespace weft::goal;

namespace {

namespace fs = std::filesystem;

// Bytes of this process that no file backs. What is mapped of the trace is the file's, and goes when memory
// is short.
std::uint64_t own_memory() {
  std::uint64_t total = 0, resident = 0, of_files = 0;
  std::ifstream("/proc/self/statm") >> total >> resident >> of_files;
  return (resident - of_files) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// The most of it, looked at every 5 ms.
class PeakMemory {
 public:
  ~PeakMemory() {
    done_ = true;
    thread_.join();
  }
  std::uint64_t bytes() const { return peak_; }

 private:
  void watch() {
    for (; !done_; std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
      peak_ = std::max<std::uint64_t>(peak_, own_memory());
    }
  }
  std::atomic<std::uint64_t> peak_ = 0;
  std::atomic<bool> done_ = false;
  std::thread thread_{[this] { watch(); }};
};

std::uint64_t bytes_of(const fs::path& path) {
  if (!fs::is_directory(path)) return fs::file_size(path);
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path)) bytes += entry.file_size();
  return bytes;
}

void measure(const bench::MadeUp& trace, const fs::path& path) {
  ModuleChoice choice;
  choice.name = trace.importer;
  choice.given = trace.options;
  const Importer& importer = find_module(importers(), choice, "trace format");
  const PeakMemory peak;
  const std::uint64_t before = own_memory();
  PackInfo info;
  const Graph graph = importer.import(path, Parameters(importer.info, choice), info);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  const double user = seconds(used.ru_utime), system = seconds(used.ru_stime);
  const double megabytes = 1e-6 * static_cast<double>(bytes_of(path));
  const auto mb = [](std::uint64_t bytes) { return 1e-6 * static_cast<double>(bytes); };
  fmt::print("{:<16} {:>8.0f} {:>8.0f} {:>8.0f} {:>9.0f} {:>9.0f} {:>12.2f}\n", trace.name, megabytes,
             megabytes / (user + system), megabytes / user, mb(peak.bytes() - before),
             mb(graph.memory_bytes()), 1e-6 * static_cast<double>(graph.ops()));
  std::fflush(stdout);
}

// In a process of its own, so that memory is that of this work alone.
void apart(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    try {
      work();
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) throw std::runtime_error("a measurement failed");
}

void run(std::uint64_t bytes, const fs::path& work, const std::vector<std::string>& rows) {
  fmt::print("{:<16} {:>8} {:>8} {:>8} {:>9} {:>9} {:>12}\n", "", "text MB", "MB/s", "user", "peak MB",
             "graph MB", "million ops");
  std::fflush(stdout);
  for (const bench::MadeUp& trace : bench::made_up_traces()) {
    if (!rows.empty() && std::find(rows.begin(), rows.end(), trace.name) == rows.end()) continue;
    std::string folder = (work / "import_bench.XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error(folder + " can't be made");
    fs::path path;
    apart([&] { trace.write(folder, bytes); });
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) path = entry.path();
    const bool single = std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1;
    apart([&] { measure(trace, single ? path : fs::path(folder)); });
    fs::remove_all(folder);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t megabytes = 100;
  std::string work = fs::temp_directory_path();
  std::vector<std::string> rows;
  CLI::App app("Speed and memory of importers on made-up traces.");
  app.add_option("--megabytes", megabytes, "of text for each")->capture_default_str();
  app.add_option("--work", work, "folder with room for one trace")->capture_default_str();
  app.add_option("rows", rows, "those to measure; by default all");
  CLI11_PARSE(app, argc, argv);
  try {
    run(megabytes * 1'000'000, work, rows);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
