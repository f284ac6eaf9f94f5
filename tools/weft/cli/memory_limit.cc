#include "tools/weft/cli/memory_limit.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>

#include "sim/units/memory.h"
#include "sim/units/quantity.h"
#include "tools/weft/cli/phases.h"

namespace weft::cli {
namespace {

// Sanitizers take terabytes of addresses for their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSystemKeepsIt = false;
#else
constexpr bool kSystemKeepsIt = true;
#endif

struct Limit {
  std::uint64_t bytes = 0;
  bool given = false;                // by limits.memory
  rlim_t inherited = RLIM_INFINITY;  // what the process was started with
};

Limit& limit() {
  static Limit value;
  return value;
}

bool set_limit(rlim_t bytes) {
  rlimit of_data{};
  if (!kSystemKeepsIt || getrlimit(RLIMIT_DATA, &of_data) != 0) return false;
  if (limit().bytes == 0) limit().inherited = of_data.rlim_cur;
  of_data.rlim_cur = std::min<rlim_t>(bytes, of_data.rlim_max);
  return setrlimit(RLIMIT_DATA, &of_data) == 0;
}

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) * 1e-9);
}

// Why the system gives no more: what was available is taken, more was asked for at once, or the process may
// not have so many addresses.
std::string what_was_refused() {
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY &&
      (limit().bytes == 0 || addresses.rlim_cur < limit().bytes)) {
    return fmt::format(": this process may have {} of addresses (ulimit -v)", gigabytes(addresses.rlim_cur));
  }
  if (limit().bytes == 0) return "";
  const std::uint64_t most = peak_resident_bytes();
  if (most >= limit().bytes / 10 * 8) {
    return fmt::format(": all {} that were available are taken", gigabytes(limit().bytes));
  }
  return fmt::format(": more than the {} that are available was asked for, when {} were in use at most",
                     gigabytes(limit().bytes), gigabytes(most));
}

}  // namespace

void limit_memory_to_available() {
  const std::uint64_t available = available_memory();
  // Unlimited where the system doesn't tell.
  if (available > RLIM_INFINITY / 2) return;
  const std::uint64_t bytes = resident_bytes() + available;
  if (set_limit(bytes)) limit().bytes = bytes;
}

void limit_memory(std::uint64_t bytes) {
  if (memory_limit() != 0 && bytes >= memory_limit()) return;
  if (!set_limit(bytes)) return;
  limit().bytes = bytes;
  limit().given = true;
}

void lift_memory_limit() {
  if (limit().bytes != 0) set_limit(limit().inherited);
}

std::uint64_t memory_limit() { return limit().bytes; }

std::string about_memory(const std::bad_alloc& error, const std::string& during) {
  const std::string given =
      limit().given ? fmt::format("limits.memory is {}", bytes_to_string(limit().bytes)) : "";
  std::string text;
  if (const auto* refused = dynamic_cast<const NotEnoughMemory*>(&error)) {
    text = refused->what();
    if (!given.empty()) text += fmt::format(" ({})", given);
    return during.empty() ? text : text + fmt::format(", while {}", during);
  }
  if (!given.empty()) {
    text = given + ", which does not suffice";
  } else {
    text = "out of memory" + what_was_refused();
  }
  return during.empty() ? text : text + fmt::format("; it was reached while {}", during);
}

}  // namespace weft::cli
