#include "topologies/import/lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "sim/units/byte_order_mark.h"

namespace weft::topologies {
namespace {

template <typename Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Where a comment begins: "leaf#1" is a name, and "0.1%" is no 0.1.
std::size_t comment_in(std::string_view line) {
  for (std::size_t at = line.find_first_of("#%"); at != line.npos; at = line.find_first_of("#%", at + 1)) {
    if (at == 0 || std::string_view(" ,;\t").find(line[at - 1]) != std::string_view::npos) return at;
  }
  return line.npos;
}

}  // namespace

Lines::Lines(std::string_view text, const std::string& file) : rest_(text), at_{.file = file} {
  if (text.find('\0') != std::string_view::npos) throw InputError(at_, "this is not a text file");
  rest_.remove_prefix(size_of_mark(rest_));
}

bool Lines::next(bool blank_too) {
  while (!rest_.empty()) {
    ++at_.line;
    text_ = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(rest_.size(), text_.size() + 1));
    if (text_.ends_with('\r')) text_.remove_suffix(1);
    const std::size_t comment = comment_in(text_);
    const std::string_view line = text_.substr(0, comment);
    words_.clear();
    constexpr std::string_view kBetween = " ,;\t";
    for (std::size_t at = line.find_first_not_of(kBetween); at != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_of(kBetween, at), line.size());
      words_.push_back(line.substr(at, end - at));
      at = line.find_first_not_of(kBetween, end);
    }
    if (!words_.empty() || (blank_too && comment == std::string_view::npos)) return true;
  }
  return false;
}

std::vector<std::string> Lines::fields(char between) const {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '"') {
      const bool twice = quoted && i + 1 < text_.size() && text_[i + 1] == '"';
      if (twice) fields.back() += text_[i++];
      if (!twice) quoted = !quoted;
    } else if (text_[i] == between && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += text_[i];
    }
  }
  for (std::string& field : fields) {
    field.erase(0, std::min(field.find_first_not_of(" \t"), field.size()));
    field.erase(field.find_last_not_of(" \t") + 1);
  }
  return fields;
}

bool Lines::ends_with_percent() const {
  const std::size_t last = text_.find_last_not_of(" \t,;");
  if (last == text_.npos || last == 0 || text_[last] != '%' || comment_in(text_) != last) return false;
  return text_[last - 1] == ' ' || text_[last - 1] == '\t';
}

void Lines::fail_expecting(const std::string& expected) const {
  fail(fmt::format("found '{}', but expected {}", shortened(text_), expected));
}

std::optional<std::uint64_t> whole_number(std::string_view text) { return parse<std::uint64_t>(text); }

std::optional<double> finite_number(std::string_view text) {
  const std::optional<double> value = parse<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 60;
  return text.size() <= kMost ? std::string(text) : fmt::format("{}…", text.substr(0, kMost));
}

}  // namespace weft::topologies
