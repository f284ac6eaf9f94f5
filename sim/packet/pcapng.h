// Packets at hosts' NICs as a capture file that Wireshark and tshark open.
//
// Source: M. Tüxen et al., PCAP Next Generation Capture File Format, draft-ietf-opsawg-pcapng.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/packet/observer.h"
#include "sim/results/output_file.h"
#include "topologies/graph/topology.h"

namespace weft::sim::packet {

// Captures what the NICs of some hosts send and receive: an interface for each NIC. A packet that is sent has
// the time at which the NIC took it, or, from a NIC with queues that decide packet by packet, at which it
// goes on the wire; one that is received, of its last bit.
//
// Simulated packets have no bytes, so each gets headers that say what is known of it: Ethernet, IPv4, UDP,
// and then 12 bytes of payload: the flow's number among those of its source, the packet's number in the flow,
// and flags (1: ACK, 2: marked, 4: trimmed, 8: returned to its sender), big-endian. Host h is 10.x.y.z with
// the 24 bits of h. Data goes from the port 49152 + the low 14 bits of the entropy to port 49151, its ACK
// back. The ECN field says ECT(0) or, if the packet is marked, CE for data, and nothing for ACKs. The length
// on the wire is that of the simulation.
class PcapngCapture final : public Observer {
 public:
  // Throws InputError if the file can't be written. REQUIRES: hosts of the topology.
  PcapngCapture(const topologies::Topology& topology, const std::vector<std::uint32_t>& hosts,
                const std::string& path);

  void on_inject(Time, const Sighting&) override {}
  void on_enqueue(Time now, std::uint32_t channel, const Sighting& packet, Time departure) override;
  void on_transmit(Time now, std::uint32_t channel, const Sighting& packet, Time departure) override;
  void on_drop(Time, std::uint32_t, const Sighting&) override {}
  void on_arrive(Time now, std::uint32_t channel, const Sighting& packet) override;
  void on_deliver(Time, const Sighting&) override {}
  void close() { file_.close(); }

 private:
  void capture(Time now, std::uint32_t interface, const Sighting& packet, bool outbound);

  results::OutputFile file_;
  // By channel: 0 where nothing is captured, else the number of the interface + 1.
  std::vector<std::uint16_t> outbound_, inbound_;
};

}  // namespace weft::sim::packet
