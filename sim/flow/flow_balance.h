// Flows that divide between direct ways and detours by load: when their shares are worked out anew, and from
// what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/flow/detours.h"
#include "sim/flow/flow_pool.h"
#include "sim/flow/max_min.h"
#include "topologies/graph/topology.h"

namespace weft::sim::flow {

// An offer is a flow of more than one packet that has a rate (Flow::is_offer()).
class FlowBalance {
 public:
  // `most`: of one message. The topology, that of the Detours, must outlive it.
  FlowBalance(const topologies::Topology& topology, Rate most) : topology_(topology), most_(most) {}

  void came() { ++came_; }
  void went() { ++went_; }
  // Have so many come and gone since the last balance that shares may be others?
  bool is_due() const;
  // Works out shares for the flows in these slots, and says which have others once they are adopted.
  std::vector<bool> balance(const FlowPool& flows, std::span<const std::uint32_t> slots, Detours& detours);
  // From now on it counts who comes and goes.
  void restart() { came_ = went_ = 0; }
  // What comes to an idle network finds it as at first. Returns whether that is to be adopted.
  bool forget(Detours& detours);

 private:
  void find_host_rates();
  void limit_to_nics();

  const topologies::Topology& topology_;
  const Rate most_;
  std::vector<double> host_rate_;                 // of all its NICs
  std::size_t offers_ = 0, came_ = 0, went_ = 0;  // in the last balance; since, about
};

}  // namespace weft::sim::flow
