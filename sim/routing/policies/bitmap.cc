#include "sim/routing/policies/bitmap.h"

#include <algorithm>
#include <vector>

#include "sim/routing/parts/port_rates.h"
#include "sim/routing/parts/rounds.h"
#include "sim/routing/parts/weights.h"

namespace weft::routing {
namespace {

constexpr std::uint8_t kMostPenalty = 15, kMarkPenalty = 1, kLossPenalty = 4;

class Bitmap final : public PathSelector {
 public:
  Bitmap(std::uint32_t paths, const PathSetup& setup)
      : rounds_(paths, setup.random), penalties_(paths), skipped_(setup.signals) {}

  // Ends: every turn of an entropy with a penalty takes one away.
  Path next(const PathRequest&) override {
    for (;;) {
      const std::uint32_t entropy = rounds_.next();
      std::uint8_t& penalty = penalties_[rounds_.position(entropy)];
      if (penalty == 0) return {entropy};
      --penalty;
      ++*skipped_;
    }
  }
  void on_ack(const PathNews& news) override {
    if (news.ecn_marked) punish(news.path.entropy, kMarkPenalty);
  }
  void on_trim(const PathNews& news) override { punish(news.path.entropy, kLossPenalty); }
  // What a timeout found lost is told at its own moment.
  void on_loss(const PathNews& news) override {
    punish(news.path.entropy, news.now == timed_out_ ? kMostPenalty : kLossPenalty);
  }
  void on_timeout(Time now) override { timed_out_ = now; }

 private:
  void punish(std::uint32_t entropy, std::uint8_t by) {
    std::uint8_t& penalty = penalties_[rounds_.position(entropy)];
    penalty = std::min<std::uint8_t>(kMostPenalty, penalty + by);
  }

  Rounds rounds_;
  std::vector<std::uint8_t> penalties_;  // by position in the entropies
  Time timed_out_ = Time::ps(-1);        // last
  std::uint64_t* skipped_;
};

PathSelectorMaker make_bitmap(const PlanSetup& plan) {
  return [paths = Rounds::paths(plan.parameters)](const PathSetup& setup) {
    return std::make_unique<Bitmap>(paths, setup);
  };
}

}  // namespace

Policy bitmap() {
  return {
      .info = {.name = "bitmap",
               .summary = "Each packet takes another of the shortest paths; those that were marked or lost "
                          "packets are skipped for some rounds.",
               .source = "the load balancing of that name in htsim's model of Ultra Ethernet transport",
               .parameters = {Rounds::parameter("128")}},
      .make_paths = weighted_paths,
      .make_path_selectors = make_bitmap,
      .fluid = FluidPaths::kAround,
      .rate_news = RateNews::kAtOnce,
      .needs = {.used = Capability::kMark},
      .paths_remark = kGoesByRates,
      .path_signals = {"skipped_path"}};
}

}  // namespace weft::routing
