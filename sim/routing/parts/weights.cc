#include "sim/routing/parts/weights.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/routing/table/host_classes.h"

namespace weft::routing {

PathWeights::PathWeights(const PlanSetup& setup)
    : topology_(setup.topology), original_(setup.table), has_hosts_(setup.topology.nodes()) {
  for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
    for (const std::uint32_t c : topology_.out_channels(topology_.host(h))) {
      has_hosts_[topology_.channels()[c].to] = true;
    }
  }
  set_rate_shares(setup.rate_shares);
  find_units(setup.table.down_links());
}

void PathWeights::repair(const std::vector<bool>& down_links) {
  if (repaired_ == nullptr) repaired_ = std::make_unique<RoutingTable>(original_);
  repaired_->repair(topology_, down_links);
  find_units(down_links);
  ++version_;
}

void PathWeights::set_rate_shares(std::span<const double> rate_shares) {
  const auto& channels = topology_.channels();
  rate_.resize(channels.size());
  for (std::uint32_t c = 0; c < channels.size(); ++c) {
    const double share = rate_shares.empty() ? 1 : rate_shares[c];
    // What is down the table leaves out.
    rate_[c] = std::max(static_cast<double>(channels[c].rate.bps()) * share, 1.0);
  }
}

void PathWeights::find_units(const std::vector<bool>& down_links) {
  std::vector<std::uint32_t> hosts(topology_.hosts());
  std::iota(hosts.begin(), hosts.end(), 0u);
  units_ = static_cast<std::uint32_t>(classify(topology_, down_links, hosts, unit_of_).size());
  const std::size_t slots = std::clamp<std::size_t>(kMostKnown / topology_.nodes(), 1, units_);
  unit_in_.assign(slots, UINT32_MAX);
  known_.assign(slots * topology_.nodes(), {});
  leads_to_.clear();
}

void PathWeights::count_hosts() const {
  leads_to_.assign(topology_.channels().size(), 0);
  std::vector<std::uint32_t> one(units_), hosts(units_);
  for (std::uint32_t h = 0; h < topology_.hosts(); ++h) {
    one[unit_of_[h]] = h;
    ++hosts[unit_of_[h]];
  }
  for (std::uint32_t s = 0; s < topology_.switches(); ++s) {
    for (std::uint32_t unit = 0; unit < units_; ++unit) {
      for (const std::uint32_t c : table().candidates(topology_.switch_at(s), one[unit])) {
        leads_to_[c] += hosts[unit];
      }
    }
  }
}

PathWeights::Known* PathWeights::known_of(std::uint32_t host) const {
  const std::uint32_t unit = unit_of_[host];
  const std::size_t slot = unit % unit_in_.size();
  Known* const known = known_.data() + slot * topology_.nodes();
  if (unit_in_[slot] != unit) {
    if (unit_in_[slot] != UINT32_MAX) std::fill_n(known, topology_.nodes(), Known{});
    unit_in_[slot] = unit;
  }
  return known;
}

// What the channel, between switches, has of what its end can carry.
double PathWeights::through(std::uint32_t channel, std::uint32_t host, Known* known) const {
  const std::uint32_t end = topology_.channels()[channel].to;
  const double rate = this->rate(channel);
  return topology_.node(end).kind == topologies::NodeKind::kHost
             ? rate
             : std::min(rate, most_of_each(end, host, known));
}

bool PathWeights::leads(std::uint32_t channel, std::uint32_t host) const {
  const std::uint32_t from = topology_.channels()[channel].from;
  const RoutingTable::Run run = table().run_of(table().set_number(from, host));
  if (run.count > 0) {
    const std::uint32_t steps = run.stride > 0 ? (channel - run.first) / run.stride : 0;
    return channel >= run.first && steps < run.count && run.first + steps * run.stride == channel;
  }
  const Candidates next = table().candidates(from, host);
  return std::find(next.begin(), next.end(), channel) != next.end();
}

// Does anything to the host come by here?
bool PathWeights::is_used(std::uint32_t at, std::uint32_t host, Known* known) const {
  if (has_hosts_[at]) return true;
  if (known[at].knows_used) return known[at].used;
  bool used = false;
  for (const std::uint32_t out : topology_.out_channels(at)) {
    used = used || (leads(out ^ 1, host) && is_used(topology_.channels()[out].to, host, known));
  }
  known[at].knows_used = true;
  known[at].used = used;
  return used;
}

// The most that any link to a switch gets of what that can carry on; links that can't carry so much leave
// the rest to others.
double PathWeights::most_of_each(std::uint32_t at, std::uint32_t host, Known* known) const {
  if (known[at].knows_most) return known[at].most;
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  double left = 0;
  const Candidates next = table().candidates(at, host);
  for (const std::uint32_t c : next) {
    // At the last switch: the host's own link limits all paths alike.
    const bool is_last = topology_.channels()[c].to == topology_.host(host);
    left += is_last ? kNoLimit : through(c, host, known);
  }
  std::vector<double> rates;
  for (const std::uint32_t out : topology_.out_channels(at)) {
    const std::uint32_t from = topology_.channels()[out].to;
    if (left == kNoLimit || topology_.node(from).kind == topologies::NodeKind::kHost) continue;
    if (leads(out ^ 1, host) && is_used(from, host, known)) rates.push_back(rate(out ^ 1));
  }
  std::ranges::sort(rates);
  double most = kNoLimit;
  for (std::size_t i = 0; i < rates.size() && most == kNoLimit; ++i) {
    const double each = left / static_cast<double>(rates.size() - i);
    if (rates[i] >= each) most = each;
    left -= rates[i];
  }
  known[at].knows_most = true;
  known[at].most = most;
  return most;
}

std::vector<double> PathWeights::capacities(std::uint32_t host,
                                            std::span<const std::uint32_t> channels) const {
  const std::lock_guard lock(mutex_);
  if (leads_to_.empty()) count_hosts();
  Known* const known = known_of(host);
  std::vector<double> all;
  all.reserve(channels.size());
  for (const std::uint32_t c : channels) all.push_back(through(c, host, known));
  return all;
}

void WeightedPaths::starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const {
  starts.push_back({});
}

void WeightedPaths::steps(topologies::Vertex at, PathState state, std::uint32_t host,
                          std::vector<PathStep>& steps) const {
  std::call_once(once_, [this] { weights_ = std::make_unique<const PathWeights>(setup_); });
  const Candidates next = setup_.table.candidates(at, host);
  const std::vector<double> capacities = weights_->capacities(host, {next.data(), next.size()});
  double sum = 0;
  for (const double capacity : capacities) sum += capacity;
  constexpr double kNothing = 1e-6;  // set_rate_shares() leaves a bit a second
  for (std::size_t i = 0; i < next.size(); ++i) {
    const double share = capacities[i] / sum;
    if (share > kNothing) steps.push_back({.channel = next[i], .share = share, .state = state});
  }
}

std::unique_ptr<PathModel> weighted_paths(const PlanSetup& setup) {
  return std::make_unique<WeightedPaths>(setup);
}

void WeightedDraw::forget() {
  version_ = weights_->version();
  entries_.clear();
  dense_.clear();
  sparse_.clear();
  of_host_.clear();
}

std::uint16_t WeightedDraw::learn(std::uint32_t host, std::span<const std::uint32_t> ports) {
  const topologies::Topology& topology = weights_->topology();
  constexpr std::uint64_t kMostDense = 1 << 25;  // of all switches together
  if (entries_.size() == kUnknown) forget();     // numbers are used up
  if (entries_.empty()) {
    entries_.emplace_back();
    if (std::uint64_t{weights_->units()} * topology.switches() <= kMostDense) {
      dense_.assign(weights_->units(), kUnknown);
    }
  }
  // Hosts of one unit have the same ways but for their own cables.
  const std::uint32_t channel = topology.out_channels(at_)[ports.front()];
  if (topology.node(topology.channels()[channel].to).kind == topologies::NodeKind::kHost) {
    const auto [known, is_new] = of_host_.emplace(host, kUnknown);
    if (is_new || (known->second != kEven && !std::ranges::equal(entries_[known->second].ports, ports))) {
      known->second = weigh(host, ports);
    }
    return known->second;
  }
  const std::uint32_t unit = weights_->unit_of(host);
  return (dense_.empty() ? sparse_[unit] : dense_[unit]) = weigh(host, ports);
}

// The number of an entry.
std::uint16_t WeightedDraw::weigh(std::uint32_t host, std::span<const std::uint32_t> ports) {
  std::vector<std::uint32_t> channels;
  for (const std::uint32_t port : ports) channels.push_back(weights_->topology().out_channels(at_)[port]);
  const std::vector<double> capacities = weights_->capacities(host, channels);
  const auto [least, most] = std::minmax_element(capacities.begin(), capacities.end());
  constexpr double kAlike = 1 - 1e-9;  // but for rounding
  if (*least >= *most * kAlike) return kEven;
  double sum = 0, before = 0;
  for (const double capacity : capacities) sum += capacity;
  Entry entry{.ports = {ports.begin(), ports.end()}, .up_to = {}};
  for (const double capacity : capacities) {
    before += capacity;
    entry.up_to.push_back(static_cast<std::uint32_t>(std::min(before / sum * 0x1p32, 0x1p32 - 1)));
  }
  entry.up_to.back() = UINT32_MAX;
  // Most hosts share a few lists of weights.
  const auto same = std::find_if(entries_.begin(), entries_.end(), [&entry](const Entry& known) {
    return known.ports == entry.ports && known.up_to == entry.up_to;
  });
  const auto number = static_cast<std::uint16_t>(same - entries_.begin());
  if (same == entries_.end()) entries_.push_back(std::move(entry));
  return number;
}

std::uint32_t WeightedDraw::draw(std::uint16_t number, std::uint32_t host,
                                 std::span<const std::uint32_t> ports, std::uint32_t drawn) {
  // A link is down, and routes haven't been worked out anew: weights of those that are left.
  if (!std::ranges::equal(entries_[number].ports, ports)) number = learn(host, ports);
  const Entry& entry = entries_[number];
  if (entry.up_to.empty()) return ports[std::uint64_t{drawn} * ports.size() >> 32];
  std::size_t i = 0;
  while (i + 1 < ports.size() && drawn >= entry.up_to[i]) ++i;
  return ports[i];
}

}  // namespace weft::routing
