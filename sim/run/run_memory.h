// What a run takes of memory, reckoned before it is taken: what the forecasts of all network models have in
// common. Sizes are in bytes.
#pragma once

#include <functional>
#include <string>

#include "sim/run/network_model.h"
#include "sim/run/program_messages.h"

namespace weft::sim {

// Beside what the process holds already (topology, routing table, graph).
struct MemoryForecast {
  double network = 0;    // links, hosts, ranks, partitions
  double under_way = 0;  // messages and what belongs to them, at the most
  double results = 0;    // rows at the end
  double sum() const { return network + under_way + results; }
};

// What a network takes for the messages of a job.
struct MessageSizes {
  PacketRule rule;  // by default nothing is known of packets
  std::function<double(const UnderWay&)> at_start;
  std::function<double(const UnderWay&, double ranks)> in_collectives;
};

// Describes a network that takes so much for each message under way, and for each pair that others go
// between.
MessageSizes sizes_of(double of_message, double of_pair);

// Adds the jobs of a run: ranks, messages under way, rows. Of very many jobs some stand for all; of those
// that wait for hosts, so many run at once as fill the hosts.
void add_jobs(const ModelRun& run, const MessageSizes& sizes, bool keeps_rows, MemoryForecast& forecast);

// Messages of the run, reckoned likewise; of one with limits as many as there may be.
double reckoned_messages(const ModelRun& run);

// Says or refuses, as expect_memory, what "a run on a packet network", of the run's links and hosts, takes
// with what is held already.
void expect_run(const ModelRun& run, const std::string& what, const MemoryForecast& forecast);

}  // namespace weft::sim
