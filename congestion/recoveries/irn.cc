#include "congestion/recoveries/irn.h"

#include "congestion/recoveries/path_window.h"

namespace weft::congestion {
namespace {
constexpr Time kLow = Time::us(100), kHigh = Time::us(320);  // §4.1
}  // namespace

Irn::Settings::Settings(const Parameters& parameters)
    : window(count_or_auto(parameters, "window")),
      tolerance(count_or_auto(parameters, "tolerance")),
      low(parameters.automatic("timeout_low") ? Time() : parameters.time("timeout_low")),
      high(parameters.automatic("timeout_high") ? Time() : parameters.time("timeout_high")) {
  few = parameters.whole("few");
}

Irn::Irn(const RecoverySetup& setup, const Settings& settings) : Scoreboard(setup), few_(settings.few) {
  const std::uint32_t window = window_packets(setup);
  most_span_ = settings.window > 0 ? settings.window : window;
  tolerance_ = settings.tolerance > 0 ? settings.tolerance : setup.config.reordering ? window : 1;
  low_ps_ = settings.low > Time() ? settings.low.ps()
                                  : std::max(kLow, std::max(setup.base_rtt, setup.longest_rtt) * 2).ps();
  high_ps_ = settings.high > Time() ? settings.high.ps() : std::max(kHigh, setup.config.min_timeout).ps();
  high_ps_ = std::max(high_ps_, low_ps_);
}

Time Irn::deadline() const {
  if (in_flight_packets_ == 0 || gave_up()) return Time::max();
  return Time::ps(timer_.since_ps()) + timeout();
}

Recovery::Outcome Irn::on_ack(const Answer& ack) {
  Outcome outcome;
  settle(ack, outcome);
  highest_ = std::max(highest_, ack.number + 1);
  if (recovering_ && first_ >= until_) recovering_ = false;
  const bool out_of_order = ack.number >= ack.cumulative && first_ < highest_;
  if (!recovering_ && out_of_order && highest_ - first_ > tolerance_) {
    recovering_ = true;
    until_ = next_;
    looked_below_ = first_;
  }
  if (recovering_) go_on(outcome);
  return outcome;
}

// A trimmed packet: it opens no recovery, as it is known which one is lost.
Recovery::Outcome Irn::on_nack(const Answer& nack) {
  const Outcome outcome = Scoreboard::on_nack(nack);
  if (recovering_ && first_ >= until_) recovering_ = false;
  return outcome;
}

// Everything missing that was overtaken, and that was sent before the recovery began, is lost, once.
void Irn::go_on(Outcome& outcome) {
  const std::uint32_t end = std::min(highest_ - std::min(tolerance_, highest_), until_);
  for (std::uint32_t n = std::max(looked_below_, first_); n < end; ++n) {
    if (state(slot(n)) == kInFlight) declare_lost(n, outcome);
  }
  looked_below_ = std::max(looked_below_, end);
}

Recovery::Outcome Irn::on_timer(Time now) {
  Outcome outcome;
  if (now < deadline()) return outcome;
  time_out(now, Time(), outcome);
  if (!outcome.timeout) return outcome;
  recovering_ = true;
  until_ = looked_below_ = next_;
  return outcome;
}

RecoveryKind irn() {
  return {
      .info =
          {.name = "irn",
           .summary = "Selective repeat by NACKs for what comes out of order, with at most a bandwidth-delay "
                      "product under way.",
           .source = "Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018, §3 and §4.1",
           .parameters =
               {{"window", ParameterType::kInteger, "auto",
                 "Most packets from the oldest unacknowledged to the newest sent (BDP-FC); auto: a "
                 "bandwidth-delay product of the longest path without queueing.",
                 from_to("1", "1000000000")},
                {"tolerance", ParameterType::kInteger, "auto",
                 "By how many packets one must have been overtaken to be lost; auto: 1 on one path, a "
                 "bandwidth-delay product of them where they take several.",
                 from_to("1", "1000000000")},
                {"few", ParameterType::kInteger, "3",
                 "With so many packets in flight, or fewer, the short timeout counts (N).",
                 from_to("0", "1000000000")},
                {"timeout_low", ParameterType::kTime, "auto",
                 "The short one (RTO_low); auto: 100us, or two round trips of the longest path.", above("0")},
                {"timeout_high", ParameterType::kTime, "auto",
                 "The other (RTO_high); auto: 320us, or what full queues may take.", above("0")}},
           .about =
               "Goes by packets that come out of order, each of which is a NACK, and by two fixed timeouts. "
               "Bounds what is under way by the bandwidth-delay product, whatever congestion control would "
               "allow, so queues stay short without PFC. Needs nothing of queues. Good where RDMA would need "
               "lossless links; a retransmission that is lost waits for the timeout, and over several paths "
               "order says little."},
      .make_factory = RecoveryFactoryFor<Irn>::make};
}

}  // namespace weft::congestion
