#include "sim/packet/packet_memory.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "goal/program.h"
#include "sim/model_replay.h"

namespace weft::sim::packet {
namespace {

using topologies::Topology;

// Round trip of a full packet from the first host to the one that is most links away.
Time longest_round_trip(const Topology& topology, const PacketConfig& config) {
  std::vector<Time> reached(topology.nodes(), Time::max());
  std::vector<std::uint32_t> row = {static_cast<std::uint32_t>(topology.host(0))};
  reached[row.front()] = Time();
  Time longest;
  for (std::size_t i = 0; i < row.size(); ++i) {
    for (const std::uint32_t c : topology.out_channels(row[i])) {
      const topologies::Channel& channel = topology.channels()[c];
      if (reached[channel.to] != Time::max()) continue;
      reached[channel.to] = reached[row[i]] + channel.latency + topology.node(channel.to).switch_latency +
                            channel.rate.serialization(config.mtu_bytes + config.header_bytes);
      longest = std::max(longest, reached[channel.to]);
      row.push_back(channel.to);
    }
  }
  return longest * 2;
}

// Packets that a sender may have under way: one and a half bandwidth-delay products, as most controls.
double window(const Topology& topology, const PacketConfig& config) {
  const Time round_trip = longest_round_trip(topology, config);
  const Bandwidth rate = topology.channels()[topology.out_channels(topology.host(0)).front()].rate;
  const Time packet = rate.serialization(config.mtu_bytes + config.header_bytes);
  return std::max(1.5 * static_cast<double>(round_trip.ps()) / static_cast<double>(packet.ps()), 4.0);
}

// Of the ranks of a program.
struct Sends {
  double messages = 0;                   // in all
  double at_once = 0;                    // that wait for nothing
  double packets = 0, late_packets = 0;  // of these: within a window, and sent later while one is missing
};

void add_rank(const goal::RankView& rank, const PacketConfig& config, double window, Sends& sends) {
  constexpr double kWindowsBehind = 16;  // a sender stops so many after a missing packet
  const std::vector<std::uint32_t> waits_for = rank.dependency_counts();
  for (goal::OpIndex i = 0; i < rank.ops(); ++i) {
    if (rank.kind(i) != goal::OpKind::kSend) continue;
    ++sends.messages;
    if (waits_for[i] > 0) continue;
    ++sends.at_once;
    const double packets = static_cast<double>(rank.value(i) / config.mtu_bytes + 1);
    const double first = std::min(packets, window);
    sends.packets += first;
    sends.late_packets += std::min(packets, kWindowsBehind * window) - first;
  }
}

// Of a program in memory some ranks stand for all; of a file nothing is known but that each rank sends.
Sends sends_of(const goal::Program& program, const PacketConfig& config, double window) {
  constexpr std::uint32_t kMost = 1000;
  const double ranks = program.ranks();
  Sends sends;
  if (program.graph() == nullptr) {
    return {.messages = static_cast<double>(program.facts().ops) / 2,
            .at_once = ranks,
            .packets = ranks * window};
  }
  const std::uint32_t step = std::max<std::uint32_t>(program.ranks() / kMost, 1);
  double looked_at = 0;
  for (goal::Rank rank = 0; rank < program.ranks(); rank += step, ++looked_at) {
    add_rank(program.graph()->rank(rank), config, window, sends);
  }
  const double scale = looked_at > 0 ? ranks / looked_at : 0;
  sends.messages *= scale;
  sends.at_once *= scale;
  sends.packets *= scale;
  sends.late_packets *= scale;
  return sends;
}

}  // namespace

MemoryForecast forecast_memory(const ModelRun& run, const PacketConfig& config, std::uint32_t partitions) {
  constexpr double kOfChannel = 400, kOfNode = 600, kOfHost = 84, kOfRank = 192;
  constexpr double kOfPartition = 400e3, kOfHostInPartition = 4, kOfPairOfPartitions = 3e3;
  constexpr double kOfMessage = 850, kOfPacket = 180, kOfPacketMailed = 54, kOfLatePacket = 75;
  constexpr double kOfLinkRow = 200, kOfRankRow = 200, kOfMessageRow = 230;
  const Topology& topology = run.fabric->topology;
  const double channels = static_cast<double>(topology.channels().size()), hosts = topology.hosts();
  const double parts = partitions > 1 ? partitions : 0;
  MemoryForecast bytes;
  bytes.network = channels * kOfChannel + topology.switches() * kOfNode + hosts * kOfHost +
                  partitions * (kOfPartition + kOfHostInPartition * hosts) +
                  parts * parts * kOfPairOfPartitions;
  bytes.results = channels * kOfLinkRow;
  const double packets = window(topology, config);
  for (const ReplayJob& job : run.jobs) {
    const Sends sends = sends_of(job.program, config, packets);
    bytes.network += job.program.ranks() * kOfRank;
    bytes.under_way += sends.at_once * kOfMessage + sends.late_packets * kOfLatePacket +
                       sends.packets * (parts > 0 ? kOfPacket + kOfPacketMailed : kOfPacket);
    bytes.results += job.program.ranks() * kOfRankRow;
    if (config.record_flows) bytes.results += sends.messages * kOfMessageRow;
  }
  return bytes;
}

double packets_per_host(const ModelRun& run, const PacketConfig& config) {
  double bytes = 0;
  for (const double load : host_loads(run)) bytes += load;
  return bytes / config.mtu_bytes / std::max<double>(run.hosts, 1);
}

}  // namespace weft::sim::packet
