// What a plug-in is made of: modules of a user's own in a shared object, which `weft --plugin` adds to those
// built in. A plug-in is one file that includes this one and what its modules need, and ends with
//
//   WEFT_PLUGIN(plugin) { plugin.controls.push_back(my_control()); }
//
// It is compiled with this weft's headers, by the same compiler:
//
//   g++ -std=c++20 -O2 -fPIC -shared -I WEFT my_control.cc -o my_control.so
//
// Worked examples: examples/my_congestion_control, examples/my_routing_policy, examples/my_topology.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "congestion/congestion.h"
#include "congestion/recovery.h"
#include "sim/fabrics/fabric.h"
#include "sim/placement/placement.h"
#include "sim/routing/routing.h"
#include "topologies/graph/topology.h"

namespace weft {

// The modules of a plug-in, each as those built in (see the headers). Functions that they point to stay in
// memory until the program ends.
struct Plugin {
  std::vector<congestion::Control> controls;
  std::vector<congestion::RecoveryKind> recoveries;
  std::vector<routing::Policy> policies;
  std::vector<topologies::Family> families;
  std::vector<placement::Policy> placements;
  std::vector<fabrics::Fabric> fabrics;
};

// What plug-in and program must agree in. To be counted up whenever a header that plugin.h includes changes
// in a way that `layout` doesn't see: a virtual function more, an argument that means something else.
inline constexpr std::uint32_t kPluginInterface = 19;

namespace internal {

template <typename... Types>
consteval std::uint64_t hash_of_layouts() {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001B3ULL; };
  (add(sizeof(Types) << 8 | alignof(Types)), ...);
  add(__GXX_ABI_VERSION);
  add(_GLIBCXX_USE_CXX11_ABI);
  return hash;
}

// Covers all that passes between plug-in and program.
inline constexpr std::uint64_t kPluginLayout = hash_of_layouts<
    Plugin, ModuleInfo, ParameterSpec, Parameters, CapabilityNeeds, Time, Bandwidth, sim::RandomStream,
    congestion::Control, congestion::Sender, congestion::FlowInfo, congestion::Allowance, congestion::Ack,
    congestion::Loss, congestion::Sent, congestion::HopTelemetry, congestion::ReceiverInfo,
    congestion::RecoveryKind, congestion::Recovery, congestion::RecoverySetup, congestion::Answer,
    congestion::Reassembly, congestion::Arrivals, routing::Policy, routing::SwitchAsks, routing::PlanSetup,
    routing::PacketView, routing::RouteNote, routing::Output, routing::Foreseen, routing::Snapshot,
    routing::PathSetup, routing::Path, routing::PathStep, topologies::Family, topologies::Topology,
    topologies::Node, topologies::Link, topologies::Channel, placement::Policy, placement::Request,
    placement::Machine, placement::Outcome, placement::Setup, placement::Exchange, fabrics::Fabric,
    fabrics::FabricRouting>();

// Stands in the file, so that a plug-in can be refused before anything of it runs.
struct PluginMark {
  static constexpr std::string_view kBegin = "weft plug-in, interface ";
  std::array<char, 64> text{};
};

consteval PluginMark make_plugin_mark(std::uint32_t interface, std::uint64_t layout) {
  PluginMark mark;
  std::size_t length = 0;
  for (const char c : PluginMark::kBegin) mark.text[length++] = c;
  for (int shift = 28; shift >= 0; shift -= 4)
    mark.text[length++] = "0123456789abcdef"[interface >> shift & 15];
  mark.text[length++] = '/';
  for (int shift = 60; shift >= 0; shift -= 4) mark.text[length++] = "0123456789abcdef"[layout >> shift & 15];
  return mark;
}

}  // namespace internal
}  // namespace weft

// Defines the function by which the program asks a plug-in for its modules; a body in braces follows, that
// fills in `plugin`. It may throw weft::InputError.
#define WEFT_PLUGIN(plugin)                                                                                \
  extern "C" [[gnu::visibility("default"), gnu::used]] const weft::internal::PluginMark weft_plugin_mark = \
      weft::internal::make_plugin_mark(weft::kPluginInterface, weft::internal::kPluginLayout);             \
  extern "C" [[gnu::visibility("default")]] void weft_plugin(weft::Plugin& plugin)
