// Where the packets to one host go, by a PathModel: all that a packet can come to from given switches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/routing/path_model.h"
#include "sim/routing/table/home_switches.h"
#include "topologies/graph/topology.h"

namespace weft::routing {

// The model is asked once for each switch and state, for one host at a time; what is made for one host is
// void with the next.
class PathGraph {
 public:
  static constexpr std::uint32_t kArrived = UINT32_MAX;  // PathGraph::next() of a step to the host itself

  // A switch, and a state that packets are in there.
  struct Stop {
    std::uint32_t at = 0;  // vertex
    PathState state = 0;
    bool last = false;  // the way ends at this switch
    std::uint32_t first_step = 0, steps = 0;
  };
  enum class End : std::uint8_t {
    kHost,    // its cable is the last step
    kSwitch,  // at the first of its HomeSwitches: the first leg of a detour
  };

  // Both must outlive it.
  PathGraph(const topologies::Topology& topology, const PathModel& model);

  void begin(std::uint32_t host, End end);
  // The number of this stop; it and all that follows from it are there from now on.
  std::uint32_t add(topologies::Vertex at, PathState state);

  std::span<const Stop> stops() const { return stops_; }
  std::span<const PathStep> steps(const Stop& stop) const {
    return {steps_.data() + stop.first_step, steps_.data() + stop.first_step + stop.steps};
  }
  // The stop that the i-th step of this one leads to, or kArrived.
  std::uint32_t next(const Stop& stop, std::uint32_t i) const { return next_[stop.first_step + i]; }
  // The numbers of all stops, such that steps lead to later ones only, unless has_circle().
  std::span<const std::uint32_t> order();
  // The model leads packets to where they were before, in the same state.
  bool has_circle() const { return has_circle_; }

 private:
  struct Visit {
    std::uint32_t stop, step;
  };
  static constexpr std::uint32_t kUnknown = UINT32_MAX;
  std::size_t place(std::uint32_t at, PathState state) const { return std::size_t{at} * states_ + state; }
  std::uint32_t make(std::uint32_t at, PathState state);
  void check_ends() const;

  const topologies::Topology& topology_;
  const PathModel& model_;
  const HomeSwitches homes_;
  const std::uint32_t states_;
  std::uint32_t host_ = 0;
  End end_ = End::kHost;
  std::vector<bool> is_host_;          // by vertex
  std::vector<std::uint32_t> last_;    // the host's homes
  std::vector<std::uint32_t> number_;  // by vertex and state
  std::vector<Stop> stops_;
  std::vector<PathStep> steps_;
  std::vector<std::uint32_t> next_;          // by step
  std::vector<std::uint32_t> done_, order_;  // stops in the order in which all behind them was found
  std::vector<bool> is_done_;
  std::vector<Visit> stack_;
  bool has_circle_ = false;
};

}  // namespace weft::routing
