#include "congestion/recovery.h"

#include <bit>

#include "sim/units/random.h"

namespace weft::congestion {
namespace {
constexpr std::uint8_t kMaxWidening = 16;
}  // namespace

void Recovery::start(const RecoveryConfig& config, std::uint32_t packets, std::uint32_t mtu_bytes,
                     std::uint32_t last_bytes, Time base_rtt, std::uint32_t random) {
  std::vector<std::uint64_t> memory = std::move(ring_);
  *this = Recovery();
  ring_ = std::move(memory);
  packets_ = packets;
  mtu_bytes_ = mtu_bytes;
  last_bytes_ = last_bytes;
  srtt_ps_ = base_rtt.ps();
  min_rtt_ps_ = INT64_MAX;
  min_timeout_ps_ = config.min_timeout.ps();
  max_timeout_ps_ = config.max_timeout.ps();
  reordering_ = config.reordering;
  most_jitter_ = static_cast<std::uint16_t>(std::min(config.jitter, 1.0) * UINT16_MAX);
  random_ = random;
  draw_jitter();
  newest_acked_ps_ = -1;
}

Time Recovery::timeout() const {
  std::int64_t once = std::max(min_timeout_ps_, srtt_ps_ + 4 * rttvar_ps_);
  if (jitter_ != 0) [[unlikely]]
    once += once / 65'536 * jitter_;
  return Time::ps(once > max_timeout_ps_ >> backoff_ ? max_timeout_ps_ : once << backoff_);
}

// RFC 8985 §6.2 step 4: a quarter of the least round trip, times what duplicates have taught, and no more
// than the smoothed round trip. Over several paths queues differ by up to that from the start.
Time Recovery::reordering_window() const {
  if (reordering_) return Time::ps(srtt_ps_ * widening_);
  if (min_rtt_ps_ == INT64_MAX) return Time::ps(srtt_ps_);
  return Time::ps(std::min(min_rtt_ps_ / 4 * widening_, srtt_ps_));
}

std::uint32_t Recovery::next_to_send() {
  if (lost_ == 0) return next_;
  lost_from_ = std::max(lost_from_, first_);
  while (state(slot(lost_from_)) != kLost) ++lost_from_;
  return lost_from_;
}

void Recovery::grow() {
  std::vector<std::uint64_t> wider(ring_.empty() ? 16 : ring_.size() * 2);
  for (std::uint32_t n = first_; n != next_; ++n) wider[n & (wider.size() - 1)] = slot(n);
  ring_ = std::move(wider);
}

// A packet came twice: it was given up too early. At most once per round trip (RFC 8985 §6.2 step 4).
void Recovery::widen(Time now) {
  if (now.ps() < widened_ps_ + srtt_ps_) return;
  widened_ps_ = now.ps();
  if (widening_ < kMaxWidening) ++widening_;
}

void Recovery::declare_lost(std::uint32_t number, Outcome& outcome) {
  slot(number) = encode(sent_ps(slot(number)), kLost);
  lost_from_ = lost_ == 0 ? number : std::min(lost_from_, number);
  ++lost_;
  --in_flight_packets_;
  in_flight_bytes_ -= payload(number);
  ++outcome.lost_packets;
  outcome.lost_bytes += payload(number);
}

// RFC 8985 §6.2 step 5: lost is what was sent before the newest acknowledged packet and has had its round
// trip and the reordering window since.
void Recovery::find_lost(Time now, Outcome& outcome) {
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

void Recovery::settle(std::uint32_t base, std::uint64_t sack, Outcome& outcome) {
  for (; sack != 0; sack &= sack - 1) {
    const std::uint32_t number = base + static_cast<std::uint32_t>(std::countr_zero(sack));
    if (number >= first_) settle(number, outcome);
  }
}

// A new share, from 0 to most_jitter_.
void Recovery::draw_jitter() {
  if (most_jitter_ == 0) return;
  random_ = static_cast<std::uint32_t>(mix64(random_ + std::uint64_t{1}));
  jitter_ = static_cast<std::uint16_t>(std::uint64_t{random_} * most_jitter_ >> 32);
}

Recovery::Outcome Recovery::on_nack(Time now, std::uint32_t number, std::uint32_t cumulative, Time sent) {
  Outcome outcome;
  for (std::uint32_t n = first_; n < cumulative; ++n) settle(n, outcome);
  while (first_ < next_ && state(slot(first_)) == kAcked) ++first_;
  if (number >= first_ && slot(number) == encode(sent.ps(), kInFlight)) declare_lost(number, outcome);
  backoff_ = 0;
  last_progress_ps_ = now.ps();
  return outcome;
}

Recovery::Outcome Recovery::on_timer(Time now) {
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

}  // namespace weft::congestion
