#include "sim/units/wrap.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace weft {
namespace {

constexpr std::size_t kLeastColumns = 40;  // of narrower terminals the lines would be a word each

bool is_command(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos || begin == 0 || line.find("  ", begin) != std::string_view::npos)
    return false;
  return line.substr(begin).starts_with("weft ") || line.substr(begin).starts_with("$ ");
}

// Where the continuation of a line begins.
std::size_t hanging(std::string_view line, std::size_t width) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  std::size_t hang = begin;
  for (std::size_t at = line.find("  ", begin); at != std::string_view::npos;) {
    const std::size_t text = line.find_first_not_of(' ', at);
    if (text == std::string_view::npos || columns(line.substr(0, text)) > width / 2) break;
    hang = columns(line.substr(0, text));
    at = line.find("  ", text);
  }
  return hang;
}

// The blanks at which a line may be broken: not within a run of several; in a command outside quotes, and not
// between an option and its value.
std::vector<std::size_t> gaps(std::string_view line, bool command) {
  std::vector<std::size_t> found;
  bool quoted = false;
  std::size_t word = std::min(line.find_first_not_of(' '), line.size());
  for (std::size_t i = word; i < line.size(); ++i) {
    if (line[i] == '\'') quoted = !quoted;
    if (line[i] != ' ' || line[i - 1] == ' ') continue;
    const bool has_value = line[word] == '-' && i + 1 < line.size() && line[i + 1] != '-';
    if (!command || (!quoted && !has_value)) found.push_back(i);
    word = i + 1;
  }
  return found;
}

// Where a word too long for a line may be broken: behind the last comma in the first `room` bytes from
// `from`.
std::size_t behind_comma(std::string_view line, std::size_t from, std::size_t room) {
  const std::size_t begin = line.find_first_not_of(' ', from);
  const std::size_t comma = line.rfind(',', from + room - 1);
  return comma == std::string_view::npos || comma <= begin || comma + 1 == line.size()
             ? std::string_view::npos
             : comma + 1;
}

void wrap_line(std::string_view line, std::size_t width, std::string& out) {
  const bool command = is_command(line);
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t hang = command ? indent + 4 : hanging(line, width);
  const std::size_t room = width - (command ? 2 : 0);
  std::size_t from = 0, left = 0;  // of what is not written yet; columns before it
  std::size_t fits = std::string_view::npos;
  const std::vector<std::size_t> breaks = gaps(line, command);
  std::size_t next = 0;
  while (left + columns(line.substr(from)) > width) {
    for (; next < breaks.size() && left + columns(line.substr(from, breaks[next] - from)) <= room; ++next) {
      if (columns(line.substr(0, breaks[next])) >= hang || from > 0) fits = breaks[next];
    }
    if (fits == std::string_view::npos && !command) fits = behind_comma(line, from, room - left);
    if (fits == std::string_view::npos && next < breaks.size()) fits = breaks[next++];  // one long word
    if (fits == std::string_view::npos) break;
    out += line.substr(from, fits - from);
    out += command ? " \\\n" : "\n";
    out.append(hang, ' ');
    from = std::min(line.find_first_not_of(' ', fits), line.size());
    left = hang;
    fits = std::string_view::npos;
  }
  out += line.substr(from);
}

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string wrap(std::string_view text, std::size_t width) {
  if (width == 0) return std::string(text);
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    wrap_line(text.substr(at, end - at), width, out);
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
}

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  if (isatty(descriptor) == 0 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
  return std::max<std::size_t>(size.ws_col, kLeastColumns);
}

}  // namespace weft
