// What a run at packet level will take of memory, reckoned before it is taken.
#pragma once

#include "sim/packet/packet_config.h"
#include "sim/run/network_model.h"
#include "sim/run/run_memory.h"

namespace weft::sim::packet {

// MEMORY.md says what is counted and how well it fits.
MemoryForecast forecast_memory(const ModelRun& run, const PacketConfig& config, std::uint32_t partitions);

// Packets of the messages that ranks send outside of collectives, for each host of the run.
double packets_per_host(const ModelRun& run, const PacketConfig& config);

}  // namespace weft::sim::packet
