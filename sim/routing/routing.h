// The two places where routing acts: in the switch (SwitchPolicy) and in the sending NIC (PathSelector).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/path_selector.h"
#include "sim/routing/switch_plan.h"
#include "sim/routing/switch_policy.h"
#include "sim/units/capabilities.h"
#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::routing {

// What a policy comes to where flows are fluids and there are no packets to choose for (sim/flow).
enum class FluidPaths : std::uint8_t {
  kUnknown,  // it can't be told without packets: the flow-level network refuses the policy
  kOne,   // each flow keeps a path by the built-in rule's hash; by the shares of the path model, if there is
          // one
  kEven,  // each flow divides evenly among all minimal next links, at every hop
  kAround,    // the same; where links change, or were built with different rates, as the path model says
  kModel,     // each flow divides as the path model says (make_paths)
  kBalanced,  // each flow divides between direct ways and detours of the path model as their loads balance
};

// Do packets of a flow arrive in the order they were sent in, while nothing is lost and no link changes?
enum class KeepsOrder : std::uint8_t {
  kIfBuiltIn,  // yes, if neither switches nor NICs choose: a hash of the flow's entropy keeps its path
  kYes,
  kNo,
};

// How a policy hears that links carry less, or again more, than they were built for; that they are down it
// hears with the routes in any case.
enum class RateNews : std::uint8_t {
  kNever,
  kWithRoutes,  // routes are worked out anew everywhere then, as after a failure
  kAtOnce,      // without packets: its senders find out by themselves
};

// For Policy::paths_remark.
inline constexpr const char* kGoesByWhatItMeets =
    "which of these a packet takes goes by what it meets: shares are as if evenly";

// A routing module as users name it: `--routing ecmp`. Null for a factory means the built-in rule:
// switches hash the packet's entropy with their salt; NICs keep one entropy per flow.
struct Policy {
  ModuleInfo info;
  // Where what is declared here depends on parameters: sets it. Called first.
  void (*configure)(const Parameters&, Policy&) = nullptr;
  // All three are called once per run: parameters are read and checked there, and networks that the policy
  // isn't defined for are refused (InputError that says why).
  std::unique_ptr<SwitchPlan> (*make_plan)(const PlanSetup&) = nullptr;
  // Null: MinimalPaths. What is only nearly so is said in `paths_remark`.
  std::unique_ptr<PathModel> (*make_paths)(const PlanSetup&) = nullptr;
  PathSelectorMaker (*make_path_selectors)(const PlanSetup&) = nullptr;
  // False: selectors ignore what happens to packets, and aren't told.
  bool selectors_want_feedback = true;
  FluidPaths fluid = FluidPaths::kUnknown;
  RateNews rate_news = RateNews::kNever;
  // A policy of kUnknown says what it chooses by that fluids don't have: "at gaps between packets".
  const char* no_fluid = nullptr;
  // A policy of kModel or kOne names its parameters that matter to packets only.
  std::vector<std::string> for_packets = {};
  // What it doesn't make of links that are slowed down during a run, a clause for the results; null: nothing
  // that one would expect of it.
  const char* on_slow_links = nullptr;
  // The built-in rule hashes with the same salt at all switches, so that they make the same choices.
  bool one_salt = false;
  SwitchAsks asks = {};  // of the switch policy
  KeepsOrder order = KeepsOrder::kIfBuiltIn;
  // The longest path it uses, in minimal ones: 2 for one by way of any node. Round trips and timeouts follow.
  std::uint32_t longest_path = 1;
  CapabilityNeeds needs = {};  // of queues
  // What `make_paths` leaves out, a clause: "packets choose among these by load".
  const char* paths_remark = nullptr;
  // Selectors name routes (Path::route); else they can't.
  bool source_routes = false;
  // Selectors name the NIC of every packet (Path::nic), in turn: connections use all of their host's,
  // whatever the network's `nic_choice`.
  bool all_nics = false;
  // Its users name hosts in what it reads: it leads to a host, not to one of its NICs.
  bool leads_to_hosts = false;
  // What its selectors count (PathSetup::signals), by the names that stand in the results.
  std::vector<std::string> path_signals = {};
  bool selectors_hold = false;  // PathSelector::held_until()
  // What a user should know of it on this network, a sentence; "": nothing. Throws as the others do.
  std::string (*remark)(const PlanSetup&) = nullptr;

  // As it is with these parameters.
  Policy configured(const Parameters& parameters) const {
    Policy policy = *this;
    if (configure != nullptr) configure(parameters, policy);
    return policy;
  }
  // Loss recovery may take a gap for a loss.
  bool keeps_order() const {
    if (order != KeepsOrder::kIfBuiltIn) return order == KeepsOrder::kYes;
    return make_plan == nullptr && make_path_selectors == nullptr;
  }
};

// Where the policy may send packets. Throws InputError for a network that it isn't defined for.
inline std::unique_ptr<PathModel> paths_of(const Policy& policy, const PlanSetup& setup) {
  if (policy.make_paths == nullptr) return std::make_unique<MinimalPaths>(setup.table);
  return policy.make_paths(setup);
}
// What these leave out, a sentence; "": nothing.
inline const char* remark_on_paths(const Policy& policy) {
  if (policy.paths_remark != nullptr) return policy.paths_remark;
  const bool looks = policy.make_plan != nullptr ||
                     (policy.make_path_selectors != nullptr && policy.selectors_want_feedback);
  return looks && policy.make_paths == nullptr ? kGoesByWhatItMeets : "";
}

}  // namespace weft::routing
