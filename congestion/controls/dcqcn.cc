#include "congestion/controls/dcqcn.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "congestion/controls/rates.h"

namespace weft::congestion {
namespace {

// Steps as shares of the line rate, so that they suit any.
constexpr double kPaperStep = 1e-3;   // 40 Mb/s at 40 Gb/s
constexpr double kVendorStep = 2e-4;  // 5 Mb/s at 25 Gb/s
constexpr double kHyperSteps = 10;    // 5 and 50 Mb/s: IEEE 802.1Qau's, and ConnectX's

bool is_vendor(const Parameters& parameters) { return parameters.text("variant") == "vendor"; }

class Dcqcn final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : vendor(is_vendor(parameters)),
          gain(parameters.automatic("gain") ? (vendor ? 5.0 / 1024 : 1.0 / 256) : parameters.real("gain")),
          alpha_interval(time_or(parameters, "alpha_interval", Time::us(vendor ? 1 : 55))),
          increase_interval(time_or(parameters, "increase_interval", Time::us(vendor ? 300 : 55))),
          decrease_interval(parameters.time("decrease_interval")),
          byte_counter(parameters.automatic("byte_counter") ? (vendor ? 0 : 10'000'000)
                                                            : parameters.bytes("byte_counter")),
          fast_recovery(parameters.automatic("fast_recovery") ? (vendor ? 1 : 5)
                                                              : parameters.integer("fast_recovery")),
          step(rate_or_zero(parameters, "step")),
          hyper_step(rate_or_zero(parameters, "hyper_step")),
          min_rate(parameters.bandwidth("min_rate")) {}
    static Time time_or(const Parameters& parameters, const char* name, Time standard) {
      const Time given = time_or_zero(parameters, name);
      return given == Time() ? standard : given;
    }
    bool vendor;
    double gain;
    Time alpha_interval, increase_interval, decrease_interval;
    std::uint64_t byte_counter;  // 0: none
    std::int64_t fast_recovery;
    Bandwidth step, hyper_step;  // 0: shares of the line rate
    Bandwidth min_rate;
  };

  Dcqcn(const FlowInfo& flow, const Settings& settings)
      : settings_(settings),
        line_bps_(static_cast<double>(flow.line_rate.bps())),
        min_bps_(std::min(static_cast<double>(settings.min_rate.bps()), line_bps_)),
        step_bps_(settings.step.bps() > 0 ? static_cast<double>(settings.step.bps())
                                          : line_bps_ * (settings.vendor ? kVendorStep : kPaperStep)),
        hyper_bps_(settings.hyper_step.bps() > 0 ? static_cast<double>(settings.hyper_step.bps())
                                                 : step_bps_ * kHyperSteps),
        rate_bps_(line_bps_),
        target_bps_(line_bps_) {
    allowed_.window_bytes = kNoWindow;
  }

  void start(Time) override { allow(); }

  // Timers have no events of their own: what they have done meanwhile counts from the next packet or ACK on.
  void on_ack(const Ack& ack) override {
    catch_up(ack.now);
    allow();
  }
  void on_send(const Sent& sent) override {
    catch_up(sent.at);
    if (limited_ && settings_.byte_counter > 0) {
      sent_bytes_ += sent.bytes;
      for (; sent_bytes_ >= settings_.byte_counter; sent_bytes_ -= settings_.byte_counter) {
        ++byte_steps_;
        increase();
      }
    }
    allow();
  }
  void on_notification(Time now) override {
    catch_up(now);
    if (!settings_.vendor) {
      begin(now);
      cut();
      alpha_ += settings_.gain * (1 - alpha_);
      alpha_at_ = now + settings_.alpha_interval;
      restart_increase(now);
    } else {
      notified_alpha_ = limited_;  // the first one sets alpha itself
      notified_cut_ = true;
      begin(now);
    }
    allow();
  }
  // Nothing: made for networks that lose nothing, and what comes through a full queue is marked.
  void on_loss(const Loss&) override {}
  void on_timeout(const Loss&) override {}

 private:
  // The first notification makes the rate a limited one.
  void begin(Time now) {
    if (limited_) return;
    limited_ = true;
    alpha_ = 1;
    alpha_at_ = now + settings_.alpha_interval;
    increase_at_ = now + settings_.increase_interval;
    decrease_at_ = now + settings_.decrease_interval;
  }
  void restart_increase(Time now) {
    timer_steps_ = byte_steps_ = 0;
    sent_bytes_ = 0;
    increase_at_ = now + settings_.increase_interval;
  }
  void cut() {
    // NICs keep the target of several cuts in a row.
    if (!settings_.vendor || timer_steps_ > 0 || byte_steps_ > 0) target_bps_ = rate_bps_;
    rate_bps_ = std::max(min_bps_, rate_bps_ * (1 - alpha_ / 2));
  }

  // What the timers did until now.
  void catch_up(Time now) {
    if (!limited_) return;
    if (settings_.vendor && decrease_at_ <= now) {
      if (notified_cut_) {
        run_timers(decrease_at_);
        cut();
        restart_increase(decrease_at_);
        notified_cut_ = false;
      }
      decrease_at_ += settings_.decrease_interval * passed(decrease_at_, settings_.decrease_interval, now);
    }
    run_timers(now);
  }
  // How often a timer that is due at `at`, and again after each interval, has gone off until `now`.
  static std::int64_t passed(Time at, Time interval, Time now) {
    return at > now ? 0 : 1 + (now - at).ps() / interval.ps();
  }
  void run_timers(Time now) {
    if (const std::int64_t times = passed(alpha_at_, settings_.alpha_interval, now); times > 0) {
      // Only the first of these times can have heard of a notification.
      if (notified_alpha_) alpha_ += settings_.gain * (1 - alpha_);
      const auto quiet = static_cast<double>(times - (notified_alpha_ ? 1 : 0));
      alpha_ *= std::pow(1 - settings_.gain, quiet);
      notified_alpha_ = false;
      alpha_at_ += settings_.alpha_interval * times;
    }
    while (increase_at_ <= now) {
      if (rate_bps_ == line_bps_) {  // nothing to gain any more
        increase_at_ += settings_.increase_interval * passed(increase_at_, settings_.increase_interval, now);
        return;
      }
      increase_at_ += settings_.increase_interval;
      ++timer_steps_;
      increase();
    }
  }

  void increase() {
    const std::int64_t most = std::max(timer_steps_, byte_steps_);
    const std::int64_t least = std::min(timer_steps_, byte_steps_);
    const std::int64_t quick = settings_.fast_recovery;
    if (settings_.vendor) {
      if (most > quick) target_bps_ += most == quick + 1 ? step_bps_ : hyper_bps_;
    } else if (least > quick) {
      target_bps_ += static_cast<double>(least - quick) * hyper_bps_;
    } else if (most > quick) {
      target_bps_ += step_bps_;
    }
    target_bps_ = std::min(target_bps_, line_bps_);
    rate_bps_ = (rate_bps_ + target_bps_) / 2;
    if (line_bps_ - rate_bps_ < kNear * line_bps_) rate_bps_ = line_bps_;
  }
  void allow() { allowed_.rate = Bandwidth::bps(static_cast<std::int64_t>(rate_bps_)); }

  static constexpr double kNear = 1e-6;  // halving the distance never ends

  const Settings& settings_;  // of the factory, which lives longer
  double line_bps_, min_bps_, step_bps_, hyper_bps_;
  double rate_bps_, target_bps_;
  double alpha_ = 1;
  Time alpha_at_, increase_at_, decrease_at_;  // when the timers go off next
  std::int64_t timer_steps_ = 0, byte_steps_ = 0;
  std::uint64_t sent_bytes_ = 0;  // since the byte counter went off
  bool limited_ = false;          // a notification has come
  // Vendor: one has come since alpha, and the rate, was looked at.
  bool notified_alpha_ = false, notified_cut_ = false;
};

class DcqcnReceiver final : public Receiver {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters) : delay(parameters.time("cnp_delay")) {
      const Time standard = Time::us(is_vendor(parameters) ? 4 : 50);
      interval = parameters.automatic("cnp_interval") ? standard : parameters.time("cnp_interval");
    }
    Time delay, interval;
  };
  DcqcnReceiver(const ReceiverInfo&, const Settings& settings) : settings_(settings) {}

  // `word`: nanoseconds, without what is above 32 bits, at the last notification; 0: there was none.
  AckTime on_data(const Arrival& arrival, std::uint32_t& word, ReceiverActions& actions) override {
    if (!arrival.ecn_marked && !arrival.trimmed) return AckTime::kByRule;
    const auto now = static_cast<std::uint32_t>(arrival.now.ps() / 1000);
    if (word != 0 && Time::ns(static_cast<std::uint32_t>(now - word)) < settings_.interval) {
      return AckTime::kByRule;
    }
    word = std::max(now, std::uint32_t{1});
    if (settings_.delay == Time()) {
      actions.notify(arrival.connection);
    } else {
      if (waiting_.empty()) actions.set_timer(arrival.now + settings_.delay);
      waiting_.push_back({arrival.now + settings_.delay, arrival.connection});
    }
    return AckTime::kByRule;
  }
  void on_timer(ReceiverActions& actions) override {
    while (!waiting_.empty() && waiting_.front().at <= actions.now()) {
      actions.notify(waiting_.front().connection);
      waiting_.pop_front();
    }
    if (!waiting_.empty()) actions.set_timer(waiting_.front().at);
  }

 private:
  struct Waiting {
    Time at;
    ConnectionId connection = 0;
  };
  Settings settings_;
  std::deque<Waiting> waiting_;  // notifications that are being made
};

std::vector<ParameterSpec> dcqcn_parameters() {
  return {
      {"variant", ParameterType::kText, "paper",
       "With vendor, as ConnectX adapters do it; sets what is auto.", one_of({"paper", "vendor"})},
      {"gain", ParameterType::kReal, "auto",
       "Weight g of the newest notification; auto: 1/256, vendor 5/1024.", above("0").up_to("1")},
      {"alpha_interval", ParameterType::kTime, "auto",
       "After which alpha falls if no notification has come; auto: 55us, vendor 1us.", above("0")},
      {"increase_interval", ParameterType::kTime, "auto",
       "Between increases by the timer; auto: 55us, vendor 300us.", above("0")},
      {"byte_counter", ParameterType::kBytes, "auto",
       "Bytes sent between increases by the counter, 0: none; auto: 10MB, vendor 0."},
      {"fast_recovery", ParameterType::kInteger, "auto",
       "Increases F by either that halve the way to the target only; auto: 5, vendor 1.", at_least("0")},
      {"step", ParameterType::kBandwidth, "auto",
       "Additive step R_AI; auto: line rate / 1000 (40 Mb/s at 40 Gb/s), vendor line rate / 5000.",
       above("0")},
      {"hyper_step", ParameterType::kBandwidth, "auto", "Hyper step R_HAI; auto: 10 steps.", above("0")},
      {"min_rate", ParameterType::kBandwidth, "100Mbps", "The rate never falls below.", at_least("1Mbps")},
      {"decrease_interval", ParameterType::kTime, "4us",
       "Vendor: between cuts; the paper cuts at every notification.", above("0")},
      {"cnp_interval", ParameterType::kTime, "auto",
       "Least time between notifications to one flow; auto: 50us, vendor 4us.", at_most("1s")},
      {"cnp_delay", ParameterType::kTime, "0ns", "What the receiver's NIC takes to make one."}};
}

}  // namespace

const Control& dcqcn() {
  static const Control control{
      .info = {.name = "dcqcn",
               .summary = "Rates that receivers' congestion notifications cut, as RoCE NICs do it.",
               .source =
                   "Zhu et al., SIGCOMM 2015; variant vendor: ConnectX defaults, Li et al., SIGCOMM 2019",
               .parameters = dcqcn_parameters(),
               .about =
                   "Goes by marks, of which the receiver tells in notification packets, one for a flow in "
                   "50 us at most: each cuts the rate by half of alpha, the smoothed frequency of them; "
                   "a timer and a byte counter bring it back: half the way to the old rate, then by "
                   "steps, then by growing ones. Needs switches that mark, and lossless links in earnest "
                   "(where packets are lost it does nothing about it). Good: what RoCE networks run; no "
                   "work per ACK. Bad: slow against today's links, with tens of microseconds to notice "
                   "and milliseconds to return; nothing limits what is in flight, so incasts fill queues "
                   "and pause links; sensitive to its many constants."},
      .needs = {.required = Capability::kMark, .used = Capability::kLossless},
      .hears = kSends | kNotifications,
      .make_factory = SenderFactoryFor<Dcqcn>::make,
      .make_receivers = ReceiverFactoryFor<DcqcnReceiver>::make_factory};
  return control;
}

}  // namespace weft::congestion
