#include "congestion/recoveries/rack.h"

#include <algorithm>
#include <bit>

#include "sim/units/random.h"

namespace weft::congestion {
namespace {
constexpr std::uint8_t kMaxWidening = 16;
}  // namespace

Rack::Rack(const RecoverySetup& setup, const Settings&)
    : Recovery(setup),
      srtt_ps_(std::max(setup.base_rtt, setup.longest_rtt).ps()),
      min_timeout_ps_(setup.config.min_timeout.ps()),
      max_timeout_ps_(setup.config.max_timeout.ps()),
      reordering_(setup.config.reordering),
      most_jitter_(static_cast<std::uint16_t>(std::min(setup.config.jitter, 1.0) * UINT16_MAX)),
      random_(setup.random) {
  draw_jitter();
}

Time Rack::timeout() const {
  std::int64_t once = std::max(min_timeout_ps_, srtt_ps_ + 4 * rttvar_ps_);
  if (jitter_ != 0) [[unlikely]]
    once += once / 65'536 * jitter_;
  return Time::ps(once > max_timeout_ps_ >> backoff_ ? max_timeout_ps_ : once << backoff_);
}

// RFC 8985 §6.2 step 4: a quarter of the least round trip, times what duplicates have taught, and no more
// than the smoothed round trip. Over several paths queues differ by up to that from the start.
Time Rack::reordering_window() const {
  if (reordering_) return Time::ps(srtt_ps_ * widening_);
  if (min_rtt_ps_ == INT64_MAX) return Time::ps(srtt_ps_);
  return Time::ps(std::min(min_rtt_ps_ / 4 * widening_, srtt_ps_));
}

std::uint32_t Rack::next_to_send() {
  if (lost_ == 0) return next_;
  lost_from_ = std::max(lost_from_, first_);
  while (state(slot(lost_from_)) != kLost) ++lost_from_;
  return lost_from_;
}

void Rack::on_send(std::uint32_t number, Time at) {
  if (number == next_) [[likely]] {
    if (next_ - first_ == ring_.size()) grow_ring();
    ++next_;
  } else {
    --lost_;
  }
  if (in_flight_packets_ == 0) {
    oldest_ps_ = at.ps();
    last_progress_ps_ = at.ps();
  }
  slot(number) = encode(at.ps(), kInFlight);
  ++in_flight_packets_;
  in_flight_bytes_ += payload(number);
}

Recovery::Outcome Rack::on_ack(const Answer& ack) {
  Outcome outcome;
  if (ack.number >= first_) settle(ack.number, outcome);
  if (ack.sack != 0) [[unlikely]]
    settle(sack_base(ack.cumulative, ack.number), ack.sack, outcome);
  settle_below(ack.cumulative, outcome);
  const std::int64_t rtt_ps = ack.now.ps() - ack.sent.ps();
  sample_rtt(rtt_ps);
  if (ack.duplicate) [[unlikely]]
    widen(ack.now);
  if (ack.sent.ps() >= newest_acked_ps_) {
    newest_acked_ps_ = ack.sent.ps();
    newest_rtt_ps_ = rtt_ps;
  }
  if (outcome.acked_packets > 0) {
    backoff_ = 0;
    last_progress_ps_ = ack.now.ps();
  }
  if (oldest_ps_ < newest_acked_ps_ && ack.now.ps() >= reordering_deadline_ps()) [[unlikely]] {
    find_lost(ack.now, outcome);
  }
  return outcome;
}

// A packet came twice: it was given up too early. At most once per round trip (RFC 8985 §6.2 step 4).
void Rack::widen(Time now) {
  if (now.ps() < widened_ps_ + srtt_ps_) return;
  widened_ps_ = now.ps();
  if (widening_ < kMaxWidening) ++widening_;
}

void Rack::declare_lost(std::uint32_t number, Outcome& outcome) {
  slot(number) = encode(sent_ps(slot(number)), kLost);
  lost_from_ = lost_ == 0 ? number : std::min(lost_from_, number);
  ++lost_;
  --in_flight_packets_;
  in_flight_bytes_ -= payload(number);
  ++outcome.lost_packets;
  note_loss(number);
  outcome.lost_bytes += payload(number);
}

// RFC 8985 §6.2 step 5: lost is what was sent before the newest acknowledged packet and has had its round
// trip and the reordering window since.
void Rack::find_lost(Time now, Outcome& outcome) {
  const std::int64_t patience = newest_rtt_ps_ + reordering_window().ps();
  std::int64_t oldest = INT64_MAX;
  for (std::uint32_t n = first_; n != next_; ++n) {
    const std::uint64_t word = slot(n);
    if (state(word) != kInFlight) continue;
    const std::int64_t sent = sent_ps(word);
    if (sent < newest_acked_ps_ && sent + patience <= now.ps()) {
      declare_lost(n, outcome);
    } else {
      oldest = std::min(oldest, sent);
    }
  }
  oldest_ps_ = oldest;
}

void Rack::settle(std::uint32_t base, std::uint64_t sack, Outcome& outcome) {
  for (; sack != 0; sack &= sack - 1) {
    const std::uint32_t number = base + static_cast<std::uint32_t>(std::countr_zero(sack));
    if (number >= first_) settle(number, outcome);
  }
}

// A new share, from 0 to most_jitter_.
void Rack::draw_jitter() {
  if (most_jitter_ == 0) return;
  random_ = static_cast<std::uint32_t>(mix64(random_ + std::uint64_t{1}));
  jitter_ = static_cast<std::uint16_t>(std::uint64_t{random_} * most_jitter_ >> 32);
}

Recovery::Outcome Rack::on_nack(const Answer& nack) {
  Outcome outcome;
  settle_below(nack.cumulative, outcome);
  if (nack.number >= first_ && slot(nack.number) == encode(nack.sent.ps(), kInFlight)) {
    declare_lost(nack.number, outcome);
  }
  backoff_ = 0;
  last_progress_ps_ = nack.now.ps();
  return outcome;
}

Recovery::Outcome Rack::on_timer(Time now) {
  Outcome outcome;
  if (in_flight_packets_ == 0 || gave_up()) return outcome;
  if (oldest_ps_ < newest_acked_ps_ && now.ps() >= reordering_deadline_ps()) find_lost(now, outcome);
  if (in_flight_packets_ == 0 || now.ps() < last_progress_ps_ + timeout().ps()) return outcome;
  if (backoff_++ == kMostTimeouts) {
    outcome.gave_up = true;
    return outcome;
  }
  // RFC 8985 §6.3: after a timeout everything that has had its round trip is lost.
  outcome.timeout = true;
  const std::int64_t sent_until = now.ps() - srtt_ps_ - reordering_window().ps();
  bool first = true;
  std::int64_t oldest = INT64_MAX;
  for (std::uint32_t n = first_; n != next_; ++n) {
    const std::uint64_t word = slot(n);
    if (state(word) != kInFlight) continue;
    if (first || sent_ps(word) <= sent_until) {
      declare_lost(n, outcome);
    } else {
      oldest = std::min(oldest, sent_ps(word));
    }
    first = false;
  }
  oldest_ps_ = oldest;
  last_progress_ps_ = now.ps();
  draw_jitter();
  return outcome;
}

RecoveryKind rack() {
  return {
      .info = {.name = "rack",
               .summary =
                   "Selective repeat: a packet is lost when one sent later was acknowledged and its own "
                   "round trip, with some patience, is over; else by timeout.",
               .source = "RFC 8985 (RACK), RFC 6298 (retransmission timeout)",
               .parameters = {},
               .about = "Goes by the times at which acknowledged packets were sent, so it needs no order on "
                        "the way: a patience of a quarter round trip on one path, of one where packets take "
                        "several. NACKs of trimmed packets count at once. Good with spraying and with drops; "
                        "bad at losses of a burst's last packets, which wait for the timeout."},
      .make_factory = RecoveryFactoryFor<Rack>::make};
}

}  // namespace weft::congestion
