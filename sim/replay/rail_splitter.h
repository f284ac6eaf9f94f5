// Divides messages over the NICs that a rank has of its own, and joins the pieces. It stands between a share
// and its network, in both directions: where each rank has one NIC there is none, and it costs nothing.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "sim/core/network.h"
#include "sim/replay/replay_plan.h"

namespace weft::sim {

// A message may be divided over so many NICs (Message::rails); it is, over as many as leave each piece
// RailUse::least_bytes. Both ends know a message by the words of its client, which tell messages under way
// apart; where fragments of one have the same, it doesn't matter which piece belongs to which.
class RailSplitter final : public Network, public NetworkClient {
 public:
  // Whom it calls must outlive it.
  RailSplitter(const ReplayPlan& plan, NetworkClient& client) : plan_(plan), client_(client) {}
  void set_network(Network& network) { network_ = &network; }

  void inject(const Message& message) override;
  bool delivers_in_order() const override { return false; }

  void on_sent(const Message& message) override;
  void on_delivered(const Message& message) override;
  void on_event(const Event& event) override { client_.on_event(event); }
  void expect(const Event& event, int look) const override { client_.expect(event, look); }
  void expect(const Message& message, int look) const override { client_.expect(message, look); }

 private:
  struct Key {
    std::array<std::uint32_t, 7> client;
    std::uint8_t pieces = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Joined {
    std::uint32_t pieces = 0;
    std::uint64_t bytes = 0;
  };
  using Joins = std::unordered_map<Key, Joined, Hash>;

  std::uint32_t pieces_of(const Message& message) const;
  static bool join(Joins& joins, Message& piece);

  const ReplayPlan& plan_;
  NetworkClient& client_;
  Network* network_ = nullptr;
  Joins sent_, arrived_;  // of messages of which some pieces were, and some not
};

}  // namespace weft::sim
