#include "topologies/import/headings.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <utility>

#include "topologies/import/meanings.h"

namespace weft::topologies {
namespace {

constexpr std::string_view kFirstSides[] = {"local", "source", "src", "from", "a", "left", "near"};
constexpr std::string_view kSecondSides[] = {"remote",      "neighbor", "neighbour", "peer", "target",
                                             "destination", "dest",     "dst",       "to",   "b",
                                             "z",           "right",    "far"};
// Sides that are ends of links without any word for a node; others may be names of nodes.
constexpr std::string_view kPlainSides[] = {"local",       "source", "src",      "from",
                                            "remote",      "target", "neighbor", "neighbour",
                                            "destination", "dest",   "dst",      "to"};
constexpr std::string_view kFillers[] = {"side", "end", "endpoint"};
constexpr std::string_view kNodes[] = {"device", "node",   "host",    "hostname", "switch",
                                       "system", "router", "chassis", "sysname",  "server"};
constexpr std::string_view kPorts[] = {"port", "interface", "intf", "ifname", "iface", "termination", "nic"};
constexpr std::string_view kTermination = "termination";
constexpr std::string_view kNames[] = {"name", "id"};

// What a column is, by its name.
enum class Role : std::uint8_t { kOther, kEnd, kName, kPort };
// That a name is of a column, and not of a node: `from`; `node_a`, `node1`; `left`, `a`.
enum class Certainty : std::uint8_t { kNone, kSome, kSure };
struct Column {
  int side = 0;  // 1 or 2; 0: none
  Role role = Role::kOther;
  Certainty certainty = Certainty::kSure;
  bool of_node = false;  // it has a word for a node
};

template <std::size_t kSize>
bool is_one_of(const std::string_view (&list)[kSize], std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

int side_of(std::string_view word) {
  return is_one_of(kFirstSides, word) ? 1 : is_one_of(kSecondSides, word) ? 2 : 0;
}

// Takes the side out of the words: the first or the last of them, the number behind a node's, as in device1,
// or the only one between others, as in Termination A Device.
void take_side(std::vector<std::string>& words, Column& column) {
  if (words.empty()) return;
  if (const int side = side_of(words.front()); side != 0) {
    column.side = side;
    const bool plain = is_one_of(kPlainSides, words[0]);
    column.certainty = plain ? Certainty::kSure : words.size() > 1 ? Certainty::kSome : Certainty::kNone;
    words.erase(words.begin());
  } else if (side_of(words.back()) != 0) {
    column.side = side_of(words.back());
    column.certainty = is_one_of(kPlainSides, words.back()) ? Certainty::kSure : Certainty::kSome;
    words.pop_back();
  } else if (words.size() > 1 && (words.back() == "1" || words.back() == "2")) {
    column.side = words.back()[0] - '0';
    column.certainty = Certainty::kSome;
    words.pop_back();
  } else if (words.back().ends_with('1') || words.back().ends_with('2')) {
    const std::string_view word = std::string_view(words.back()).substr(0, words.back().size() - 1);
    if (!is_one_of(kNodes, word) && !is_one_of(kPorts, word) && !is_one_of(kNames, word)) return;
    column.side = words.back().back() - '0';
    column.certainty = Certainty::kSome;
    words.back().pop_back();
  } else if (std::count_if(words.begin(), words.end(), side_of) == 1) {
    const auto side = std::find_if(words.begin(), words.end(), side_of);
    column.side = side_of(*side);
    column.certainty = Certainty::kSome;
    words.erase(side);
  }
}

Column column_of(const std::string& name) {
  std::vector<std::string> words = words_of(name);
  const std::size_t fillers =
      std::erase_if(words, [](const std::string& word) { return is_one_of(kFillers, word); });
  Column column;
  take_side(words, column);
  if (column.side == 0) column.certainty = Certainty::kSome;
  if (column.side == 0 && words.empty()) return column;
  if (fillers > 0) column.certainty = std::max(column.certainty, Certainty::kSome);
  std::size_t nodes = 0, ports = 0, names = 0, terminations = 0;
  for (const std::string& word : words) {
    nodes += is_one_of(kNodes, word);
    ports += word != kTermination && is_one_of(kPorts, word);
    terminations += word == kTermination;
    names += is_one_of(kNames, word);
  }
  if (nodes + ports + names + terminations != words.size()) return column;
  // A termination is a port, and its device a node.
  if (nodes == 0) ports += terminations;
  column.of_node = nodes > 0 && ports == 0;
  column.role = ports > 0 ? Role::kPort : nodes > 0 || words.empty() ? Role::kEnd : Role::kName;
  return column;
}

bool names_port(const std::string& name) {
  const std::string word = lower_case(name);
  return word.find("port") != word.npos || word.find("interface") != word.npos;
}

// The columns of a heading, and which of them are what.
class Columns {
 public:
  explicit Columns(const std::vector<std::string>& names) : names_(names) {
    for (const std::string& name : names) columns_.push_back(column_of(name));
  }

  // The node of a side: a column that says so, else one with the side alone, else one with a name, else the
  // device that a port is taken for where it stands alone.
  std::optional<std::size_t> end(int side) const {
    for (const bool of_node : {true, false}) {
      if (const auto found = find(side, Role::kEnd, of_node)) return found;
    }
    if (const auto found = find(side, Role::kName, false)) return found;
    // Lists of neighbours have the device itself without a side.
    if (side != 1 || !find(2, Role::kEnd, false).has_value()) return termination(side);
    return find(0, Role::kEnd, true);
  }

  // The port of a side whose node is in that column.
  std::optional<std::size_t> port(int side, std::size_t end) const {
    for (const Role role : {Role::kPort, Role::kName}) {
      const auto found = find(side, role, false);
      if (found && *found != end) return found;
    }
    return columns_[end].side == 0 ? find(0, Role::kPort, false) : std::nullopt;
  }

  // That a line with these is a heading.
  Certainty certainty(std::size_t from, std::size_t to) const {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c == from || c == to) continue;
      if (meaning_of(names_[c]).meaning != Meaning::kOther || columns_[c].role == Role::kPort)
        return Certainty::kSure;
    }
    return std::min(columns_[from].certainty, columns_[to].certainty);
  }

 private:
  std::optional<std::size_t> find(int side, Role role, bool of_node) const {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      if (column.side == side && column.role == role && (column.of_node || !of_node)) return c;
    }
    return std::nullopt;
  }

  // `Termination A` without a device is the node.
  std::optional<std::size_t> termination(int side) const {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].side == side && lower_case(names_[c]).find(kTermination) != std::string::npos) return c;
    }
    return std::nullopt;
  }

  const std::vector<std::string>& names_;
  std::vector<Column> columns_;
};

// Does one of two names come again below? The ends of a network's first link do, those of a heading don't.
bool come_again(Lines lines, char between, const std::string& from, const std::string& to) {
  bool any = false;
  while (lines.next()) {
    any = true;
    for (const std::string& field : fields_of(lines, between)) {
      if (field == from || field == to) return true;
    }
  }
  return !any;
}

// A number's or a heading's sign that a blank parts from it is no comment: "0.1 %", "loss [%]", "Length (m)".
std::vector<std::string> words_with_units(const Lines& lines) {
  std::vector<std::string> words;
  for (const std::string_view word : lines.words()) {
    const bool joins = !words.empty() && (word.front() == '(' || word.front() == '[');
    if (joins) {
      words.back() += " " + std::string(word);
    } else {
      words.emplace_back(word);
    }
  }
  if (words.size() > 2 && lines.ends_with_percent()) words.back() += " %";
  return words;
}

}  // namespace

std::vector<std::string> fields_of(const Lines& lines, char between) {
  return between == ' ' ? words_with_units(lines) : lines.fields(between);
}

std::optional<Heading> heading_of(const Lines& lines) {
  Heading heading;
  for (const char sign : {'\t', ';', ',', ' '}) {
    if (lines.text().find(sign) == std::string_view::npos) continue;
    heading.between = sign;
    break;
  }
  heading.names = fields_of(lines, heading.between);
  const Columns columns(heading.names);
  const auto from = columns.end(1), to = columns.end(2);
  if (!from || !to) return std::nullopt;
  const Certainty certainty = columns.certainty(*from, *to);
  if (certainty == Certainty::kNone) return std::nullopt;
  if (certainty == Certainty::kSome &&
      come_again(lines, heading.between, heading.names[*from], heading.names[*to]))
    return std::nullopt;
  heading.sure = certainty == Certainty::kSure;
  heading.from = *from;
  heading.to = *to;
  heading.from_port = columns.port(1, *from);
  heading.to_port = columns.port(2, *to);
  heading.ports = std::count_if(heading.names.begin(), heading.names.end(), names_port) >= 2;
  return heading;
}

}  // namespace weft::topologies
