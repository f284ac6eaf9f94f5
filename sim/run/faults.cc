#include "sim/run/faults.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ranges>
#include <tuple>

#include "sim/scenario/random_links.h"
#include "sim/units/did_you_mean.h"
#include "sim/units/input_error.h"
#include "sim/units/names.h"
#include "sim/units/random.h"

namespace weft::sim {
namespace {

// "fault": the stream of a fault that draws its links.
constexpr std::uint64_t kDrawPurpose = 0x6661756C74;
// More is a period that was mistyped: half a gigabyte.
constexpr std::uint64_t kMostChanges = 16'000'000;

using topologies::NodeKind;
using topologies::Topology;

// What a fault is of: directions of a cable.
struct FaultyLink {
  std::uint32_t link = 0;
  std::uint8_t directions = kBothDirections;
};

// Which links there are, by the names of their ends.
class Links {
 public:
  explicit Links(const Topology& topology) : topology_(topology) {}

  std::uint32_t count() const { return static_cast<std::uint32_t>(topology_.channels().size() / 2); }
  Bandwidth rate(std::uint32_t link) const { return topology_.channels()[2 * link].rate; }
  std::string name(std::uint32_t link) const {
    return fmt::format("{} / {}", node(link, 0).name, node(link, 1).name);
  }

  // All that a fault is of. The field's text is "edge 0.0 / core *", "edge 0.0 -> core *" for one direction,
  // or
  // "*".
  std::vector<FaultyLink> named(const Parameters& fault, const char* field) const {
    const std::string& text = fault.text(field);
    const bool all = text == "*";
    const std::string_view between = text.find("->") != std::string::npos ? "->" : "/";
    const std::size_t cut = text.find(between);
    const std::string a(trim(std::string_view(text).substr(0, cut)));
    const std::string b(cut == std::string::npos ? ""
                                                 : trim(std::string_view(text).substr(cut + between.size())));
    if (!all &&
        (a.empty() || b.empty() || b.find('/') != std::string::npos || b.find("->") != std::string::npos)) {
      fault.fail(field,
                 fmt::format("a link is named by its two ends, like '{}', with * for anything", name(0)));
    }
    const std::vector<bool> at_a = nodes(fault, field, a), at_b = nodes(fault, field, all ? a : b);
    const bool one_way = between == "->";
    const std::vector<FaultyLink> found = select([&](const topologies::Channel& channel) -> std::uint8_t {
      const int there = at_a[channel.from] && at_b[channel.to] ? 1 : 0;
      const int back = at_b[channel.from] && at_a[channel.to] ? 2 : 0;
      if (!one_way) return there + back > 0 ? kBothDirections : 0;
      return static_cast<std::uint8_t>(there + back);
    });
    if (found.empty()) fail_not_linked(fault, field, a);
    return found;
  }

  // All but the only cables of hosts: without theirs, these could do nothing more.
  std::vector<FaultyLink> spared_hosts() const {
    return select([&](const topologies::Channel& channel) -> std::uint8_t {
      return is_only_cable(channel.from) || is_only_cable(channel.to) ? 0 : kBothDirections;
    });
  }

  std::vector<FaultyLink> of_switches(const Parameters& fault) const {
    const std::string& pattern = fault.text("switch");
    const std::vector<bool> chosen = nodes(fault, "switch", pattern);
    const auto is_switch = [&](std::uint32_t v) {
      return chosen[v] && topology_.node(v).kind == NodeKind::kSwitch;
    };
    const std::vector<FaultyLink> found = select([&](const topologies::Channel& channel) -> std::uint8_t {
      return is_switch(channel.from) || is_switch(channel.to) ? kBothDirections : 0;
    });
    if (found.empty())
      fault.fail("switch", fmt::format("that is a host; name its links: link: '{} / *'", pattern));
    return found;
  }

 private:
  bool is_only_cable(std::uint32_t v) const {
    return topology_.node(v).kind == NodeKind::kHost && topology_.out_channels(v).size() == 1;
  }
  const topologies::Node& node(std::uint32_t link, int end) const {
    const topologies::Channel& channel = topology_.channels()[2 * link];
    return topology_.node(end == 0 ? channel.from : channel.to);
  }

  // `wanted`: which directions of a cable, by the first of them.
  template <typename Wanted>
  std::vector<FaultyLink> select(Wanted&& wanted) const {
    std::vector<FaultyLink> found;
    for (std::uint32_t link = 0; link < count(); ++link) {
      const std::uint8_t directions = wanted(topology_.channels()[2 * link]);
      if (directions != 0) found.push_back({link, directions});
    }
    return found;
  }

  // For each vertex, whether its name fits; at least one's does.
  std::vector<bool> nodes(const Parameters& fault, const char* field, const std::string& pattern) const {
    std::vector<bool> chosen(topology_.nodes());
    bool any = false;
    for (std::uint32_t v = 0; v < topology_.nodes(); ++v) {
      chosen[v] = fits(pattern, topology_.node(v).name);
      any = any || chosen[v];
    }
    if (any) return chosen;
    std::vector<std::string> known, examples, stems;
    for (std::uint32_t v = 0; v < topology_.nodes(); ++v) {
      known.push_back(topology_.node(v).name);
      const std::string stem = known.back().substr(0, known.back().find_first_of("0123456789"));
      if (std::find(stems.begin(), stems.end(), stem) != stems.end()) continue;
      stems.push_back(stem);
      examples.push_back(known.back());
    }
    fault.fail(field, fmt::format("nothing here is named '{}'{} (names are like: {})", pattern,
                                  did_you_mean(pattern, known), fmt::join(examples, ", ")));
  }

  [[noreturn]] void fail_not_linked(const Parameters& fault, const char* field, const std::string& a) const {
    std::vector<std::string> others;
    for (std::uint32_t link = 0; link < count(); ++link) {
      for (const int end : {0, 1}) {
        const std::string& other = node(link, 1 - end).name;
        if (node(link, end).name != a) continue;
        if (std::find(others.begin(), others.end(), other) == others.end()) others.push_back(other);
      }
    }
    if (others.size() > 8) {
      others.resize(8);
      others.push_back("…");
    }
    fault.fail(field, fmt::format("that names no link{}",
                                  others.empty()
                                      ? std::string(": no node of the one name is linked to one of the other")
                                      : fmt::format(": '{}' is linked to {}", a, fmt::join(others, ", "))));
  }

  const Topology& topology_;
};

// One fault. It acts from at + n × period to until + n × period, n from 0 to times - 1.
struct Fault {
  Parameters parameters;
  std::vector<FaultyLink> links;
  Time at, until, period;  // until: Time::max() if it lasts to the end
  std::uint64_t times = 1;
  double rate = 0, bit_error_rate = 0;
  bool scales_queue = false;
};

std::vector<FaultyLink> draw(std::vector<FaultyLink> links, const Parameters& fault, RandomStream random) {
  const RandomLinks asked = random_links(fault);
  const std::uint64_t wanted = asked.of(links.size());
  if (wanted == 0 && asked.any() && !links.empty()) {
    fault.fail("random_links",
               fmt::format("of {} links that is less than half of one; the nearest share is one link: "
                           "{:.4g}%",
                           links.size(), 100 / static_cast<double>(links.size())));
  }
  if (wanted > links.size() || (links.empty() && asked.any())) {
    const std::string& between = fault.text("between");
    fault.fail("random_links", fmt::format("only {} links are {}", links.size(),
                                           between == "auto" ? "no host's only one (between=* draws from all)"
                                                             : fmt::format("between '{}'", between)));
  }
  for (std::uint64_t i = 0; i < wanted; ++i) std::swap(links[i], links[i + random.below(links.size() - i)]);
  links.resize(wanted);
  return links;
}

Fault read_fault(const ModuleChoice& choice, const Links& links, RandomStream random) {
  Fault fault;
  fault.parameters = Parameters(fault_section(), choice);
  const Parameters& p = fault.parameters;
  if (!p.text("link").empty()) {
    fault.links = links.named(p, "link");
  } else if (!p.text("switch").empty()) {
    fault.links = links.of_switches(p);
  } else {
    fault.links =
        draw(p.text("between") == "auto" ? links.spared_hosts() : links.named(p, "between"), p, random);
  }
  fault.at = p.time("at");
  fault.until = p.automatic("until") ? Time::max() : p.time("until");
  fault.period = p.time("period");
  fault.times = static_cast<std::uint64_t>(p.integer("times"));
  fault.rate = p.real("rate");
  fault.bit_error_rate = p.real("bit_error_rate");
  fault.scales_queue = p.boolean("scale_queue");
  const auto one_way = [](const FaultyLink& link) { return link.directions != kBothDirections; };
  if (fault.rate == 0 && std::ranges::any_of(fault.links, one_way)) {
    p.fail("rate",
           "a cable is cut in both directions: name it with / in the place of ->, or leave some rate");
  }
  return fault;
}

// A fault of a link, and which directions of it.
struct FaultOfLink {
  std::uint32_t fault = 0;
  std::uint8_t directions = kBothDirections;
};

// The changes of one link: sweeps over the moments at which a fault begins or ends.
class Sweep {
 public:
  explicit Sweep(const std::vector<Fault>& faults) : faults_(faults), acting_(faults.size()) {}

  void run(std::uint32_t link, Bandwidth built, const std::vector<FaultOfLink>& of_link,
           const std::string& name, std::vector<LinkChange>& changes) {
    moments_.clear();
    for (const std::uint32_t f : of_link | std::views::transform(&FaultOfLink::fault)) {
      const Fault& fault = faults_[f];
      for (std::uint64_t i = 0; i < fault.times; ++i) {
        const Time shift = fault.period * static_cast<std::int64_t>(i);
        moments_.push_back({fault.at + shift, f, true});
        if (fault.until != Time::max()) moments_.push_back({fault.until + shift, f, false});
      }
    }
    // An end comes before a beginning of the same moment, so that a fault may follow itself.
    std::sort(moments_.begin(), moments_.end());
    std::array<LinkChange, 2> now;  // by direction
    for (std::size_t i = 0; i < moments_.size();) {
      const Time at = moments_[i].at;
      for (; i < moments_.size() && moments_[i].at == at; ++i)
        acting_[moments_[i].fault] = moments_[i].begins;
      std::array<LinkChange, 2> next;
      for (std::uint8_t d = 0; d < 2; ++d) next[d] = state(link, d, at, built, of_link, name);
      const bool differs[] = {!same(next[0], now[0]), !same(next[1], now[1])};
      if (differs[0] && differs[1] && same(next[0], next[1])) {
        next[0].directions = kBothDirections;
        changes.push_back(next[0]);
      } else {
        for (int d = 0; d < 2; ++d) {
          if (differs[d]) changes.push_back(next[d]);
        }
      }
      now = next;
    }
    for (const FaultOfLink& each : of_link) acting_[each.fault] = false;
  }

 private:
  struct Moment {
    Time at;
    std::uint32_t fault;
    bool begins;
    bool operator<(const Moment& other) const {
      return std::tie(at, begins, fault) < std::tie(other.at, other.begins, other.fault);
    }
  };

  static bool same(const LinkChange& a, const LinkChange& b) {
    return a.rate_share == b.rate_share && a.bit_error_rate == b.bit_error_rate &&
           a.queue_share == b.queue_share;
  }

  // What the acting faults make of a direction together, always reckoned from the start: no rounding is left
  // behind.
  LinkChange state(std::uint32_t link, std::uint8_t direction, Time at, Bandwidth built,
                   const std::vector<FaultOfLink>& of_link, const std::string& name) const {
    const auto bit = static_cast<std::uint8_t>(1 << direction);
    // What is broken from the start is a network that was built so: nobody has to find it out.
    LinkChange state{.at = at, .link = link, .directions = bit, .known = at == Time()};
    const Fault* slowest = nullptr;
    for (const auto& [f, directions] : of_link) {
      if (!acting_[f] || !(directions & bit)) continue;
      state.rate_share *= faults_[f].rate;
      state.bit_error_rate += faults_[f].bit_error_rate;
      if (faults_[f].scales_queue) state.queue_share *= faults_[f].rate;
      if (slowest == nullptr || faults_[f].rate < slowest->rate) slowest = &faults_[f];
    }
    state.bit_error_rate = std::min(state.bit_error_rate, std::nextafter(1.0, 0.0));
    if (slowest == nullptr || slowest->rate == 0) {
      if (slowest != nullptr) state.rate_share = 0, state.bit_error_rate = 0, state.queue_share = 1;
      return state;
    }
    const double rate = static_cast<double>(built.bps()) * state.rate_share;
    if (rate < static_cast<double>(kLeastRate.bps())) {
      slowest->parameters.fail(
          "rate", fmt::format("that leaves {} of the {} of link '{}'; the least is {}, and 0 is down",
                              to_string(Bandwidth::bps(static_cast<std::int64_t>(rate))), to_string(built),
                              name, to_string(kLeastRate)));
    }
    return state;
  }

  const std::vector<Fault>& faults_;
  std::vector<char> acting_;  // at the moment of the sweep, by fault
  std::vector<Moment> moments_;
};

}  // namespace

std::vector<LinkChange> plan_faults(const Scenario& resolved, const Topology& topology) {
  std::vector<LinkChange> changes;
  if (resolved.faults.empty()) return changes;
  const Links links(topology);
  std::vector<Fault> faults;
  std::vector<std::vector<FaultOfLink>> of_link(links.count());
  unsigned __int128 most = 0;
  for (std::uint32_t f = 0; f < resolved.faults.size(); ++f) {
    faults.push_back(read_fault(resolved.faults[f], links, RandomStream(resolved.seed, f, kDrawPurpose)));
    const Fault& fault = faults.back();
    most += static_cast<unsigned __int128>(fault.links.size()) * fault.times * 2;
    if (most > kMostChanges) {
      fault.parameters.fail(
          "times",
          fmt::format("with all faults before it that makes more than {} changes of links", kMostChanges));
    }
    for (const auto& [link, directions] : fault.links) of_link[link].push_back({f, directions});
  }
  Sweep sweep(faults);
  for (std::uint32_t link = 0; link < links.count(); ++link) {
    if (!of_link[link].empty()) sweep.run(link, links.rate(link), of_link[link], links.name(link), changes);
  }
  std::sort(changes.begin(), changes.end(), [](const LinkChange& a, const LinkChange& b) {
    return std::tie(a.at, a.link, a.directions) < std::tie(b.at, b.link, b.directions);
  });
  return changes;
}

std::vector<std::string> idle_faults(const Scenario& resolved, Time end) {
  std::vector<std::string> sentences;
  for (std::size_t f = 0; f < resolved.faults.size(); ++f) {
    const Parameters fault(fault_section(), resolved.faults[f]);
    const double rate = fault.real("rate"), errors = fault.real("bit_error_rate");
    const auto add = [&](const std::string& what) {
      sentences.push_back(fmt::format("fault {} {}", f + 1, what));
    };
    if (rate == 1 && errors == 0) {
      add("changes nothing: its rate is 1, as built, and it has no bit_error_rate");
    } else if (fault.time("at") > end) {
      add(fmt::format("changed nothing: it begins at {}, and the run ended at {}",
                      to_string(fault.time("at")), to_string(end)));
    } else if (rate == 0 && errors > 0) {
      add(fmt::format("has a bit_error_rate of {} without effect: its links are down (rate is 0)", errors));
    } else if (fault.boolean("scale_queue") && (rate == 0 || rate == 1)) {
      add(fmt::format(
          "has scale_queue without effect: its rate is {}, and queues go by rates between 0 and 1", rate));
    }
  }
  return sentences;
}

std::vector<results::Outage> outages(const topologies::Topology& topology,
                                     std::span<const LinkChange> changes, Time until) {
  struct Down {
    Time since = Time::max(), all;
  };
  std::map<std::uint32_t, Down> links;
  for (const LinkChange& change : changes) {
    if (change.at >= until) break;
    Down& down = links[change.link];
    if (down.since != Time::max()) down.all += change.at - down.since;
    down.since = change.rate_share == 0 ? change.at : Time::max();
  }
  std::vector<results::Outage> list;
  for (auto& [link, down] : links) {
    if (down.since != Time::max()) down.all += until - down.since;
    if (down.all == Time()) continue;
    const topologies::Channel& channel = topology.channels()[2 * link];
    list.push_back(
        {fmt::format("{} / {}", topology.node(channel.from).name, topology.node(channel.to).name), down.all});
  }
  std::ranges::stable_sort(list, std::ranges::greater(), &results::Outage::down);
  return list;
}

std::vector<std::string> cut_off_hosts(const topologies::Topology& topology,
                                       std::span<const LinkChange> changes, Time until) {
  std::map<std::uint32_t, Time> down;  // since when
  for (const LinkChange& change : changes) {
    if (change.at > until) break;
    if (change.rate_share > 0) {
      down.erase(change.link);
    } else {
      down.emplace(change.link, change.at);
    }
  }
  std::vector<std::string> lines;
  std::size_t more = 0;
  constexpr std::size_t kMostLines = 4;
  for (std::uint32_t h = 0; h < topology.hosts() && !down.empty(); ++h) {
    const auto channels = topology.out_channels(topology.host(h));
    if (!std::ranges::all_of(channels, [&](std::uint32_t c) { return down.contains(c / 2); })) continue;
    if (lines.size() == kMostLines) {
      ++more;
      continue;
    }
    const topologies::Channel& channel = topology.channels()[channels.front()];
    const std::string cable =
        fmt::format("{} / {}", topology.node(channel.from).name, topology.node(channel.to).name);
    lines.push_back(
        fmt::format("{} is cut off: {} '{}' {} down since {}", topology.node(topology.host(h)).name,
                    channels.size() == 1 ? "its only cable" : "all of its cables, like", cable,
                    channels.size() == 1 ? "is" : "are", to_string(down.at(channels.front() / 2))));
  }
  if (more > 0) lines.push_back(fmt::format("and so are {} more hosts", more));
  return lines;
}

}  // namespace weft::sim
