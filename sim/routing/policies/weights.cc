#include "sim/routing/policies/weights.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft::routing {

PathWeights::PathWeights(const PlanSetup& setup) : topology_(setup.topology), original_(setup.table) {}

void PathWeights::repair(const std::vector<bool>& down_links) {
  if (repaired_ == nullptr) repaired_ = std::make_unique<RoutingTable>(original_);
  repaired_->repair(topology_, down_links);
  ++version_;
}

double PathWeights::behind(std::uint32_t channel, std::uint32_t host,
                           std::unordered_map<topologies::Vertex, double>& known) const {
  const topologies::Channel& link = topology_.channels()[channel];
  const double rate = static_cast<double>(link.rate.bps());
  const topologies::Vertex end = link.to;
  if (topology_.node(end).kind == topologies::NodeKind::kHost) return rate;
  const auto found = known.find(end);
  if (found != known.end()) return std::min(rate, found->second);
  const RoutingTable& table = repaired_ != nullptr ? *repaired_ : original_;
  double sum = 0;
  const Candidates next = table.candidates(end, host);
  for (const std::uint32_t c : next) {
    // At the last switch: the host's own link limits all paths alike.
    if (topology_.channels()[c].to == topology_.host(host)) {
      sum = std::numeric_limits<double>::infinity();
      break;
    }
    sum += behind(c, host, known);
  }
  known.emplace(end, sum);
  return std::min(rate, sum);
}

std::vector<double> PathWeights::capacities(std::uint32_t host,
                                            std::span<const std::uint32_t> channels) const {
  std::unordered_map<topologies::Vertex, double> known;
  std::vector<double> all;
  for (const std::uint32_t c : channels) all.push_back(behind(c, host, known));
  return all;
}

void WeightedPaths::starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const {
  starts.push_back({});
}

void WeightedPaths::steps(topologies::Vertex at, PathState state, std::uint32_t host,
                          std::vector<PathStep>& steps) const {
  const Candidates next = table_.candidates(at, host);
  const std::vector<double> capacities = weights_.capacities(host, {next.data(), next.size()});
  double sum = 0;
  for (const double capacity : capacities) sum += capacity;
  for (std::size_t i = 0; i < next.size(); ++i) {
    steps.push_back({.channel = next[i], .share = capacities[i] / sum, .state = state});
  }
}

void WeightedDraw::forget() {
  version_ = weights_->version();
  entries_.clear();
  dense_.clear();
  sparse_.clear();
}

const WeightedDraw::Entry* WeightedDraw::learn(std::uint32_t host, std::span<const std::uint32_t> ports) {
  const topologies::Topology& topology = weights_->topology();
  constexpr std::uint64_t kMostDense = 1 << 25;  // of all switches together
  if (entries_.size() == kUnknown) forget();     // numbers are used up
  if (entries_.empty()) {
    entries_.emplace_back();
    if (std::uint64_t{topology.hosts()} * topology.switches() <= kMostDense) {
      dense_.assign(topology.hosts(), kUnknown);
    }
  }
  std::vector<std::uint32_t> channels;
  for (const std::uint32_t port : ports) channels.push_back(topology.out_channels(at_)[port]);
  const std::vector<double> capacities = weights_->capacities(host, channels);
  const auto [least, most] = std::minmax_element(capacities.begin(), capacities.end());
  std::uint16_t number = 0;
  if (*least < *most) {
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
    number = static_cast<std::uint16_t>(same - entries_.begin());
    if (same == entries_.end()) entries_.push_back(std::move(entry));
  }
  if (!dense_.empty()) {
    dense_[host] = number;
  } else {
    sparse_[host] = number;
  }
  return &entries_[number];
}

std::uint32_t WeightedDraw::draw(const Entry& entry, std::uint32_t host, std::span<const std::uint32_t> ports,
                                 std::uint32_t drawn) {
  // A link is down, and routes haven't been worked out anew: weights of those that are left.
  const bool same = std::equal(entry.ports.begin(), entry.ports.end(), ports.begin(), ports.end());
  const Entry& good = same ? entry : *learn(host, ports);
  if (good.up_to.empty()) return ports[std::uint64_t{drawn} * ports.size() >> 32];
  std::size_t i = 0;
  while (i + 1 < ports.size() && drawn >= good.up_to[i]) ++i;
  return ports[i];
}

}  // namespace weft::routing
