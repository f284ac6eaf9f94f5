#include "topologies/slurm/hostlist.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "sim/units/input_error.h"

namespace weft::topologies {
namespace {

constexpr std::size_t kMostDigits = 18, kMostBrackets = 16;
constexpr std::string_view kBetween = ", \t";

// Numbers first … last, with leading zeros up to `digits`.
struct Range {
  std::uint64_t first = 0, last = 0;
  std::size_t digits = 0;
};

// A literal text and the ranges of the bracket behind it; no range: there is none.
struct Part {
  std::string_view text;
  std::vector<Range> ranges;
};

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return text.size() <= kMost ? std::string(text) : fmt::format("{}…", text.substr(0, kMost));
}

std::uint64_t read_number(std::string_view text, std::string_view item) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.size() > kMostDigits || error != std::errc() || end != text.data() + text.size()) {
    throw InputError(fmt::format(
        "'{}' in '{}' is not a number of at most {} digits; ranges are written like n[001-100,205]",
        shown(text), shown(item), kMostDigits));
  }
  return value;
}

Range read_range(std::string_view text, std::string_view item) {
  const std::size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  Range range{.first = read_number(first, item), .digits = first.size()};
  range.last = dash == std::string_view::npos ? range.first : read_number(text.substr(dash + 1), item);
  if (range.last < range.first) {
    throw InputError(fmt::format("the range '{}' in '{}' goes down; its first number must be the lower one",
                                 shown(text), shown(item)));
  }
  return range;
}

std::vector<Part> read_parts(std::string_view item) {
  std::vector<Part> parts;
  for (std::string_view rest = item; !rest.empty();) {
    const std::size_t open = rest.find_first_of("[]");
    Part part{.text = rest.substr(0, open), .ranges = {}};
    if (open == std::string_view::npos) {
      parts.push_back(part);
      break;
    }
    const std::size_t close = rest.find(']', open + 1);
    if (rest[open] == ']' || close == std::string_view::npos) {
      throw InputError(fmt::format("the brackets of '{}' don't close each other", shown(item)));
    }
    const std::string_view inside = rest.substr(open + 1, close - open - 1);
    for (std::size_t at = 0; at <= inside.size();) {
      const std::size_t end = std::min(inside.find(',', at), inside.size());
      part.ranges.push_back(read_range(inside.substr(at, end - at), item));
      at = end + 1;
    }
    if (parts.size() == kMostBrackets) {
      throw InputError(fmt::format("'{}' has more than {} brackets", shown(item), kMostBrackets));
    }
    parts.push_back(std::move(part));
    rest.remove_prefix(close + 1);
  }
  return parts;
}

class Expansion {
 public:
  Expansion(std::vector<std::string>& names, std::size_t most) : names_(names), most_(most) {}

  void add(std::string_view item) {
    parts_ = read_parts(item);
    add_from(0, "");
  }

 private:
  // All names that begin with `begin`, which the parts before `part` gave.
  void add_from(std::size_t part, const std::string& begin) {
    if (part == parts_.size()) {
      if (names_.size() == most_) {
        throw InputError(fmt::format("these are more than {} names, the most there may be", most_));
      }
      names_.push_back(begin);
      return;
    }
    const Part& here = parts_[part];
    const std::string text = begin + std::string(here.text);
    if (here.ranges.empty()) return add_from(part + 1, text);
    for (const Range& range : here.ranges) {
      for (std::uint64_t n = range.first; n <= range.last; ++n) {
        add_from(part + 1, fmt::format("{}{:0{}}", text, n, range.digits));
      }
    }
  }

  std::vector<std::string>& names_;
  std::size_t most_;
  std::vector<Part> parts_;
};

}  // namespace

std::vector<std::string> expand_hostlist(std::string_view text, std::size_t most) {
  std::vector<std::string> names;
  if (text == "(null)" || text == "None") return names;
  Expansion expansion(names, most);
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;) {
    // To the next separator outside of brackets.
    std::size_t end = at;
    for (bool inside = false; end < text.size(); ++end) {
      if (text[end] == '[') inside = true;
      if (text[end] == ']') inside = false;
      if (!inside && kBetween.find(text[end]) != std::string_view::npos) break;
    }
    expansion.add(text.substr(at, end - at));
    at = text.find_first_not_of(kBetween, end);
  }
  return names;
}

}  // namespace weft::topologies
