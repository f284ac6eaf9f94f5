#include "sim/routing/checked_paths.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "sim/units/plugin_modules.h"

namespace weft::routing {
namespace {

constexpr const char* kKind = "routing policy";

}  // namespace

CheckedPaths::CheckedPaths(std::unique_ptr<PathModel> base, std::string policy,
                           const topologies::Topology& topology)
    : base_(std::move(base)), policy_(std::move(policy)), topology_(topology), states_(base_->states()) {
  if (states_ < 1 || states_ > kMostStates) {
    fail(fmt::format("it has {} states, but 1 to {} can be told apart", states_, kMostStates));
  }
}

void CheckedPaths::fail(const std::string& what) const {
  fail_module(kKind, policy_, "its path model is wrong: " + what);
}

std::string CheckedPaths::pair(std::uint32_t source, std::uint32_t destination) const {
  return fmt::format("from {} to {}", topology_.node(topology_.host(source)).name,
                     topology_.node(topology_.host(destination)).name);
}

std::string CheckedPaths::place(topologies::Vertex at, std::uint32_t host) const {
  return fmt::format("at {} towards {}", topology_.node(at).name, topology_.node(topology_.host(host)).name);
}

template <typename Each, typename Where>
void CheckedPaths::check_shares(const std::vector<Each>& all, std::size_t first, const Where& where) const {
  constexpr double kRounding = 1e-6;
  double sum = 0;
  for (std::size_t i = first; i < all.size(); ++i) {
    const double share = all[i].share;
    if (!std::isfinite(share) || share < 0) fail(fmt::format("{} a share is {}", where(), share));
    sum += share;
  }
  if (std::abs(sum - 1) > kRounding) fail(fmt::format("{} shares make {:.6g} together, not 1", where(), sum));
}

template <typename Where>
void CheckedPaths::check_state(PathState state, const Where& where) const {
  if (state >= states_) {
    fail(fmt::format("{} it comes to state {}, but has {}", where(), state, states_));
  }
}

void CheckedPaths::starts(std::uint32_t source, std::uint32_t destination,
                          std::vector<PathStart>& starts) const {
  const std::size_t first = starts.size();
  made_by(kKind, policy_, "starts", [&] { return base_->starts(source, destination, starts), true; });
  const auto where = [&] { return pair(source, destination); };
  if (starts.size() == first) fail(where() + " packets don't start");
  check_shares(starts, first, where);
  for (std::size_t i = first; i < starts.size(); ++i) check_state(starts[i].state, where);
}

void CheckedPaths::steps(topologies::Vertex at, PathState state, std::uint32_t host,
                         std::vector<PathStep>& steps) const {
  const std::size_t first = steps.size();
  made_by(kKind, policy_, "steps", [&] { return base_->steps(at, state, host, steps), true; });
  if (steps.size() == first) return;  // there is no way
  const auto where = [&] { return place(at, host); };
  check_shares(steps, first, where);
  for (std::size_t i = first; i < steps.size(); ++i) {
    check_state(steps[i].state, where);
    const std::uint32_t channel = steps[i].channel;
    if (channel >= topology_.channels().size() || topology_.channels()[channel].from != at) {
      fail(fmt::format("{} it steps to channel {}, which does not leave from there", where(), channel));
    }
  }
}

void CheckedPaths::ways(std::uint32_t source, std::uint32_t destination, std::vector<NamedWay>& ways) const {
  const std::size_t first = ways.size();
  made_by(kKind, policy_, "ways", [&] { return base_->ways(source, destination, ways), true; });
  if (ways.size() == first) return;  // there is none
  const auto where = [&] { return pair(source, destination); };
  check_shares(ways, first, where);
  for (std::size_t i = first; i < ways.size(); ++i) {
    std::size_t at = topology_.host(source);
    for (const std::uint32_t channel : ways[i].channels) {
      if (channel >= topology_.channels().size() || topology_.channels()[channel].from != at) {
        fail(fmt::format("{} a way has channel {}, which does not leave from {}", where(), channel,
                         topology_.node(at).name));
      }
      at = topology_.channels()[channel].to;
    }
    if (at != topology_.host(destination)) {
      fail(fmt::format("{} a way ends at {}", where(), topology_.node(at).name));
    }
  }
}

double CheckedPaths::weight_of_entry(topologies::Vertex at, std::uint32_t host) const {
  const double weight = base_->weight_of_entry(at, host);
  if (!std::isfinite(weight) || weight < 0) {
    fail(fmt::format("{} the weight of entry is {}", place(at, host), weight));
  }
  return weight;
}

PathState CheckedPaths::behind_detour(PathState state) const {
  const PathState behind = base_->behind_detour(state);
  check_state(behind, [] { return "behind a detour"; });
  return behind;
}

void fail_endless(const PathModel& model, const topologies::Topology& topology, topologies::Vertex at,
                  std::uint32_t host) {
  const std::string what = fmt::format("at {} towards {} packets come into a circle that they never leave",
                                       topology.node(at).name, topology.node(topology.host(host)).name);
  if (const auto* of_plugin = dynamic_cast<const CheckedPaths*>(&model)) of_plugin->fail(what);
  throw std::logic_error("a path model is wrong: " + what);
}

std::unique_ptr<PathModel> checked_paths_of(const Policy& policy, const PlanSetup& setup) {
  const std::string& name = policy.info.name;
  if (policy.make_paths == nullptr || plugin_of(kKind, name).empty()) return paths_of(policy, setup);
  std::unique_ptr<PathModel> paths =
      made_by(kKind, name, "make_paths", [&] { return policy.make_paths(setup); });
  if (dynamic_cast<const MinimalPaths*>(paths.get()) != nullptr) return paths;
  return std::make_unique<CheckedPaths>(std::move(paths), name, setup.topology);
}

}  // namespace weft::routing
