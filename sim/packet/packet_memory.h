// What a run at packet level will take of memory, reckoned before it is taken.
#pragma once

#include "sim/network_model.h"
#include "sim/packet/packet_config.h"

namespace weft::sim::packet {

// In bytes, beside what the process holds already (topology, routing table, graph). README.md says what is
// counted and how well it fits.
struct MemoryForecast {
  double network = 0;    // channels, hosts, partitions
  double under_way = 0;  // connections, messages and packets, at the most
  double results = 0;    // rows at the end
  double sum() const { return network + under_way + results; }
};

MemoryForecast forecast_memory(const ModelRun& run, const PacketConfig& config, std::uint32_t partitions);

// Packets of the messages that ranks send outside of collectives, for each host of the run.
double packets_per_host(const ModelRun& run, const PacketConfig& config);

}  // namespace weft::sim::packet
