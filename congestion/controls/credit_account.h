// The sender's side of controls that a receiver drives: what `rccc`, `nscc_rccc`, `eqds` and `ndp` share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "congestion/congestion.h"

namespace weft::congestion {

// Counts payload bytes over the connection's whole life: what is to be sent (losses included), what was sent,
// what the receiver has granted, and what the sender allows itself: a first window before anything was heard,
// and a packet where the receiver may not know that something is missing. What it wants is told with each
// packet:
//   wanted = min(all that is to be sent, sent + cap) − its own allowance,
// as Allowance::credit_bytes counts, so that a request that is lost or late is made good by the next. Where
// the first answer will take back what is left of that allowance, and more is to be sent, it is a packet at
// least.
class CreditAccount {
 public:
  struct Settings {
    double window = 1.5;      // bandwidth-delay products: the first one, and the most that is asked for ahead
    bool asks_ahead = false;  // for all there is, not for a window; the receiver adds what is trimmed
    // The first window is for what is sent for the first time, and what is left of it when an answer comes is
    // kept; else it is given up.
    bool keeps_rest = false;
    Time patience;  // after so long without an answer, a packet is sent unasked
  };

  CreditAccount(const FlowInfo& flow, const Settings& settings)
      : mtu_(flow.mtu_bytes),
        window_(std::max<std::int64_t>(
            mtu_, static_cast<std::int64_t>(settings.window * static_cast<double>(flow.bdp_bytes)))),
        patience_(settings.patience),
        asks_ahead_(settings.asks_ahead),
        keeps_rest_(settings.keeps_rest) {}

  // A message begins. Where nothing is under way, it needs no asking, up to a window.
  void add(Time now, std::uint64_t bytes) {
    const std::int64_t under_way = given_ - acknowledged_;
    // A packet without payload takes no credit, but some must be left for it.
    const std::int64_t credit = signed_of(std::max<std::uint64_t>(bytes, 1));
    given_ += signed_of(bytes);
    to_send_ += credit;
    is_untold_ = true;
    if (under_way <= 0) {
      begin(now, credit);
    } else if (keeps_rest_) {
      own_ += std::min(credit, std::max<std::int64_t>(0, window_ - under_way));
    }
  }
  void sent(std::uint64_t bytes) {
    sent_ += signed_of(bytes);
    is_untold_ = came_back_ = false;
  }
  // So many of these bytes need not be sent.
  void spare(std::uint64_t bytes) {
    given_ -= signed_of(bytes);
    to_send_ -= signed_of(bytes);
  }
  // What that packet says is wanted.
  void told(std::uint64_t wanted) { told_ = signed_of(wanted); }
  void grant(Time now, std::uint64_t total) {
    answered(now);
    granted_ = std::max(granted_, signed_of(total));
  }
  void acknowledge(Time now, std::uint64_t bytes) {
    answered(now);
    acknowledged_ += signed_of(bytes);
  }
  // The receiver knows of what was trimmed.
  void trim(Time now, std::uint64_t bytes) {
    answered(now);
    (asks_ahead_ ? trimmed_ : to_send_) += signed_of(bytes);
    if (!asks_ahead_) told_ += signed_of(bytes);
  }
  // It may not know of what was lost: the packet that is sent again tells it.
  void lose(Time now, std::uint64_t bytes) {
    heard(now);
    to_send_ += signed_of(bytes);
    if (left() <= 0) own_ = sent_ + mtu_ - granted_;
  }
  // Its header came back, so the receiver doesn't know of it. Whoever has answers or grants to come waits for
  // these: what all senders send again at once comes back again.
  void come_back(Time now, std::uint64_t bytes) {
    heard(now);
    to_send_ += signed_of(bytes);
    is_untold_ = came_back_ = true;
    told_ = 0;  // that packet may have been the one that told
  }
  // Where the receiver doesn't know of all that is to be sent, and neither answers nor grants are to come: as
  // where a message begins, but of what came back one packet.
  void speak_up(Time now, std::uint64_t in_flight) {
    if (!is_untold_ || in_flight > 0 || left() > 0 || expects_grants()) return;
    if (came_back_) {
      own_ = sent_ + mtu_ - granted_;
    } else {
      begin(now, std::max<std::int64_t>(1, given_ - acknowledged_));
    }
  }
  // Nothing came for `patience`, though something is to come: the last grant may have been lost. The next
  // wait is twice as long.
  void time_out(Time now) {
    if (acknowledged_ >= given_ || now < heard_ + wait()) return;
    if (left() <= 0) own_ = sent_ + mtu_ - granted_;
    heard_ = now;
    backoff_ = std::min(backoff_ + 1, 10);
  }
  Time wake_at() const { return acknowledged_ >= given_ ? Time::max() : heard_ + wait(); }

  std::uint64_t credit() const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, own_ + granted_));
  }
  // `window`: of a control that limits the sender besides; it asks for no more than that and a packet.
  std::uint64_t wanted(std::uint64_t window) const {
    std::int64_t most = to_send_;
    if (!asks_ahead_) most = std::min(most, sent_ + std::min(window_, signed_of(window) + mtu_));
    std::int64_t wanted = most - own_;
    // After that answer only a packet can tell what is wanted then, and that one needs credit.
    if (speculating_ && !keeps_rest_ && to_send_ > sent_) wanted = std::max(wanted, granted_ + mtu_);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, wanted));
  }

  static constexpr std::uint64_t kNoWindow = std::uint64_t{1} << 40;

 private:
  static std::int64_t signed_of(std::uint64_t bytes) { return static_cast<std::int64_t>(bytes); }
  std::int64_t left() const { return own_ + granted_ - sent_; }
  Time wait() const { return patience_ * (std::int64_t{1} << backoff_); }
  // With a window of its own, of which so much is to be sent for the first time.
  void begin(Time now, std::int64_t bytes) {
    const std::int64_t own = keeps_rest_ ? std::min(bytes, window_) : window_;
    own_ = std::max(own_, sent_ - granted_ + own);
    speculating_ = true;
    heard(now);
  }
  // Where each packet that came earns one, no more than these.
  bool expects_grants() const {
    return (asks_ahead_ ? std::min(told_, acknowledged_) + trimmed_ : told_) > granted_;
  }
  void heard(Time now) {
    heard_ = now;
    backoff_ = 0;
  }
  // The first answer ends what is sent unasked.
  void answered(Time now) {
    heard(now);
    if (!speculating_) return;
    speculating_ = false;
    if (keeps_rest_ || left() <= 0) return;
    own_ = sent_ - granted_;
    is_untold_ = to_send_ > sent_;  // packets before said that it had that for itself
  }

  std::int64_t mtu_, window_;
  std::int64_t given_ = 0, acknowledged_ = 0;  // of messages
  std::int64_t to_send_ = 0, sent_ = 0;        // what is sent again included
  std::int64_t own_ = 0, granted_ = 0;
  std::int64_t told_ = 0;     // wanted, as the last packet had it
  std::int64_t trimmed_ = 0;  // where the receiver adds it to what is wanted
  Time patience_, heard_;
  std::int8_t backoff_ = 0;
  bool speculating_ = false;
  bool is_untold_ = false;  // there is something to send that no packet has told of
  bool came_back_ = false;  // … and some of it was sent back
  bool asks_ahead_, keeps_rest_;
};

}  // namespace weft::congestion
