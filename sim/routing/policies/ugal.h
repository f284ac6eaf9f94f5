#pragma once

#include "sim/routing/routing.h"

namespace weft::routing {

// Universal globally-adaptive load-balanced routing, and its relatives. The switch that a packet enters the
// network through compares the least loaded of its ports on minimal ways with those on ways by hosts'
// switches drawn at random: the packet goes minimally if
//   load · links <= weight · load of the detour's port · links of the detour + bias.
// Loads are times: how long what waits takes to leave. ACKs follow the built-in rule.
//
// `ugal` (UGAL-L) knows the loads of its own ports only. `ugal_g` adds up those of all ports on a minimal way
// and on the detour, as switches told them last (SwitchAsks::snapshot_period): up to 64 ports of a switch, in
// 256 steps. `par` asks again at the next switches, as long as the packet is in its source's group (without
// groups: at the next switch). `slingshot` looks at two minimal ports and two detours, prefers minimal
// ways, and within a group of switches detours by these only.
Policy ugal();
Policy ugal_g();
Policy par();
Policy slingshot();

}  // namespace weft::routing
