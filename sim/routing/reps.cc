#include "sim/routing/reps.h"

#include <array>

#include "sim/routing/rounds.h"

namespace weft::routing {
namespace {

class Reps final : public PathSelector {
 public:
  Reps(std::uint32_t paths, const PathSetup& setup)
      : rounds_(paths, setup.random), recycled_(setup.signals) {}

  Path next(const PathRequest&) override {
    if (kept_ == 0) return {rounds_.any()};
    ++*recycled_;
    return {buffer_[(head_ - kept_--) % kEntries]};
  }
  void on_ack(const PathNews& news) override {
    if (news.ecn_marked) return;
    buffer_[head_++ % kEntries] = news.path.entropy;  // over the oldest, if there is no room
    if (kept_ < kEntries) ++kept_;
  }

 private:
  static constexpr std::uint32_t kEntries = 8;

  Rounds rounds_;
  std::array<std::uint32_t, kEntries> buffer_{};
  std::uint32_t head_ = 0, kept_ = 0;
  std::uint64_t* recycled_;
};

PathSelectorMaker make(const PlanSetup& plan) {
  return [paths = Rounds::paths(plan.parameters)](const PathSetup& setup) {
    return std::make_unique<Reps>(paths, setup);
  };
}

}  // namespace

Policy reps() {
  return {
      .info = {.name = "reps",
               .summary = "Each packet takes the path of one that was acknowledged without a mark, else one "
                          "at random.",
               .source =
                   "T. Bonato et al., REPS: Recycled entropy packet spraying for adaptive load balancing "
                   "and failure mitigation, arXiv 2407.21625",
               .parameters = {Rounds::parameter("65536")}},
      .make_path_selectors = make,
      .needs = {.used = Capability::kMark},
      .path_signals = {"recycled_path"}};
}

}  // namespace weft::routing
