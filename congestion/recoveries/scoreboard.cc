#include "congestion/recoveries/scoreboard.h"

namespace weft::congestion {

std::uint32_t Scoreboard::next_to_send() {
  if (lost_ == 0) return next_;
  lost_from_ = std::max(lost_from_, first_);
  while (state(slot(lost_from_)) != kLost) ++lost_from_;
  return lost_from_;
}

void Scoreboard::on_send(std::uint32_t number, Time at) {
  if (number == next_) [[likely]] {
    if (next_ - first_ == ring_.size()) grow_ring();
    ++next_;
  } else {
    --lost_;
  }
  if (in_flight_packets_ == 0) {
    oldest_ps_ = at.ps();
    timer_.begin(at);
  }
  slot(number) = encode(at.ps(), kInFlight);
  ++in_flight_packets_;
  in_flight_bytes_ += payload(number);
}

Recovery::Outcome Scoreboard::on_nack(const Answer& nack) {
  Outcome outcome;
  settle_below(nack.cumulative, outcome);
  if (nack.number >= first_ && slot(nack.number) == encode(nack.sent.ps(), kInFlight)) {
    declare_lost(nack.number, outcome);
  }
  timer_.progress(nack.now);
  return outcome;
}

Recovery::Outcome Scoreboard::on_timer(Time now) {
  Outcome outcome;
  if (now >= deadline()) time_out(now, Time(), outcome);
  return outcome;
}

void Scoreboard::settle(std::uint32_t base, std::uint64_t sack, Outcome& outcome) {
  for (; sack != 0; sack &= sack - 1) {
    const std::uint32_t number = base + static_cast<std::uint32_t>(std::countr_zero(sack));
    if (number >= first_ && number < next_) settle(number, outcome);
  }
}

void Scoreboard::send_again(std::uint32_t number) {
  slot(number) = encode(sent_ps(slot(number)), kLost);
  lost_from_ = lost_ == 0 ? number : std::min(lost_from_, number);
  ++lost_;
}

void Scoreboard::give_up(std::uint32_t number, Outcome& outcome) {
  slot(number) = encode(sent_ps(slot(number)), kGivenUp);
  --in_flight_packets_;
  in_flight_bytes_ -= payload(number);
  ++outcome.lost_packets;
  note_loss(number);
  outcome.lost_bytes += payload(number);
}

// RFC 8985 §6.3: after a timeout everything that has had its round trip is lost.
void Scoreboard::time_out(Time now, Time patience, Outcome& outcome) {
  const std::int64_t sent_until = now.ps() - timer_.smoothed_ps() - patience.ps();
  if (!timer_.expire(now)) {
    outcome.gave_up = true;
    return;
  }
  outcome.timeout = true;
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
}

}  // namespace weft::congestion
