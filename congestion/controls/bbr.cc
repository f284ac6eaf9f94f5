#include "congestion/controls/bbr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "congestion/controls/rates.h"

namespace weft::congestion {
namespace {

constexpr std::uint32_t kPhases = 8;  // of the cycle of gains, §4.3.4.3: one up, one down, the others even
constexpr double kMinPackets = 4;     // §4.2.3.5
constexpr double kQuantaMore = 3;     // §4.2.3.2: for hosts that send and acknowledge in bursts

// The largest value of the last so many rounds, from the largest of each.
class MaxFilter {
 public:
  static constexpr std::uint64_t kMostRounds = 16;

  double best() const { return best_; }
  // REQUIRES: rounds <= kMostRounds, round doesn't fall.
  void add(std::uint64_t round, double value, std::uint64_t rounds) {
    if (round > round_) {
      round_ = std::max(round_, round - std::min(round, kMostRounds));
      while (round_ < round) largest_[++round_ % kMostRounds] = 0;
      best_ = 0;
      for (std::uint64_t age = 0; age < std::min(rounds, round_ + 1); ++age) {
        best_ = std::max(best_, largest_[(round_ - age) % kMostRounds]);
      }
    }
    double& here = largest_[round_ % kMostRounds];
    here = std::max(here, value);
    best_ = std::max(best_, value);
  }

 private:
  std::array<double, kMostRounds> largest_ = {};  // of round n: n % kMostRounds
  std::uint64_t round_ = 0;
  double best_ = 0;
};

// How much had been delivered when a packet was sent. The drafts keep that with each packet; here it is noted
// some times in each round trip, and a packet has what was noted last before it left.
class Deliveries {
 public:
  struct Note {
    Time at;
    std::uint64_t delivered = 0;
    Time sent;  // when the packet left whose ACK came then
  };
  // Every `spacing`, and the last kNotes.
  void note(const Note& note, Time spacing) {
    if (count_ > 0 && note.at - notes_[(count_ - 1) % kNotes].at < spacing) return;
    notes_[count_++ % kNotes] = note;
    if (count_ - found_ > kNotes) found_ = count_ - kNotes;
  }
  // Null: it isn't known any more. Packets come in the order they were sent, but for a few.
  const Note* before(Time sent) {
    while (found_ + 1 < count_ && notes_[(found_ + 1) % kNotes].at <= sent) ++found_;
    const Note& note = notes_[found_ % kNotes];
    return count_ > 0 && note.at <= sent ? &note : nullptr;
  }

 private:
  static constexpr std::uint64_t kNotes = 32;
  std::array<Note, kNotes> notes_;
  std::uint64_t count_ = 0, found_ = 0;  // notes ever made; number of the one found last
};

class Bbr final : public Sender {
 public:
  struct Settings {
    explicit Settings(const Parameters& parameters)
        : startup_gain(parameters.real("startup_gain")),
          probe_gain(parameters.real("probe_gain")),
          window_gain(parameters.real("window_gain")),
          full_growth(parameters.real("full_growth")),
          full_rounds(parameters.integer("full_rounds")),
          rounds(parameters.integer("rate_rounds")),
          initial_packets(parameters.integer("initial_window")),
          rtt_lifetime(parameters.time("rtt_lifetime")),
          probe_rtt(parameters.time("probe_rtt")),
          quantum(parameters.automatic("quantum") ? 0 : parameters.bytes("quantum")) {}
    double startup_gain, probe_gain, window_gain, full_growth;
    std::int64_t full_rounds, rounds, initial_packets;
    Time rtt_lifetime, probe_rtt;
    std::uint64_t quantum;  // 0: one full packet
  };

  Bbr(const FlowInfo& flow, const Settings& settings)
      : settings_(settings),
        mtu_bytes_(flow.mtu_bytes),
        extra_bytes_(kQuantaMore *
                     (settings.quantum > 0 ? static_cast<double>(settings.quantum) : mtu_bytes_)),
        initial_bytes_(static_cast<double>(settings.initial_packets) * mtu_bytes_),
        random_(flow.random),
        rtt_(flow.base_rtt),
        least_rtt_(Time::max()),
        window_(initial_bytes_),
        rate_(settings.startup_gain * initial_bytes_ / std::max(rtt_.seconds(), 1e-12)),
        rate_gain_(settings.startup_gain),
        window_gain_(settings.startup_gain) {}

  void start(Time now) override {
    least_rtt_at_ = now;
    allow();
  }
  void on_message(Time, std::uint64_t bytes, std::uint64_t) override { unsent_ += bytes; }
  void on_spared(std::uint64_t bytes) override { unsent_ -= std::min(unsent_, bytes); }
  void on_send(const Sent& sent) override {
    if (in_flight_ == 0) deliveries_.note({sent.at, delivered_, sent.at}, Time());
    in_flight_ += sent.bytes;
    if (sent.again) return;
    unsent_ -= std::min(unsent_, sent.bytes);
    if (unsent_ == 0) limited_until_ = std::max<std::uint64_t>(delivered_ + in_flight_, 1);
  }

  void on_ack(const Ack& ack) override {
    const std::uint64_t before = ack.in_flight + ack.bytes;
    in_flight_ = ack.in_flight;
    delivered_ += ack.bytes;
    rtt_ = ack.rtt;
    if (delivered_ > limited_until_) limited_until_ = 0;
    const bool new_round = take_sample(ack);
    if (new_round) conserving_ = false;
    look_for_full_pipe(new_round);
    const bool expired = take_rtt(ack);
    advance(ack.now, before, expired, new_round);
    set_rate();
    set_window(static_cast<double>(ack.bytes));
    lost_ = 0;
    allow();
  }
  // §4.2.3.4: what is lost leaves the window; until the round is over, it holds what is under way.
  void on_loss(const Loss& loss) override {
    in_flight_ -= std::min(in_flight_, loss.bytes);
    lost_ += loss.bytes;
    if (!conserving_) next_round_ = delivered_;
    conserving_ = true;
    window_ = std::max(window_ - static_cast<double>(loss.bytes), mtu_bytes_);
    allow();
  }
  void on_timeout(const Loss& loss) override {
    in_flight_ -= std::min(in_flight_, loss.bytes);
    window_ = mtu_bytes_;
    allow();
  }

 private:
  enum class State : std::uint8_t { kStartup, kDrain, kProbeRate, kProbeRtt };

  // The delivery rate that the ACK shows. Returns whether it begins a round.
  bool take_sample(const Ack& ack) {
    const Time sent = ack.now - ack.rtt;
    const Deliveries::Note* then = deliveries_.before(sent);
    bool new_round = false;
    if (then != nullptr) {
      if (then->delivered >= next_round_) {
        next_round_ = delivered_;
        ++round_;
        new_round = true;
      }
      // The slower of sending and acknowledging: ACKs may come in a bunch.
      const Time interval = std::max(ack.now - then->at, sent - then->sent);
      if (interval > Time() && interval >= std::min(least_rtt_, ack.rtt)) {
        const double rate = static_cast<double>(delivered_ - then->delivered) / interval.seconds();
        if (limited_until_ == 0 || rate >= bottleneck_.best()) {
          bottleneck_.add(round_, rate, static_cast<std::uint64_t>(settings_.rounds));
        }
      }
    }
    deliveries_.note({ack.now, delivered_, sent}, Time::ps(rtt_.ps() / 16));
    return new_round;
  }
  // §4.3.2.2.
  void look_for_full_pipe(bool new_round) {
    if (full_ || !new_round || limited_until_ != 0) return;
    if (bottleneck_.best() >= full_rate_ * settings_.full_growth) {
      full_rate_ = bottleneck_.best();
      flat_rounds_ = 0;
    } else if (++flat_rounds_ >= settings_.full_rounds) {
      full_ = true;
    }
  }
  // §4.1.2. Returns whether the least round trip had become too old.
  bool take_rtt(const Ack& ack) {
    const bool expired = ack.now - least_rtt_at_ > settings_.rtt_lifetime;
    if (ack.rtt <= least_rtt_ || expired) {
      least_rtt_ = ack.rtt;
      least_rtt_at_ = ack.now;
    }
    return expired;
  }

  // §4.3: `before`: in flight before the ACK.
  void advance(Time now, std::uint64_t before, bool expired, bool new_round) {
    if (state_ == State::kStartup && full_) {
      state_ = State::kDrain;
      rate_gain_ = 1 / settings_.startup_gain;
    }
    if (state_ == State::kDrain && static_cast<double>(in_flight_) <= product(1)) probe_rate(now);
    if (state_ == State::kProbeRate && phase_is_over(now, static_cast<double>(before))) next_phase(now);
    if (expired && state_ != State::kProbeRtt) {
      state_ = State::kProbeRtt;
      rate_gain_ = window_gain_ = 1;
      kept_window_ = window_;
      probe_end_ = Time::max();
    }
    if (state_ == State::kProbeRtt) stay_low(now, new_round);
  }
  void probe_rate(Time now) {
    state_ = State::kProbeRate;
    window_gain_ = settings_.window_gain;
    // Flows begin in different phases, but none with the one that sends less: the one before it comes first.
    phase_ = kPhases - 1 - random_ % (kPhases - 1);
    next_phase(now);
  }
  bool phase_is_over(Time now, double before) const {
    const bool full_length = now - phase_at_ > least_rtt_;
    if (phase_ == 0) return full_length && (lost_ > 0 || before >= product(settings_.probe_gain));
    if (phase_ == 1) return full_length || before <= product(1);
    return full_length;
  }
  void next_phase(Time now) {
    phase_ = (phase_ + 1) % kPhases;
    phase_at_ = now;
    rate_gain_ = phase_ == 0 ? settings_.probe_gain : phase_ == 1 ? 2 - settings_.probe_gain : 1;
  }
  // §4.3.5: four packets for a while, and a round trip at least.
  void stay_low(Time now, bool new_round) {
    if (probe_end_ == Time::max()) {
      if (static_cast<double>(in_flight_) > kMinPackets * mtu_bytes_) return;
      probe_end_ = now + settings_.probe_rtt;
      probe_round_ = false;
      next_round_ = delivered_;
      return;
    }
    probe_round_ = probe_round_ || new_round;
    if (!probe_round_ || now < probe_end_) return;
    least_rtt_at_ = now;
    window_ = std::max(window_, kept_window_);
    if (full_) {
      probe_rate(now);
    } else {
      state_ = State::kStartup;
      rate_gain_ = window_gain_ = settings_.startup_gain;
    }
  }

  double product(double gain) const {
    if (least_rtt_ == Time::max() || bottleneck_.best() == 0) return initial_bytes_;
    return gain * bottleneck_.best() * least_rtt_.seconds();
  }
  void set_rate() {
    const double rate = rate_gain_ * bottleneck_.best();
    if (rate > 0 && (full_ || rate > rate_)) rate_ = rate;
  }
  // §4.2.3.
  void set_window(double acked) {
    const double target = product(window_gain_) + extra_bytes_;
    if (conserving_) {
      window_ = std::max(window_, static_cast<double>(in_flight_) + acked);
    } else if (full_) {
      window_ = std::min(window_ + acked, target);
    } else if (window_ < target || static_cast<double>(delivered_) < initial_bytes_) {
      window_ += acked;
    }
    window_ = std::max(window_, kMinPackets * mtu_bytes_);
    if (state_ == State::kProbeRtt) window_ = kMinPackets * mtu_bytes_;
  }
  void allow() {
    allowed_.window_bytes = static_cast<std::uint64_t>(window_);
    const double bps = std::clamp(rate_ * 8, 1.0, 1e16);
    allowed_.rate = Bandwidth::bps(std::llround(bps));
  }

  const Settings& settings_;  // of the factory, which lives longer
  double mtu_bytes_, extra_bytes_, initial_bytes_;
  std::uint32_t random_;
  State state_ = State::kStartup;
  bool full_ = false;        // the rate grows no more
  bool conserving_ = false;  // there was a loss in this round
  bool probe_round_ = false;

  std::uint64_t unsent_ = 0, in_flight_ = 0, delivered_ = 0, lost_ = 0;
  std::uint64_t limited_until_ = 0;  // delivered bytes up to which there was too little to send; 0: enough
  Deliveries deliveries_;
  MaxFilter bottleneck_;  // bytes per second
  std::uint64_t round_ = 0, next_round_ = 0;
  Time rtt_, least_rtt_, least_rtt_at_;

  double window_, rate_;  // bytes; bytes per second
  double rate_gain_, window_gain_;
  double full_rate_ = 0, kept_window_ = 0;
  std::int64_t flat_rounds_ = 0;
  std::uint32_t phase_ = 0;
  Time phase_at_, probe_end_;
};

std::vector<ParameterSpec> bbr_parameters() {
  return {{"startup_gain", ParameterType::kReal, "2.885",
           "Gain of rate and window at first, 2 / ln 2; the queue is drained at its inverse.", above("1")},
          {"probe_gain", ParameterType::kReal, "1.25",
           "Gain of the rate in one of eight round trips, made good in the next.", above("1").under("2")},
          {"window_gain", ParameterType::kReal, "2", "Window in products of rate and shortest round trip.",
           above("1")},
          {"full_growth", ParameterType::kReal, "1.25",
           "Rounds that raise the rate by less find the path full.", above("1")},
          {"full_rounds", ParameterType::kInteger, "3", "How many of them in a row it takes.", at_least("1")},
          {"rate_rounds", ParameterType::kInteger, "10", "Rounds of which the largest rate counts.",
           from_to("1", "16")},
          {"rtt_lifetime", ParameterType::kTime, "10s", "For how long a shortest round trip counts."},
          {"probe_rtt", ParameterType::kTime, "200ms", "For how long four packets are sent to find it."},
          {"initial_window", ParameterType::kInteger, "10", "First window in full packets.", at_least("1")},
          {"quantum", ParameterType::kBytes, "auto",
           "Three of these are added to the window, for hosts that send in bursts; auto: a full packet."}};
}

}  // namespace

const Control& bbr() {
  static const Control control{
      .info = {.name = "bbr",
               .summary =
                   "Sends at the rate that was delivered, and keeps two round trips in flight, as BBR.",
               .source = "draft-cardwell-iccrg-bbr-congestion-control-00 (2017), version 1",
               .parameters = bbr_parameters(),
               .about = "Goes by two measurements: the largest delivery rate of ten round trips and the "
                        "shortest round trip of ten seconds. It paces at that rate, in one of eight round "
                        "trips above it and in the next below, with at most twice their product in flight. "
                        "Needs nothing of switches; doesn't look at marks, and hardly at losses. Good: high "
                        "throughput over long and lossy paths. Bad: flows together keep up to a whole round "
                        "trip in the queue, and drop where it is shorter; slow to share in data centers; "
                        "presses out controls that yield."},
      .hears = kMessages | kSends,
      .make_factory = SenderFactoryFor<Bbr>::make,
      .wants_every_ack = true};
  return control;
}

}  // namespace weft::congestion
