#include "topologies/slurm/configuration.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "sim/units/byte_order_mark.h"
#include "sim/units/input_error.h"
#include "topologies/slurm/names.h"

namespace weft::topologies {
namespace {

constexpr const char* kExpected =
    "SwitchName=… with Switches= or Nodes=, BlockName=… with Nodes=, or BlockSizes=…";

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

class ConfigurationReader {
 public:
  ConfigurationReader(std::string_view text, const std::string& file) : rest_(text), at_{.file = file} {
    if (text.find('\0') != std::string_view::npos) throw InputError(at_, "this is not a text file");
    rest_.remove_prefix(size_of_mark(rest_));
    read_.file = file;
  }

  SlurmTopology read() {
    while (next_line()) {
      split();
      if (!words_.empty()) read_record();
    }
    at_.line = 0;
    if (read_.switches.empty()) fail(fmt::format("there is no switch and no block; expected {}", kExpected));
    if (read_.block_sizes.empty()) read_.block_sizes = std::move(told_sizes_);
    for (const auto& [key, found] : unknown_) {
      read_.notes.push_back(
          fmt::format("{}: the key '{}' is not known and was left out (first in line {}, {} in all)",
                      read_.file, key, found.second, found.first));
    }
    return std::move(read_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw InputError(at_, message); }

  // One line, with those that a backslash at its end joins to it, and without comments.
  bool next_line() {
    if (rest_.empty()) return false;
    line_.clear();
    at_.line = ++lines_;
    for (bool more = true; more && !rest_.empty();) {
      std::string_view text = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(std::min(rest_.size(), text.size() + 1));
      text = text.substr(0, text.find('#'));
      while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
        text.remove_suffix(1);
      more = text.ends_with('\\');
      if (more) {
        text.remove_suffix(1);
        ++lines_;
      }
      line_ += text;
    }
    return true;
  }

  // The line as keys in lower case and values.
  void split() {
    words_.clear();
    const std::string_view line = line_;
    constexpr std::string_view kBlank = " \t\r\v\f";
    for (std::size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;) {
      const std::size_t equals = line.find_first_of("= \t", at);
      if (equals == std::string_view::npos || line[equals] != '=' || equals == at) {
        fail(fmt::format("found '{}', but expected {}", shortened_text(line.substr(at)), kExpected));
      }
      const std::string key = lower_case(line.substr(at, equals - at));
      const bool quoted = equals + 1 < line.size() && line[equals + 1] == '"';
      const std::size_t begin = equals + 1 + (quoted ? 1 : 0);
      std::size_t end = quoted ? line.find('"', begin) : line.find_first_of(kBlank, begin);
      if (quoted && end == std::string_view::npos) {
        fail(fmt::format("the quotation mark of {} is not closed", key));
      }
      end = std::min(end, line.size());
      if (!words_.emplace(key, line.substr(begin, end - begin)).second) {
        fail(fmt::format("{} is given twice in one line", key));
      }
      at = line.find_first_not_of(kBlank, std::min(end + (quoted ? 1 : 0), line.size()));
    }
  }

  // The value of a key, which then counts as read.
  std::optional<std::string> take(const std::string& key) {
    const auto found = words_.find(key);
    if (found == words_.end()) return std::nullopt;
    std::string value = std::move(found->second);
    words_.erase(found);
    return value;
  }

  std::vector<std::string> take_names(const std::string& key) {
    const std::optional<std::string> text = take(key);
    if (!text) return {};
    return placed([&] { return names_.expand(*text); });
  }

  // What `read` returns, with its errors at this line.
  template <typename Read>
  auto placed(const Read& read) const -> decltype(read()) {
    try {
      return read();
    } catch (const InputError& error) {
      fail(error.what());
    }
  }

  std::uint64_t number(const std::string& key, std::string_view text) const {
    return placed([&] { return positive_number(key, text); });
  }

  void read_record() {
    if (words_.contains("ringname")) {
      fail(
          "topology/ring is not read, as hosts of a ring have no switch; known are topology/tree and "
          "topology/block");
    }
    if (words_.contains("switchname")) {
      read_switch();
    } else if (words_.contains("blockname")) {
      read_block();
    } else if (words_.contains("aggregatedblock")) {
      // scontrol prints blocks of a higher level as well; the sizes tell of them already.
      read_told_size();
      words_.clear();
    } else if (words_.contains("blocksizes")) {
      read_block_sizes();
    } else {
      fail(fmt::format("found '{}', but expected {}", shortened_text(line_), kExpected));
    }
    for (const auto& [key, value] : words_) {
      auto& [times, first] = unknown_[key];
      if (++times == 1) first = at_.line;
    }
  }

  std::string read_name(const std::string& key) {
    std::string name = take(key).value_or("");
    placed([&] { SlurmNames::check(key, name); });
    return name;
  }

  void add(SlurmSwitch added, bool block) {
    if (!read_.switches.empty() && read_.has_blocks != block) {
      fail("a file has switches (topology/tree) or blocks (topology/block), but this one has both");
    }
    read_.has_blocks = block;
    read_.switches.push_back(std::move(added));
  }

  void read_switch() {
    SlurmSwitch added{.name = read_name("switchname"), .line = at_.line, .nodes = {}, .switches = {}};
    const bool says = words_.contains("nodes") || words_.contains("switches");
    if (!says)
      fail(fmt::format("the switch '{}' has neither Switches= nor Nodes=", shortened_text(added.name)));
    added.nodes = take_names("nodes");
    added.switches = take_names("switches");
    // Level is how far it stands above the leaves, as scontrol counts.
    take("level");
    // scontrol prints 1 where none was given.
    if (take("linkspeed").value_or("1") != "1" && !told_speed_) {
      told_speed_ = true;
      read_.notes.push_back(
          fmt::format("{}: LinkSpeed is not read: it has no unit, and Slurm doesn't use it", read_.file));
    }
    add(std::move(added), false);
  }

  void read_block() {
    SlurmSwitch added{.name = read_name("blockname"), .line = at_.line, .nodes = {}, .switches = {}};
    added.nodes = take_names("nodes");
    if (added.nodes.empty()) fail(fmt::format("the block '{}' has no Nodes=", shortened_text(added.name)));
    read_told_size();
    take("blockindex");
    add(std::move(added), true);
  }

  void read_told_size() {
    if (const std::optional<std::string> size = take("blocksize")) {
      told_sizes_.push_back(number("blocksize", *size));
    }
  }

  void read_block_sizes() {
    if (!read_.block_sizes.empty()) {
      fail(fmt::format("BlockSizes is given again; the first is in line {}", read_.block_sizes_line));
    }
    read_.block_sizes_line = at_.line;
    const std::string text = take("blocksizes").value_or("");
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      read_.block_sizes.push_back(number("BlockSizes", std::string_view(text).substr(at, end - at)));
      at = end + 1;
    }
  }

  std::string_view rest_;
  std::string line_;
  SourceLocation at_;
  std::int64_t lines_ = 0;
  std::map<std::string, std::string> words_;
  SlurmNames names_;
  bool told_speed_ = false;
  std::vector<std::uint64_t> told_sizes_;
  std::map<std::string, std::pair<std::uint64_t, std::int64_t>> unknown_;  // how often, first line
  SlurmTopology read_;
};

}  // namespace

SlurmTopology read_slurm(std::string_view text, const std::string& file) {
  return ConfigurationReader(text, file).read();
}

}  // namespace weft::topologies
