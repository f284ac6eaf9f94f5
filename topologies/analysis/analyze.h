// All measures of one network, each as far as its size allows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topologies/analysis/bisection.h"
#include "topologies/analysis/disjoint_paths.h"
#include "topologies/analysis/distances.h"
#include "topologies/analysis/edge_load.h"
#include "topologies/analysis/multiplicity.h"
#include "topologies/analysis/resilience.h"
#include "topologies/analysis/router_graph.h"
#include "topologies/analysis/spectrum.h"
#include "topologies/analysis/throughput.h"
#include "topologies/graph/topology.h"

namespace weft::topologies {

// What can be asked for, in the order of reports: distances, multiplicity, disjoint_paths, spectrum,
// bisection, edge_load, throughput, resilience.
std::span<const std::string> measures();
// The demands that throughput knows by name: uniform, permutation, longest-matching.
std::span<const std::string> named_demands();

struct AnalysisOptions {
  std::set<std::string> only = {measures().begin(), measures().end()};
  // For throughput; each is calculated however long it takes. Empty: all named ones that take seconds.
  std::vector<std::string> demands;
  std::string matrix;  // a file for read_matrix: also the loads and throughput of that; "": none
  std::uint64_t seed = 1;
};

struct Analysis {
  std::string topology;
  std::uint32_t routers = 0, switches = 0, endpoints = 0;  // switches: routers that are not inside hosts
  std::uint64_t links = 0;                                 // pairs of routers that are joined
  std::uint64_t cables = 0;                                // between routers: parallel ones count each
  std::map<std::uint32_t, std::uint32_t> degree;           // routers by how many others they are joined to
  std::uint64_t seed = 1;
  std::optional<DistanceSummary> distances;
  std::optional<Multiplicity> multiplicity;
  std::vector<PathDiversity> disjoint_paths;  // for the diameter, and one and two hops more
  std::optional<Spectrum> spectrum;
  std::optional<Bisection> bisection;
  std::map<std::string, EdgeLoad> edge_load;  // by demands; without the loads of single arcs
  // These two are edge loads under a routing policy; analyze(), which knows of none, doesn't fill them in.
  std::string routing;
  std::map<std::string, EdgeLoad> routed_load;
  std::vector<Throughput> throughput;
  std::optional<double> matching_distance;  // of longest-matching: mean hops
  bool matching_exact = true;
  std::optional<Resilience> resilience;
  std::map<std::string, std::string> left_out;  // measures that would take long, and why

  // The least throughput among those found; nothing if there is none.
  const Throughput* worst_throughput() const;
};

// Large networks are sampled (which the results say) or left out, so that no measure takes more than some
// seconds, but for what is in `demands` and `matrix`. The same arguments give the same results. Throws
// InputError for unknown names of measures or demands, and for a bad matrix. Not to be called by two threads
// at a time: METIS and GLPK are not made for it.
Analysis analyze(const Topology& topology, const AnalysisOptions& options = {});

}  // namespace weft::topologies
