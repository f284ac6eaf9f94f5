// How much of a traffic demand a network can carry at best, over any paths: the maximum concurrent flow.
#pragma once

#include <cstdint>
#include <string>

#include "topologies/analysis/demands.h"
#include "topologies/analysis/router_graph.h"

namespace weft::topologies {

// θ, the greatest factor by which all demands can be multiplied and still be carried at once. Demands are
// scaled so that hosts' own links allow 1 at most: at θ = 1 the busiest endpoint sends or receives at its
// full rate. Between the bounds lies the truth.
struct Throughput {
  std::string demands;     // their name
  double theta = 0;        // a flow with this much was found: min(1, fabric)
  double theta_upper = 0;  // no flow can have more
  // These are theta and theta_upper without the limit of 1, as if hosts with one router had links without
  // limit: what the network has in reserve. 0 for both if there is no demand between routers, and nothing
  // limits.
  double fabric = 0, fabric_upper = 0;
  bool exact = false;        // by linear program; else by approximation
  std::uint64_t phases = 0;  // of the approximation
  double epsilon = 0;        // its last step

  // What the bounds leave open: 1 - theta / theta_upper.
  double gap() const { return theta_upper > 0 ? 1 - theta / theta_upper : 0; }
};

// By the linear program with a commodity for each source, solved with GLPK's simplex: for small networks
// (see exact_size). θ is 0 if a pair with demand is not connected. Throws std::runtime_error if GLPK fails.
// Not to be called by two threads at a time.
Throughput exact_throughput(const FlowNetwork& network, const Demands& demands);
// Rows and columns of that program, about: 6,000 take half a second, 18,000 take 10.
std::uint64_t exact_size(const FlowNetwork& network, const Demands& demands);

struct ApproximationLimits {
  double gap = 0.03;                 // enough once gap() is no more
  std::uint64_t work = 600'000'000;  // looks at arcs, of all phases together: 2 to 4 s
};
// By multiplicative weights: every source's demands take near-shortest paths under lengths that grow with
// their use, source by source; the flow is the mean over phases, the upper bound is LP duality. Both bounds
// hold whatever the limits; the loop ends when they are as near as asked for or the work is done.
// Source: L. Fleischer, Approximating fractional multicommodity flow independent of the number of
// commodities, SIAM J. Discrete Mathematics 13(4), 2000; N. Garg and J. Könemann, SIAM J. Computing 37(2),
// 2007.
Throughput approximate_throughput(const FlowNetwork& network, const Demands& demands,
                                  const ApproximationLimits& limits = {});

}  // namespace weft::topologies
