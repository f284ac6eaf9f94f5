#include "tools/sweep/remarks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace weft::sweep {
namespace {

// Numbers as '#'.
std::string without_numbers(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_digit = [&](std::size_t at) {
      return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    const bool inside = is_digit(i + 1) && !result.empty() && result.back() == '#' &&
                        std::string_view(",.").find(text[i]) != std::string_view::npos;
    if (!is_digit(i) && !inside) {
      result += text[i];
    } else if (result.empty() || result.back() != '#') {
      result += '#';
    }
  }
  return result;
}

// The digests of runs that differ in nothing but the seed, by it; those that are done.
using Digests = std::map<std::uint64_t, std::string>;

// Results never depend on these.
bool is_known_to_have_none(const std::string& field) {
  return field == "threads" || field.starts_with("output.");
}

using DigestsByValues = std::map<std::vector<std::string>, Digests>;

// Are all runs alike that differ in this field alone, and are there some?
bool has_no_effect(const DigestsByValues& digests, std::size_t field) {
  std::map<std::pair<std::vector<std::string>, std::uint64_t>, std::string> first;
  bool compared = false;
  for (const auto& [values, by_seed] : digests) {
    std::vector<std::string> others = values;
    others[field].clear();
    for (const auto& [seed, digest] : by_seed) {
      const auto [place, added] = first.try_emplace({others, seed}, digest);
      if (place->second != digest) return false;
      compared = compared || !added;
    }
  }
  return compared;
}

std::vector<std::string> order_of(const Folder& folder, std::size_t field) {
  std::vector<std::string> values;
  for (const Point& point : folder.points()) {
    if (std::ranges::find(values, point.values[field]) == values.end()) values.push_back(point.values[field]);
  }
  return values;
}

std::string name_of(const Folder& folder, const std::vector<std::string>& values,
                    const std::set<std::size_t>& left_out) {
  std::string name;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (left_out.contains(i)) continue;
    name += fmt::format("{}{}={}", name.empty() ? "" : " ", folder.fields()[i], values[i]);
  }
  return name;
}

// What runs say, each text once, with how many of them do.
class Warnings {
 public:
  void add(const Outcome& outcome) {
    ++runs_;
    std::set<std::string> of_run;
    for (const std::string& text : outcome.warnings) {
      const std::string key = without_numbers(text);
      const auto [place, added] = numbers_.try_emplace(key, warnings_.size());
      if (added) warnings_.push_back({.first = text});
      Warning& warning = warnings_[place->second];
      warning.differs = warning.differs || warning.first != text;
      warning.runs += of_run.insert(key).second ? 1 : 0;
    }
  }
  std::vector<std::string> told() {
    std::ranges::stable_sort(warnings_, std::ranges::greater(), &Warning::runs);
    std::vector<std::string> told;
    for (const Warning& warning : warnings_) {
      told.push_back(fmt::format("{} of {} runs: {}{}", warning.runs, runs_, warning.first,
                                 warning.differs ? " (others with other numbers)" : ""));
    }
    return told;
  }

 private:
  struct Warning {
    std::string first;
    std::size_t runs = 0;
    bool differs = false;
  };
  std::vector<Warning> warnings_;
  std::map<std::string, std::size_t> numbers_;  // of each, by its text without numbers
  std::size_t runs_ = 0;
};

std::vector<std::string> without_effect(const Folder& folder, const DigestsByValues& digests) {
  std::vector<std::string> told;
  std::set<std::size_t> idle;  // fields
  for (std::size_t field = 0; field < folder.fields().size(); ++field) {
    if (!has_no_effect(digests, field)) continue;
    idle.insert(field);
    if (is_known_to_have_none(folder.fields()[field])) continue;
    told.push_back(
        fmt::format("{} made no difference to time: with {} all runs have the same events at the same times",
                    folder.fields()[field], fmt::join(order_of(folder, field), ", ")));
  }
  // Combinations of the fields that are left, in the order of their first points.
  std::map<Digests, std::vector<std::string>> same;
  std::vector<const Digests*> order;
  for (const Point& point : folder.points()) {
    const auto found = digests.find(point.values);
    if (found == digests.end()) continue;
    std::vector<std::string>& names = same[found->second];
    if (names.empty()) order.push_back(&found->second);
    const std::string name = name_of(folder, point.values, idle);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  for (const Digests* each : order) {
    const std::vector<std::string>& names = same[*each];
    if (names.size() < 2) continue;
    told.push_back(
        fmt::format("{} made no difference to time: their runs have the same events at the same times",
                    fmt::join(names, " and ")));
  }
  return told;
}

}  // namespace

Remarks remarks_of(const Folder& folder, const Outcomes& outcomes) {
  Warnings warnings;
  DigestsByValues digests;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i]) continue;
    const Point& point = folder.points()[i];
    warnings.add(*outcomes[i]);
    // One that did not come to its end has no digest of all that would have happened.
    if (outcomes[i]->complete()) digests[point.values][point.seed] = outcomes[i]->digest;
  }
  return {.warnings = warnings.told(), .without_effect = without_effect(folder, digests)};
}

}  // namespace weft::sweep
