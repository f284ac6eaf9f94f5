#include "sim/units/memory.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

namespace weft {
namespace {

constexpr double kNotWorthALook = 32e6;  // bytes: fit anywhere, and looking takes time
constexpr double kLarge = 1e9;
constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

std::function<void(const std::string&)>& memory_listener() {
  static std::function<void(const std::string&)> listener;
  return listener;
}

// The number behind `name` in a file of lines "name number".
std::optional<std::uint64_t> field(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::uint64_t value = 0;
    if (word == name && file >> value) return value;
    file.clear();
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

// The number that is a file's content; none if it is a word ("max").
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::uint64_t value = 0;
  if (std::ifstream(path) >> value) return value;
  return std::nullopt;
}

std::uint64_t left_of_machine() {
  const auto available = field("/proc/meminfo", "MemAvailable:");
  if (!available) return kAny;
  return (*available + field("/proc/meminfo", "SwapFree:").value_or(0)) * 1024;
}

// Tells what is left to this process's control group and those around it.
std::uint64_t left_of_control_groups() {
  std::ifstream groups("/proc/self/cgroup");
  std::string group;
  while (std::getline(groups, group) && !group.starts_with("0::")) {
  }
  if (!group.starts_with("0::/")) return kAny;
  group.erase(0, 3);
  std::uint64_t left = kAny;
  for (;;) {
    const std::string folder = "/sys/fs/cgroup" + group;
    const auto most = number_in(folder + "/memory.max");
    const auto used = number_in(folder + "/memory.current");
    if (most && used) {
      // Copies of files count as used, and are given back on demand.
      const std::uint64_t kept =
          *used - std::min(*used, field(folder + "/memory.stat", "inactive_file").value_or(0));
      left = std::min(left, *most - std::min(*most, kept));
    }
    if (group.size() <= 1) return left;
    group.erase(std::max<std::size_t>(group.rfind('/'), 1));
  }
}

std::uint64_t left_of_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kAny;
  const auto used = field("/proc/self/status", "VmData:");
  if (!used) return kAny;
  return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, *used * 1024);
}

}  // namespace

std::uint64_t available_memory() {
  return std::min({left_of_machine(), left_of_control_groups(), left_of_limit()});
}

std::uint64_t held_memory() { return field("/proc/self/status", "VmRSS:").value_or(0) * 1024; }

void expect_memory(double bytes, const std::string& what, double held) {
  if (bytes < kNotWorthALook) return;
  const std::uint64_t available = available_memory();
  const auto gigabytes = [](double value) {
    return value < 1e8 ? fmt::format("{:.0f} MB", value * 1e-6) : fmt::format("{:.1f} GB", value * 1e-9);
  };
  if (bytes > static_cast<double>(available)) {
    throw NotEnoughMemory(fmt::format("not enough memory for {}: about {}, with {} available", what,
                                      gigabytes(bytes + held),
                                      gigabytes(static_cast<double>(available) + held)));
  }
  if (bytes + held >= kLarge && memory_listener()) {
    memory_listener()(fmt::format("{} takes about {} of memory", what, gigabytes(bytes + held)));
  }
}

void listen_for_memory(std::function<void(const std::string&)> listener) {
  memory_listener() = std::move(listener);
}

}  // namespace weft
