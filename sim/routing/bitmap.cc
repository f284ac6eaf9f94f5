#include "sim/routing/bitmap.h"

#include <algorithm>
#include <vector>

#include "sim/routing/rounds.h"

namespace weft::routing {
namespace {

constexpr std::uint8_t kMostPenalty = 15, kMarkPenalty = 1, kLossPenalty = 4;

class Bitmap final : public PathSelector {
 public:
  Bitmap(std::uint32_t paths, sim::RandomStream random) : rounds_(paths, random), penalties_(paths) {}

  // Ends: every turn of an entropy with a penalty takes one away.
  Path next(const PathRequest&) override {
    for (;;) {
      const std::uint32_t entropy = rounds_.next();
      std::uint8_t& penalty = penalties_[rounds_.position(entropy)];
      if (penalty == 0) return {entropy};
      --penalty;
    }
  }
  void on_ack(const PathNews& news) override {
    if (news.ecn_marked) punish(news.path.entropy, kMarkPenalty);
  }
  void on_loss(const PathNews& news) override { punish(news.path.entropy, kLossPenalty); }

 private:
  void punish(std::uint32_t entropy, std::uint8_t by) {
    std::uint8_t& penalty = penalties_[rounds_.position(entropy)];
    penalty = std::min<std::uint8_t>(kMostPenalty, penalty + by);
  }

  Rounds rounds_;
  std::vector<std::uint8_t> penalties_;  // by position in the entropies
};

PathSelectorMaker make(const Parameters& parameters) {
  return [paths = Rounds::paths(parameters)](std::uint64_t, sim::RandomStream random) {
    return std::make_unique<Bitmap>(paths, random);
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
      .make_path_selectors = make};
}

}  // namespace weft::routing
