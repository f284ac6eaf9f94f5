// The two places where routing acts: in the switch (SwitchPolicy) and in the sending NIC (PathSelector).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sim/core/random.h"
#include "sim/routing/path_selector.h"
#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::routing {

// What a policy may see of a packet.
struct PacketView {
  std::uint32_t source = 0, destination = 0;  // hosts
  std::uint64_t flow = 0;                     // stable identity of the flow, the same on every switch
  std::uint32_t entropy = 0;                  // chosen by the sender's PathSelector (UDP port / flow label)
  std::uint32_t bytes = 0;                    // on the wire
  bool control = false;                       // ACK or other small packet without user bytes
};

// What a policy may see of its own switch.
struct SwitchView {
  std::uint32_t switch_index = 0;
  std::uint64_t salt = 0;  // drawn per switch from the seed
  Time now;
  // For each candidate the time at which its output queue will be empty (<= now: idle).
  const std::int64_t* channel_free_at_ps = nullptr;  // indexed by channel number
};

// Picks an output among the minimal candidates of one switch. One object per switch, so it may keep state;
// it must not look at anything but its own switch.
class SwitchPolicy {
 public:
  virtual ~SwitchPolicy() = default;
  // Returns an index into `candidates` (channel numbers, at least two, in a fixed order).
  virtual std::uint32_t choose(const PacketView& packet, std::span<const std::uint32_t> candidates,
                               const SwitchView& view) = 0;
};

// What a policy comes to where flows are fluids and there are no packets to choose for (sim/flow).
enum class FluidPaths : std::uint8_t {
  kUnknown,  // it can't be told without packets: the flow-level network refuses the policy
  kOne,      // each flow keeps the path that the built-in rule gives its entropy
  kEven,     // each flow divides evenly among all minimal next links, at every hop
};

// A routing module as users name it: `--routing ecmp`. Null for a factory means the built-in rule:
// switches hash the packet's entropy with their salt; NICs keep one entropy per flow.
struct Policy {
  ModuleInfo info;
  std::unique_ptr<SwitchPolicy> (*make_switch_policy)(const Parameters&, std::uint32_t switch_index,
                                                      sim::RandomStream) = nullptr;
  // Called once per run: parameters are read and checked here, not per flow.
  PathSelectorMaker (*make_path_selectors)(const Parameters&) = nullptr;
  // False: selectors ignore what happens to packets, and aren't told.
  bool selectors_want_feedback = true;
  FluidPaths fluid = FluidPaths::kUnknown;
};

}  // namespace weft::routing
