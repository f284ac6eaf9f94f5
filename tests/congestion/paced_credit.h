// The worked example of a control that the receiver drives: senders begin with some credit of their own, and
// say with every packet how much they would like; the receiver's NIC grants a packet at a time, in turn, as
// fast as its link can take them. So what ends there shares the link evenly, and no queue grows beyond the
// first credit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "congestion/congestion.h"

namespace weft::congestion {

class CreditSender final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters&) {}
  };
  CreditSender(const FlowInfo& flow, const Settings&)
      : mtu_(flow.mtu_bytes), patience_(Time::us(100) + flow.base_rtt * 10) {}

  void start(Time) override {
    allowed_.window_bytes = std::uint64_t{1} << 40;  // credit alone limits it
    own_ = kFirstPackets * mtu_;
    allow();
  }
  void on_message(Time now, std::uint64_t bytes, std::uint64_t) override {
    given_ += bytes;
    want(std::max(bytes, mtu_));
    if (wake_at_ == Time::max()) wake_at_ = now + patience_;
  }
  void on_credit(Time, std::uint64_t total) override {
    granted_ = std::max(granted_, total);
    ++news_;
    allow();
  }
  void on_ack(const Ack& ack) override {
    acknowledged_ += ack.bytes;
    ++news_;
  }
  void on_loss(const Loss& loss) override { want(loss.bytes); }
  void on_timeout(const Loss& loss) override { want(loss.bytes); }
  // Where nothing has come for a while, the last credit may have been lost, or all that would have told the
  // receiver what is wanted: it takes a packet's credit by itself.
  void on_timer(Time now) override {
    wake_at_ = acknowledged_ == given_ ? Time::max() : now + patience_;
    if (news_ == 0) own_ += mtu_;
    news_ = 0;
    allow();
  }

 private:
  static constexpr std::uint64_t kFirstPackets = 4;

  // All that is to be sent, but for what it may send without being asked.
  void want(std::uint64_t bytes) {
    needed_ += bytes;
    wanted_credit_ = needed_ - std::min(needed_, kFirstPackets * mtu_);
  }
  void allow() { allowed_.credit_bytes = own_ + granted_; }

  std::uint64_t mtu_;
  Time patience_;
  std::uint64_t given_ = 0, acknowledged_ = 0, needed_ = 0;
  std::uint64_t own_ = 0, granted_ = 0, news_ = 0;
};

class CreditReceiver final : public Receiver {
 public:
  struct Settings {
    explicit Settings(const Parameters&) {}
  };
  CreditReceiver(const ReceiverInfo& nic, const Settings&)
      : mtu_(nic.mtu_bytes), interval_(nic.line_rate.serialization(nic.mtu_bytes + nic.header_bytes)) {}

  // `word`: the connection's place among the senders, and 1.
  AckTime on_data(const Arrival& arrival, std::uint32_t& word, ReceiverActions& actions) override {
    if (word == 0) {
      senders_.push_back({.connection = arrival.connection});
      word = static_cast<std::uint32_t>(senders_.size());
    }
    Wish& wish = senders_[word - 1];
    wish.wanted = std::max(wish.wanted, arrival.wanted_credit);
    if (wish.granted < wish.wanted && !wish.waits) {
      wish.waits = true;
      turns_.push_back(word - 1);
    }
    if (!running_ && !turns_.empty()) grant(actions);
    return AckTime::kByRule;
  }
  void on_timer(ReceiverActions& actions) override { grant(actions); }
  Signals signals() const override { return {{"most_senders", senders_.size()}}; }

 private:
  struct Wish {
    ConnectionId connection = 0;
    std::uint64_t wanted = 0, granted = 0;
    bool waits = false;
  };

  void grant(ReceiverActions& actions) {
    running_ = !turns_.empty();
    if (!running_) return;
    const std::uint32_t place = turns_.front();
    turns_.erase(turns_.begin());
    Wish& wish = senders_[place];
    wish.granted += mtu_;
    actions.grant(wish.connection, mtu_);
    wish.waits = wish.granted < wish.wanted;
    if (wish.waits) turns_.push_back(place);
    actions.set_timer(actions.now() + interval_);
  }

  std::uint64_t mtu_;
  Time interval_;
  std::vector<Wish> senders_;
  std::vector<std::uint32_t> turns_;
  bool running_ = false;
};

inline Control paced_credit() {
  return {
      .info = {.name = "paced_credit",
               .summary = "The receiver's NIC grants packets one by one, in turn.",
               .source =
                   "M. Handley et al., Re-architecting datacenter networks and stacks for low latency and "
                   "high performance (NDP), SIGCOMM 2017, section 3.2"},
      .hears = kMessages | kCredits | kTimer,
      .make_factory = SenderFactoryFor<CreditSender>::make,
      .make_receivers = ReceiverFactoryFor<CreditReceiver>::make_factory};
}

}  // namespace weft::congestion
