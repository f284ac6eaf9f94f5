#include "sim/routing/reps.h"

#include <array>

#include "sim/routing/rounds.h"

namespace weft::routing {
namespace {

class Reps final : public PathSelector {
 public:
  // `freeze`: for how long after a timeout; 0: never.
  Reps(std::uint32_t paths, Time freeze, const PathSetup& setup)
      : rounds_(paths, setup.random), freeze_(freeze), signals_(setup.signals) {}

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
    if (news.ecn_marked) return;
    buffer_[head_++ % kEntries] = news.path.entropy;  // over the oldest, if there is no room
    if (kept_ < kEntries) ++kept_;
    if (filled_ < kEntries) ++filled_;
  }
  void on_timeout(Time now) override {
    if (freeze_ == Time() || frozen_ || explorations_ > 0) return;
    ++signals_[kFreeze];
    frozen_ = true;
    frozen_until_ = now + freeze_;
  }

 private:
  enum Signal : std::uint8_t { kRecycled, kFreeze, kFrozenPath };
  static constexpr std::uint32_t kEntries = 8;
  static constexpr std::uint32_t kExplorations = 16;  // after a freeze

  void thaw() {
    frozen_ = false;
    head_ = kept_ = filled_ = 0;
    explorations_ = kExplorations;
  }

  Rounds rounds_;
  const Time freeze_;
  std::array<std::uint32_t, kEntries> buffer_{};
  // Written so far, not taken again yet, and places of the buffer that hold anything.
  std::uint32_t head_ = 0, kept_ = 0, filled_ = 0;
  std::uint32_t turn_ = 0;          // among those places while frozen
  std::uint32_t explorations_ = 0;  // to come
  bool frozen_ = false;
  Time frozen_until_;
  std::uint64_t* signals_;
};

PathSelectorMaker make(const Parameters& parameters) {
  const Time freeze = parameters.time("freeze");
  if (freeze < Time() || freeze > Time::us(3'600'000'000)) {
    parameters.fail("freeze", "it must be from 0 to 3600s");
  }
  return [paths = Rounds::paths(parameters), freeze](const PathSetup& setup) {
    return std::make_unique<Reps>(paths, freeze, setup);
  };
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
                               "all."}}},
      .make_path_selectors = make,
      .needs = {.used = Capability::kMark},
      .path_signals = {"recycled_path", "freeze", "frozen_path"}};
}

}  // namespace weft::routing
