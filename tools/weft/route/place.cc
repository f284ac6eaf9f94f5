#include "tools/weft/route/place.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sim/placement/failed_hosts.h"
#include "sim/placement/job_seed.h"
#include "sim/placement/policies/policies.h"
#include "sim/units/input_error.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/route/place_report.h"
#include "tools/weft/route/routed_network.h"
#include "tools/weft/topo/topo_output.h"
#include "topologies/analysis/demands.h"
#include "topologies/analysis/router_graph.h"
#include "topologies/draw/picture.h"

namespace weft::cli {
namespace {

struct PlaceOptions {
  RoutedArguments network;
  JobSource single;
  std::vector<std::string> jobs, placements;
  std::string failed;
  bool json = false;
  std::string picture;
  TextOutput output;
};

std::vector<PlacedJob> read_jobs(const PlaceOptions& options) {
  const JobSource& single = options.single;
  const bool has_single =
      !single.graph.empty() || !single.traffic.empty() || !single.matrix.empty() || single.ranks > 0;
  std::vector<PlacedJob> jobs;
  if (has_single || options.jobs.empty()) jobs.push_back(read_job(single, options.network.seed()));
  for (const std::string& text : options.jobs)
    jobs.push_back(read_job(parse_job(text, single.ranks_per_node), options.network.seed()));
  return jobs;
}

// What goes from host to host in bits, all jobs together, and what that is in the scale that link loads take.
Congestion congestion_of(const RoutedNetwork& network, const std::vector<PlacedJob>& jobs,
                         const Variant& variant) {
  const topologies::Topology& topology = network.topology();
  std::vector<topologies::MatrixEntry> entries;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const std::vector<std::uint32_t>& hosts = variant.jobs[j].hosts;
    if (hosts.empty()) continue;
    for (const placement::Exchange& each : jobs[j].exchanges) {
      if (hosts[each.from] != hosts[each.to])
        entries.push_back({hosts[each.from], hosts[each.to], 8 * each.bytes});
    }
  }
  Congestion result;
  const auto is_switch = [&](std::uint32_t v) {
    return topology.node(v).kind == topologies::NodeKind::kSwitch;
  };
  for (const topologies::Channel& channel : topology.channels())
    result.links += is_switch(channel.from) && is_switch(channel.to);
  if (entries.empty()) return result;
  const topologies::HostTraffic traffic =
      topologies::matrix_traffic(topologies::router_graph(topology), variant.name, entries);
  const double seconds = entries[0].weight / traffic.entries[0].weight;
  const routing::LinkLoad load = network.load(traffic);
  result.most_s = load.most * seconds;
  result.mean_s = load.mean * seconds;
  result.busiest = load.busiest;
  for (std::size_t c = 0; c < load.bps.size(); ++c) {
    const topologies::Channel& channel = topology.channels()[c];
    result.busy_s.push_back(load.bps[c] / static_cast<double>(channel.rate.bps()) * seconds);
    if (is_switch(channel.from) && is_switch(channel.to)) {
      result.used += load.bps[c] > 0;
    } else {
      result.host_most_s = std::max(result.host_most_s, result.busy_s.back());
    }
  }
  return result;
}

// Jobs one after the other, each on what those before it have left.
Variant place_all(const RoutedNetwork& network, const std::vector<PlacedJob>& jobs,
                  placement::Machine machine, const std::string& name, std::uint64_t seed) {
  Variant variant{.name = name, .jobs = {}, .congestion = {}};
  const ModuleChoice compared = parse_module_choice(name);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const PlacedJob& job = jobs[j];
    const ModuleChoice& choice = job.placement.empty() ? compared : job.placement;
    const placement::Request request{.ranks = job.ranks,
                                     .ranks_per_node = job.ranks_per_node,
                                     .exchanges = job.exchanges,
                                     .seed = placement::seed_of_job(seed, j)};
    placement::Outcome outcome;
    during(fmt::format("placing {} by {}", job.name, choice.name),
           [&] { outcome = placement::place(choice, request, machine); });
    JobPlace place{.placement = choice.name,
                   .hosts = std::move(outcome.hosts),
                   .no_room = outcome.no_room,
                   .remark = outcome.remark,
                   .quality = {}};
    for (const auto& [key, value] : choice.given)
      place.placement += fmt::format("{}{}={}", place.placement == choice.name ? ":" : ",", key, value);
    for (const std::uint32_t h : place.hosts) machine.state[h] = placement::HostState::kTaken;
    if (!place.hosts.empty()) {
      place.quality = quality_of(network.topology(), place.hosts, job.exchanges,
                                 placement::HostDistances(network.topology(), place.hosts));
    }
    variant.jobs.push_back(std::move(place));
  }
  const bool all_own =
      std::none_of(jobs.begin(), jobs.end(), [](const PlacedJob& job) { return job.placement.empty(); });
  if (all_own) variant.name = "as the jobs say";
  variant.congestion = congestion_of(network, jobs, variant);
  return variant;
}

// Hosts by job; of a single job, ranks stand where a pointer is.
void draw(const PlaceReport& report, const Variant& variant, const std::string& path) {
  const topologies::Topology& topology = report.network.topology();
  topologies::PictureOptions picture;
  std::vector<std::vector<std::string>> on(topology.hosts());
  for (const placement::HostState state : report.state)
    picture.owner.push_back(state == placement::HostState::kFailed ? topologies::kFailedHost : 0);
  for (std::uint32_t j = 0; j < report.jobs.size(); ++j) {
    std::vector<std::vector<std::uint32_t>> ranks(topology.hosts());
    const std::vector<std::uint32_t>& hosts = variant.jobs[j].hosts;
    for (std::uint32_t r = 0; r < hosts.size(); ++r) ranks[hosts[r]].push_back(r);
    for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
      if (ranks[h].empty()) continue;
      picture.owner[h] = j + 1;
      on[h].push_back(fmt::format("{}: rank {}", report.jobs[j].name, ranges_of(ranks[h])));
    }
    picture.owners.push_back(fmt::format("{}, {}", report.jobs[j].name, variant.jobs[j].placement));
  }
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    std::string note = topology.node(topology.host(h)).name;
    for (const std::string& each : on[h]) note += "; " + each;
    picture.notes.push_back(std::move(note));
  }
  TextOutput{path}.write(ReadBy::kPrograms,
                         [&](topologies::TextSink& sink) { topologies::write_svg(topology, picture, sink); });
}

// "F.svg" for one placement; for several "F-1.svg", "F-2.svg", in their order.
std::string picture_path(const std::string& path, std::size_t place, std::size_t of) {
  if (of == 1) return path;
  const std::size_t end = path.ends_with(".svg") ? path.size() - 4 : path.size();
  return fmt::format("{}-{}{}", path.substr(0, end), place + 1, path.substr(end));
}

void tell(const PlaceOptions& options) {
  refuse_ending_of_another(options.output.path, options.json);
  refuse_ending_of_another(options.picture, "pictures are SVG", {".svg"});
  std::vector<std::string> placements = options.placements;
  if (placements.empty()) placements.push_back(placement::policies().front().info.name);
  for (const std::string& text : placements) {
    const ModuleChoice choice = parse_module_choice(text);
    (void)find_module(placement::policies(), choice, "placement");  // before the work, not after
  }
  const std::vector<PlacedJob> jobs = read_jobs(options);
  const std::unique_ptr<RoutedNetwork> network = options.network.build(true);
  placement::Machine machine = placement::idle_machine(network->topology());
  if (!options.failed.empty())
    placement::fail_hosts(options.failed, {.file = "--failed"}, options.network.seed(), machine);
  PlaceReport report{*network, jobs, machine.state, {}};
  for (const std::string& name : placements)
    report.variants.push_back(place_all(*network, jobs, machine, name, options.network.seed()));
  for (std::size_t v = 0; v < report.variants.size() && !options.picture.empty(); ++v)
    draw(report, report.variants[v], picture_path(options.picture, v, report.variants.size()));
  options.output.write(options.json ? ReadBy::kPrograms : ReadBy::kPeople, [&](topologies::TextSink& sink) {
    options.json ? print_place_json(report, sink) : print_place_text(report, sink);
    sink.finish();
  });
}

}  // namespace

void add_place(Command& command, int&) {
  const auto options = std::make_shared<PlaceOptions>();
  command.add_option("GRAPH", options->single.graph,
                     "A GOAL graph; its collectives count as default rules spell them out");
  command.add_option("--traffic", options->single.traffic,
                     "In place of a graph: a pattern of `weft list traffic`, with --ranks");
  command.add_option(
      "--matrix", options->single.matrix,
      "In place of a graph: lines 'src dst weight', or what `weft goal stats --matrix` writes");
  command.add_option("--ranks", options->single.ranks, "Alone: a job of which nothing else is known");
  command.add_option("--ranks-per-node", options->single.ranks_per_node, "A host has so many ranks at most")
      .with_default()
      .positive();
  command
      .add_option(
          "--job", options->jobs,
          "A job after those before it: FILE,placement=NAME,ranks_per_node=4; traffic=PATTERN,ranks=64; "
          "values with commas in brackets")
      .repeated();
  command
      .add_option("--placement", options->placements,
                  "NAME:key=value,…; `weft list placement` names all; several are compared")
      .repeated();
  command.add_option("--failed", options->failed,
                     "Hosts that have failed, by name or number, or a share: 3,h7,1%");
  options->network.add_to(command);
  command.add_flag("--json", options->json, "As JSON, with the host of every rank");
  command.add_option(
      "--picture", options->picture,
      "Draw the network with the jobs in colours (SVG); several placements: FILE-1.svg, FILE-2.svg …");
  options->output.add_to(command);
  command.footer(
      "Examples:\n"
      "  weft place lj.weft --topology fat_tree:k=4 --placement packed --placement random --placement "
      "matrix\n"
      "  weft place --traffic stencil:dims=[8,8] --ranks 64 --topology torus:dims=8x8 --placement submesh "
      "--picture "
      "torus.svg\n"
      "  weft place --job lj.weft,placement=by_group --job traffic=alltoall,ranks=16,placement=random "
      "--topology "
      "dragonfly:p=2 --routing ugal --failed 5%\n"
      "  weft place --ranks 16 --topology hammingmesh:a=2,b=2,x=4,y=4 --placement submesh:shape=2x2 --failed "
      "0,21");
  command.callback([options] { tell(*options); });
}

}  // namespace weft::cli
