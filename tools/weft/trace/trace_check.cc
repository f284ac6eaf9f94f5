#include "tools/weft/trace/trace_check.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/printable.h"
#include "tools/weft/trace/elf_symbols.h"
#include "tracer/mpi/tracer_library.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

// The dynamic linker of x86-64 Linux; with --list it tells what it would load, and runs nothing of the
// program.
constexpr const char* kLinker = "/lib64/ld-linux-x86-64.so.2";

constexpr std::array<const char*, 4> kCoverage = {"decoded", "timed", "counted", "unknown"};
constexpr std::array<const char*, 4> kMeaning = {
    "replayed, or needed by what is", "on the timeline by name with their time, and not replayed",
    "local to a rank: their number only", "not in the header that the tracer was built with: not seen"};
constexpr std::size_t kUnknown = 3;

struct Libraries {
  std::vector<std::string> paths, missing;
};

struct Report {
  std::string program, mpi, mpi_library;
  // Coverage and the objects that call it, by function.
  struct Use {
    std::size_t coverage = kUnknown;
    std::set<std::string> objects;
  };
  std::map<std::string, Use> functions;
  std::vector<std::string> missing;
};

fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos || fs::exists(name)) return name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    if (fs::is_regular_file(fs::path(folder) / name, error)) return fs::path(folder) / name;
  }
  throw InputError(fmt::format("'{}': there is no such file, here or in $PATH", name));
}

std::string output_of(std::vector<std::string> words) {
  int ends[2];
  if (pipe(ends) != 0) throw InputError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failure = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t n; failure == 0 && (n = read(ends[0], buffer.data(), buffer.size())) != 0;) {
    if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  close(ends[0]);
  if (failure != 0) throw InputError(fmt::format("cannot run {}: {}", words[0], std::strerror(failure)));
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

// Lines are "libm.so.6 => /lib/libm.so.6 (0x7f…)", "libx.so => not found" and "/lib64/ld-linux… (0x7f…)".
Libraries libraries_of(const fs::path& program) {
  Libraries libraries;
  std::istringstream lines(output_of({kLinker, "--list", fs::absolute(program).string()}));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t arrow = line.find(" => "), address = line.rfind(" (0x");
    const std::size_t name = line.find_first_not_of(" \t");
    if (arrow == std::string::npos || name == std::string::npos) continue;
    if (address == std::string::npos || address < arrow) {
      libraries.missing.push_back(line.substr(name, arrow - name));
    } else {
      libraries.paths.push_back(line.substr(arrow + 4, address - arrow - 4));
    }
  }
  return libraries;
}

// libmpi.so.40, libmpich.so.12, libmpi_mpifh.so.40, libpmpi… and the parts that Open MPI is made of.
bool is_of_mpi(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  for (const char* beginning : {"libmpi", "libpmpi", "libopen-rte", "libopen-pal"}) {
    if (name.starts_with(beginning)) return true;
  }
  return false;
}

// "MPI_Send" of MPI_Send, PMPI_Send and, in lower case, of Fortran's mpi_send_ and mpi_send_f08_;
// "mpi_send_c" of mpi_send_f08ts_large_; else none.
std::optional<std::string> mpi_name(std::string symbol) {
  if (symbol.starts_with("PMPI") || symbol.starts_with("pmpi_")) symbol.erase(0, 1);
  if (symbol.starts_with("MPI_") || symbol.starts_with("MPIX_")) return symbol;
  const bool fortran = symbol.starts_with("mpi_") || symbol.starts_with("mpix_");
  // mpi_fortran_bottom_ and its like are variables.
  if (!fortran || !symbol.ends_with('_') || symbol.starts_with("mpi_fortran_")) return std::nullopt;
  while (symbol.ends_with('_')) symbol.pop_back();
  // What mpi_f08 calls for counts of kind MPI_COUNT_KIND is the C function with large counts.
  constexpr std::string_view kLarge = "_large";
  const bool large = symbol.ends_with(kLarge);
  if (large) symbol.resize(symbol.size() - kLarge.size());
  for (const std::string_view ending : {"_f08ts", "_f08", "_fts", "_f"}) {
    if (symbol.ends_with(ending)) {
      symbol.resize(symbol.size() - ending.size());
      break;
    }
  }
  return large ? symbol + "_c" : symbol;
}

using CoverageOf = const char*(const char* name, int* covered);

CoverageOf* open_tracer(const std::string& preload, const std::string& mpi) {
  const std::string path =
      (fs::path(preload).parent_path() / fmt::format("libweft_trace_{}.so", mpi)).string();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* function = library == nullptr ? nullptr : dlsym(library, trace::kCoverageName);
  if (function == nullptr) {
    const char* why = dlerror();
    throw InputError(fmt::format("{}: {}", path, why != nullptr ? why : "not of this program's version"));
  }
  return reinterpret_cast<CoverageOf*>(function);
}

void find_mpi(const Libraries& libraries, Report& report) {
  for (const std::string& path : libraries.paths) {
    if (!is_of_mpi(path)) continue;
    const std::vector<std::string> defined = read_elf_symbols(path).defined;
    const auto has = [&](const char* name) {
      return std::find(defined.begin(), defined.end(), name) != defined.end();
    };
    if (!has("PMPI_Init")) continue;
    report.mpi = has("ompi_mpi_comm_world") ? "openmpi" : "mpich";
    report.mpi_library = path;
    return;
  }
  throw InputError(fmt::format(
      "'{}' is linked to no shared MPI library, nor are its libraries{}; where it loads MPI as it runs, give "
      "the file that "
      "does (mpi4py's MPI….so)",
      report.program,
      report.missing.empty() ? "" : fmt::format(" (not found: {})", fmt::join(report.missing, ", "))));
}

Report look_at(const std::string& name, const std::string& preload) {
  Report report;
  const fs::path program = find_program(name);
  report.program = program.string();
  const ElfSymbols own = read_elf_symbols(report.program);
  if (!own.is_dynamic) {
    throw InputError(
        fmt::format("'{}' is linked statically: such a program can't be traced", report.program));
  }
  const Libraries libraries = libraries_of(program);
  report.missing = libraries.missing;
  find_mpi(libraries, report);
  CoverageOf* const coverage_of = open_tracer(preload, report.mpi);
  const auto add = [&](const std::string& path, const ElfSymbols& symbols) {
    for (const std::string& symbol : symbols.undefined) {
      const std::optional<std::string> called = mpi_name(symbol);
      if (!called) continue;
      int covered = 0;
      const char* canonical = coverage_of(called->c_str(), &covered);
      Report::Use& use = report.functions[canonical != nullptr ? canonical : *called];
      use.coverage = canonical != nullptr ? static_cast<std::size_t>(covered) : kUnknown;
      use.objects.insert(path);
    }
  };
  add(report.program, own);
  for (const std::string& path : libraries.paths) {
    if (!is_of_mpi(path)) add(path, read_elf_symbols(path));
  }
  return report;
}

std::string text_of(const Report& report) {
  std::set<std::string> objects;
  for (const auto& [name, use] : report.functions) {
    for (const std::string& object : use.objects) objects.insert(fs::path(object).filename().string());
  }
  std::string text =
      printable(fmt::format("{}: {} MPI functions of {} ({})", report.program, report.functions.size(),
                            report.mpi == "openmpi" ? "Open MPI" : "MPICH", report.mpi_library)) +
      "\n";
  text += printable(fmt::format("called by {}", fmt::join(objects, ", "))) + "\n";
  for (std::size_t coverage = 0; coverage < kCoverage.size(); ++coverage) {
    std::vector<std::string> names;
    for (const auto& [name, use] : report.functions) {
      if (use.coverage == coverage) names.push_back(name);
    }
    if (names.empty()) continue;
    text += fmt::format("\n{} {}: {}\n", kCoverage[coverage], names.size(), kMeaning[coverage]);
    for (const std::string& name : names) text += "  " + printable(name) + "\n";
  }
  for (const std::string& library : report.missing) {
    text += printable(fmt::format("not found, and so not looked at: {}", library)) + "\n";
  }
  return text;
}

std::string json_of(const Report& report) {
  using Json = nlohmann::ordered_json;
  Json json = {{"program", printable(report.program)},
               {"mpi", report.mpi},
               {"mpi_library", printable(report.mpi_library)},
               {"functions", Json::array()},
               {"not_found", Json::array()}};
  for (const auto& [name, use] : report.functions) {
    Json objects = Json::array();
    for (const std::string& object : use.objects) objects.push_back(printable(object));
    json["functions"].push_back(
        {{"name", printable(name)}, {"coverage", kCoverage[use.coverage]}, {"called_by", objects}});
  }
  for (const std::string& library : report.missing) json["not_found"].push_back(printable(library));
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string trace_check(const std::string& program, const std::string& library, bool json) {
  const Report report = look_at(program, library);
  return json ? json_of(report) : text_of(report);
}

}  // namespace weft::cli
