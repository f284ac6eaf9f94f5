#include "sim/packet/switch_policies.h"

#include <algorithm>

#include "sim/units/input_error.h"
#include "sim/units/plugin_modules.h"

namespace weft::sim::packet {
namespace {

// What random streams are for, beside the switch.
constexpr std::uint64_t kPolicyPurpose = 0x9011, kTiePurpose = 0x71E5;
constexpr const char* kKind = "routing policy";

}  // namespace

SwitchPolicies::SwitchPolicies(std::span<Engine* const> engines, const routing::Policy& policy,
                               const routing::PlanSetup& setup)
    : name_(policy.info.name),
      asks_(policy.asks),
      source_routes_(policy.source_routes),
      hears_rates_(policy.rate_news == routing::RateNews::kWithRoutes) {
  if (policy.make_plan == nullptr) return;
  plan_ = made_by(kKind, name_, "make_plan", [&] { return policy.make_plan(setup); });
  lookup_ = plan_->lookup();
  const std::uint32_t switches = setup.topology.switches();
  for (std::uint32_t v = 0; v < setup.topology.nodes(); ++v) {
    switch_of_.push_back(setup.topology.node(v).index);
  }
  for (Engine* engine : engines) first_entity_ = engine->add_counting_entities(switches);
  for (std::uint32_t s = 0; s < switches; ++s) {
    const auto make = [&] { return plan_->make(s, RandomStream(setup.seed, s, kPolicyPurpose)); };
    sites_.push_back(
        {made_by(kKind, name_, "SwitchPlan::make", make), RandomStream(setup.seed, s, kTiePurpose)});
  }
  policies_.resize(setup.topology.nodes());
  for (std::uint32_t s = 0; s < switches; ++s) {
    policies_[setup.topology.switch_at(s)] = sites_[s].policy.get();
  }
  if (asks_.snapshot_period > Time() &&
      (asks_.snapshot_delay <= Time() || asks_.snapshot_delay > asks_.snapshot_period)) {
    throw InputError("routing policy " + policy.info.name +
                     ": what switches tell each other must take above 0 and no longer than the interval "
                     "between two snapshots");
  }
}

void SwitchPolicies::fail_at(const std::string& switch_name, const std::string& what) const {
  throw InputError(name_of_module(kKind, name_) + " at " + switch_name + ": " + what);
}

void SwitchPolicies::add_signals(Signals& sum) const {
  for (const PolicySite& site : sites_) {
    for (const auto& [name, count] : site.policy->signals()) add_signal(name, count, sum);
  }
}

Time SwitchPolicies::next() const {
  if (sites_.empty() || asks_.snapshot_period == Time()) return Time::max();
  return std::min(told_at_, published_at_ + asks_.snapshot_period);
}

void SwitchPolicies::skip_idle(Time now) {
  const std::int64_t period = asks_.snapshot_period.ps(), idle = (now - published_at_).ps();
  if (told_at_ != Time::max() || idle < period) return;
  const routing::Snapshot nothing;
  for (const routing::Snapshot& snapshot : snapshots_) {
    if (snapshot.words != nothing.words) return;
  }
  published_at_ = published_at_ + Time::ps(idle / period * period);
}

void SwitchPolicies::deliver() {
  told_at_ = Time::max();
  if (plan_->told(snapshots_)) return;
  for (std::uint32_t to = 0; to < sites_.size(); ++to) {
    for (std::uint32_t from = 0; from < sites_.size(); ++from) {
      if (from != to) sites_[to].policy->heard(from, snapshots_[from]);
    }
  }
}

}  // namespace weft::sim::packet
