#include "sim/routing/parts/good_ways.h"

#include <cstddef>

namespace weft::routing {

using topologies::Vertex;

GoodWays::GoodWays(const PlanSetup& setup)
    : topology_(setup.topology),
      shares_(setup.rate_shares.begin(), setup.rate_shares.end()),
      good_(setup.topology.nodes()),
      good_in_(setup.topology.nodes()) {}

void GoodWays::starts(std::uint32_t, std::uint32_t, std::vector<PathStart>& starts) const {
  starts.push_back({});
}

void GoodWays::steps(Vertex at, PathState state, std::uint32_t host, std::vector<PathStep>& steps) const {
  const std::lock_guard lock(mutex_);
  begin(host);
  std::vector<Draw> drawn;
  draws(at, host, drawn);
  double sum = 0;
  for (Draw& each : drawn) {
    each.odds *= share(each.channel) * good(topology_.channels()[each.channel].to, host);
    sum += each.odds;
  }
  for (const Draw& each : drawn) {
    if (each.odds > 0) steps.push_back({.channel = each.channel, .share = each.odds / sum, .state = state});
  }
}

double GoodWays::weight_of_entry(Vertex at, std::uint32_t host) const {
  const std::lock_guard lock(mutex_);
  begin(host);
  return good(at, host);
}

void GoodWays::begin(std::uint32_t host) const {
  if (host_ == host) return;
  host_ = host;
  ++round_;
}

double GoodWays::good(Vertex at, std::uint32_t host) const {
  if (at == topology_.host(host)) return 1;
  if (good_in_[at] == round_) return good_[at];
  std::vector<Draw> drawn;
  draws(at, host, drawn);
  double sum = 0;
  for (const Draw& each : drawn) {
    sum += each.odds * share(each.channel) * good(topology_.channels()[each.channel].to, host);
  }
  good_in_[at] = round_;
  good_[at] = sum;
  return sum;
}

namespace {

class GoodEntropies final : public GoodWays {
 public:
  explicit GoodEntropies(const PlanSetup& setup) : GoodWays(setup), table_(setup.table) {}

 protected:
  // A switch knows at once that a link of its own is down.
  void draws(Vertex at, std::uint32_t host, std::vector<Draw>& draws) const override {
    const Candidates next = table_.candidates(at, host);
    for (const std::uint32_t c : next) {
      if (is_up(c)) draws.push_back({.channel = c});
    }
    for (Draw& each : draws) each.odds = 1.0 / static_cast<double>(draws.size());
  }

 private:
  const RoutingTable& table_;
};

class GoodRoutes final : public GoodWays {
 public:
  GoodRoutes(const PlanSetup& setup, std::vector<bool> denied, double most)
      : GoodWays(setup),
        shortest_(setup.topology, std::move(denied)),
        most_(most),
        count_(setup.topology.nodes()) {}

 protected:
  void draws(Vertex at, std::uint32_t host, std::vector<Draw>& draws) const override {
    if (host_ != host) {
      host_ = host;
      count_.assign(count_.size(), 0);
    }
    const double all = count(at, host);
    std::vector<std::uint32_t> next;
    shortest_.next(at, host, next);
    for (const std::uint32_t c : next) {
      const double alike = count(topology().channels()[c].to, host) / all;
      draws.push_back({c, all <= most_ ? alike : 1.0 / static_cast<double>(next.size())});
    }
  }

 private:
  // Ways from here, as the network was built.
  double count(Vertex at, std::uint32_t host) const {
    if (at == topology().host(host)) return 1;
    if (count_[at] > 0) return count_[at];
    std::vector<std::uint32_t> next;
    shortest_.next(at, host, next);
    double all = 0;
    for (const std::uint32_t c : next) all += count(topology().channels()[c].to, host);
    return count_[at] = all;
  }

  mutable ShortestRoutes shortest_;  // which keeps what it has searched
  const double most_;
  // Counts the ways to the host that was asked for last, by vertex; 0: not known yet.
  mutable std::vector<double> count_;
  mutable std::uint32_t host_ = UINT32_MAX;
};

}  // namespace

std::unique_ptr<PathModel> good_entropies(const PlanSetup& setup) {
  if (setup.rate_shares.empty()) return std::make_unique<MinimalPaths>(setup.table);
  return std::make_unique<GoodEntropies>(setup);
}

std::unique_ptr<PathModel> good_routes(const PlanSetup& setup, std::vector<bool> denied, double most) {
  return std::make_unique<GoodRoutes>(setup, std::move(denied), most);
}

}  // namespace weft::routing
