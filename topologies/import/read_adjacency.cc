#include <fmt/core.h>

#include <map>
#include <utility>

#include "topologies/import/lines.h"
#include "topologies/import/readers.h"

namespace weft::topologies {
namespace {

using NodePair = std::pair<std::uint32_t, std::uint32_t>;

// What is listed: how often, and where first.
struct Listed {
  std::uint64_t times = 0;
  std::int64_t line = 0;
};

// Two numbers of the first line, checked.
std::pair<std::uint64_t, std::uint64_t> read_sizes(Lines& lines) {
  if (!lines.next() || lines.words().size() != 2) lines.fail_expecting("the numbers of routers and of links");
  const auto routers = whole_number(lines.words()[0]), links = whole_number(lines.words()[1]);
  if (!routers || !links || *routers == 0 || *routers > kMostImportedNodes || *links > kMostImportedLinks) {
    lines.fail_expecting(fmt::format("the numbers of routers, 1 to {}, and of links, up to {}",
                                     kMostImportedNodes, kMostImportedLinks));
  }
  return {*routers, *links};
}

}  // namespace

ImportedGraph read_adjacency(std::string_view text, const std::string& file,
                             const std::vector<std::string>& /*ignored*/) {
  Lines lines(text, file);
  const auto [routers, links] = read_sizes(lines);
  ImportedGraph graph{.file = file, .nodes = {}, .links = {}};
  std::map<NodePair, Listed> listed;
  std::uint64_t entries = 0;
  while (graph.nodes.size() < routers && lines.next(true)) {
    const auto from = static_cast<std::uint32_t>(graph.nodes.size());
    graph.nodes.push_back({.name = fmt::format("router {}", from), .line = lines.line()});
    for (const std::string_view word : lines.words()) {
      const auto to = whole_number(word);
      if (!to || *to >= routers) {
        lines.fail(
            fmt::format("found '{}', but expected a router from 0 to {}", shortened(word), routers - 1));
      }
      Listed& pair = listed[{from, static_cast<std::uint32_t>(*to)}];
      if (pair.times++ == 0) pair.line = lines.line();
      if (++entries > 2 * links) {
        lines.fail(fmt::format("more neighbours than {} links have, the number in line 1", links));
      }
    }
  }
  if (graph.nodes.size() < routers) {
    lines.fail(fmt::format("the file ends after the lines of {} routers; line 1 promises {}",
                           graph.nodes.size(), routers));
  }
  if (lines.next()) lines.fail_expecting(fmt::format("the end after the lines of {} routers", routers));
  if (entries != links && entries != 2 * links) {
    lines.fail(fmt::format("{} neighbours are listed, but {} links have {} or, listed once, {}", entries,
                           links, 2 * links, links));
  }
  const bool both = entries == 2 * links;
  for (const auto& [ends, here] : listed) {
    const auto [from, to] = ends;
    if (both) {
      const auto back = listed.find({to, from});
      if (back == listed.end() || back->second.times != here.times) {
        throw InputError({file, here.line},
                         fmt::format("router {} lists {}, but {} does not list it as often", from, to, to));
      }
      if (from > to) continue;
    }
    for (std::uint64_t i = 0; i < here.times; ++i) {
      graph.links.push_back({.from = from, .to = to, .line = here.line});
    }
  }
  return graph;
}

}  // namespace weft::topologies
