// The LogGOPS network: latency, a gap per message and a gap per byte at each NIC, and no topology.
//
// Sources: D. Culler et al., "LogP: towards a realistic model of parallel computation", PPoPP 1993;
// A. Alexandrov et al., "LogGP", SPAA 1995; T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim – simulating
// large-scale applications in the LogGOPS model", LSAP 2010. The rules are in README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/results/records.h"
#include "sim/units/large_pages.h"
#include "sim/units/module.h"

namespace weft::sim {

// The network's part of the LogGOPS parameters; o, O and S belong to the hosts (HostConfig).
struct LogGopsConfig {
  Time latency;              // L
  Time gap;                  // g: between the last byte of a message and the first of the next, at one NIC
  TimePerByte gap_per_byte;  // G: per byte after the first
};

// What is kept of the messages beside the totals: nothing, what all of them say together, or a row of each
// too.
enum class FlowRecord : std::uint8_t { kNothing, kStatistics, kRows };

// It runs in one or more partitions, each with an engine, a client and hosts of its own. Nothing crosses in
// less than L, so partitions run side by side in windows of L. Results don't depend on how the hosts are
// divided.
class LogGopsNetwork final : public results::Reporter {
 public:
  // In one partition: `hosts` × `nics` network interfaces, each able to send and receive at the same time.
  LogGopsNetwork(const LogGopsConfig& config, std::uint32_t hosts, std::uint32_t nics, FlowRecord record,
                 Engine& engine, NetworkClient& client);
  // In as many partitions as there are engines; host h belongs to partition_of_host[h]. REQUIRES: as many
  // clients; latency > 0 if there are several; the same number of entities in all engines.
  LogGopsNetwork(const LogGopsConfig& config, std::uint32_t nics, FlowRecord record,
                 std::span<Engine* const> engines, std::span<NetworkClient* const> clients,
                 std::span<const std::uint16_t> partition_of_host);
  ~LogGopsNetwork() override;

  // The hosts of one partition, as its client sees them.
  Network& part(std::uint32_t partition = 0);
  // Executes all events, the clients' too, until none is left or `control` stops it; `threads` run partitions
  // side by side. May be called again after more messages were injected.
  StopReason run(RunControl& control, std::uint32_t threads = 1);

  results::NetworkTotals totals() const override;
  std::vector<results::Flow> flows() const override;
  results::FlowStatistics flow_statistics() const override;

 private:
  class Part;
  class Run;
  // Only the partition of its host touches it.
  struct Nic {
    Time transmit_free, receive_free;
    std::uint32_t receiving = 0;  // messages whose delivery is scheduled
    std::uint32_t scheduled = 0;  // events so far
  };
  std::uint32_t nic_index(std::uint32_t host, std::uint8_t nic) const { return host * nics_ + nic; }

  const LogGopsConfig config_;
  const std::uint32_t nics_;
  const FlowRecord record_;
  EntityId first_entity_ = 0;
  std::vector<std::uint16_t> partition_of_host_;
  LargeVector<Nic> nic_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::uint32_t windows_ = 0;  // run so far
};

// The module as users name it, `loggops:semantics=…,L=…,o=…,g=…,G=…,O=…,S=…`.
const ModuleInfo& loggops_module();

}  // namespace weft::sim
