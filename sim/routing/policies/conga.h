#pragma once

#include <memory>

#include "sim/routing/switch_plan.h"

namespace weft::routing {

// CONGA, as `flowlet:choice=congestion`: at the source's leaf a new flowlet takes the uplink whose way to the
// destination's leaf is the least congested.
//
// Every link between switches has an estimate of its load (load_estimate.h), quantised to `levels`. A packet
// carries the number of its leaf's uplink and the highest level of the links on its way; the destination's
// leaf keeps that for each leaf and uplink of it, and sends it back with packets that go there anyway, data
// or ACKs: one uplink's with each, in turn, those that have changed first. The source's leaf keeps what comes
// back, by leaf and uplink. What either keeps counts half as much after each `age` without news, so that a
// way that was full is tried again. The congestion of a way is the higher of this and the uplink's own level.
// Among equal ways the flowlet keeps its last, or takes one at random.
//
// M. Alizadeh et al., CONGA: distributed congestion-aware load balancing for datacenters, SIGCOMM 2014. Loads
// are counted when a packet is put to its port, not when it leaves.
//
// For two tiers: hosts on one leaf each, and leaves linked to spines only.
struct CongaSettings {
  Time gap;  // after which a flowlet is over
  Time tau;  // over which loads are estimated
  Time age;
  std::uint32_t levels = 8;
};

// Throws InputError for networks that aren't two tiers.
std::unique_ptr<SwitchPlan> make_conga(const PlanSetup& setup, const CongaSettings& settings);

}  // namespace weft::routing
