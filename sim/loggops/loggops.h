// The LogGOPS network: latency, a gap per message and a gap per byte at each NIC, and no topology.
//
// Sources: D. Culler et al., "LogP: towards a realistic model of parallel computation", PPoPP 1993;
// A. Alexandrov et al., "LogGP", SPAA 1995; T. Hoefler, T. Schneider, A. Lumsdaine, "LogGOPSim – simulating
// large-scale applications in the LogGOPS model", LSAP 2010. The rules are in README.md.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/results/records.h"
#include "sim/units/module.h"

namespace weft::sim {

// The network's part of the LogGOPS parameters; o, O and S belong to the hosts (HostConfig).
struct LogGopsConfig {
  Time latency;              // L
  Time gap;                  // g: between the last byte of a message and the first of the next, at one NIC
  TimePerByte gap_per_byte;  // G: per byte after the first
};

class LogGopsNetwork : public Network, public results::Reporter {
 public:
  // `hosts` × `nics` network interfaces, each able to send and receive at the same time.
  LogGopsNetwork(const LogGopsConfig& config, std::uint32_t hosts, std::uint32_t nics, bool record_flows,
                 Engine& engine, NetworkClient& client);

  void inject(const Message& message) override;
  bool delivers_in_order() const override { return true; }
  // Executes all events, the client's too, until none is left or `control` stops it. May be called again
  // after more messages were injected.
  StopReason run(RunControl& control);

  results::NetworkTotals totals() const override;
  std::vector<results::Flow> flows() const override;

 private:
  enum EventKind : std::uint16_t { kSent, kArrived, kDelivered };
  struct Nic {
    Time transmit_free, receive_free;
    std::uint32_t receiving = 0;  // messages whose delivery is scheduled
  };
  struct alignas(64) InFlight {
    Message message;
    std::uint8_t callbacks_left = 1;  // on_sent and on_delivered may come in either order when L = 0
  };
  static_assert(sizeof(InFlight) == 64);
  struct Injection {
    Time time;
    std::uint64_t number = 0;  // of all messages injected
  };
  std::uint32_t nic_index(std::uint32_t host, std::uint8_t nic) const { return host * nics_ + nic; }
  void handle(const Event& event);
  void deliver(std::uint32_t handle);
  void callback_done(std::uint32_t handle);

  LogGopsConfig config_;
  std::uint32_t nics_;
  bool record_flows_;
  Engine& engine_;
  NetworkClient& client_;
  EntityId first_entity_;
  std::vector<Nic> nic_;
  std::vector<InFlight> pool_;
  std::vector<Injection> injections_;  // of the messages in pool_, where flows are recorded
  std::vector<std::uint32_t> free_;
  results::NetworkTotals totals_;
  std::uint64_t injected_ = 0;
  std::vector<std::pair<std::uint64_t, results::Flow>> flows_;  // with the message's number
};

// The module as users name it, `loggops:semantics=…,L=…,o=…,g=…,G=…,O=…,S=…`.
const ModuleInfo& loggops_module();

}  // namespace weft::sim
