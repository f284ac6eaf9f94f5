#include "topologies/import/node_kinds.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/units/input_error.h"
#include "topologies/import/lines.h"

namespace weft::topologies {
namespace {

// Words that names of hosts and of switches are made of, with a number: node0001, gpu-3, leaf0.
constexpr std::array<std::string_view, 28> kHostWords = {
    "h",       "host",   "node",   "gpu",      "npu",         "tpu",      "xpu", "cpu", "server", "srv",
    "compute", "worker", "client", "machine",  "accelerator", "acc",      "n",   "nid", "cn",     "dgx",
    "hgx",     "pc",     "nic",    "endpoint", "endhost",     "terminal", "hca", "vm"};
constexpr std::array<std::string_view, 26> kSwitchWords = {
    "s",      "sw",     "switch", "swi",  "leaf",        "spine", "superspine", "tor", "core",
    "agg",    "edge",   "router", "rtr",  "aggregation", "root",  "pod",        "hub", "bridge",
    "access", "border", "fabric", "nvsw", "nvswitch",    "lf",    "sp",         "hr"};

// What a name has in letters, and in digits. Domain names end at the first dot.
struct NameParts {
  std::vector<std::string> words;
  std::vector<std::uint64_t> numbers;
};

NameParts name_parts(std::string_view name) {
  NameParts parts;
  if (const std::size_t dot = name.find('.'); dot != 0) name = name.substr(0, dot);
  for (std::size_t at = 0; at < name.size();) {
    const auto is = [&](std::size_t i, int (*of)(int)) {
      return of(static_cast<unsigned char>(name[i])) != 0;
    };
    std::size_t end = at + 1;
    if (is(at, std::isdigit)) {
      while (end < name.size() && is(end, std::isdigit)) ++end;
      const std::optional<std::uint64_t> number = whole_number(name.substr(at, end - at));
      parts.numbers.push_back(number ? *number : UINT64_MAX);
    } else if (is(at, std::isalpha)) {
      while (end < name.size() && is(end, std::isalpha)) ++end;
      parts.words.push_back(lower_case(name.substr(at, end - at)));
    }
    at = end;
  }
  return parts;
}

enum class Told : std::uint8_t { kNothing, kHost, kSwitch };

// The last word that tells: pod1-server2 is a server, c1-0c0s1n2 a node, and rack1-sw2 a switch. Without a
// number, short words are names.
Told told_by(const NameParts& parts) {
  constexpr std::size_t kShort = 3;
  for (std::size_t i = parts.words.size(); i-- > 0;) {
    const std::string& word = parts.words[i];
    if (parts.numbers.empty() && word.size() < kShort) continue;
    if (is_host_word(word)) return parts.numbers.empty() ? Told::kNothing : Told::kHost;
    if (is_switch_word(word)) return Told::kSwitch;
  }
  return Told::kNothing;
}

// h3, s3, hr3 and 3: names that are ours, whose meaning is no guess.
bool is_own_name(const NameParts& parts, std::string_view name) {
  if (parts.numbers.size() != 1 || parts.words.size() > 1) return false;
  const std::string_view word = parts.words.empty() ? std::string_view() : std::string_view(parts.words[0]);
  const bool known = word.empty() || word == "h" || word == "s" || word == "hr";
  return known && name.starts_with(word) && whole_number(name.substr(word.size())).has_value();
}

class Kinds {
 public:
  Kinds(ImportedGraph& graph, const std::string& pattern) : graph_(graph) {
    degree_.assign(graph.nodes.size(), 0);
    for (const ImportedLink& link : graph.links) ++degree_[link.from], ++degree_[link.to];
    for (const ImportedNode& node : graph.nodes) {
      parts_.push_back(name_parts(node.name));
      told_.push_back(told_by(parts_.back()));
    }
    if (!pattern.empty()) {
      by_pattern(pattern);
    } else if (!by_name()) {
      by_degree();
    }
    finish();
    order_by_number();
  }

 private:
  bool is_own(std::size_t node) const { return is_own_name(parts_[node], graph_.nodes[node].name); }
  std::size_t hosts() const { return static_cast<std::size_t>(std::count(host_.begin(), host_.end(), true)); }
  std::size_t first_host() const {
    return static_cast<std::size_t>(std::find(host_.begin(), host_.end(), true) - host_.begin());
  }

  void by_pattern(const std::string& pattern) {
    for (const ImportedNode& node : graph_.nodes) {
      host_.push_back(fnmatch(pattern.c_str(), node.name.c_str(), 0) == 0);
    }
    if (hosts() > 0) return;
    throw InputError(fmt::format("'{}' matches no node of {}, which are called like '{}'", pattern,
                                 graph_.file, shortened(graph_.nodes[0].name)));
  }

  // Whether names tell hosts from switches: those of hosts that would be linked to each other don't, unless
  // they are ours.
  bool by_name() {
    const auto name_of_host = [&](std::size_t n, bool ours) {
      return told_[n] == Told::kHost && (!ours || is_own(n));
    };
    for (const bool ours : {false, true}) {
      host_.clear();
      for (std::size_t n = 0; n < told_.size(); ++n) host_.push_back(name_of_host(n, ours));
      const bool joined =
          std::any_of(graph_.links.begin(), graph_.links.end(),
                      [&](const ImportedLink& link) { return host_[link.from] && host_[link.to]; });
      if (hosts() > 0 && (ours || (!joined && hosts() < host_.size()))) {
        note_names();
        add_dead_ends();
        return true;
      }
    }
    return false;
  }

  void note_names() {
    for (std::size_t n = 0; n < host_.size(); ++n) {
      if (!host_[n] || is_own(n)) continue;
      graph_.assumed.push_back(
          fmt::format("{} nodes are taken for hosts by their names, like '{}' (graph_file:hosts=PATTERN says "
                      "which are)",
                      hosts(), shortened(graph_.nodes[n].name)));
      return;
    }
  }

  // Where there are hosts, a switch with one link would serve nobody.
  void add_dead_ends() {
    std::size_t added = 0, example = 0;
    std::vector<bool> beside_host(host_.size());
    for (const ImportedLink& link : graph_.links) {
      if (host_[link.from]) beside_host[link.to] = true;
      if (host_[link.to]) beside_host[link.from] = true;
    }
    for (std::size_t n = 0; n < host_.size(); ++n) {
      if (host_[n] || degree_[n] != 1 || told_[n] == Told::kSwitch || is_own(n) || beside_host[n]) continue;
      host_[n] = true;
      if (added++ == 0) example = n;
    }
    if (added == 0) return;
    graph_.assumed.push_back(fmt::format("{} more with a single link, like '{}', {} taken for {} too", added,
                                         shortened(graph_.nodes[example].name), added == 1 ? "is" : "are",
                                         added == 1 ? "a host" : "hosts"));
  }

  // Where most nodes hang by one link, those are what the others are there for.
  void by_degree() {
    constexpr std::size_t kFewest = 3;
    const bool tiers = std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                                   [](const ImportedNode& node) { return node.tier.has_value(); });
    host_.clear();
    for (std::size_t n = 0; n < degree_.size(); ++n) {
      host_.push_back(degree_[n] == 1 && told_[n] != Told::kSwitch && !is_own(n) && !graph_.nodes[n].in_host);
    }
    const std::size_t leaves = hosts();
    const bool joined = std::any_of(graph_.links.begin(), graph_.links.end(), [&](const ImportedLink& link) {
      return host_[link.from] && host_[link.to];
    });
    if (joined || tiers || leaves < kFewest || 2 * leaves <= host_.size()) {
      host_.assign(host_.size(), false);
      return;
    }
    graph_.assumed.push_back(
        fmt::format("the {} nodes with a single link, like '{}', are taken for hosts "
                    "(graph_file:hosts=PATTERN says which are, hosts=1 puts one on each node)",
                    leaves, shortened(graph_.nodes[first_host()].name)));
  }

  void finish() {
    for (std::size_t n = 0; n < host_.size(); ++n) {
      ImportedNode& node = graph_.nodes[n];
      if (!host_[n] && is_own(n) && parts_[n].words == std::vector<std::string>{"hr"}) node.in_host = true;
      node.kind = host_[n] ? NodeKind::kHost : NodeKind::kSwitch;
    }
  }

  // Hosts by the numbers in their names, and so switches if all have names of ours; else these stay as they
  // come.
  void order_by_number() {
    const std::size_t size = graph_.nodes.size();
    bool own_switches = true;
    for (std::size_t n = 0; n < size; ++n) own_switches = own_switches && (host_[n] || is_own(n));
    std::vector<std::uint32_t> order(size), place(size);
    std::iota(order.begin(), order.end(), 0u);
    const std::vector<std::uint64_t> none;
    const auto numbers = [&](std::uint32_t n) -> const std::vector<std::uint64_t>& {
      return host_[n] || own_switches ? parts_[n].numbers : none;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (host_[a] != host_[b]) return static_cast<bool>(host_[a]);
      return numbers(a) < numbers(b);
    });
    std::vector<ImportedNode> nodes;
    nodes.reserve(size);
    for (std::uint32_t i = 0; i < size; ++i) {
      place[order[i]] = i;
      nodes.push_back(std::move(graph_.nodes[order[i]]));
    }
    graph_.nodes = std::move(nodes);
    for (ImportedLink& link : graph_.links) {
      link.from = place[link.from];
      link.to = place[link.to];
    }
  }

  ImportedGraph& graph_;
  std::vector<std::uint32_t> degree_;
  std::vector<NameParts> parts_;
  std::vector<Told> told_;
  std::vector<bool> host_;
};

// Where some nodes say what they are.
void take_rest_for_switches(ImportedGraph& graph) {
  std::uint64_t rest = 0;
  std::string example;
  for (ImportedNode& node : graph.nodes) {
    if (node.kind) continue;
    node.kind = NodeKind::kSwitch;
    if (rest++ == 0) example = shortened(node.name);
  }
  if (rest == 0) return;
  graph.assumed.push_back(fmt::format(
      "{} of {} nodes don't say what they are, like '{}', and are taken for switches, as others do", rest,
      graph.nodes.size(), example));
}

}  // namespace

bool is_host_word(std::string_view word) {
  return std::find(kHostWords.begin(), kHostWords.end(), word) != kHostWords.end();
}

bool is_switch_word(std::string_view word) {
  return std::find(kSwitchWords.begin(), kSwitchWords.end(), word) != kSwitchWords.end();
}

std::uint32_t find_kinds(ImportedGraph& graph, const std::string& pattern) {
  const bool given = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                 [](const ImportedNode& node) { return node.kind.has_value(); });
  if (given && !pattern.empty()) {
    throw InputError(fmt::format("'{}' is a pattern of hosts' names, but {} says itself what is a host",
                                 pattern, graph.file));
  }
  if (!given) {
    Kinds(graph, pattern);
  } else {
    take_rest_for_switches(graph);
  }
  return static_cast<std::uint32_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [](const ImportedNode& node) { return node.kind == NodeKind::kHost; }));
}

}  // namespace weft::topologies
