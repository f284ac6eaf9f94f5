#include "congestion/recoveries/sleek.h"

#include <cmath>

#include "congestion/recoveries/path_window.h"

namespace weft::congestion {
namespace {
constexpr double kMostWindows = 1.5;  // in bandwidth-delay products
}  // namespace

Sleek::Settings::Settings(const Parameters& parameters)
    : windows(parameters.real("windows")),
      most(count_or_auto(parameters, "most")),
      probe_rtts(parameters.real("probe_rtts")) {
  least = parameters.whole("least");
  probes = parameters.whole("probes");
}

Sleek::Sleek(const RecoverySetup& setup, const Settings& settings)
    : Scoreboard(setup),
      windows_(settings.windows),
      probe_rtts_(settings.probe_rtts),
      least_(settings.least),
      most_(settings.most),
      most_probes_(settings.probes),
      probe_count_(setup.signals) {
  if (most_ == 0) most_ = static_cast<std::uint32_t>(std::ceil(window_packets(setup) * kMostWindows));
}

std::uint32_t Sleek::threshold(std::uint64_t window_bytes) const {
  const double packets = static_cast<double>(window_bytes) * windows_ / sizes_.full_bytes();
  const std::uint32_t of_window = packets < most_ ? static_cast<std::uint32_t>(packets) : most_;
  return std::max(of_window, least_);
}

Recovery::Outcome Sleek::on_ack(const Answer& ack) {
  Outcome outcome;
  settle(ack, outcome);
  heard_ps_ = ack.now.ps();
  probes_sent_ = 0;
  highest_ = std::max(highest_, ack.number + 1);
  if (recovering_ && first_ >= until_) recovering_ = false;
  if (!recovering_ && acked_out_of_order() > threshold(ack.window_bytes)) {
    recovering_ = true;
    until_ = next_;
    looked_below_ = first_;
  }
  if (!recovering_) return outcome;
  const std::uint32_t end = std::min(highest_, until_);
  for (std::uint32_t n = std::max(looked_below_, first_); n < end; ++n) {
    if (state(slot(n)) == kInFlight) declare_lost(n, outcome);
  }
  looked_below_ = std::max(looked_below_, end);
  return outcome;
}

Time Sleek::deadline() const {
  const Time timeout = Scoreboard::deadline();
  if (timeout == Time::max() || !probes()) return timeout;
  return std::min(timeout, std::max(probe_at(), Time::ps(timer_.since_ps()) + probe_rtts()));
}

Recovery::Outcome Sleek::on_timer(Time now) {
  Outcome outcome;
  if (now < deadline()) return outcome;
  if (now >= Scoreboard::deadline()) {
    time_out(now, Time(), outcome);
    if (!outcome.timeout) return outcome;
    recovering_ = true;
    until_ = looked_below_ = next_;
    return outcome;
  }
  ++probes_sent_;
  ++*probe_count_;
  heard_ps_ = now.ps();
  for (std::uint32_t n = first_; n != next_; ++n) {
    if (state(slot(n)) != kInFlight) continue;
    declare_lost(n, outcome);
    break;
  }
  return outcome;
}

RecoveryKind sleek() {
  return {
      .info =
          {.name = "sleek",
           .summary =
               "When more than a window of packets has come beyond a missing one, what is missing is sent "
               "again; probes ask when nothing is heard.",
           .source = "spcl/HTSIM, its Ultra Ethernet model; RFC 6298",
           .parameters = {{"windows", ParameterType::kReal, "1.5",
                           "How many congestion windows of packets must have come out of order.", above("0")},
                          {"least", ParameterType::kInteger, "5", "Never fewer packets than this.",
                           from_to("1", "1000000")},
                          {"most", ParameterType::kInteger, "auto",
                           "Nor more than this; auto: 1.5 bandwidth-delay products of the longest path.",
                           from_to("1", "1000000000")},
                          {"probe_rtts", ParameterType::kReal, "3",
                           "After so many round trips without an answer a probe is sent.", at_least("1")},
                          {"probes", ParameterType::kInteger, "5",
                           "Probes in a row, after which only the timeout is left.", from_to("0", "1000")}},
           .about =
               "Goes by how many packets have come beyond a missing one, against the congestion window, so "
               "order within a window doesn't matter. Needs nothing of queues: it stands in where switches "
               "don't trim. Good with spraying and windows of many packets; slow for messages shorter than "
               "its "
               "threshold, and at losses of a burst's last packets, which wait for a probe."},
      .wants_bitmaps = true,
      .make_factory = RecoveryFactoryFor<Sleek>::make,
      .signals = {"probe"}};
}

}  // namespace weft::congestion
