// How MPI libraries take messages from rank to rank, as profiles of parameters.
#pragma once

#include <span>

#include "sim/replay/replay.h"
#include "sim/units/module.h"

namespace weft::sim {

// The first, "ideal", is that of the GOAL simulators. All have the same parameters: eager_limit,
// first_fragment, rendezvous, fragment, pipeline_depth, send_buffer, connections, rails, answers. The rules
// are in PROTOCOLS.md.
std::span<const ModuleInfo> protocols();

// Sets what `parameters`, of one of them, say of eager messages and rendezvous. An eager limit of the hosts'
// own (`S`) comes after this. Throws InputError for values that make no sense.
void apply_protocol(const Parameters& parameters, HostConfig& hosts);

}  // namespace weft::sim
