#include "goal/not_replayed.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::goal {
namespace {

constexpr std::size_t kMostNamed = 6;

std::string percent(std::uint64_t part, std::uint64_t whole) {
  const double value = 100 * share(part, whole);
  return value > 0 && value < 0.1 ? "under 0.1%" : fmt::format("{:.1f}%", value);
}

}  // namespace

NotReplayed::Function NotReplayed::total() const {
  Function sum;
  for (const Function& function : functions) {
    sum.calls += function.calls;
    sum.bytes += function.bytes;
    sum.time_ns += function.time_ns;
  }
  return sum;
}

void NotReplayed::add(std::string_view name, std::uint64_t calls, std::uint64_t bytes,
                      std::uint64_t time_ns) {
  auto at = std::lower_bound(functions.begin(), functions.end(), name,
                             [](const Function& f, std::string_view wanted) { return f.name < wanted; });
  if (at == functions.end() || at->name != name) at = functions.insert(at, {.name = std::string(name)});
  at->calls += calls;
  at->bytes += bytes;
  at->time_ns += time_ns;
}

void NotReplayed::add(const NotReplayed& other) {
  for (const Function& function : other.functions) {
    add(function.name, function.calls, function.bytes, function.time_ns);
  }
  all_calls += other.all_calls;
  all_bytes += other.all_bytes;
  all_time_ns += other.all_time_ns;
}

double share(std::uint64_t part, std::uint64_t whole) {
  if (part == 0) return 0;
  return part >= whole ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string sentence(const NotReplayed& not_replayed) {
  const NotReplayed::Function total = not_replayed.total();
  std::string text =
      fmt::format("not replayed: {} of {} calls of the traced program ({}), {} of its time", total.calls,
                  not_replayed.all_calls, percent(total.calls, not_replayed.all_calls),
                  percent(total.time_ns, not_replayed.all_time_ns));
  if (total.bytes > 0) {
    text += fmt::format(", {} bytes ({})", total.bytes, percent(total.bytes, not_replayed.all_bytes));
  }
  std::vector<NotReplayed::Function> most = not_replayed.functions;
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.calls > b.calls; });
  std::string_view separator = ": ";
  for (std::size_t i = 0; i < most.size() && i < kMostNamed; ++i) {
    text += fmt::format("{}{} {}", separator, most[i].calls, most[i].name);
    separator = ", ";
  }
  if (most.size() > kMostNamed) text += fmt::format(" and {} others", most.size() - kMostNamed);
  return text;
}

}  // namespace weft::goal
