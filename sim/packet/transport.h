// One partition's hosts: its rooms, joined. Those that send (connections, turns at NICs, answers), those that
// receive and copies within hosts know nothing of each other.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/packet/answers.h"
#include "sim/packet/connections.h"
#include "sim/packet/hosts.h"
#include "sim/packet/local_copies.h"
#include "sim/packet/nic_turns.h"
#include "sim/packet/receiving_side.h"

namespace weft::sim::packet {

class Transport {
 public:
  Transport(Engine& engine, NetworkClient& client, Fabric& fabric, Channels& channels, Hosts& hosts,
            const TransportSetup& setup, std::uint32_t partition, Outbox& outbox);
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  void start(const Message& message);
  // A message of another partition to a host of this one.
  void expect(std::uint32_t from_partition, const FlowStart& flow) {
    receiving_.expect(from_partition, flow);
  }

  // A packet at its host, and after receive_delay.
  void packet_at_host(ChannelId channel, PacketHandle handle);
  void received(PacketHandle handle, PortId port);
  void local_copy_done(std::uint32_t slot);
  NicTurns& turns() { return turns_; }
  Answers& answers() { return answers_; }
  ReceivingSide& receiving() { return receiving_; }
  const Connections& connections() const { return connections_; }
  const ReceivingSide& receiving() const { return receiving_; }
  const Hosts& hosts() const { return side_.hosts; }
  const TransportSetup& setup() const { return side_.setup; }

  const TransportCounters& counters() const { return side_.counters; }
  enum class Counting : std::uint8_t { kControl, kReceivers, kRecovery, kPaths };
  // What these have counted.
  void add_signals(Counting what, Signals& sum) const;
  // Connections, and copies within hosts, that are not done.
  std::uint64_t open_flows() const { return connections_.live() + copies_under_way_; }
  const std::vector<DeliveredMessage>& delivered() const { return receiving_.delivered(); }
  void add_to(results::FlowStatistics& statistics) const { receiving_.add_to(statistics); }
  std::vector<SentMessage> sent() const { return connections_.sent(); }

 private:
  void receive(PacketHandle handle, ChannelId way_back);

  HostSide side_;
  Connections connections_;
  NicTurns turns_;
  Answers answers_;
  ReceivingSide receiving_;
  LocalCopies copies_;
  std::uint64_t copies_under_way_ = 0;
};

}  // namespace weft::sim::packet
