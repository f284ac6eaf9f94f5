// The receiver's side of controls that it drives: what `rccc`, `nscc_rccc`, `eqds` and `ndp` share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "congestion/controls/network_rate.h"
#include "congestion/receiver.h"

namespace weft::congestion {

// Grants credit to the connections that end at its NIC, in turn, as fast as what it allows can come in: so
// many bytes each time, to those that want some; to others that are in the middle of a message, where nobody
// wants any, up to a window that they may use when they do. Or a packet for each one that has come
// (`per_arrival`). Memory: 48 bytes for each connection that is in the middle of a message.
class PullReceiver final : public Receiver {
 public:
  struct Settings {
    std::int64_t packets_per_pull = 1;
    double rate = 1;           // share of the link's rate that is granted
    double idle_window = 0;    // bandwidth-delay products granted unasked; 0: nothing is
    bool per_arrival = false;  // a packet for each that came, whole or cut off, and no more than is wanted
    bool has_network_rate = false;
    NetworkRate::Settings network_rate;
  };

  PullReceiver(const ReceiverInfo& nic, const Settings& settings);

  AckTime on_data(const Arrival& arrival, std::uint32_t& word, ReceiverActions& actions) override;
  void on_timer(ReceiverActions& actions) override;
  Signals signals() const override;

 private:
  // Payload bytes over the connection's life, as grants count.
  struct Flow {
    ConnectionId connection = kNobody;
    std::uint64_t wanted = 0;  // as it was told; without `per_arrival` also what was cut off since
    std::uint64_t cut = 0;     // off, where senders leave it to the receiver to count that
    std::uint64_t earned = 0;  // packets that came, where each earns one
    std::uint64_t granted = 0;
    std::uint32_t next_free = 0;
    bool active = false, idle = false;  // in one of the queues
    bool complete = false;              // nothing is known to be under way
  };
  static constexpr ConnectionId kNobody = UINT64_MAX;
  // A queue of numbers that keeps its memory.
  class Turns {
   public:
    bool empty() const { return size_ == 0; }
    void push(std::uint32_t number);
    std::uint32_t pop();

   private:
    std::vector<std::uint32_t> ring_;
    std::size_t first_ = 0, size_ = 0;
  };

  std::uint32_t find(ConnectionId connection, std::uint32_t& word, ReceiverActions& actions);
  std::uint64_t due(const Flow& flow) const;
  static std::uint64_t unasked(const Flow& flow) {
    return flow.granted - std::min(flow.granted, flow.wanted);
  }
  void rest(std::uint32_t number);
  void serve(ReceiverActions& actions);
  std::uint64_t serve_active(ReceiverActions& actions);
  std::uint64_t serve_idle(ReceiverActions& actions);
  void free_if_done(std::uint32_t number);

  Settings settings_;
  std::uint64_t mtu_, wire_bytes_, pull_bytes_, idle_bytes_;
  Bandwidth line_rate_;
  NetworkRate network_rate_;
  std::vector<Flow> flows_;
  std::uint32_t first_free_ = kNone;
  static constexpr std::uint32_t kNone = UINT32_MAX;
  Turns active_, idle_;
  bool running_ = false;  // a timer is set for the next pull
  std::uint64_t unasked_pulls_ = 0, rate_cuts_ = 0;
};

std::unique_ptr<ReceiverFactory> pull_receivers(const PullReceiver::Settings& settings);

}  // namespace weft::congestion
