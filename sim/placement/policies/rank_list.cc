#include "sim/placement/policies/rank_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <utility>

#include "sim/units/input_error.h"
#include "sim/units/input_file.h"
#include "sim/units/printable.h"

namespace weft::placement {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr std::size_t kLongestName = 256;
constexpr std::string_view kBlanks = " \t\r";

[[noreturn]] void fail(const std::string& path, std::int64_t line, const std::string& what) {
  throw InputError({path, line}, what);
}

std::string shown(std::string_view text) { return printable(std::string(text.substr(0, 80))); }

template <typename Number>
std::optional<Number> whole(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// A word and whether it stood in quotes.
struct Word {
  std::string_view text;
  bool quoted = false;
};

bool is_setting(const Word& word) {
  return !word.quoted && (word.text.starts_with("slots=") || word.text.starts_with("max_slots=") ||
                          word.text.starts_with("max-slots="));
}

// Only digits: a host's number, or, beside a name, a number of ranks or a rank.
bool is_bare_number(const Word& word) {
  return !word.quoted && !word.text.empty() && word.text.find_first_not_of("0123456789") == word.text.npos;
}

// Words end at blanks and at commas outside of brackets.
std::vector<Word> split(std::string_view text, const std::string& path, std::int64_t line) {
  std::vector<Word> words;
  const auto ends = [](char c) { return c == ',' || kBlanks.find(c) != std::string_view::npos; };
  for (std::size_t at = 0; at < text.size();) {
    if (ends(text[at])) {
      ++at;
      continue;
    }
    if (text[at] == '"') {
      const std::size_t end = text.find('"', at + 1);
      if (end == std::string_view::npos) fail(path, line, "a quote is not closed");
      words.push_back({text.substr(at + 1, end - at - 1), true});
      at = end + 1;
      continue;
    }
    const std::size_t begin = at;
    for (bool brackets = false; at < text.size(); ++at) {
      if (text[at] == '[') brackets = true;
      if (text[at] == ']') brackets = false;
      if (!brackets && ends(text[at])) break;
    }
    words.push_back({text.substr(begin, at - begin), false});
  }
  return words;
}

// One list of hosts.
class HostList {
 public:
  HostList(const std::string& path, std::int64_t line, std::uint32_t ranks, std::vector<RankPlace>& places,
           std::uint64_t& left_over)
      : path_(path), line_(line), ranks_(ranks), places_(places), left_over_(left_over) {}

  void read(std::string_view text) {
    const std::vector<Word> words = split(text, path_, line_);
    const bool numbers = std::ranges::any_of(words, is_bare_number);
    const auto is_name = [](const Word& word) { return !is_bare_number(word) && !is_setting(word); };
    if (numbers && std::ranges::any_of(words, is_name)) return read_counts(text, words);
    for (std::size_t i = 0; i < words.size();) {
      const Word& host = words[i++];
      std::optional<std::uint32_t> slots;
      for (; i < words.size() && is_setting(words[i]); ++i) {
        if (words[i].text.starts_with("slots=")) slots = count(words[i].text.substr(6));
      }
      add(host, slots);
    }
  }

 private:
  // "tux5 2 tux6 2": as LSF's LSB_MCPU_HOSTS, a number of ranks behind each name.
  void read_counts(std::string_view text, const std::vector<Word>& words) {
    bool good = words.size() % 2 == 0;
    for (std::size_t i = 0; good && i < words.size(); ++i) {
      good = is_bare_number(words[i]) == (i % 2 == 1) && !is_setting(words[i]);
    }
    if (!good) {
      fail(path_, line_,
           fmt::format("'{}' has names and bare numbers; expected hosts alone, each with its number of ranks "
                       "if more than one (HOST 2, HOST:2, HOST*2, HOST slots=2), or in every line a rank and "
                       "its host (0 HOST, rank 0=HOST)",
                       shown(text)));
    }
    for (std::size_t i = 0; i < words.size(); i += 2) add(words[i], count(words[i + 1].text));
  }

  std::uint32_t count(std::string_view text) const {
    const auto value = whole<std::uint32_t>(text);
    if (!value || *value == 0)
      fail(path_, line_, fmt::format("'{}', but expected a number of ranks above 0", shown(text)));
    return *value;
  }

  void add(const Word& word, std::optional<std::uint32_t> slots) {
    if (word.quoted) return put(std::string(word.text), slots.value_or(1));
    std::string_view name = word.text.substr(0, word.text.find('@'));
    // Behind the brackets, if there are some.
    const std::size_t close = name.rfind(']');
    const std::size_t mark = name.find_first_of(":*", close == std::string_view::npos ? 0 : close);
    std::uint32_t each = slots.value_or(1);
    if (mark != std::string_view::npos) {
      if (slots) fail(path_, line_, fmt::format("'{}' has two numbers of ranks", shown(word.text)));
      each = count(name.substr(mark + 1));
      name = name.substr(0, mark);
    }
    const std::size_t open = name.find('[');
    if (open == std::string_view::npos) return put(std::string(name), each);
    expand(name, open, each);
  }

  // "node[07-09,12]-ib": in the order written, with as many digits as the first number of each range.
  void expand(std::string_view name, std::size_t open, std::uint32_t each) {
    const std::size_t close = name.find(']', open);
    if (close == std::string_view::npos || name.find('[', close) != std::string_view::npos) {
      fail(path_, line_,
           fmt::format("'{}', but expected one range in brackets, like node[01-16]", shown(name)));
    }
    const std::string_view before = name.substr(0, open), after = name.substr(close + 1);
    std::string_view list = name.substr(open + 1, close - open - 1);
    while (true) {
      const std::size_t comma = list.find(',');
      const std::string_view range = list.substr(0, comma);
      const std::size_t dash = range.find('-');
      const std::string_view from = range.substr(0, dash);
      const auto first = whole<std::uint32_t>(from);
      const auto last = dash == std::string_view::npos ? first : whole<std::uint32_t>(range.substr(dash + 1));
      if (!first || !last || *last < *first)
        fail(path_, line_, fmt::format("'{}', but expected a range like 01-16", shown(range)));
      std::uint64_t n = *first;
      for (; n <= *last && places_.size() < ranks_; ++n) {
        put(fmt::format("{}{:0{}}{}", before, n, from.size(), after), each);
      }
      leave((*last + std::uint64_t{1} - n) * each);
      if (comma == std::string_view::npos) return;
      list.remove_prefix(comma + 1);
    }
  }

  // No more than the job has ranks: what else the list has is counted.
  void put(std::string host, std::uint32_t count) {
    if (host.empty() || host.size() > kLongestName) {
      fail(path_, line_, fmt::format("'{}', but expected the name or number of a host", shown(host)));
    }
    std::uint32_t i = 0;
    for (; i < count && places_.size() < ranks_; ++i) places_.push_back({host, line_});
    leave(count - i);
  }

  void leave(std::uint64_t ranks) {
    if (__builtin_add_overflow(left_over_, ranks, &left_over_)) left_over_ = UINT64_MAX;
  }

  const std::string& path_;
  const std::int64_t line_;
  const std::uint32_t ranks_;
  std::vector<RankPlace>& places_;
  std::uint64_t& left_over_;
};

// "rank 3=node7 slot=0" or "3 node7": the rank and the name of its host. Nothing: no such line.
struct RankLine {
  std::optional<std::uint32_t> rank;
  std::string_view host;
};

std::optional<RankLine> rank_line(std::string_view text, const std::string& path, std::int64_t line) {
  const bool named = text.starts_with("rank") && text.size() > 4 && kBlanks.find(text[4]) != text.npos;
  if (!named) {
    if (text.find_first_not_of("0123456789") == 0) return std::nullopt;
    const std::vector<Word> words = split(text, path, line);
    if (words.size() != 2 || !is_bare_number(words[0]) || is_bare_number(words[1]) || is_setting(words[1])) {
      return std::nullopt;
    }
    return RankLine{whole<std::uint32_t>(words[0].text), words[1].text};
  }
  const std::size_t equals = text.find('=');
  RankLine made;
  if (equals == std::string_view::npos) return made;
  made.rank = whole<std::uint32_t>(trimmed(text.substr(4, equals - 4)));
  made.host = trimmed(text.substr(equals + 1));
  if (made.host.starts_with('"') && made.host.find('"', 1) != std::string_view::npos) {
    made.host = made.host.substr(1, made.host.find('"', 1) - 1);
  } else {
    made.host = made.host.substr(0, made.host.find_first_of(kBlanks));
  }
  return made;
}

// Takes the place of a rank, and true; false: it is no line of a rank.
bool read_rank_line(std::string_view text, const std::string& path, std::int64_t line,
                    std::vector<RankPlace>& places) {
  const std::optional<RankLine> read = rank_line(text, path, line);
  if (!read) return false;
  const auto& [rank, host] = *read;
  if (!rank || host.empty() || host.size() > kLongestName) {
    fail(path, line,
         fmt::format("'{}', but expected a line like rank 0=node7 slot=0, or 0 node7", shown(text)));
  }
  if (*rank >= places.size()) {
    fail(path, line,
         fmt::format("rank {}, but the job has {} (0 to {})", *rank, places.size(), places.size() - 1));
  }
  if (places[*rank].line != 0)
    fail(path, line, fmt::format("rank {} has a host already, in line {}", *rank, places[*rank].line));
  places[*rank] = {std::string(host), line};
  return true;
}

}  // namespace

std::vector<RankPlace> read_rank_list(std::string_view text, const std::string& path, std::uint32_t ranks,
                                      std::uint64_t* left_over) {
  std::uint64_t left = 0;
  std::vector<RankPlace> named(ranks), listed;
  std::int64_t number = 0, first_named = 0, first_listed = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view whole_line = text.substr(0, end);
    const std::string_view line = trimmed(whole_line.substr(0, whole_line.find('#')));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    const bool is_rank = read_rank_line(line, path, number, named);
    if (!is_rank) HostList(path, number, ranks, listed, left).read(line);
    std::int64_t& first = is_rank ? first_named : first_listed;
    if (first == 0) first = number;
    if (first_named != 0 && first_listed != 0) {
      fail(path, number,
           fmt::format("'{}', but line {} is {}: expected one kind of lines", shown(line),
                       is_rank ? first_listed : first_named, is_rank ? "a host" : "of a rank"));
    }
  }
  std::vector<RankPlace>& places = first_named != 0 ? named : listed;
  std::uint32_t missing = 0;
  while (missing < places.size() && places[missing].line != 0) ++missing;
  if (missing < ranks) fail(path, 0, fmt::format("it has no host for rank {} of {}", missing, ranks));
  if (left_over != nullptr) *left_over = left;
  return std::move(places);
}

void read_hosts(std::string_view line_text, const std::string& path, std::int64_t line, std::uint32_t ranks,
                std::vector<RankPlace>& places) {
  std::uint64_t left_over = 0;
  HostList(path, line, ranks, places, left_over).read(line_text);
}

std::string read_small_file(const std::string& path) { return read_input(path, kMostBytes); }

}  // namespace weft::placement
