// A log of every step of every packet between two hosts, in one direction and its ACKs.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "sim/packet/observer.h"
#include "sim/results/output_file.h"
#include "topologies/graph/topology.h"

namespace weft::sim::packet {

// Which flows to log: those from one host to another, or one of them.
struct FlowSelection {
  static constexpr std::uint32_t kAll = UINT32_MAX;
  std::uint32_t source = 0, destination = 0;  // hosts
  std::uint32_t which = kAll;                 // from 0, in the order in which they enter the network
};
// Reads "3-7" or "3-7#2". Throws InputError.
FlowSelection parse_flow_selection(std::string_view text);

inline constexpr const char* kPacketLogColumns =
    "time_ns,event,place,flow,packet,ack,bytes,marked,departure_ns";

// Writes a row for each event, in the order of the events. The columns are described in
// sim/results/FILES.md.
class PacketLog final : public Observer {
 public:
  // The topology must outlive it. Throws InputError if the file can't be written.
  PacketLog(const topologies::Topology& topology, const FlowSelection& selection, const std::string& path);

  void on_inject(Time now, const Sighting& packet) override;
  void on_enqueue(Time now, std::uint32_t channel, const Sighting& packet, Time departure) override;
  void on_transmit(Time now, std::uint32_t channel, const Sighting& packet, Time departure) override;
  void on_trim(Time now, std::uint32_t channel, const Sighting& packet) override;
  void on_drop(Time now, std::uint32_t channel, const Sighting& packet) override;
  void on_arrive(Time now, std::uint32_t channel, const Sighting& packet) override;
  void on_deliver(Time now, const Sighting& packet) override;
  void close() { file_.close(); }
  // Says that there was nothing to log.
  std::string remark() const;

 private:
  bool wanted(const Sighting& packet) const;
  const std::string& host_name(std::uint32_t host) const { return topology_.node(topology_.host(host)).name; }
  std::string channel_name(std::uint32_t channel) const;
  void row(Time now, std::string_view event, std::string_view place, const Sighting& packet,
           std::string_view departure);

  const topologies::Topology& topology_;
  const FlowSelection selection_;
  std::set<std::uint32_t> seen_;  // numbers of the pair's flows, until the one that is wanted comes
  std::int64_t number_ = -1;      // of that one, among the flows of its source
  bool is_empty_ = true;
  results::OutputFile file_;
};

}  // namespace weft::sim::packet
