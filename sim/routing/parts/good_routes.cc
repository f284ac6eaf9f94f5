#include "sim/routing/parts/good_routes.h"

#include <algorithm>
#include <utility>

namespace weft::routing {

using topologies::Vertex;

GoodRoutes::GoodRoutes(const PlanSetup& setup, std::vector<bool> denied, double most)
    : topology_(setup.topology), most_(most), shortest_(setup.topology, std::move(denied)) {
  const auto between_switches = [&](const topologies::Channel& channel) {
    return topology_.node(channel.from).kind == topologies::NodeKind::kSwitch &&
           topology_.node(channel.to).kind == topologies::NodeKind::kSwitch;
  };
  double fastest = 0;
  for (const topologies::Channel& channel : topology_.channels()) {
    if (between_switches(channel)) fastest = std::max(fastest, static_cast<double>(channel.rate.bps()));
  }
  for (std::uint32_t c = 0; c < topology_.channels().size(); ++c) {
    const topologies::Channel& channel = topology_.channels()[c];
    const double share = setup.rate_shares.empty() ? 1 : setup.rate_shares[c];
    const double built = between_switches(channel) ? static_cast<double>(channel.rate.bps()) / fastest : 1;
    rates_.push_back(built * share);
  }
}

void GoodRoutes::starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const {
  starts.push_back({});
}

void GoodRoutes::steps(Vertex at, PathState state, std::uint32_t host, std::vector<PathStep>& steps) const {
  const std::lock_guard lock(mutex_);
  begin(host);
  const std::vector<Draw> drawn = draws(at, host);
  double sum = 0;
  for (const Draw& each : drawn) sum += each.odds;
  for (const Draw& each : drawn) {
    if (each.odds > 0) steps.push_back({.channel = each.channel, .share = each.odds / sum, .state = state});
  }
}

double GoodRoutes::weight_of_entry(Vertex at, std::uint32_t host) const {
  const std::lock_guard lock(mutex_);
  begin(host);
  return good(at, host);
}

void GoodRoutes::begin(std::uint32_t host) const {
  if (std::exchange(host_, host) == host) return;
  good_.assign(topology_.nodes(), -1);
  count_.assign(topology_.nodes(), 0);
}

double GoodRoutes::good(Vertex at, std::uint32_t host) const {
  if (at == topology_.host(host)) return 1;
  if (good_[at] >= 0) return good_[at];
  double sum = 0;
  for (const Draw& each : draws(at, host)) sum += each.odds;
  return good_[at] = sum;
}

// The next channels at a switch, each with the share of good ways that it leads to.
std::vector<GoodRoutes::Draw> GoodRoutes::draws(Vertex at, std::uint32_t host) const {
  const double all = count(at, host);
  std::vector<std::uint32_t> next;
  shortest_.next(at, host, next);
  std::vector<Draw> draws;
  for (const std::uint32_t c : next) {
    const Vertex end = topology_.channels()[c].to;
    const double odds = all <= most_ ? count(end, host) / all : 1.0 / static_cast<double>(next.size());
    draws.push_back({c, odds * std::min(rates_[c], good(end, host))});
  }
  return draws;
}

// Ways from here, as the network was built.
double GoodRoutes::count(Vertex at, std::uint32_t host) const {
  if (at == topology_.host(host)) return 1;
  if (count_[at] > 0) return count_[at];
  std::vector<std::uint32_t> next;
  shortest_.next(at, host, next);
  double all = 0;
  for (const std::uint32_t c : next) all += count(topology_.channels()[c].to, host);
  return count_[at] = all;
}

}  // namespace weft::routing
