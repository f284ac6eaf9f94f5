#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "topologies/import/attributes.h"
#include "topologies/import/both_ends.h"
#include "topologies/import/headings.h"
#include "topologies/import/lines.h"
#include "topologies/import/named_values.h"
#include "topologies/import/readers.h"
#include "topologies/import/vendor_units.h"

namespace weft::topologies {
namespace {

constexpr const char* kForm =
    "'from to', 'from to rate', 'from to rate latency' or 'from to rate latency loss'";
constexpr const char* kHeadingForm =
    "the heading of a table calls two columns from and to, or source and target";

bool has_unit(std::string_view word) {
  if (is_rate_name(word)) return true;
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0 &&
         std::isalpha(static_cast<unsigned char>(word.back())) != 0;
}

// Lists from undirected graphs have every link twice, once for each direction, and so do lists of ports: that
// would be two cables. With rates of their own, the two are one cable with two rates; else only who made the
// list knows.
class Directions {
 public:
  Directions(ImportedGraph& graph, const BothEnds& ends) : graph_(graph), ends_(ends) {
    for (std::uint32_t i = 0; i < graph.links.size(); ++i) {
      const ImportedLink& link = graph.links[i];
      lines_[{link.from, link.to}].push_back(i);
    }
  }

  void join() {
    std::vector<bool> gone(graph_.links.size());
    std::uint64_t joined = 0;
    const ImportedLink* first = nullptr;
    for (const auto& [ends, there] : lines_) {
      const auto back = ends.first < ends.second ? lines_.find({ends.second, ends.first}) : lines_.end();
      if (back == lines_.end()) continue;
      if (there.size() != back->second.size()) fail_both(graph_.links[back->second[0]]);
      for (std::size_t i = 0; i < there.size(); ++i) {
        // The earlier line is the cable.
        ImportedLink& kept = graph_.links[std::min(there[i], back->second[i])];
        const std::uint32_t other = std::max(there[i], back->second[i]);
        const bool two = ends_.has_ports(there[i]) && ends_.has_ports(back->second[i]);
        if (two || graph_.links[other].rate == kept.rate) fail_both(graph_.links[other]);
        join(kept, graph_.links[other]);
        gone[other] = true;
        if (joined++ == 0) first = &kept;
      }
    }
    if (joined == 0) return;
    graph_.assumed.push_back(fmt::format(
        "{} cables are listed once for each direction, with two rates, like {} and {} between '{}' and '{}'",
        joined, rate_text(first->rate), rate_text(first->back_rate),
        shortened(graph_.nodes[first->from].name), shortened(graph_.nodes[first->to].name)));
    std::size_t at = 0;
    std::erase_if(graph_.links, [&](const ImportedLink&) { return gone[at++]; });
  }

 private:
  static std::string rate_text(const std::optional<Bandwidth>& rate) {
    return rate ? to_string(*rate) : "the usual rate";
  }

  void join(ImportedLink& kept, const ImportedLink& back) const {
    if (!kept.rate || !back.rate) fail(back, "has a rate in one direction only; give it both");
    if (kept.back_rate || back.back_rate) fail(back, "is listed for both directions, and with two rates");
    if (kept.latency != back.latency) fail(back, "has another latency each way, which no cable has");
    if (kept.loss != back.loss) fail(back, "has another loss each way; give both directions one");
    const bool other = back.cable != CableKind::kUnknown && back.cable != kept.cable;
    if (other || (back.length_m > 0 && back.length_m != kept.length_m)) {
      fail(back, "is of another kind or length in the other direction, which no cable is");
    }
    kept.back_rate = back.rate;
  }

  [[noreturn]] void fail(const ImportedLink& link, const char* what) const {
    throw InputError({graph_.file, link.line},
                     fmt::format("the link between '{}' and '{}' {}", graph_.nodes[link.from].name,
                                 graph_.nodes[link.to].name, what));
  }

  [[noreturn]] void fail_both(const ImportedLink& link) const {
    throw InputError({graph_.file, link.line},
                     fmt::format("both '{0} {1}' and '{1} {0}' are listed; a line is a cable for both "
                                 "directions, so leave one out, or write two cables in the same order",
                                 graph_.nodes[link.to].name, graph_.nodes[link.from].name));
  }

  ImportedGraph& graph_;
  const BothEnds& ends_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> lines_;
};

class EdgeList {
 public:
  EdgeList(std::string_view text, const std::string& file, const std::vector<std::string>& ignored)
      : lines_(text, file), values_(ignored) {
    graph_.file = file;
  }

  ImportedGraph read() {
    for (bool first = true; lines_.next(); first = false) {
      if (first) heading_ = heading_of(lines_);
      if (first && heading_) {
        if (!heading_->sure) note_heading();
        continue;
      }
      if (heading_) {
        read_row();
      } else {
        read_link();
      }
      if (graph_.links.size() > kMostImportedLinks || graph_.nodes.size() > kMostImportedNodes) {
        lines_.fail(fmt::format("more than {} links or {} nodes", kMostImportedLinks, kMostImportedNodes));
      }
    }
    if (graph_.links.empty() && values_.left_out() > 0) {
      throw InputError(
          {.file = graph_.file},
          fmt::format("none of the file's {} links carries messages, by their status or type; expected "
                      "one at least that is connected",
                      values_.left_out()));
    }
    if (graph_.links.empty()) throw InputError({.file = graph_.file}, "the file has no link");
    ends_.note(graph_);
    Directions(graph_, ends_).join();
    values_.note(graph_);
    return std::move(graph_);
  }

 private:
  template <typename Read>
  auto value(const char* what, std::string_view word, Read read) const {
    try {
      return read(word);
    } catch (const InputError& error) {
      lines_.fail(fmt::format("{}: {}", what, error.what()));
    }
  }

  void note_heading() {
    graph_.assumed.push_back(
        fmt::format("the first line, '{}', is taken for a heading, and not for a link of two nodes",
                    shortened(lines_.text())));
  }

  void read_row() {
    const std::vector<std::string> fields = fields_of(lines_, heading_->between);
    if (fields.size() > heading_->names.size() || fields.size() <= std::max(heading_->from, heading_->to)) {
      lines_.fail_expecting(fmt::format("as many fields as the heading has, {}", heading_->names.size()));
    }
    ImportedLink link;
    link.line = lines_.line();
    for (const std::size_t end : {heading_->from, heading_->to}) {
      if (fields[end].empty()) lines_.fail(fmt::format("'{}' is empty", heading_->names[end]));
    }
    std::vector<LinkValues::Named> values;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i != heading_->from && i != heading_->to) values.emplace_back(heading_->names[i], fields[i]);
    }
    std::uint32_t count = 1;
    try {
      count = values_.set_all(link, values);
    } catch (const InputError& error) {
      lines_.fail(error.what());
    }
    if (count == 0) return;  // and so its ends are no nodes by it
    link.from = node(fields[heading_->from]);
    link.to = node(fields[heading_->to]);
    if (count > 1 && has_both_ports(fields)) {
      // Lanes of one cable, or cables of which the ports of one are named: only who made the table knows.
      values_.skip(fmt::format("{} beside a port at each end", count_name()));
      count = 1;
    }
    if (find_ports(link, fields)) return;
    graph_.links.insert(graph_.links.end(), count, link);
  }

  const std::string& count_name() const {
    return *std::find_if(heading_->names.begin(), heading_->names.end(),
                         [](const std::string& name) { return meaning_of(name).meaning == Meaning::kCount; });
  }

  std::string port(std::optional<std::size_t> column, const std::vector<std::string>& fields) const {
    return column && *column < fields.size() ? fields[*column] : std::string();
  }
  bool has_both_ports(const std::vector<std::string>& fields) const {
    return !port(heading_->from_port, fields).empty() && !port(heading_->to_port, fields).empty();
  }

  // Is this row a cable that stands further above? Where ports are told, two cables differ in them.
  bool find_ports(const ImportedLink& link, const std::vector<std::string>& fields) {
    if (has_both_ports(fields))
      return ends_.find(graph_, link, port(heading_->from_port, fields), port(heading_->to_port, fields));
    if (!heading_->ports) return false;
    std::string row;
    for (const std::string& field : fields) row += field + '\n';
    const auto [other, added] = rows_.try_emplace(std::move(row), lines_.line());
    if (added) return false;
    lines_.fail(fmt::format("the same cable as in line {}, at the same ports; leave one out", other->second));
  }

  void read_link() {
    const std::vector<std::string_view>& words = lines_.words();
    if (words.size() < 2 || words.size() > 5) {
      const bool heading =
          graph_.links.empty() && words.size() > 5 && std::none_of(words.begin(), words.end(), has_unit);
      lines_.fail_expecting(heading ? fmt::format("{}; {}", kForm, kHeadingForm) : kForm);
    }
    ImportedLink link;
    link.line = lines_.line();
    link.from = node(words[0]);
    link.to = node(words[1]);
    const bool no_attributes = words.size() == 3 && words[2] == "{}";  // as networkx writes it
    if (words.size() > 2 && !no_attributes) {
      if (!has_unit(words[2])) {
        // A word on the first line is rather meant for a heading.
        const bool heading =
            graph_.links.empty() && !std::isdigit(static_cast<unsigned char>(words[2].front()));
        lines_.fail(fmt::format(
            "found '{}' where a rate like 400Gbps is expected; {}", shortened(words[2]),
            heading ? kHeadingForm : "weights and other attributes are not read: leave them out"));
      }
      value("rate", words[2], [&](std::string_view text) { set_rates(link, text); });
    }
    if (words.size() > 3) {
      if (!has_unit(words[3])) {
        lines_.fail(fmt::format("found '{}' where a latency like 500ns is expected", shortened(words[3])));
      }
      link.latency =
          value("latency", words[3], [](std::string_view text) { return time_attribute(text, Time::ns(1)); });
    }
    if (words.size() > 4) {
      const std::string loss = std::string(words[4]) + (lines_.ends_with_percent() ? "%" : "");
      link.loss = value("loss", loss, loss_attribute);
    }
    graph_.links.push_back(link);
  }

  std::uint32_t node(std::string_view name) {
    const auto [found, added] =
        numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(graph_.nodes.size()));
    if (added) graph_.nodes.push_back({.name = std::string(name), .line = lines_.line()});
    return found->second;
  }

  Lines lines_;
  LinkValues values_;
  std::optional<Heading> heading_;
  ImportedGraph graph_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  BothEnds ends_;
  std::unordered_map<std::string, std::int64_t> rows_;  // of tables with ports, and their lines
};

}  // namespace

ImportedGraph read_edges(std::string_view text, const std::string& file,
                         const std::vector<std::string>& ignored) {
  return EdgeList(text, file, ignored).read();
}

}  // namespace weft::topologies
