#include "topologies/slurm/tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/units/did_you_mean.h"
#include "sim/units/input_error.h"
#include "sim/units/module.h"

namespace weft::topologies {
namespace {

constexpr std::uint32_t kNowhere = UINT32_MAX;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 28;  // a second or so

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "n2" before "n10".
bool before_by_number(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto digits = [](const std::string& text, std::size_t& at) {
      std::size_t end = at;
      while (end < text.size() && is_digit(text[end])) ++end;
      while (at + 1 < end && text[at] == '0') ++at;
      const std::string_view number = std::string_view(text).substr(at, end - at);
      at = end;
      return number;
    };
    const std::string_view left = digits(a, i), right = digits(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

class Resolver {
 public:
  Resolver(const SlurmTopology& read, const std::function<bool(const std::string&)>& wanted)
      : read_(read), list_(read.switches) {
    number_hosts(wanted);
    if (read_.has_blocks) join_blocks();
    number_switches();
    link();
    order();
    place_hosts();
  }

  SlurmTree tree() {
    drop_empty();
    find_tiers();
    find_groups();
    return std::move(tree_);
  }

 private:
  [[noreturn]] void fail(std::int64_t line, const std::string& message) const {
    throw InputError({.file = read_.file, .line = line}, message);
  }

  void number_hosts(const std::function<bool(const std::string&)>& wanted) {
    std::set<std::string> names;
    for (const SlurmSwitch& each : list_) {
      for (const std::string& node : each.nodes) {
        if (wanted(node)) names.insert(node);
      }
    }
    tree_.hosts.assign(names.begin(), names.end());
    std::sort(tree_.hosts.begin(), tree_.hosts.end(), before_by_number);
    for (std::uint32_t h = 0; h < tree_.hosts.size(); ++h) host_[tree_.hosts[h]] = h;
  }

  // Contiguous blocks, as many as a level's size is of the one before, are one of that level.
  void join_blocks() {
    std::vector<std::uint64_t> sizes = read_.block_sizes;
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    std::vector<std::string> level;
    for (const SlurmSwitch& block : list_) level.push_back(block.name);
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      const std::uint64_t ratio = sizes[i] / sizes[i - 1];
      if (sizes[i] % sizes[i - 1] != 0 || (ratio & (ratio - 1)) != 0) {
        fail(read_.block_sizes_line,
             fmt::format("a block size is {}, but it must be the one before, {}, times a power of two",
                         sizes[i], sizes[i - 1]));
      }
      if (level.size() > 1) level = joined(level, ratio);
    }
    if (level.size() > 1) list_.push_back({.name = "top", .line = 0, .nodes = {}, .switches = level});
  }

  std::vector<std::string> joined(const std::vector<std::string>& level, std::uint64_t ratio) {
    std::vector<std::string> above;
    for (std::size_t at = 0; at < level.size();) {
      const std::size_t end = at + std::min<std::uint64_t>(ratio, level.size() - at);
      above.push_back(fmt::format("{} … {}", level[at], level[end - 1]));
      list_.push_back({.name = above.back(),
                       .line = 0,
                       .nodes = {},
                       .switches = {level.begin() + static_cast<std::ptrdiff_t>(at),
                                    level.begin() + static_cast<std::ptrdiff_t>(end)}});
      at = end;
    }
    return above;
  }

  void number_switches() {
    for (std::uint32_t s = 0; s < list_.size(); ++s) {
      const auto [first, added] = place_.emplace(list_[s].name, s);
      if (!added) {
        fail(list_[s].line, fmt::format("'{}' is defined again; the first is in line {}", list_[s].name,
                                        list_[first->second].line));
      }
      if (host_.contains(list_[s].name)) {
        fail(list_[s].line, fmt::format("'{}' is the name of a switch and of a node", list_[s].name));
      }
    }
  }

  void link() {
    children_.resize(list_.size());
    for (std::uint32_t s = 0; s < list_.size(); ++s) {
      for (const std::string& name : list_[s].switches) {
        const auto child = place_.find(name);
        if (child == place_.end()) fail_unknown_switch(list_[s], name);
        children_[s].push_back(child->second);
      }
      std::vector<std::uint32_t> sorted = children_[s];
      std::sort(sorted.begin(), sorted.end());
      const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
      if (twice != sorted.end()) {
        fail(list_[s].line, fmt::format("'{}' lists '{}' twice", list_[s].name, list_[*twice].name));
      }
    }
  }

  [[noreturn]] void fail_unknown_switch(const SlurmSwitch& parent, const std::string& name) const {
    std::vector<std::string> known;
    constexpr std::size_t kMostCompared = 10000;
    for (std::size_t s = 0; s < list_.size() && s < kMostCompared; ++s) known.push_back(list_[s].name);
    fail(parent.line, fmt::format("'{}' is to be above the switch '{}', which the file doesn't define{}",
                                  parent.name, name, did_you_mean(name, known)));
  }

  // Children before parents.
  void order() {
    std::vector<std::uint32_t> waits(list_.size(), 0);
    std::vector<std::vector<std::uint32_t>> parents(list_.size());
    for (std::uint32_t s = 0; s < list_.size(); ++s) {
      waits[s] = static_cast<std::uint32_t>(children_[s].size());
      for (const std::uint32_t child : children_[s]) parents[child].push_back(s);
      if (waits[s] == 0) order_.push_back(s);
    }
    for (std::size_t at = 0; at < order_.size(); ++at) {
      for (const std::uint32_t parent : parents[order_[at]]) {
        if (--waits[parent] == 0) order_.push_back(parent);
      }
    }
    for (std::uint32_t s = 0; s < list_.size() && order_.size() < list_.size(); ++s) {
      if (waits[s] > 0) {
        fail(list_[s].line, fmt::format("'{}' is above or below a circle of switches", list_[s].name));
      }
    }
  }

  // On a switch hang the nodes that it lists and none below it does.
  void place_hosts() {
    hanging_.resize(list_.size());
    std::vector<std::uint32_t> host_seen(tree_.hosts.size(), kNowhere), seen(list_.size(), kNowhere);
    for (const std::uint32_t s : order_) {
      std::vector<std::uint32_t> below;
      if (!list_[s].nodes.empty()) below = children_[s];
      for (std::size_t at = 0; at < below.size(); ++at) {
        const std::uint32_t child = below[at];
        if (seen[child] == s) continue;
        seen[child] = s;
        steps_ += 1 + hanging_[child].size() + children_[child].size();
        if (steps_ > kMostSteps)
          fail(list_[s].line, "too many nodes are listed by too many switches above them");
        for (const std::uint32_t host : hanging_[child]) host_seen[host] = s;
        below.insert(below.end(), children_[child].begin(), children_[child].end());
      }
      for (const std::string& node : list_[s].nodes) {
        const auto host = host_.find(node);
        if (host == host_.end() || std::exchange(host_seen[host->second], s) == s) continue;
        hanging_[s].push_back(host->second);
      }
      std::sort(hanging_[s].begin(), hanging_[s].end());
    }
  }

  void drop_empty() {
    std::vector<std::uint32_t> kept(list_.size(), kNowhere);
    std::vector<std::uint8_t> leaves(tree_.hosts.size(), 0);
    for (const std::uint32_t s : order_) {
      TreeSwitch made{.name = list_[s].name, .hosts = hanging_[s], .children = {}, .parents = {}};
      for (const std::uint32_t child : children_[s]) {
        if (kept[child] != kNowhere) made.children.push_back(kept[child]);
      }
      if (made.hosts.empty() && made.children.empty()) {
        ++tree_.empty_switches;
        continue;
      }
      kept[s] = static_cast<std::uint32_t>(tree_.switches.size());
      for (const std::uint32_t child : made.children) tree_.switches[child].parents.push_back(kept[s]);
      for (const std::uint32_t host : made.hosts) tree_.several_leaves += ++leaves[host] == 2;
      tree_.switches.push_back(std::move(made));
    }
    for (std::uint32_t s = 0; s < tree_.switches.size(); ++s) {
      if (tree_.switches[s].parents.empty()) tree_.tops.push_back(s);
    }
  }

  void find_tiers() {
    for (TreeSwitch& each : tree_.switches) {
      std::uint32_t tier = 1;
      for (const std::uint32_t child : each.children) tier = std::max(tier, tree_.switches[child].tier + 1u);
      if (tier > UINT8_MAX) fail(0, fmt::format("'{}' stands on more than {} levels", each.name, UINT8_MAX));
      each.tier = static_cast<std::uint8_t>(tier);
    }
  }

  // From the tops down: what is below one top, or the children of a single one, are the groups.
  void find_groups() {
    std::vector<std::uint32_t> group(tree_.switches.size(), kNowhere);
    std::uint32_t next = 0;
    const bool one_top = tree_.tops.size() == 1;
    for (std::uint32_t s = 0; s < tree_.switches.size(); ++s) {
      const std::vector<std::uint32_t>& parents = tree_.switches[s].parents;
      const bool below_top = one_top && std::count(parents.begin(), parents.end(), tree_.tops[0]) > 0;
      if (one_top ? below_top : parents.empty()) group[s] = next++;
    }
    for (std::uint32_t s = static_cast<std::uint32_t>(tree_.switches.size()); s-- > 0;) {
      if (group[s] == kNowhere) group[s] = next++;
      tree_.switches[s].group = group[s];
      for (const std::uint32_t child : tree_.switches[s].children) {
        if (group[child] == kNowhere && !(one_top && s == tree_.tops[0])) group[child] = group[s];
      }
    }
  }

  const SlurmTopology& read_;
  std::vector<SlurmSwitch> list_;
  std::unordered_map<std::string, std::uint32_t> host_, place_;
  std::vector<std::vector<std::uint32_t>> children_, hanging_;
  std::vector<std::uint32_t> order_;
  std::uint64_t steps_ = 0;
  SlurmTree tree_;
};

}  // namespace

SlurmTree resolve_tree(const SlurmTopology& read, const std::function<bool(const std::string&)>& wanted) {
  return Resolver(read, wanted).tree();
}

}  // namespace weft::topologies
