#include "congestion/recoveries/rack.h"

#include <algorithm>

namespace weft::congestion {
namespace {
constexpr std::uint8_t kMaxWidening = 16;
}  // namespace

// RFC 8985 §6.2 step 4: a quarter of the least round trip, times what duplicates have taught, and no more
// than the smoothed round trip. Over several paths queues differ by up to that from the start.
Time Rack::reordering_window() const {
  if (reordering_) return smoothed_rtt() * widening_;
  if (timer_.least_ps() == INT64_MAX) return smoothed_rtt();
  return std::min(Time::ps(timer_.least_ps() / 4 * widening_), smoothed_rtt());
}

Recovery::Outcome Rack::on_ack(const Answer& ack) {
  Outcome outcome;
  settle(ack, outcome);
  if (ack.duplicate) [[unlikely]]
    widen(ack.now);
  if (ack.sent.ps() >= newest_acked_ps_) {
    newest_acked_ps_ = ack.sent.ps();
    newest_rtt_ps_ = ack.now.ps() - ack.sent.ps();
  }
  if (oldest_ps_ < newest_acked_ps_ && ack.now.ps() >= reordering_deadline_ps()) [[unlikely]] {
    find_lost(ack.now, outcome);
  }
  return outcome;
}

// A packet came twice: it was given up too early. At most once per round trip (RFC 8985 §6.2 step 4).
void Rack::widen(Time now) {
  if (now.ps() < widened_ps_ + timer_.smoothed_ps()) return;
  widened_ps_ = now.ps();
  if (widening_ < kMaxWidening) ++widening_;
}

// RFC 8985 §6.2 step 5: lost is what was sent before the newest acknowledged packet and has had its round
// trip and the reordering window since.
void Rack::find_lost(Time now, Outcome& outcome) {
  const std::int64_t patience = patience_ps();
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

Recovery::Outcome Rack::on_timer(Time now) {
  Outcome outcome;
  if (in_flight_packets_ == 0 || gave_up()) return outcome;
  if (oldest_ps_ < newest_acked_ps_ && now.ps() >= reordering_deadline_ps()) find_lost(now, outcome);
  if (in_flight_packets_ == 0 || now.ps() < timer_.due_ps()) return outcome;
  time_out(now, reordering_window(), outcome);
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
                        "several. NACKs of trimmed packets count at once. Needs nothing of queues. Good with "
                        "spraying and with drops; "
                        "bad at losses of a burst's last packets, which wait for the timeout."},
      .make_factory = RecoveryFactoryFor<Rack>::make};
}

}  // namespace weft::congestion
