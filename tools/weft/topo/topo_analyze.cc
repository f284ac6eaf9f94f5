#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "goal/file.h"
#include "sim/units/input_error.h"
#include "sim/units/module.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/cli/standard_output.h"
#include "tools/weft/route/routed_network.h"
#include "tools/weft/topo/topo_analysis.h"
#include "tools/weft/topo/topo_commands.h"
#include "topologies/analysis/report.h"
#include "topologies/analysis/router_graph.h"

namespace weft::cli {

void AnalysisArguments::add_to(Command& command) {
  command.add_flag("--json", json_, "As JSON; rates in bit/s, lengths in hops");
  std::string known;
  for (const std::string& name : topologies::measures()) known += (known.empty() ? "" : ", ") + name;
  const Option only = command.add_option("--only", only_, "Only these measures: " + known).list();
  command.add_option("--skip", skip_, "All measures but these").list().excludes(only);
  command
      .add_option(
          "--throughput", options_.demands,
          "Throughput of these, however long it takes: uniform, permutation, longest-matching; else of all "
          "that take seconds")
      .list();
  command.add_option(
      "--matrix", options_.matrix,
      "Loads and throughput of this communication matrix too: lines 'src dst weight', or what `weft "
      "goal stats --matrix` writes");
  command.add_option("--seed", options_.seed, "Of samples, permutations, cuts and failures").with_default();
  command.add_option("-o,--output", output_, "Write to this file instead of the standard output");
}

topologies::AnalysisOptions AnalysisArguments::options() const {
  refuse_ending_of_another(output_, json_);
  topologies::AnalysisOptions options = options_;
  const auto known = topologies::measures();
  if (!only_.empty()) options.only = {only_.begin(), only_.end()};
  for (const std::string& name : skip_) {
    if (options.only.erase(name) > 0) continue;
    fail_unknown_name("measure", name, known);
  }
  const bool throughput = options.only.contains("throughput");
  if (!throughput && !options.demands.empty()) {
    throw InputError("--throughput is given, but the measure throughput is not to be taken");
  }
  if (!throughput && !options.only.contains("edge_load") && !options.matrix.empty()) {
    throw InputError("--matrix is given, but neither throughput nor edge_load is to be taken");
  }
  return options;
}

void AnalysisArguments::write(const std::string& text) const {
  if (output_.empty() || output_ == "-") {
    print_text(text);
    return;
  }
  goal::FileWriter file(output_);
  file.write(text);
  file.commit();
}

namespace {

// What edge_load is measured of, under a policy.
void add_routed_load(topologies::Topology topology, const std::string& routing,
                     const topologies::AnalysisOptions& options, topologies::Analysis& analysis) {
  const RoutedNetwork network(std::move(topology), {.family = "", .routing = routing, .seed = options.seed});
  const topologies::RouterGraph graph = topologies::router_graph(network.topology());
  std::vector<topologies::HostTraffic> traffic = {topologies::uniform_traffic(graph)};
  if (!options.matrix.empty()) {
    traffic.push_back(
        topologies::matrix_traffic(graph, options.matrix, topologies::read_matrix(options.matrix)));
  }
  analysis.routing = network.policy().info.name;
  for (const topologies::HostTraffic& each : traffic) {
    const routing::LinkLoad load = network.load(each);
    topologies::EdgeLoad& edges = analysis.routed_load[each.name];
    edges.most = load.most;
    edges.mean = load.mean;
    edges.imbalance = load.mean > 0 ? load.most / load.mean : 0;
    edges.saturation = load.saturation();
    edges.destinations = graph.terminals.size();
  }
}

}  // namespace

void add_topo_analyze(Command& parent) {
  struct Options {
    TopologyArgument topology;
    AnalysisArguments analysis;
    std::string routing;
  };
  const auto options = std::make_shared<Options>();
  Command command = parent.add_subcommand(
      "analyze", "Measure a network: distances, path diversity, bisection, throughput, resilience");
  options->topology.add_to(command);
  options->analysis.add_to(command);
  command.add_option("--routing", options->routing,
                     "Loads under this routing policy too; weft route load has those of all links");
  command.footer(
      "Examples:\n"
      "  weft topo analyze slim_fly:q=5\n"
      "  weft topo analyze torus --endpoints 512 --json --only distances,bisection\n"
      "  weft topo analyze fat_tree:k=8 --only throughput --matrix lj.csv\n"
      "  weft topo analyze dragonfly:p=4 --only edge_load --routing ecmp");
  command.callback([options] {
    const topologies::AnalysisOptions wanted = options->analysis.options();
    if (!options->routing.empty() && !wanted.only.contains("edge_load")) {
      throw InputError("--routing is given, but the measure edge_load is not to be taken");
    }
    topologies::Topology topology = options->topology.build();
    topologies::Analysis analysis = topologies::analyze(topology, wanted);
    if (!options->routing.empty()) add_routed_load(std::move(topology), options->routing, wanted, analysis);
    options->analysis.write(options->analysis.json() ? topologies::analysis_json(analysis)
                                                     : topologies::analysis_text(analysis));
  });
}

}  // namespace weft::cli
