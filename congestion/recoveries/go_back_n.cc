#include "congestion/recoveries/go_back_n.h"

#include <algorithm>
#include <utility>

namespace weft::congestion {

GoBackN::Settings::Settings(const Parameters& parameters) {
  whole_message = parameters.text("restart") == "message";
}

void GoBackN::on_send(std::uint32_t number, Time at) {
  if (in_flight_packets_ == 0) timer_.begin(at);
  if (number == next_) {
    ++next_;
  } else {
    --lost_;
  }
  ++in_flight_packets_;
  in_flight_bytes_ += payload(number);
}

// The packets below are acknowledged.
void GoBackN::settle_below(std::uint32_t end, Time now, Outcome& outcome) {
  if (end <= first_) return;
  for (; first_ < end; ++first_) {
    const std::uint32_t bytes = payload(first_);
    if (first_ < next_ - lost_) {
      --in_flight_packets_;
      in_flight_bytes_ -= bytes;
    } else {
      --lost_;
    }
    ++outcome.acked_packets;
    outcome.acked_bytes += bytes;
  }
  timer_.progress(now);
}

Recovery::Outcome GoBackN::on_ack(const Answer& ack) {
  Outcome outcome;
  kept_ = std::max(kept_, ack.cumulative);
  // With go-back-0 the receiver keeps count of the run; that of a run before this one means nothing any more.
  const bool of_run =
      whole_message_ && !ack.duplicate && ack.sent.ps() >= went_back_ps_ && ack.number < next_ - lost_;
  settle_below(of_run ? std::max(ack.cumulative, ack.number + 1) : ack.cumulative, ack.now, outcome);
  sizes_.forget_below(kept_);
  timer_.sample(ack.now.ps() - ack.sent.ps());
  return outcome;
}

// Does not go back for a gap that was filled meanwhile, or that the sender went back to already.
Recovery::Outcome GoBackN::on_nack(const Answer& nack) {
  Outcome outcome;
  kept_ = std::max(kept_, nack.cumulative);
  settle_below(nack.cumulative, nack.now, outcome);
  sizes_.forget_below(kept_);
  timer_.progress(nack.now);
  if (nack.sent.ps() >= went_back_ps_ && nack.cumulative == kept_) go_back(nack.now, outcome);
  return outcome;
}

Recovery::Outcome GoBackN::on_timer(Time now) {
  Outcome outcome;
  if (now < deadline()) return outcome;
  if (!timer_.expire(now)) {
    outcome.gave_up = true;
    return outcome;
  }
  outcome.timeout = true;
  go_back(now, outcome);
  return outcome;
}

void GoBackN::go_back(Time now, Outcome& outcome) {
  ++*went_back_;
  went_back_ps_ = now.ps();
  for (std::uint32_t n = first_; n < next_ - lost_; ++n) note_loss(n);
  outcome.lost_packets = in_flight_packets_;
  outcome.lost_bytes = in_flight_bytes_;
  in_flight_packets_ = 0;
  in_flight_bytes_ = 0;
  if (whole_message_) first_ = kept_;
  lost_ = next_ - first_;
}

void InOrderOnly::append(std::uint32_t packets, std::uint64_t /*bytes*/) {
  if (!whole_message_) return;
  end_ += packets;
  ends_.push_back(end_);
}

Reassembly::Verdict InOrderOnly::on_packet(std::uint32_t number, Arrivals& arrivals) {
  const std::uint32_t begin = arrivals.first_missing();
  if (number < begin) return Verdict::kDuplicate;
  if (whole_message_ && number == begin) expected_ = begin;  // the message begins anew
  if (number < expected_) return Verdict::kDuplicate;
  if (number > expected_) {
    if (whole_message_) expected_ = begin;
    return std::exchange(told_, true) ? Verdict::kIgnored : Verdict::kRefused;
  }
  told_ = false;
  ++expected_;
  if (!whole_message_) {
    arrivals.add(number);
  } else if (expected_ == ends_.front()) {
    for (std::uint32_t n = begin; n < expected_; ++n) arrivals.add(n);
    ends_.pop_front();
  }
  return Verdict::kTaken;
}

RecoveryKind go_back_n() {
  return {
      .info =
          {.name = "go_back_n",
           .summary = "The receiver takes packets in their order only and tells once of each gap; everything "
                      "from there on is sent again.",
           .source = "InfiniBand Architecture Specification, volume 1, §9.7; Guo et al., SIGCOMM 2016, §4.1",
           .parameters = {{"restart", ParameterType::kText, "packet",
                           "Where the sender goes back to: packet (the missing one, go-back-N) or message "
                           "(its begin, go-back-0).",
                           one_of({"packet", "message"})}},
           .about =
               "Goes by NACKs, one for each gap, and by timeout where that or what it asks for is lost. "
               "Needs nothing of queues, and no memory for packets at either end, which is why RDMA NICs "
               "had it. Good where nothing is lost (PFC) and packets keep to one path; each loss costs a "
               "round trip's worth of packets, and a packet that is merely overtaken counts as one, so "
               "spraying ruins it (a warning). Go-back-0 never ends a message that is long for the loss "
               "rate."},
      .needs = {.forbidden = Capability::kTrim},  // headers overtake: a gap says nothing then
      .wants_order = true,
      .make_factory = RecoveryFactoryFor<GoBackN, InOrderOnly>::make,
      .signals = {"go_back"}};
}

}  // namespace weft::congestion
