// How messages of a share's ranks leave: from which host, NIC and connection, and into the network.
#pragma once

#include <cstdint>

#include "sim/core/engine.h"
#include "sim/core/network.h"
#include "sim/replay/rank_state.h"
#include "sim/replay/replay_plan.h"
#include "sim/replay/trails.h"
#include "sim/replay/wire.h"

namespace weft::sim {

// Where a message of a rank goes, and by which way.
struct MessageRoute {
  std::uint32_t peer = 0;  // a rank
  std::uint8_t nic = 0;
  std::uint16_t connection = 0;                    // of those between the two ranks
  std::uint32_t channel = ReplayPlan::kNoChannel;  // of a collective, if that says which of the rank's NICs
};

class Departures {
 public:
  Departures(const ReplayPlan& plan, const Engine& engine)
      : plan_(plan),
        engine_(engine),
        placed_(plan.placed.empty() ? nullptr : plan.placed.data()),
        connections_(plan.hosts.connections_per_pair) {}

  void set_network(Network& network) { network_ = &network; }
  void keep_trails(Trails& trails) { trails_ = &trails; }

  // From this rank, and else empty.
  Message message(std::uint32_t rank, const MessageRoute& route) const {
    Message message;
    message.source = rank;
    message.destination = route.peer;
    message.channel = route.connection;
    message.source_nic = message.destination_nic = route.nic;
    if (placed_ != nullptr) place(message, rank, route);
    return message;
  }
  void inject(Message& message) {
    if (trails_ != nullptr) {
      message.trail = trails_->leave(wire::ends_of(message).source, message.bytes, engine_.now());
    }
    network_->inject(message);
  }
  // Messages of a rank take its connections in turn.
  std::uint16_t next_connection(RankState& rank) const {
    if (connections_ == 1) [[likely]]
      return 0;
    const std::uint16_t connection = rank.connection++;
    if (rank.connection == connections_) rank.connection = 0;
    return connection;
  }
  // The one, of those between two ranks, that a message took.
  std::uint16_t connection_of(const Message& message) const {
    return static_cast<std::uint16_t>((message.channel - plan_.place.first_channel) % connections_);
  }

 private:
  void place(Message& message, std::uint32_t rank, const MessageRoute& route) const;

  const ReplayPlan& plan_;
  const Engine& engine_;
  const PlacedRank* const placed_;  // null: rank r is host r
  const std::uint32_t connections_;
  Network* network_ = nullptr;
  Trails* trails_ = nullptr;  // null: nobody asks what the time of a run consists of
};

}  // namespace weft::sim
