#include "sim/goodput/long_run.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "sim/units/random.h"

namespace weft::goodput {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Arrivals of a Poisson process. They don't depend on what the run does between them.
class Arrivals {
 public:
  Arrivals(double rate, RandomStream stream) : rate_(rate), stream_(stream) { advance(); }
  double next() const { return next_; }
  void advance() { next_ = rate_ > 0 ? next_ - std::log1p(-stream_.uniform()) / rate_ : kNever; }

 private:
  double rate_, next_ = 0;
  RandomStream stream_;
};

// What happens next; of several at one moment the first here.
enum Event : int { kPhaseEnds, kWriteEnds, kLinkIsBack, kReplicaIsBack, kDeviceFails, kLinkFails, kEvents };

enum class Phase : std::uint8_t { kCompute, kCheckpoint, kRestart, kDetect, kReconfigure };

class Run {
 public:
  Run(const LongRun& run, std::uint64_t seed)
      : run_(run),
        device_failures_(run.failure_rate, RandomStream(seed, kDevices)),
        link_failures_(run.link_rate, RandomStream(seed, kLinks)),
        thinning_(seed, kThinning),
        replicas_(run.replicas) {}

  Outcome whole() {
    while (!is_over_) step();
    out_.elapsed_s = now_;
    out_.steps = taken_ + whole_steps(since_s_);
    return out_;
  }

 private:
  enum Streams : std::uint64_t { kDevices, kLinks, kThinning };

  void step() {
    const std::array<double, kEvents> times = {phase_end(),
                                               write_end_,
                                               links_down_.empty() ? kNever : links_down_.front(),
                                               replicas_down_.empty() ? kNever : replicas_down_.front(),
                                               device_failures_.next(),
                                               link_failures_.next()};
    const auto next = std::ranges::min_element(times);
    spend(std::min(*next, run_.duration_s) - now_);
    now_ = std::min(*next, run_.duration_s);
    is_over_ = *next >= run_.duration_s;
    if (!is_over_) happen(static_cast<Event>(next - times.begin()));
  }

  void happen(Event event) {
    switch (event) {
      case kPhaseEnds:
        return end_phase();
      case kWriteEnds:
        safe_ = taken_;
        write_end_ = kNever;
        return;
      case kLinkIsBack:
        return links_down_.pop_front();
      case kReplicaIsBack:
        replicas_down_.pop_front();
        ++replicas_;
        // It joins between two steps; in a checkpoint or a restart that takes no time of its own.
        if (phase_ != Phase::kRestart && phase_ != Phase::kCheckpoint) reconfigure();
        return;
      case kDeviceFails:
        device_failures_.advance();
        return fail_device();
      case kLinkFails:
        link_failures_.advance();
        return fail_link();
      case kEvents:
        return;
    }
  }

  // ---- Time ----

  double phase_end() const { return phase_ == Phase::kCompute ? now_ + left_s() / speed() : pause_end_; }
  // Work until the next checkpoint or the end, in seconds of undisturbed steps.
  double left_s() const {
    const std::uint64_t steps = segment();
    return steps == 0 ? kNever : std::max(0.0, static_cast<double>(steps) * run_.step_s - since_s_);
  }
  // Steps from the last checkpoint to the next; 0: it never comes.
  std::uint64_t segment() const {
    if (run_.steps == 0) return run_.steps_between;
    const std::uint64_t left = run_.steps - taken_;
    return run_.steps_between == 0 ? left : std::min(left, run_.steps_between);
  }
  double degraded() const { return links_down_.empty() ? 1 : run_.degraded_factor; }
  double running() const { return static_cast<double>(replicas_) / run_.replicas; }
  double speed() const { return running() / (run_.straggler_factor * degraded()); }

  void spend(double time) {
    switch (phase_) {
      case Phase::kCompute: {
        const double without_stragglers = time / run_.straggler_factor;
        const double on_all_links = without_stragglers / degraded();
        const double work = on_all_links * running();
        out_.spent_s[kStragglers] += time - without_stragglers;
        out_.spent_s[kDegraded] += without_stragglers - on_all_links;
        out_.spent_s[kFewerReplicas] += on_all_links - work;
        out_.spent_s[kComputing] += work;
        since_s_ += work;
        return;
      }
      case Phase::kCheckpoint:
        out_.spent_s[kCheckpoints] += time;
        return;
      case Phase::kRestart:
        out_.spent_s[kRestarts] += time;
        return;
      case Phase::kDetect:
        out_.spent_s[kDetection] += time;
        return;
      case Phase::kReconfigure:
        out_.spent_s[kReconfiguration] += time;
        return;
    }
  }

  std::uint64_t whole_steps(double work_s) const {
    constexpr double kRounding = 1e-6;  // of a step: sums of many parts are not exact
    return static_cast<std::uint64_t>(work_s / run_.step_s + kRounding);
  }

  // ---- Phases ----

  void pause(Phase phase, double time) {
    phase_ = phase;
    pause_end_ = now_ + time;
  }

  void end_phase() {
    if (phase_ == Phase::kCheckpoint) return end_checkpoint();
    if (phase_ == Phase::kCompute) {
      since_s_ = static_cast<double>(segment()) * run_.step_s;
      if (run_.steps_between > 0) return begin_checkpoint();
      is_over_ = true;  // all steps are done
      return;
    }
    phase_ = Phase::kCompute;
  }

  bool is_last() const { return run_.steps > 0 && taken_ + segment() == run_.steps; }

  // One is written at a time, and the run's end waits until the last is safe.
  void begin_checkpoint() {
    const double wait = write_end_ < kNever ? write_end_ - now_ : 0;
    pause(Phase::kCheckpoint, wait + (is_last() ? run_.write_s : run_.blocking_s));
  }

  void end_checkpoint() {
    ++out_.checkpoints;
    is_over_ = is_last();
    taken_ += segment();
    since_s_ = 0;
    const double behind = run_.write_s - run_.blocking_s;
    if (is_over_ || behind <= 0) {
      safe_ = taken_;
    } else {
      write_end_ = now_ + behind;
    }
    phase_ = Phase::kCompute;
  }

  // ---- Failures ----

  void undo(double work_s) {
    out_.spent_s[kComputing] -= work_s;
    out_.spent_s[kLostWork] += work_s;
  }

  void restart() {
    ++out_.restarts;
    undo(static_cast<double>(taken_ - safe_) * run_.step_s + since_s_);
    taken_ = safe_;
    since_s_ = 0;
    write_end_ = kNever;
    pause(Phase::kRestart, run_.restart_s);
  }

  void reconfigure() {
    ++out_.reconfigurations;
    pause(Phase::kReconfigure, run_.reconfiguration_s);
  }

  void fail_device() {
    // Replicas that are down don't fail.
    if (run_.elastic && thinning_.uniform() >= running()) return;
    ++out_.device_failures;
    if (!run_.elastic || replicas_ == 1 || phase_ == Phase::kRestart) return restart();
    --replicas_;
    replicas_down_.push_back(now_ + run_.repair_s);
    const double step_under_way = since_s_ - static_cast<double>(whole_steps(since_s_)) * run_.step_s;
    undo(std::max(0.0, step_under_way));
    since_s_ -= std::max(0.0, step_under_way);
    reconfigure();
  }

  void fail_link() {
    ++out_.link_failures;
    links_down_.push_back(now_ + run_.link_repair_s);
    if (run_.link_failures == LinkFailures::kRestart) return restart();
    // What waits for something else doesn't wait for this.
    if (phase_ == Phase::kCompute || phase_ == Phase::kDetect) pause(Phase::kDetect, run_.detection_s);
  }

  const LongRun run_;
  Arrivals device_failures_, link_failures_;
  RandomStream thinning_;
  double now_ = 0, pause_end_ = 0, write_end_ = kNever;
  Phase phase_ = Phase::kCompute;
  bool is_over_ = false;
  // Steps in the last checkpoint begun, and in the last that is whole; work since the first of these.
  std::uint64_t taken_ = 0, safe_ = 0;
  double since_s_ = 0;
  std::uint32_t replicas_;
  std::deque<double> links_down_, replicas_down_;  // when they are back
  Outcome out_;
};

}  // namespace

std::string_view name(Cause cause) {
  constexpr std::array<std::string_view, kCauses> kNames = {"computing", "checkpoints",    "lost_work",
                                                            "restarts",  "detection",      "stragglers",
                                                            "degraded",  "fewer_replicas", "reconfiguration"};
  return kNames[cause];
}

Outcome simulate(const LongRun& run, std::uint64_t seed) { return Run(run, seed).whole(); }

}  // namespace weft::goodput
