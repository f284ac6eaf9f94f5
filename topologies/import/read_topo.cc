#include <fmt/core.h>

#include <array>
#include <map>
#include <utility>

#include "sim/units/module.h"
#include "topologies/families/cabling.h"
#include "topologies/import/lines.h"
#include "topologies/import/readers.h"

namespace weft::topologies {
namespace {

// A number, and the line it stands in; line 0: it doesn't.
struct Setting {
  std::uint64_t value = 0;
  std::int64_t line = 0;
};

enum Key : std::size_t {
  kSpeed,
  kRadixUp,
  kRadixDown,
  kLatency,
  kSwitchLatency,
  kBundle,
  kOversubscribed,
  kKeys
};
constexpr std::array<const char*, kKeys> kKeyNames = {
    "Downlink_speed_Gbps", "Radix_Up", "Radix_Down",    "Downlink_Latency_ns",
    "Switch_Latency_ns",   "Bundle",   "Oversubscribed"};
enum Header : std::size_t { kNodes, kTiers, kPodsize, kHeaders };
constexpr std::array<const char*, kHeaders> kHeaderNames = {"Nodes", "Tiers", "Podsize"};

constexpr std::uint64_t kMostPorts = 1 << 16;

// Where a setting's limits are: latencies and speeds up to what their types hold.
constexpr std::uint64_t most_of(Key key) {
  return key == kSpeed                              ? 1'000'000
         : key == kLatency || key == kSwitchLatency ? 1'000'000'000'000
                                                    : kMostPorts;
}
constexpr std::uint64_t least_of(Key key) { return key == kSwitchLatency || key == kLatency ? 0 : 1; }

struct Tier {
  std::int64_t line = 0;
  std::array<Setting, kKeys> settings;
  std::uint64_t operator[](Key key) const { return settings[key].value; }
};

class TopoFile {
 public:
  TopoFile(std::string_view text, const std::string& file) : lines_(text, file), file_(file) {
    while (lines_.next()) read_line();
    check_complete();
    derive();
  }

  ImportedGraph graph() const;

 private:
  void read_line();
  void read_setting(const std::string& word, std::uint64_t value);
  void check_complete() const;
  void derive();
  [[noreturn]] void fail(const Setting& at, const std::string& message) const {
    throw InputError({file_, at.line}, message);
  }
  bool top(std::size_t tier) const { return tier + 1 == tiers(); }
  std::size_t tiers() const { return static_cast<std::size_t>(header_[kTiers].value); }
  // Throws unless `derived` is what the file says at `setting` of `tier`.
  void check_equal(std::size_t tier, Key key, std::uint64_t derived, const std::string& why) const;
  void check_oversubscription(std::size_t tier) const;

  Lines lines_;
  std::string file_;
  std::array<Setting, kHeaders> header_;
  std::array<Tier, 3> tier_;
  std::size_t now_ = 3;  // the tier whose settings are read; 3: the header is

  std::uint64_t pods_ = 0, edges_of_pod_ = 0, aggregations_of_pod_ = 0, cores_of_aggregation_ = 0;
};

void TopoFile::read_line() {
  const std::vector<std::string_view>& words = lines_.words();
  const std::optional<std::uint64_t> value = words.size() == 2 ? whole_number(words[1]) : std::nullopt;
  if (!value) lines_.fail_expecting("a name and a whole number, like 'Radix_Down 16'");
  const std::string word = lower_case(words[0]);
  if (word == "tier") {
    if (header_[kTiers].line == 0) lines_.fail_expecting("'Tiers 2' or 'Tiers 3' before the first tier");
    if (*value >= tiers()) lines_.fail_expecting(fmt::format("a tier from 0 to {}", tiers() - 1));
    now_ = static_cast<std::size_t>(*value);
    if (tier_[now_].line != 0) lines_.fail(fmt::format("tier {} is given twice", now_));
    tier_[now_].line = lines_.line();
    return;
  }
  read_setting(word, *value);
}

void TopoFile::read_setting(const std::string& word, std::uint64_t value) {
  const auto store = [&](Setting& setting, std::uint64_t least, std::uint64_t most) {
    if (setting.line != 0) lines_.fail(fmt::format("'{}' is given twice", lines_.words()[0]));
    if (value < least || value > most) {
      lines_.fail_expecting(fmt::format("a number from {} to {}", least, most));
    }
    setting = {value, lines_.line()};
  };
  if (now_ < 3 && (word == "queue_up" || word == "queue_down")) {
    lines_.fail(
        fmt::format("'{}' sets queues, which are no part of the network here: take the line out and "
                    "give the size with --queue",
                    lines_.words()[0]));
  }
  std::vector<std::string> known;
  if (now_ == 3) {
    for (std::size_t h = 0; h < kHeaders; ++h) {
      if (word == lower_case(kHeaderNames[h])) {
        return h == kTiers ? store(header_[h], 2, 3) : store(header_[h], 1, kMostHosts);
      }
      known.emplace_back(kHeaderNames[h]);
    }
    known.emplace_back("Tier");
  } else {
    for (std::size_t k = 0; k < kKeys; ++k) {
      const Key key = static_cast<Key>(k);
      if (word == lower_case(kKeyNames[k])) {
        if ((key == kRadixUp || (key == kOversubscribed && value != 1)) && top(now_))
          lines_.fail("the switches of the top tier have no links up");
        return store(tier_[now_].settings[k], least_of(key), most_of(key));
      }
      known.emplace_back(kKeyNames[k]);
    }
  }
  fail_unknown_name(now_ == 3 ? "setting of a .topo file's header" : "setting of a tier of a .topo file",
                    lines_.words()[0], known, {.file = file_, .line = lines_.line()});
}

void TopoFile::check_complete() const {
  for (std::size_t h = 0; h < kHeaders; ++h) {
    if (header_[h].line == 0) {
      throw InputError({.file = file_}, fmt::format("'{}' is missing", kHeaderNames[h]));
    }
  }
  for (std::size_t t = 0; t < tiers(); ++t) {
    if (tier_[t].line == 0) {
      throw InputError({.file = file_}, fmt::format("'Tier {}' is missing: Tiers is {}", t, tiers()));
    }
    for (const Key key : {kRadixDown, kRadixUp}) {
      if (tier_[t].settings[key].line == 0 && !(key == kRadixUp && top(t))) {
        throw InputError({file_, tier_[t].line}, fmt::format("tier {} needs '{}'", t, kKeyNames[key]));
      }
    }
  }
}

void TopoFile::check_equal(std::size_t tier, Key key, std::uint64_t derived, const std::string& why) const {
  const Setting& setting = tier_[tier].settings[key];
  if (setting.value == derived) return;
  fail(setting, fmt::format("{} of tier {} is {}, but it must be {}: {}", kKeyNames[key], tier, setting.value,
                            derived, why));
}

// What comes in from below : what goes up.
void TopoFile::check_oversubscription(std::size_t tier) const {
  const Setting& given = tier_[tier].settings[kOversubscribed];
  if (given.line == 0) return;
  const Tier &here = tier_[tier], &above = tier_[tier + 1];
  if (here[kSpeed] == 0 || above[kSpeed] == 0) return;  // left to the defaults
  const std::uint64_t below = here[kSpeed] * here[kRadixDown], up = above[kSpeed] * here[kRadixUp];
  if (below == given.value * up) return;
  fail(given,
       fmt::format("Oversubscribed of tier {} is {}, but {} links of {} Gb/s come in from below for {} "
                   "of {} Gb/s up",
                   tier, given.value, here[kRadixDown], here[kSpeed], here[kRadixUp], above[kSpeed]));
}

void TopoFile::derive() {
  const std::uint64_t nodes = header_[kNodes].value, pod = header_[kPodsize].value;
  std::array<std::uint64_t, 3> bundle{};
  for (std::size_t t = 0; t < tiers(); ++t) {
    bundle[t] = tier_[t].settings[kBundle].line == 0 ? 1 : tier_[t][kBundle];
    if (!top(t)) check_oversubscription(t);
  }
  const auto check_multiple = [&](std::uint64_t value, std::uint64_t of, const Setting& at,
                                  const std::string& what) {
    if (value % of != 0) fail(at, fmt::format("{} is {}, but it must be a multiple of {}", what, value, of));
  };
  if (bundle[0] != 1) fail(tier_[0].settings[kBundle], "Bundle of tier 0 must be 1: a host has one link");
  check_multiple(nodes, pod, header_[kNodes], fmt::format("Nodes with a Podsize of {}", pod));
  pods_ = nodes / pod;
  if (tiers() == 2 && pods_ != 1) {
    fail(header_[kPodsize],
         fmt::format("Podsize is {}, but with two tiers it must be Nodes, {}", pod, nodes));
  }
  check_multiple(pod, tier_[0][kRadixDown], header_[kPodsize],
                 fmt::format("Podsize with a Radix_Down of {} at tier 0", tier_[0][kRadixDown]));
  edges_of_pod_ = pod / tier_[0][kRadixDown];
  check_multiple(tier_[0][kRadixUp], bundle[1], tier_[0].settings[kRadixUp],
                 fmt::format("Radix_Up of tier 0 with a Bundle of {} at tier 1", bundle[1]));
  aggregations_of_pod_ = tier_[0][kRadixUp] / bundle[1];
  check_equal(1, kRadixDown, edges_of_pod_ * bundle[1],
              fmt::format("a pod has {} switches of tier 0, with {} link(s) to each of tier 1", edges_of_pod_,
                          bundle[1]));
  std::uint64_t links = nodes + pods_ * edges_of_pod_ * tier_[0][kRadixUp];
  if (tiers() == 3) {
    check_multiple(tier_[1][kRadixUp], bundle[2], tier_[1].settings[kRadixUp],
                   fmt::format("Radix_Up of tier 1 with a Bundle of {} at tier 2", bundle[2]));
    cores_of_aggregation_ = tier_[1][kRadixUp] / bundle[2];
    check_equal(2, kRadixDown, pods_ * bundle[2],
                fmt::format("there are {} pods, with {} link(s) to each core", pods_, bundle[2]));
    links += pods_ * aggregations_of_pod_ * tier_[1][kRadixUp];
  }
  if (links > kMostImportedLinks) {
    throw InputError({.file = file_}, fmt::format("{} links are more than {}", links, kMostImportedLinks));
  }
}

ImportedGraph TopoFile::graph() const {
  ImportedGraph graph{.file = file_, .nodes = {}, .links = {}};
  const auto add = [&](std::string name, NodeKind kind, std::size_t tier, std::uint64_t group) {
    ImportedNode node{.name = std::move(name), .line = tier_[tier].line, .kind = kind};
    node.group = static_cast<std::uint32_t>(group);
    if (kind == NodeKind::kSwitch) {
      node.tier = static_cast<std::uint8_t>(tier + 1);
      const Setting& latency = tier_[tier].settings[kSwitchLatency];
      if (latency.line != 0) node.switch_latency = Time::ns(static_cast<std::int64_t>(latency.value));
    }
    graph.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(graph.nodes.size() - 1);
  };
  // `tier` is that of the upper end.
  const auto join = [&](std::uint32_t low, std::uint32_t high, std::size_t tier) {
    const Setting &speed = tier_[tier].settings[kSpeed], &latency = tier_[tier].settings[kLatency],
                  &bundle = tier_[tier].settings[kBundle];
    ImportedLink link{.from = low, .to = high, .line = tier_[tier].line};
    if (speed.line != 0) link.rate = Bandwidth::gbps(static_cast<std::int64_t>(speed.value));
    if (latency.line != 0) link.latency = Time::ns(static_cast<std::int64_t>(latency.value));
    for (std::uint64_t b = 0; b < (bundle.line == 0 ? 1 : bundle.value); ++b) graph.links.push_back(link);
  };
  const bool two = tiers() == 2;
  std::vector<std::uint32_t> cores;
  std::uint64_t hosts = 0;
  for (std::uint64_t pod = 0; pod < pods_; ++pod) {
    std::vector<std::uint32_t> edges, aggregations;
    for (std::uint64_t e = 0; e < edges_of_pod_; ++e) {
      const std::uint64_t group = two ? e : pod;
      edges.push_back(add(two ? fmt::format("leaf {}", e) : fmt::format("edge {}.{}", pod, e),
                          NodeKind::kSwitch, 0, group));
      for (std::uint64_t h = 0; h < tier_[0][kRadixDown]; ++h) {
        join(add(fmt::format("host {}", hosts++), NodeKind::kHost, 0, group), edges.back(), 0);
      }
    }
    for (std::uint64_t a = 0; a < aggregations_of_pod_; ++a) {
      aggregations.push_back(add(two ? fmt::format("spine {}", a) : fmt::format("aggregation {}.{}", pod, a),
                                 NodeKind::kSwitch, 1, two ? edges_of_pod_ + a : pod));
    }
    for (const std::uint32_t edge : edges) {
      for (const std::uint32_t aggregation : aggregations) join(edge, aggregation, 1);
    }
    // An aggregation switch and those in its place in other pods share their cores.
    for (std::uint64_t a = 0; a < aggregations_of_pod_; ++a) {
      for (std::uint64_t c = 0; c < cores_of_aggregation_; ++c) {
        const std::uint64_t core = a * cores_of_aggregation_ + c;
        if (core == cores.size()) {
          cores.push_back(add(fmt::format("core {}", core), NodeKind::kSwitch, 2, pods_ + a));
        }
        join(aggregations[a], cores[core], 2);
      }
    }
  }
  return graph;
}

}  // namespace

ImportedGraph read_topo(std::string_view text, const std::string& file,
                        const std::vector<std::string>& /*ignored*/) {
  return TopoFile(text, file).graph();
}

}  // namespace weft::topologies
