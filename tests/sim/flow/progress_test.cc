#include "sim/flow/progress.h"

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>

#include "sim/units/random.h"

namespace weft::sim::flow {
namespace {

constexpr std::uint32_t kGroups = 4;

// Each fluid by itself, with what it has left.
struct Naive {
  std::uint32_t group = kGroups;  // kGroups: none
  std::uint32_t weight = 1;
  Rate own = 0;
  Amount through = 0;
  std::optional<Amount> aim;
};

class Both {
 public:
  explicit Both(std::uint64_t seed) : random_(seed, 3) {
    progress_.set_groups(kGroups);
    levels_.fill(0);
  }

  void step() {
    change();
    const Time next = naive_next();
    RC_ASSERT(progress_.next() == next);
    const Time some = now_ + Time::ps(static_cast<std::int64_t>(random_.below(3000)));
    advance(std::min(next, some));
    std::vector<std::uint32_t> due;
    progress_.take_due(now_, due);
    RC_ASSERT(std::set<std::uint32_t>(due.begin(), due.end()) == take_naive_due());
    for (const auto& [number, fluid] : fluids_) {
      RC_ASSERT(progress_.through(number, now_) == fluid.through);
    }
  }

 private:
  Rate rate(const Naive& fluid) const {
    return (fluid.group == kGroups ? fluid.own : levels_[fluid.group]) * fluid.weight;
  }
  std::uint32_t some() {
    const auto at = static_cast<long>(random_.below(fluids_.size()));
    return std::next(fluids_.begin(), at)->first;
  }
  void change() {
    const auto group = static_cast<std::uint32_t>(random_.below(kGroups));
    const Rate level = static_cast<Rate>(random_.below(5) * random_.below(1000));
    switch (random_.below(6)) {
      case 0: {
        const auto number = static_cast<std::uint32_t>(random_.below(30));
        if (fluids_.contains(number)) break;
        const std::uint32_t weight =
            random_.below(2) == 0 ? 1 : 1 + static_cast<std::uint32_t>(random_.below(9));
        fluids_[number] = {.weight = weight};
        progress_.enter(number, weight);
        break;
      }
      case 1:
        levels_[group] = level;
        progress_.set_level(group, level, now_);
        break;
      default:
        if (!fluids_.empty()) change(some(), group, level);
    }
  }
  void change(std::uint32_t number, std::uint32_t group, Rate level) {
    Naive& fluid = fluids_.at(number);
    switch (random_.below(8)) {
      case 0:
        fluids_.erase(number);
        progress_.leave(number, now_);
        break;
      case 1:
        fluid.group = kGroups;
        fluid.own = level;
        progress_.move_out(number, level, now_);
        break;
      case 2:
      case 3:
      case 4:
        fluid.group = group;
        progress_.move(number, group, now_);
        break;
      default:
        fluid.aim = fluid.through + random_.below(5'000'000);
        progress_.aim(number, *fluid.aim, now_);
    }
  }
  void advance(Time to) {
    for (auto& [number, fluid] : fluids_) {
      fluid.through += static_cast<Amount>(rate(fluid)) * static_cast<std::uint64_t>((to - now_).ps());
    }
    now_ = to;
  }
  Time naive_next() const {
    Time next = Time::max();
    for (const auto& [number, fluid] : fluids_) {
      if (!fluid.aim.has_value()) continue;
      if (*fluid.aim <= fluid.through) return now_;
      if (rate(fluid) > 0) next = std::min(next, now_ + time_for(*fluid.aim - fluid.through, rate(fluid)));
    }
    return next;
  }
  std::set<std::uint32_t> take_naive_due() {
    std::set<std::uint32_t> due;
    for (auto& [number, fluid] : fluids_) {
      if (!fluid.aim.has_value() || *fluid.aim > fluid.through) continue;
      fluid.aim.reset();
      due.insert(number);
    }
    return due;
  }

  RandomStream random_;
  Progress progress_;
  std::map<std::uint32_t, Naive> fluids_;
  std::array<Rate, kGroups> levels_;
  Time now_ = Time::ns(5);
};

}  // namespace

TEST_CASE("fluids of a group are through with what each would be by itself, to the last unit") {
  const bool holds = rc::check("same amounts and times", [] {
    Both both(*rc::gen::arbitrary<std::uint64_t>());
    for (int step = 0; step < 300; ++step) both.step();
  });
  CHECK(holds);
}

TEST_CASE("a new level changes when all of a group are due") {
  Progress progress;
  progress.set_groups(1);
  for (std::uint32_t fluid = 0; fluid < 3; ++fluid) {
    progress.enter(fluid, fluid + 1);
    progress.move(fluid, 0, Time());
    progress.aim(fluid, 6000, Time());
  }
  CHECK(progress.next() == Time::max());
  progress.set_level(0, 10, Time());
  // At three times the level: 30 a picosecond.
  CHECK(progress.next() == Time::ps(200));
  progress.set_level(0, 5, Time::ps(100));
  // 3,000 are through of it, and 1,000 and 2,000 of the others.
  CHECK(progress.through(2, Time::ps(100)) == 3000);
  CHECK(progress.next() == Time::ps(300));
  std::vector<std::uint32_t> due;
  progress.take_due(Time::ps(300), due);
  CHECK(due == std::vector<std::uint32_t>{2});
  // (6,000 - 2,000) / 10 after the change.
  CHECK(progress.next() == Time::ps(500));
  progress.take_due(Time::ps(500), due);
  CHECK(progress.next() == Time::ps(1100));
}

}  // namespace weft::sim::flow
