// The routing policy's objects, one for each switch, and what they tell each other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/core/engine.h"
#include "sim/packet/ids.h"
#include "sim/routing/routing.h"
#include "topologies/graph/topology.h"

namespace weft::sim::packet {

// One switch's. Touched by the partition of the switch only.
struct PolicySite {
  std::unique_ptr<routing::SwitchPolicy> policy;
  RandomStream random;
  std::uint32_t timers = 0;  // set so far
};

class SwitchPolicies {
 public:
  // `engines`: one for each partition; they reserve the same entity numbers. Throws InputError if parameters
  // or the policy's own declarations make no sense.
  SwitchPolicies(std::span<Engine* const> engines, const routing::Policy& policy,
                 const routing::PlanSetup& setup);

  // False: all switches follow the built-in rule.
  bool any() const { return !sites_.empty(); }
  const routing::SwitchAsks& asks() const { return asks_; }
  // Sources or switches may name the way of a packet.
  bool source_routes() const { return source_routes_ || asks_.names_routes; }
  // What the objects have counted, together.
  void add_signals(Signals& sum) const;
  // The policy did there what none may do.
  [[noreturn]] void fail_at(const std::string& switch_name, const std::string& what) const;
  PolicySite& site(std::uint32_t s) { return sites_[s]; }
  // That of the switch at `v`. REQUIRES: any().
  routing::SwitchPolicy& policy_at(NodeId v) const { return *policies_[v]; }
  // What policies look up by destination, and where that of the switch at `v` for `host` stands. REQUIRES of
  // the latter: there is a table.
  const routing::Lookup& lookup() const { return lookup_; }
  const void* looked_up(NodeId v, std::uint32_t host) const {
    const char* const row =
        static_cast<const char*>(lookup_.table) + std::size_t{switch_of_[v]} * lookup_.row_bytes;
    return row + lookup_.entry_of[host] * lookup_.entry_bytes;
  }
  std::uint32_t switch_at(NodeId v) const { return switch_of_[v]; }
  // Routes are worked out anew. REQUIRES: no partition runs.
  void reconverge(const std::vector<bool>& down_links, std::span<const double> rate_shares) {
    if (plan_ == nullptr) return;
    if (hears_rates_) plan_->set_rate_shares(rate_shares);
    plan_->reconverge(down_links);
    lookup_ = plan_->lookup();
  }
  // Routes are worked out anew where rates change, too.
  bool hears_rates() const { return hears_rates_; }
  // Gives the entity of a switch's timers.
  EntityId entity(std::uint32_t switch_index) const { return first_entity_ + switch_index; }
  SwitchId switch_of(EntityId entity) const { return SwitchId(entity - first_entity_); }

  // Snapshots are taken and told at moments when no partition runs. When next; Time::max(): never.
  Time next() const;
  // REQUIRES: now == next(), and all before is done. `here(index)` gives a view of a switch at `now`.
  template <typename Here>
  void tell(Time now, Here&& here) {
    if (now == told_at_) return deliver();
    snapshots_.clear();
    for (SwitchId s{0}; s < sites_.size(); ++s) snapshots_.push_back(sites_[s].policy->publish(here(s)));
    told_at_ = now + asks_.snapshot_delay;
    published_at_ = now;
  }
  // Nothing happens before `now`. Where all switches had nothing to tell, and that is known, they have
  // nothing to tell until then.
  void skip_idle(Time now);

 private:
  void deliver();

  const std::string name_;
  routing::SwitchAsks asks_;
  bool source_routes_ = false, hears_rates_ = false;
  std::unique_ptr<routing::SwitchPlan> plan_;     // outlives the sites
  routing::Lookup lookup_;                        // of plan_
  std::vector<PolicySite> sites_;                 // by switch
  std::vector<std::uint32_t> switch_of_;          // by vertex
  std::vector<routing::SwitchPolicy*> policies_;  // by vertex; null: a host
  EntityId first_entity_ = 0;
  std::vector<routing::Snapshot> snapshots_;  // under way
  Time published_at_, told_at_ = Time::max();
};

}  // namespace weft::sim::packet
