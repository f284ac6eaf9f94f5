#include "sim/packet/packet_memory.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/run/model_replay.h"
#include "sim/run/run_memory.h"

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

double bytes_at_start(const UnderWay& sends, double of_packet) {
  constexpr double kOfMessage = 850, kOfLatePacket = 55;
  return sends.messages * kOfMessage + sends.packets * of_packet + sends.late_packets * kOfLatePacket;
}

// In collectives receivers hold something of a message, too, and ranks don't all send at once. Connections to
// other peers are there until they have rested for long: those of the last rounds. Something of the others
// stays.
double bytes_of_collectives(const UnderWay& sends, double ranks) {
  constexpr double kOfMessage = 1600, kOfPacket = 90, kOfLatePacket = 30;
  constexpr double kOfPair = 1500, kOfPacketOfPair = 30, kOfOldPair = 210, kRounds = 20;
  const double recent = std::min(sends.other_pairs, kRounds * ranks);
  const double share = sends.other_pairs > 0 ? recent / sends.other_pairs : 0;
  return sends.messages * kOfMessage + sends.packets * kOfPacket + sends.late_packets * kOfLatePacket +
         recent * kOfPair + share * sends.packets_of_pairs * kOfPacketOfPair +
         (sends.other_pairs - recent) * kOfOldPair;
}

}  // namespace

MemoryForecast forecast_memory(const ModelRun& run, const PacketConfig& config, std::uint32_t partitions) {
  constexpr double kOfChannel = 400, kOfNode = 600, kOfHost = 84;
  constexpr double kOfPartition = 400e3, kOfHostInPartition = 4, kOfPairOfPartitions = 3e3;
  constexpr double kOfPacket = 85, kOfPacketMailed = 54;
  constexpr double kOfLinkRow = 200;
  const Topology& topology = run.fabric->topology;
  const double channels = static_cast<double>(topology.channels().size()), hosts = topology.hosts();
  const double parts = partitions > 1 ? partitions : 0;
  MemoryForecast bytes;
  bytes.network = channels * kOfChannel + topology.switches() * kOfNode + hosts * kOfHost +
                  partitions * (kOfPartition + kOfHostInPartition * hosts) +
                  parts * parts * kOfPairOfPartitions;
  bytes.results = channels * kOfLinkRow;
  const double of_packet = parts > 0 ? kOfPacket + kOfPacketMailed : kOfPacket;
  const MessageSizes sizes{
      .rule = {.mtu_bytes = config.mtu_bytes, .window = window(topology, config)},
      .at_start = [&](const UnderWay& sends) { return bytes_at_start(sends, of_packet); },
      .in_collectives = bytes_of_collectives};
  add_jobs(run, sizes, config.record_flows, bytes);
  return bytes;
}

double packets_per_host(const ModelRun& run, const PacketConfig& config) {
  double bytes = 0;
  for (const double load : host_loads(run)) bytes += load;
  return bytes / config.mtu_bytes / std::max<double>(run.hosts, 1);
}

}  // namespace weft::sim::packet
