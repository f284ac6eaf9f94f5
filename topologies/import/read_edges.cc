#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>
#include <utility>

#include "topologies/import/attributes.h"
#include "topologies/import/lines.h"
#include "topologies/import/readers.h"

namespace weft::topologies {
namespace {

constexpr const char* kForm =
    "'from to', 'from to rate', 'from to rate latency' or 'from to rate latency loss'";

// The first line of a CSV file that names its columns.
bool is_header(const std::vector<std::string_view>& words) {
  if (words.size() < 2) return false;
  const std::pair<std::string, std::string> ends = {lower_case(words[0]), lower_case(words[1])};
  return ends == std::pair<std::string, std::string>("from", "to") ||
         ends == std::pair<std::string, std::string>("source", "target") ||
         ends == std::pair<std::string, std::string>("src", "dst");
}

bool has_unit(std::string_view word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0 &&
         std::isalpha(static_cast<unsigned char>(word.back())) != 0;
}

// Lists from undirected graphs often have every link twice, once for each direction: that would be two
// cables.
void refuse_both_directions(const ImportedGraph& graph) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> directed;
  for (const ImportedLink& link : graph.links) ++directed[{link.from, link.to}];
  for (const auto& [ends, count] : directed) {
    const auto back = directed.find({ends.second, ends.first});
    if (back == directed.end() || back->second != count) return;
  }
  const ImportedLink& first = graph.links[0];
  throw InputError(
      {graph.file, first.line},
      fmt::format("every link is listed in both directions, like '{0} {1}' and '{1} {0}'; a line "
                  "is a cable for both, so leave one of each pair out",
                  graph.nodes[first.from].name, graph.nodes[first.to].name));
}

class EdgeList {
 public:
  EdgeList(std::string_view text, const std::string& file) : lines_(text, file) { graph_.file = file; }

  ImportedGraph read() {
    for (bool first = true; lines_.next(); first = false) {
      if (first && is_header(lines_.words())) continue;
      read_link();
      if (graph_.links.size() > kMostImportedLinks || graph_.nodes.size() > kMostImportedNodes) {
        lines_.fail(fmt::format("more than {} links or {} nodes", kMostImportedLinks, kMostImportedNodes));
      }
    }
    if (graph_.links.empty()) throw InputError({.file = graph_.file}, "the file has no link");
    refuse_both_directions(graph_);
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

  void read_link() {
    const std::vector<std::string_view>& words = lines_.words();
    if (words.size() < 2 || words.size() > 5) lines_.fail_expecting(kForm);
    ImportedLink link;
    link.line = lines_.line();
    link.from = node(words[0]);
    link.to = node(words[1]);
    const bool no_attributes = words.size() == 3 && words[2] == "{}";  // as networkx writes it
    if (words.size() > 2 && !no_attributes) {
      if (!has_unit(words[2])) {
        lines_.fail(
            fmt::format("found '{}' where a rate like 400Gbps is expected; weights and other "
                        "attributes are not read: leave them out",
                        shortened(words[2])));
      }
      link.rate = value("rate", words[2], rate_attribute);
    }
    if (words.size() > 3) {
      if (!has_unit(words[3])) {
        lines_.fail(fmt::format("found '{}' where a latency like 500ns is expected", shortened(words[3])));
      }
      link.latency =
          value("latency", words[3], [](std::string_view text) { return time_attribute(text, Time::ns(1)); });
    }
    if (words.size() > 4) link.loss = value("loss", words[4], loss_attribute);
    graph_.links.push_back(link);
  }

  std::uint32_t node(std::string_view name) {
    const auto [found, added] =
        numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(graph_.nodes.size()));
    if (added) graph_.nodes.push_back({.name = std::string(name), .line = lines_.line()});
    return found->second;
  }

  Lines lines_;
  ImportedGraph graph_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace

ImportedGraph read_edges(std::string_view text, const std::string& file) {
  return EdgeList(text, file).read();
}

}  // namespace weft::topologies
