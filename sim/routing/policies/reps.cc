#include "sim/routing/policies/reps.h"

#include <array>

#include "sim/routing/parts/port_rates.h"
#include "sim/routing/parts/rounds.h"
#include "sim/routing/parts/weights.h"

namespace weft::routing {
namespace {

struct RepsSettings {
  std::uint32_t paths = 0;
  Time freeze;  // 0: never
  bool losses_freeze = false;
};

class Reps final : public PathSelector {
 public:
  Reps(const RepsSettings& settings, const PathSetup& setup)
      : rounds_(settings.paths, setup.random),
        freeze_(settings.freeze),
        losses_freeze_(settings.losses_freeze),
        signals_(setup.signals) {}

  Path next(const PathRequest& request) override {
    if (frozen_ && request.now >= frozen_until_) thaw();
    if (explorations_ > 0) [[unlikely]] {
      --explorations_;
      return {rounds_.any()};
    }
    if (kept_ > 0) {
      ++signals_[kRecycled];
      return {buffer_[(head_ - kept_--) % kEntries]};
    }
    if (frozen_ && filled_ > 0) {
      ++signals_[kFrozenPath];
      return {buffer_[turn_++ % filled_]};
    }
    return {rounds_.any()};
  }
  void on_ack(const PathNews& news) override {
    is_answered_ = true;
    if (news.ecn_marked) return;
    buffer_[head_++ % kEntries] = news.path.entropy;  // over the oldest, if there is no room
    if (kept_ < kEntries) ++kept_;
    if (filled_ < kEntries) ++filled_;
  }
  void on_trim(const PathNews&) override {}
  void on_loss(const PathNews& news) override {
    if (losses_freeze_) freeze(news.now);
  }
  void on_timeout(Time now) override {
    if (frozen_ && !is_answered_) return thaw();
    freeze(now);
    is_answered_ = false;
  }

 private:
  enum Signal : std::uint8_t { kRecycled, kFreeze, kFrozenPath };
  static constexpr std::uint32_t kEntries = 8;
  static constexpr std::uint32_t kExplorations = 16;  // after a freeze

  void freeze(Time now) {
    if (freeze_ == Time() || frozen_ || explorations_ > 0) return;
    ++signals_[kFreeze];
    frozen_ = true;
    frozen_until_ = now + freeze_;
  }

  void thaw() {
    frozen_ = false;
    head_ = kept_ = filled_ = 0;
    explorations_ = kExplorations;
  }

  Rounds rounds_;
  const Time freeze_;
  const bool losses_freeze_;
  std::array<std::uint32_t, kEntries> buffer_{};
  // Written so far, not taken again yet, and places of the buffer that hold anything.
  std::uint32_t head_ = 0, kept_ = 0, filled_ = 0;
  std::uint32_t turn_ = 0;          // among those places while frozen
  std::uint32_t explorations_ = 0;  // to come
  bool is_answered_ = false;        // since the last timeout
  bool frozen_ = false;
  Time frozen_until_;
  std::uint64_t* signals_;
};

PathSelectorMaker make_reps(const PlanSetup& plan) {
  const Parameters& parameters = plan.parameters;
  const RepsSettings settings{.paths = Rounds::paths(parameters),
                              .freeze = parameters.time("freeze"),
                              .losses_freeze = parameters.text("trigger") == "loss"};
  return [settings](const PathSetup& setup) { return std::make_unique<Reps>(settings, setup); };
}

}  // namespace

Policy reps() {
  return {
      .info = {.name = "reps",
               .summary = "Each packet takes the path of one that was acknowledged without a mark, else one "
                          "at random; after a timeout only paths that have worked.",
               .source =
                   "T. Bonato et al., REPS: Recycled entropy packet spraying for adaptive load balancing "
                   "and failure mitigation, arXiv 2407.21625",
               .parameters = {Rounds::parameter("65536"),
                              {"freeze", ParameterType::kTime, "10ms",
                               "How long after a timeout only paths that have worked are taken; 0: not at "
                               "all.",
                               from_to("0", "3600s")},
                              {"trigger", ParameterType::kText, "timeout",
                               "What begins that: timeout, or any loss that no trimmed packet tells of, for "
                               "queues that trim.",
                               one_of({"timeout", "loss"})}}},
      .make_paths = weighted_paths,
      .make_path_selectors = make_reps,
      .fluid = FluidPaths::kAround,
      .rate_news = RateNews::kAtOnce,
      .needs = {.used = Capability::kMark},
      .paths_remark = kGoesByRates,
      .path_signals = {"recycled_path", "freeze", "frozen_path"}};
}

}  // namespace weft::routing
