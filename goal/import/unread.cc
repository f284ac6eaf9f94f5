#include "goal/import/unread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace weft::goal {
namespace {

constexpr std::size_t kMostBytes = 80, kMostNames = 10000, kMostTold = 16;

std::uint64_t& place_of(Unread& unread, std::string_view name) {
  name = name.substr(0, kMostBytes);
  const auto found = unread.find(name);
  if (found != unread.end()) return found->second;
  return unread[unread.size() < kMostNames ? std::string(name) : "other names"];
}

}  // namespace

void count_unread(Unread& unread, std::string_view name, std::uint64_t times) {
  place_of(unread, name) += times;
}

bool tells_a_quantity(std::string_view name) {
  static constexpr std::string_view kWords[] = {
      "byte",  "size",   "rate",   "bandwidth", "duration", "latency", "count", "numel", "time",
      "delay", "length", "nelems", "flops",     "elapsed",  "_ns",     "_us",   "gb/s"};
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return lower.find(word) != lower.npos; });
}

Anomaly unread_anomaly(const Unread& unread) {
  std::vector<std::pair<std::string, std::uint64_t>> all(unread.begin(), unread.end());
  const auto others = std::stable_partition(all.begin(), all.end(),
                                            [](const auto& entry) { return tells_a_quantity(entry.first); });
  std::string names;
  std::uint64_t values = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    values += all[i].second;
    if (i < kMostTold) names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", all[i].first, all[i].second);
  }
  if (all.size() > kMostTold) names += fmt::format(" and {} more", all.size() - kMostTold);
  const auto quantities = static_cast<std::size_t>(others - all.begin());
  return {"unread_attributes", Severity::kInfo,
          fmt::format("Values of the trace that are not read, by name{}: {}.",
                      quantities == 0 ? "" : fmt::format(" (sizes, rates and times first: {})", quantities),
                      names),
          values};
}

void UnreadRow::learn(Known& known, std::string_view name, bool is_read) {
  known.name = name;
  known.count = is_read ? nullptr : &place_of(unread_, name);
}

}  // namespace weft::goal
