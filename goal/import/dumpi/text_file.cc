#include "goal/import/dumpi/text_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>
#include <vector>

#include "goal/import/dumpi/layout.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

constexpr std::string_view kEntering = " entering at walltime ", kReturning = " returning at walltime ";

// Names of arguments, and the letters (layout.h) that they may be: the first one that the function has.
struct ArgumentName {
  std::string_view name;
  const char* letters;
};
constexpr ArgumentName kNames[] = {
    {"count", "n"},       {"datatype", "tou"},  {"dest", "d"},      {"source", "Dd"},   {"tag", "g"},
    {"comm", "mh"},       {"request", "q"},     {"requests", "Q"},  {"flag", "f"},      {"index", "i"},
    {"indices", "I"},     {"status", "s"},      {"statuses", "s"},  {"sendcount", "n"}, {"sendtype", "t"},
    {"sendtag", "g"},     {"recvcount", "N"},   {"recvtype", "T"},  {"recvtag", "G"},   {"sendcounts", "V"},
    {"recvcounts", "W"},  {"sendtypes", "X"},   {"recvtypes", "Y"}, {"oldtypes", "X"},  {"root", "r"},
    {"commrank", "R"},    {"blocklength", "b"}, {"lengths", "L"},   {"oldtype", "o"},   {"newtype", "u"},
    {"size", "z"},        {"color", "c"},       {"key", "k"},       {"oldcomm", "m"},   {"localcomm", "m"},
    {"newcomm", "e"},     {"group", "pP"},      {"group1", "p"},    {"group2", "p"},    {"newgroup", "P"},
    {"ranks", "a"},       {"ranges", "B"},      {"dims", "a"},      {"subsizes", "a"},  {"nodes", "n"},
    {"remain_dims", "a"}, {"blocklengths", "L"}};

using Arguments = std::vector<std::pair<std::string_view, char>>;

// What to look at of each function.
const std::vector<Arguments>& arguments_by_function() {
  static const std::vector<Arguments> kAll = [] {
    std::vector<Arguments> all;
    for (const DumpiFunction& function : dumpi_functions()) {
      const std::string_view layout = function.layout == nullptr ? "" : function.layout;
      Arguments& arguments = all.emplace_back();
      for (const ArgumentName& row : kNames) {
        const std::string_view letters = row.letters;
        const auto found = std::find_if(letters.begin(), letters.end(),
                                        [&](char letter) { return layout.find(letter) != layout.npos; });
        if (found != letters.end()) arguments.emplace_back(row.name, *found);
      }
    }
    return all;
  }();
  return kAll;
}

// The numbers of functions, by name. The waits for files' requests are printed as MPIO_Wait ….
const std::unordered_map<std::string, std::size_t>& numbers_by_name() {
  static const std::unordered_map<std::string, std::size_t> kAll = [] {
    std::unordered_map<std::string, std::size_t> all;
    constexpr std::string_view kOfFiles = "MPI_File_";
    for (const DumpiFunction& function : dumpi_functions()) {
      std::string name = function.name;
      all.emplace(name, all.size());
      const bool waits = name.starts_with("MPI_File_wait") || name.starts_with("MPI_File_test");
      if (!waits) continue;
      const char first = name[kOfFiles.size()] == 'w' ? 'W' : 'T';
      all.emplace(fmt::format("MPIO_{}{}", first, name.substr(kOfFiles.size() + 1)), all[name]);
    }
    return all;
  }();
  return kAll;
}

// By DUMPI's numbers, on x86-64: from MPI_DATATYPE_ERROR to MPI_LONG_DOUBLE_INT.
const std::vector<std::uint64_t> kUsualSizes = {0, 0,  1, 1, 1, 1, 4, 2, 2, 4,  4,  8, 8, 4,
                                                8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20};

}  // namespace

bool looks_like_dumpi_text(std::string_view head) {
  if (head.starts_with("version=") && head.find("\nmeshdim=") != head.npos) return true;
  const std::string_view first = head.substr(0, head.find('\n'));
  return first.starts_with("MPI_") && first.find(kEntering) != first.npos;
}

DumpiTextFile::DumpiTextFile(const std::string& path, Rank world_size, DumpiNotes& notes)
    : path_(path), file_(path), text_(file_.bytes()), notes_(notes), arguments_(world_size, notes) {
  read_sizes();
}

// Lines "Datatype 9 (MPI_INT) has size 4" at the end.
void DumpiTextFile::read_sizes() {
  constexpr std::size_t kMost = 4u << 20;
  constexpr std::string_view kFirst = "\nDatatype 0 (", kSize = " has size ";
  const std::size_t from = text_.size() - std::min(text_.size(), kMost);
  at_ = text_.substr(from).rfind(kFirst);
  if (at_ == text_.npos) {
    ++notes_.assumed_sizes;
    arguments_.set_sizes(kUsualSizes);
    at_ = 0;
    return;
  }
  std::vector<std::uint64_t> sizes;
  for (at_ += from + 1; skip("Datatype "); skip_line()) {
    const std::int64_t type = number("the number of a datatype");
    if (type != static_cast<std::int64_t>(sizes.size())) fail(fmt::format("datatype {}", sizes.size()));
    const std::size_t size = line().rfind(kSize);
    if (size == line().npos) fail("'has size' and the bytes of the datatype");
    at_ += size + kSize.size();
    sizes.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(number("the size of a datatype"), 0)));
  }
  arguments_.set_sizes(std::move(sizes));
  at_ = 0;
}

bool DumpiTextFile::next(MpiCall& call) {
  // Lines outside of calls are the header, keys and values, counts of calls, labels and sizes.
  for (; at_ < text_.size(); skip_line()) {
    const std::string_view here = line();
    const std::size_t end = here.starts_with("MPI") ? here.find(kEntering) : here.npos;
    if (end == here.npos) continue;
    record_at_ = at_;
    call.clear();
    read_call(call, here.substr(0, end));
    return true;
  }
  if (!std::exchange(ended_, true)) arguments_.end();
  return false;
}

void DumpiTextFile::read_call(MpiCall& call, std::string_view name) {
  const auto function = numbers_by_name().find(std::string(name));
  if (function == numbers_by_name().end()) fail("the name of a function that DUMPI records");
  arguments_.begin(call, function->second);
  at_ += name.size() + kEntering.size();
  const Times start = read_times();
  while (peek() != '\0') {
    if (skip("Perfcounters: ")) {
      skip_line();
      continue;
    }
    const std::size_t begin = at_;
    if (skip(name) && skip(kReturning)) {
      set_times(call, start, read_times());
      if (skip("Perfcounters: ")) skip_line();
      arguments_.finish(call);
      return;
    }
    at_ = begin;
    read_argument(call, function->second);
  }
  fail(fmt::format("'{} returning'; the text was cut", name));
}

// "1296777956.737669000, cputime 0.007712000 seconds in thread 0."
DumpiTextFile::Times DumpiTextFile::read_times() {
  Times times;
  times.wall = nanoseconds();
  expect(", cputime ");
  times.cpu = nanoseconds();
  expect(" seconds in thread ");
  times.thread = static_cast<std::uint32_t>(number("the number of a thread"));
  expect(".");
  skip_line();
  return times;
}

// A clock that was not recorded is 0.
void DumpiTextFile::set_times(MpiCall& call, const Times& start, const Times& stop) {
  const bool wall = (start.wall | stop.wall) != 0;
  notes_.without_time += !wall && (start.cpu | stop.cpu) == 0;
  call.record.enter_ns = wall ? start.wall : start.cpu;
  call.record.leave_ns = wall ? stop.wall : stop.cpu;
  call.record.thread = arguments_.thread(start.thread);
}

// "MPI_Comm comm=2 (MPI_COMM_WORLD)", "int ranks[2]=[0, 1]", "MPI_Request request=[2]"
void DumpiTextFile::read_argument(MpiCall& call, std::size_t number_of_function) {
  const std::string_view here = line();
  const std::size_t equals = here.find('=');
  // A text may have several lines.
  if (equals == here.npos) return skip_line();
  const std::string_view left = here.substr(0, std::min(here.find('['), equals));
  const std::string_view name = left.substr(left.rfind(' ') + 1);
  const Arguments& known = arguments_by_function()[number_of_function];
  const auto argument =
      std::find_if(known.begin(), known.end(), [&](const auto& row) { return row.first == name; });
  const std::size_t value = at_ + equals + 1;
  if (argument == known.end() || left.starts_with("string ")) return skip_line();
  at_ = value;
  const char what = argument->second;
  if (skip("<IGNORED>")) return skip_line();
  if (what == 's') {
    read_statuses();
  } else if (peek() == '[') {
    read_array(call, what);
  } else if (what == 'B') {
    fail("an array");
  } else {
    arguments_.take(call, what, static_cast<std::uint32_t>(number("a number")));
  }
  // No line ends behind an array of arrays.
  if (what != 'B' || peek() == '\n') skip_line();
}

void DumpiTextFile::read_array(MpiCall& call, char what) {
  if (what != 'B') arguments_.begin_array(what);
  int depth = 0;
  do {
    const char c = peek();
    if (c == '[') {
      if (++depth == 2 && what == 'B') arguments_.begin_array(what);
      ++at_;
    } else if (c == ']') {
      --depth;
      ++at_;
    } else if (c == ',' || c == ' ' || (c == '\n' && what == 'B')) {
      ++at_;
    } else {
      if (what == 'B' && depth < 2) fail("three numbers in brackets");
      arguments_.take(call, what, static_cast<std::uint32_t>(number("a number of the array, or its end")));
    }
  } while (depth > 0);
}

// "[{bytes=4, cancelled=0, source=3, tag=1337, error=0}]"
void DumpiTextFile::read_statuses() {
  expect("[");
  while (!skip("]")) {
    TraceMessage status{.valid = true};
    expect("{bytes=");
    status.bytes = static_cast<std::uint32_t>(number("bytes"));
    expect(", cancelled=");
    const bool cancelled = number("0 or 1") != 0;
    expect(", source=");
    status.source = static_cast<std::int32_t>(number("a rank"));
    expect(", tag=");
    status.tag = static_cast<std::int32_t>(number("a tag"));
    expect(", error=");
    number("an error code");
    expect("}");
    skip(", ");
    arguments_.take_status(status, cancelled);
  }
}

void DumpiTextFile::skip_line() {
  const std::size_t end = text_.find('\n', at_);
  at_ = end == text_.npos ? text_.size() : end + 1;
}

bool DumpiTextFile::skip(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

void DumpiTextFile::expect(std::string_view word) {
  if (!skip(word)) fail(fmt::format("'{}'", word));
}

std::int64_t DumpiTextFile::number(const char* expected) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (error != std::errc()) fail(expected);
  at_ = static_cast<std::size_t>(end - text_.data());
  return value;
}

std::uint64_t DumpiTextFile::nanoseconds() {
  const std::int64_t seconds = number("a time in seconds");
  if (seconds < 0) fail("a time from 0 on");
  expect(".");
  std::uint64_t ns = static_cast<std::uint64_t>(seconds) * 1'000'000'000;
  for (std::uint64_t unit = 100'000'000; peek() >= '0' && peek() <= '9'; ++at_, unit /= 10) {
    ns += static_cast<std::uint64_t>(peek() - '0') * unit;
  }
  return ns;
}

SourceLocation DumpiTextFile::place(std::size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const std::size_t line_begin = before.rfind('\n') + 1;
  return {path_, 1 + std::count(before.begin(), before.end(), '\n'),
          static_cast<std::int64_t>(at - line_begin) + 1};
}

void DumpiTextFile::fail(const std::string& expected) const {
  constexpr std::size_t kShown = 20;
  const std::string_view rest = line().substr(0, kShown);
  const std::string found = rest.empty() ? "the end of the line" : fmt::format("'{}'", rest);
  throw InputError(place(at_), fmt::format("found {}; expected {}", found, expected));
}

}  // namespace weft::goal
