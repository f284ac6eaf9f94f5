#include "sim/routing/policies/spray.h"

#include "sim/routing/parts/rounds.h"

namespace weft::routing {
namespace {

class Spray final : public PathSelector {
 public:
  Spray(std::uint32_t paths, sim::RandomStream random) : rounds_(paths, random) {}
  Path next(const PathRequest&) override { return {rounds_.next()}; }

 private:
  Rounds rounds_;
};

PathSelectorMaker make_spray(const PlanSetup& plan) {
  return [paths = Rounds::paths(plan.parameters)](const PathSetup& setup) {
    return std::make_unique<Spray>(paths, setup.random);
  };
}

}  // namespace

Policy spray() {
  return {
      .info = {.name = "spray",
               .summary = "Each packet takes another of the shortest paths, whatever their load.",
               .source = "A. Dixit, P. Prakash, Y. Hu, R. Kompella, On the impact of packet spraying in data "
                         "center networks, INFOCOM 2013",
               .parameters = {Rounds::parameter("256")}},
      .make_path_selectors = make_spray,
      .selectors_want_feedback = false,
      .fluid = FluidPaths::kEven};
}

}  // namespace weft::routing
