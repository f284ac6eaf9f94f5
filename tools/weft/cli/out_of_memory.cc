#include "tools/weft/cli/out_of_memory.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "sim/units/part_file.h"
#include "tools/weft/cli/subcommand.h"

namespace weft::cli {
namespace {

// Signal handlers can reach nothing but globals.
std::atomic<bool> refused = false;
std::terminate_handler usual_terminate = nullptr;

[[noreturn]] void refuse() {
  refused.store(true, std::memory_order_relaxed);
  throw std::bad_alloc();
}

void end_if_refused() {
  if (!refused.load(std::memory_order_relaxed)) return;
  constexpr std::string_view kLine = "weft: out of memory; the program ends at once\n";
  remove_all_parts();
  (void)!::write(STDERR_FILENO, kLine.data(), kLine.size());
  ::_exit(kLimit);
}

// Otherwise abort() goes on after it.
void on_abort(int) { end_if_refused(); }

[[noreturn]] void on_terminate() {
  end_if_refused();
  usual_terminate();  // tells of the exception
  std::abort();
}

}  // namespace

void watch_for_refused_memory() {
  std::set_new_handler(refuse);
  usual_terminate = std::set_terminate(on_terminate);
  std::signal(SIGABRT, on_abort);
}

}  // namespace weft::cli
