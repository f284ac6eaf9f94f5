// Channels that go as one. The channels of an allreduce with NVLS send equal chunks between the same GPUs at
// the same time: `bundle` of them are then one message with the bytes of all. On its way that takes as long
// as they do one behind the other; what is lost is that the first of them could be sent on while the others
// come, which lengthens a pipeline's filling by the time of bundle - 1 chunks at each hop. BUNDLES.md has the
// arithmetic.
//
// Rings inside a node go the same way in all channels, which keep step: all of them go as one, and take as
// long as apart. Between nodes they differ in where they enter a node; those that don't are bundled where
// messages are very many. Trees go other ways in each channel, and hide their latency by having many under
// way: they are not bundled.
#pragma once

#include <cstdint>

#include "goal/collectives/nccl/node.h"
#include "goal/collectives/nccl/work.h"
#include "goal/collectives/steps.h"
#include "sim/units/module.h"

namespace weft::goal::nccl {

// Messages below which every channel goes on its own: a second of computing, or less.
inline constexpr double kManyMessages = 250'000;
// How much longer a collective may become by bundle_error(), as a share of its time.
inline constexpr double kBundleError = 0.01;

// The parameter `bundle`: 1 to 64, or 0 for `auto`. Throws InputError.
std::uint32_t parse_bundle(const Parameters& parameters);

// Messages of the call, without bundles.
double messages_of(const CollectiveCall& call);
// How much more the channel that has most of a ring's bytes has than they all in the mean, as a share of it.
double ring_unevenness(const CollectiveCall& call);
// By how much of its least time a bundle would lengthen it. `gpu_gbs`: what a GPU's links carry in all, in
// GB/s; 0: as much as the node's. On plain hosts messages inside the node take the network, too: a chunk more
// takes longer there, but so does all of it.
double bundle_error(const CollectiveCall& call, const Node& node, std::uint32_t bundle, double gpu_gbs = 0);

// How many channels go as one: as many as asked for, or (asked == 0) as few as make kManyMessages of the
// call, and no more than kBundleError allows; fewer where its channels can't be divided so. 1 for algorithms
// that aren't bundled. REQUIRES: the call's options are those without bundles.
std::uint32_t bundle_of(const CollectiveAlgorithm& algorithm, const CollectiveCall& call, const Node& node,
                        std::uint32_t asked, double gpu_gbs = 0);

}  // namespace weft::goal::nccl
