#include "goal/import/spc/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::goal {
namespace {

constexpr std::uint64_t kMostAddress = 1ull << 43;
constexpr std::uint64_t kMostSeconds = 4'000'000'000;

// What is wrong with a line, and where.
struct Flaw {
  std::size_t at = 0;
  const char* expected = nullptr;
};

class LineParser {
 public:
  explicit LineParser(std::string_view line) : line_(line) {}

  // What the line says; none if it isn't of the form, and then flaw() tells why.
  std::optional<SpcIo> parse() {
    SpcIo io;
    std::uint64_t unit = 0, bytes = 0;
    const bool good = number(unit, UINT32_MAX, "the storage unit (ASU), a whole number of 32 bits") &&
                      comma() && number(io.address, kMostAddress, "the address (LBA), at most 2^43") &&
                      comma() && number(bytes, kMostIoBytes, "the size in bytes, at most 2^30") && comma() &&
                      opcode(io.write) && comma() && seconds(io.start_ns) && end();
    if (!good) return std::nullopt;
    io.unit = static_cast<std::uint32_t>(unit);
    io.bytes = static_cast<std::uint32_t>(bytes);
    return io;
  }
  const Flaw& flaw() const { return flaw_; }
  bool has_optional() const { return has_optional_; }

 private:
  bool fail(const char* expected) {
    flaw_ = {at_, expected};
    return false;
  }
  void skip_blanks() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  }
  bool number(std::uint64_t& value, std::uint64_t most, const char* expected) {
    skip_blanks();
    const char* begin = line_.data() + at_;
    const auto [end, error] = std::from_chars(begin, line_.data() + line_.size(), value);
    if (error != std::errc() || value > most) return fail(expected);
    at_ += static_cast<std::size_t>(end - begin);
    return true;
  }
  bool comma() {
    skip_blanks();
    if (at_ == line_.size() || line_[at_] != ',') return fail("a comma");
    ++at_;
    return true;
  }
  bool opcode(bool& write) {
    skip_blanks();
    const char c = at_ < line_.size() ? line_[at_] : '\0';
    write = c == 'w' || c == 'W';
    if (!write && c != 'r' && c != 'R') return fail("the opcode, R or W");
    ++at_;
    return true;
  }
  // Digits behind the ninth of the fraction are less than a nanosecond.
  bool seconds(std::uint64_t& ns) {
    std::uint64_t whole = 0;
    if (!number(whole, kMostSeconds, "the time in seconds, a decimal number")) return false;
    ns = whole * 1'000'000'000;
    if (at_ == line_.size() || line_[at_] != '.') return true;
    std::uint64_t unit = 100'000'000;
    for (++at_; at_ < line_.size() && line_[at_] >= '0' && line_[at_] <= '9'; ++at_, unit /= 10) {
      ns += static_cast<std::uint64_t>(line_[at_] - '0') * unit;
    }
    return true;
  }
  bool end() {
    skip_blanks();
    has_optional_ = at_ < line_.size() && line_[at_] == ',';
    return at_ == line_.size() || has_optional_ || fail("a comma or the end of the line");
  }

  std::string_view line_;
  std::size_t at_ = 0;
  Flaw flaw_;
  bool has_optional_ = false;
};

std::string_view without_end(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) {
    line.remove_suffix(1);
  }
  return line;
}

[[noreturn]] void fail(const std::string& file_name, std::int64_t number, std::string_view line,
                       const Flaw& flaw) {
  constexpr std::size_t kShown = 20;
  const std::string_view rest = line.substr(flaw.at, kShown);
  const std::string found = rest.empty() ? "the end of the line" : fmt::format("'{}'", rest);
  throw InputError(
      {file_name, number, static_cast<std::int64_t>(flaw.at) + 1},
      fmt::format("found {}; expected {} (a line is ASU,LBA,Size,Opcode,Timestamp)", found, flaw.expected));
}

}  // namespace

bool is_spc_line(std::string_view line) { return LineParser(without_end(line)).parse().has_value(); }

SpcTrace parse_spc(std::string_view text, const std::string& file_name) {
  SpcTrace trace;
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  // No line is shorter than "0,0,0,r,0": a file of empty ones needs no room.
  const std::size_t most = std::min(lines, text.size() / 9 + 1);
  expect_memory(static_cast<double>(most) * sizeof(SpcIo), fmt::format("{} I/Os", most));
  trace.ios.reserve(most);
  std::uint64_t last_ns = 0;
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_end(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    LineParser parser(line);
    const std::optional<SpcIo> io = parser.parse();
    if (!io) fail(file_name, number, line, parser.flaw());
    trace.with_optional += parser.has_optional();
    trace.early += io->start_ns < last_ns;
    last_ns = io->start_ns;
    if (io->bytes == 0) {
      ++trace.empty;
    } else {
      trace.ios.push_back(*io);
    }
  }
  if (trace.early > 0) {
    std::stable_sort(trace.ios.begin(), trace.ios.end(),
                     [](const SpcIo& a, const SpcIo& b) { return a.start_ns < b.start_ns; });
  }
  return trace;
}

}  // namespace weft::goal
