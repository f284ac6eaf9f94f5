#include "sim/routing/parts/user_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/routing/table/switch_links.h"
#include "sim/units/input_error.h"

namespace weft::routing {

using topologies::NodeKind;
using topologies::Topology;
using topologies::Vertex;

class UserTables::Check {
 public:
  explicit Check(const UserTables& tables)
      : tables_(tables),
        mark_(tables.topology_.switches()),
        told_(tables.topology_.switches()),
        any_(tables.topology_.switches()) {}

  // False: packets to the host can come round in a circle.
  bool run(std::uint32_t host) {
    std::ranges::fill(mark_, kNew);
    host_ = host;
    open_.clear();
    circle_.clear();
    for (std::uint32_t s = 0; s < mark_.size(); ++s) {
      if (!tables_.destinations_.is_source(s) || mark_[s] != kNew) continue;
      open(s);
      while (!open_.empty()) {
        if (!go_on()) return false;
      }
    }
    return true;
  }
  // After run(), of a switch with hosts: the file says the whole way from there.
  bool told(std::uint32_t s) const { return told_[s]; }
  // It says something of it.
  bool told_in_part(std::uint32_t s) const { return any_[s]; }
  // That run() has found.
  std::string circle() const {
    std::string text;
    for (const std::uint32_t s : circle_) {
      text += (text.empty() ? "" : " -> ") + tables_.topology_.node(tables_.topology_.switch_at(s)).name;
    }
    return text;
  }

 private:
  enum Mark : std::uint8_t { kNew, kOpen, kDone };
  struct Visit {
    std::uint32_t s = 0;
    std::vector<std::uint32_t> next;  // switches still to look at
  };

  void open(std::uint32_t s) {
    mark_[s] = kOpen;
    Visit& visit = open_.emplace_back();
    visit.s = s;
    const auto ends = tables_.destinations_.switches(tables_.destinations_.of(host_));
    told_[s] = std::ranges::binary_search(ends, s);
    any_[s] = false;
    if (told_[s]) return;
    const Topology& topology = tables_.topology_;
    const auto add = [&](std::uint32_t channel) {
      visit.next.push_back(topology.node(topology.channels()[channel].to).index);
    };
    const auto given = tables_.next(s, host_);
    told_[s] = any_[s] = !given.empty();
    for (const Next& next : given) add(next.channel);
    if (!given.empty()) return;
    const Candidates shortest = tables_.table_->candidates(topology.switch_at(s), host_);
    for (const std::uint32_t c : shortest) add(c);
  }
  // What is said of the way from a switch is of that from one before it.
  void add(std::uint32_t behind, std::uint32_t s) {
    told_[s] = told_[s] && told_[behind];
    any_[s] = any_[s] || any_[behind];
  }
  bool go_on() {
    Visit& visit = open_.back();
    const std::uint32_t s = visit.s;
    if (visit.next.empty()) {
      mark_[s] = kDone;
      open_.pop_back();
      if (!open_.empty()) add(s, open_.back().s);
      return true;
    }
    const std::uint32_t to = visit.next.back();
    visit.next.pop_back();
    if (mark_[to] == kNew) {
      open(to);
    } else if (mark_[to] == kDone) {
      add(to, s);
    } else {
      const auto first = std::ranges::find(open_, to, &Visit::s);
      for (auto at = first; at != open_.end(); ++at) circle_.push_back(at->s);
      circle_.push_back(to);
      return false;
    }
    return true;
  }

  const UserTables& tables_;
  std::uint32_t host_ = 0;
  std::vector<Mark> mark_;        // by switch
  std::vector<bool> told_, any_;  // by switch: so far
  std::vector<Visit> open_;       // the way that the search has come
  std::vector<std::uint32_t> circle_;
};

UserTables::UserTables(const PlanSetup& setup)
    : topology_(setup.topology),
      destinations_(setup.topology, {}),
      table_(&setup.table),
      rows_(setup.topology.switches()) {
  RouteFile file(setup.parameters, topology_);
  read(file);
  check(setup.parameters.file("file"));
}

void UserTables::read(RouteFile& file) {
  std::map<std::pair<std::uint32_t, Vertex>, std::uint32_t> known;
  while (file.next()) {
    const auto& words = file.words();
    const auto is_switch = [&](Vertex v) { return topology_.node(v).kind == NodeKind::kSwitch; };
    if (words.size() < 3 || !is_switch(words[0].node) || words[0].weight != 0 || words[1].weight != 0) {
      file.fail_expecting("a switch, a destination, and the switches that are next, like 's0 h5 s2 s3=2'");
    }
    const std::uint32_t s = topology_.node(words[0].node).index;
    const auto [found, is_new] = known.emplace(std::pair(s, words[1].node), 0);
    if (!is_new) {
      file.fail(fmt::format("line {} already says where {} sends packets to {}", lines_[found->second].number,
                            file.name(words[0].node), file.name(words[1].node)));
    }
    found->second = add_line(file, s);
  }
  if (known.empty()) throw InputError({.file = file.at().file}, "there is no line in this file");
  // Lines for hosts go before those for switches.
  for (const bool of_switches : {true, false}) {
    for (const auto& [key, line] : known) {
      const auto& [s, destination] = key;
      if ((topology_.node(destination).kind == NodeKind::kSwitch) != of_switches) continue;
      if (!of_switches) {
        set(s, topology_.node(destination).index, line);
        continue;
      }
      for (const std::uint32_t c : topology_.out_channels(destination)) {
        const topologies::Node& end = topology_.node(topology_.channels()[c].to);
        if (end.kind == NodeKind::kHost && !destinations_.ends_at(s, destinations_.of(end.index))) {
          set(s, end.index, line);
        }
      }
    }
  }
}

void UserTables::set(std::uint32_t s, std::uint32_t host, std::uint32_t line) {
  if (rows_[s].empty()) rows_[s].resize(topology_.hosts());
  rows_[s][host] = line;
}

// The line that the file is at, of this switch.
std::uint32_t UserTables::add_line(const RouteFile& file, std::uint32_t s) {
  const auto& words = file.words();
  const topologies::Node& destination = topology_.node(words[1].node);
  const bool is_here = destination.kind == NodeKind::kHost
                           ? destinations_.ends_at(s, destinations_.of(destination.index))
                           : words[1].node == words[0].node;
  if (is_here) {
    file.fail(fmt::format("{} is at {} already: its own cable is the way", destination.name,
                          file.name(words[0].node)));
  }
  double sum = 0;
  std::vector<std::pair<Next, double>> parts;
  const auto out = topology_.out_channels(words[0].node);
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t before = parts.size();
    for (std::uint32_t port = 0; port < out.size(); ++port) {
      if (topology_.channels()[out[port]].to == words[i].node) parts.push_back({{out[port], port}, 0});
    }
    if (topology_.node(words[i].node).kind != NodeKind::kSwitch || parts.size() == before) {
      file.fail(fmt::format("{} is no switch that {} is linked to", file.name(words[i].node),
                            file.name(words[0].node)));
    }
    const double weight = words[i].weight == 0 ? 1 : words[i].weight;
    for (std::size_t k = before; k < parts.size(); ++k) {
      parts[k].second = weight / static_cast<double>(parts.size() - before);
    }
    sum += weight;
  }
  const Line line{static_cast<std::uint32_t>(next_.size()), static_cast<std::uint32_t>(parts.size()),
                  file.at().line};
  double up_to = 0;
  for (auto& [next, weight] : parts) {
    up_to += weight / sum;
    next.up_to = static_cast<std::uint64_t>(up_to * 4294967296.0 + 0.5);
    next_.push_back(next);
  }
  next_.back().up_to = std::uint64_t{1} << 32;
  lines_.push_back(line);
  return static_cast<std::uint32_t>(lines_.size() - 1);
}

std::vector<std::vector<std::uint32_t>> UserTables::groups() const {
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> known;
  std::vector<std::uint32_t> key;
  for (std::uint32_t host = 0; host < topology_.hosts(); ++host) {
    key.assign(1, destinations_.of(host));
    for (const std::vector<std::uint32_t>& row : rows_) {
      if (!row.empty()) key.push_back(row[host]);
    }
    known[key].push_back(host);
  }
  std::vector<std::vector<std::uint32_t>> groups;
  for (auto& [same, hosts] : known) groups.push_back(std::move(hosts));
  return groups;
}

void UserTables::check(const std::string& file) {
  Check check(*this);
  double all = 0, told = 0, in_part = 0;
  for (const std::vector<std::uint32_t>& hosts : groups()) {
    if (!check.run(hosts.front())) {
      throw InputError({.file = file},
                       fmt::format("packets to {} would go in a circle: {}",
                                   topology_.node(topology_.host(hosts.front())).name, check.circle()));
    }
    const auto ends = destinations_.switches(destinations_.of(hosts.front()));
    for (std::uint32_t d = 0; d < destinations_.size(); ++d) {
      const auto begins = destinations_.switches(d);
      const auto is_end = [&](std::uint32_t s) { return std::ranges::binary_search(ends, s); };
      if (begins.empty() || std::ranges::any_of(begins, is_end)) continue;
      const double pairs = static_cast<double>(destinations_.hosts(d)) * static_cast<double>(hosts.size());
      all += pairs;
      if (std::ranges::all_of(begins, [&](std::uint32_t s) { return check.told(s); })) told += pairs;
      if (std::ranges::any_of(begins, [&](std::uint32_t s) { return check.told_in_part(s); }))
        in_part += pairs;
    }
  }
  if (all == 0) return;
  told_ = told / all;
  told_in_part_ = in_part / all;
}

void UserTables::forget(std::span<const std::uint32_t> hosts) {
  for (std::vector<std::uint32_t>& row : rows_) {
    if (row.empty()) continue;
    for (const std::uint32_t host : hosts) row[host] = 0;
  }
}

void UserTables::leave_out(const std::vector<bool>& down_links, const RoutingTable& table) {
  table_ = &table;
  std::vector<bool> is_lost(lines_.size());
  std::vector<Next> left;
  for (std::uint32_t i = 1; i < lines_.size(); ++i) {
    Line& line = lines_[i];
    const auto first = static_cast<std::uint32_t>(left.size());
    std::uint64_t before = 0, sum = 0;
    for (const Next& next : this->line(i)) {
      const std::uint64_t odds = next.up_to - before;
      before = next.up_to;
      if (is_down(down_links, next.channel)) continue;
      sum += odds;
      left.push_back({next.channel, next.port, sum});
    }
    line.first = first;
    line.count = static_cast<std::uint32_t>(left.size()) - first;
    is_lost[i] = sum == 0;
    if (is_lost[i]) continue;
    for (std::uint32_t k = first; k < left.size(); ++k) {
      left[k].up_to = static_cast<std::uint64_t>((static_cast<unsigned __int128>(left[k].up_to) << 32) / sum);
    }
  }
  next_ = std::move(left);
  Check check(*this);
  for (const std::vector<std::uint32_t>& hosts : groups()) {
    const bool loses = std::ranges::any_of(rows_, [&](const std::vector<std::uint32_t>& row) {
      return !row.empty() && is_lost[row[hosts.front()]];
    });
    if (loses || !check.run(hosts.front())) forget(hosts);
  }
}

}  // namespace weft::routing
