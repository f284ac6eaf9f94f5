// The worked example of a recovery: go-back-N, as RDMA NICs do it. The receiver takes packets in their order
// only, and tells once of each gap; the sender goes back to it, and sends everything from there on again.
#pragma once

#include <algorithm>
#include <cstdint>

#include "congestion/recovery.h"

namespace weft::congestion {

class GoBackN final : public Recovery {
 public:
  struct Settings {
    Settings() = default;
    explicit Settings(const Parameters&) {}
  };

  GoBackN(const RecoverySetup& setup, const Settings&)
      : Recovery(setup), timeout_(setup.config.min_timeout), went_back_(setup.signals) {}

  std::uint32_t next_to_send() override { return next_ - lost_; }
  void on_send(std::uint32_t number, Time at) override {
    if (in_flight_packets_ == 0) since_ = at;
    if (number == next_) {
      ++next_;
    } else {
      --lost_;
    }
    ++in_flight_packets_;
    in_flight_bytes_ += payload(number);
  }
  Outcome on_ack(const Answer& ack) override {
    Outcome outcome;
    settle(ack, outcome);
    return outcome;
  }
  Outcome on_nack(const Answer& nack) override {
    Outcome outcome;
    settle(nack, outcome);
    go_back(outcome);
    return outcome;
  }
  Time deadline() const override { return in_flight_packets_ == 0 ? Time::max() : since_ + timeout_; }
  Outcome on_timer(Time now) override {
    Outcome outcome;
    if (now < deadline()) return outcome;
    since_ = now;
    outcome.timeout = true;
    go_back(outcome);
    return outcome;
  }
  bool gave_up() const override { return false; }

 private:
  void settle(const Answer& answer, Outcome& outcome) {
    for (; first_ < answer.cumulative; ++first_) {
      const std::uint32_t bytes = payload(first_);
      if (first_ < next_ - lost_) {
        --in_flight_packets_;
        in_flight_bytes_ -= bytes;
      } else {
        --lost_;
      }
      ++outcome.acked_packets;
      outcome.acked_bytes += bytes;
      since_ = answer.now;
    }
    sizes_.forget_below(first_);
  }
  void go_back(Outcome& outcome) {
    ++*went_back_;
    for (std::uint32_t n = first_; n < next_ - lost_; ++n) note_loss(n);
    outcome.lost_packets = in_flight_packets_;
    outcome.lost_bytes = in_flight_bytes_;
    in_flight_packets_ = 0;
    in_flight_bytes_ = 0;
    lost_ = next_ - first_;
  }

  Time timeout_, since_;
  std::uint64_t* went_back_;
};

class InOrderOnly final : public Reassembly {
 public:
  explicit InOrderOnly(const GoBackN::Settings&) {}
  Verdict on_packet(std::uint32_t number, Arrivals& arrivals) override {
    if (number < arrivals.first_missing()) return Verdict::kDuplicate;
    if (number > arrivals.first_missing())
      return std::exchange(told_, true) ? Verdict::kIgnored : Verdict::kRefused;
    told_ = false;
    arrivals.add(number);
    return Verdict::kTaken;
  }

 private:
  bool told_ = false;  // of the present gap
};

inline RecoveryKind go_back_n() {
  return {.info = {.name = "go_back_n",
                   .summary = "Everything from a gap on is sent again.",
                   .source = "InfiniBand Architecture Specification, volume 1, section 9.7"},
          .make_factory = RecoveryFactoryFor<GoBackN, InOrderOnly>::make,
          .signals = {"go_back"}};
}

}  // namespace weft::congestion
