#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/route/route_commands.h"
#include "tools/weft/route/routed_network.h"
#include "tools/weft/topo/topo_output.h"

namespace weft::cli {
namespace {

struct RouteLoadOptions {
  RoutedArguments network;
  TrafficArguments traffic;
  TextOutput output;
  bool json = false, csv = false;
  std::uint32_t most = 10;
};

struct Loads {
  const RoutedNetwork& network;
  const topologies::HostTraffic& traffic;
  const routing::LinkLoad& load;

  const topologies::Topology& topology() const { return network.topology(); }
  const topologies::Channel& channel(std::uint32_t c) const { return topology().channels()[c]; }
  const std::string& from(std::uint32_t c) const { return topology().node(channel(c).from).name; }
  const std::string& to(std::uint32_t c) const { return topology().node(channel(c).to).name; }
  bool of_host(std::uint32_t c) const {
    return topology().node(channel(c).from).kind == topologies::NodeKind::kHost ||
           topology().node(channel(c).to).kind == topologies::NodeKind::kHost;
  }
  double of_rate(std::uint32_t c) const { return load.bps[c] / static_cast<double>(channel(c).rate.bps()); }
  double host_most() const {
    double most = 0;
    for (std::uint32_t c = 0; c < load.bps.size(); ++c) most = std::max(most, of_host(c) ? of_rate(c) : 0);
    return most;
  }
  // Links between switches, the busiest first.
  std::vector<std::uint32_t> busiest(std::size_t most) const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t c = 0; c < load.bps.size(); ++c) {
      if (!of_host(c)) all.push_back(c);
    }
    std::ranges::stable_sort(all, std::greater<>(), [&](std::uint32_t c) { return of_rate(c); });
    if (all.size() > most) all.resize(most);
    return all;
  }
};

void print_json(const Loads& loads, topologies::TextSink& sink) {
  nlohmann::ordered_json json = {{"topology", loads.topology().name()},
                                 {"routing", loads.network.routing()},
                                 {"routing_reason", loads.network.routing_reason()},
                                 {"remark", loads.network.remark_on_load(loads.traffic)},
                                 {"traffic", loads.traffic.name},
                                 {"max", loads.load.most},
                                 {"mean", loads.load.mean},
                                 {"saturation", loads.load.saturation()},
                                 {"hosts_max", loads.host_most()},
                                 {"detoured", loads.load.detoured},
                                 {"stranded", loads.load.stranded}};
  json["links"] = nlohmann::ordered_json::array();
  for (std::uint32_t c = 0; c < loads.load.bps.size(); ++c) {
    json["links"].push_back({{"from", loads.from(c)},
                             {"to", loads.to(c)},
                             {"bps", loads.load.bps[c]},
                             {"load", loads.of_rate(c)}});
  }
  sink.print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_csv(const Loads& loads, topologies::TextSink& sink) {
  sink.print("link,from,to,bps,load\n");
  for (std::uint32_t c = 0; c < loads.load.bps.size(); ++c) {
    sink.print("{},{},{},{:.6g},{:.6g}\n", c, loads.from(c), loads.to(c), loads.load.bps[c],
               loads.of_rate(c));
  }
}

void print_text(const Loads& loads, std::uint32_t most, topologies::TextSink& sink) {
  const routing::LinkLoad& load = loads.load;
  sink.print("{:<12} {}\n{:<12} {}\n{:<12} {}, the busiest host at its full rate\n", "topology",
             loads.topology().name(), "routing", loads.network.routing_line(), "traffic", loads.traffic.name);
  if (!loads.network.remark_on_load(loads.traffic).empty())
    sink.print("{:<12} {}\n", "  note", loads.network.remark_on_load(loads.traffic));
  sink.print("{:<12} {:.4f} at most, {:.4f} on average, of a link's rate, between switches\n", "load",
             load.most, load.mean);
  sink.print("{:<12} {:.4f} at most\n", "  of hosts", loads.host_most());
  sink.print("{:<12} {:.1f}% of this traffic fits\n", "saturation", 100 * load.saturation());
  if (load.detoured > 0) {
    sink.print("{:<12} {:.1f}% of it goes by an intermediate host's switch\n", "detours",
               100 * load.detoured);
  }
  if (load.stranded > 0) sink.print("{:<12} {:.1f}% of it\n", "has no way", 100 * load.stranded);
  const std::vector<std::uint32_t> busiest = loads.busiest(most);
  if (!busiest.empty()) sink.print("busiest links\n");
  for (const std::uint32_t c : busiest) {
    sink.print("  {:.4f}  {} -> {}\n", loads.of_rate(c), loads.from(c), loads.to(c));
  }
}

void tell(const RouteLoadOptions& options) {
  if (options.json && options.csv) throw InputError("--json and --csv can't both be what is printed");
  if (options.csv) {
    refuse_ending_of_another(options.output.path, "what --csv writes is CSV", {".csv"});
  } else {
    refuse_ending_of_another(options.output.path, options.json);
  }
  const std::unique_ptr<RoutedNetwork> network = options.network.build(true);
  const topologies::HostTraffic traffic = options.traffic.build(network->topology(), options.network.seed());
  const routing::LinkLoad load = network->load(traffic);
  const Loads loads{*network, traffic, load};
  options.output.write(options.json || options.csv ? ReadBy::kPrograms : ReadBy::kPeople,
                       [&](topologies::TextSink& sink) {
                         if (options.json) {
                           print_json(loads, sink);
                         } else if (options.csv) {
                           print_csv(loads, sink);
                         } else {
                           print_text(loads, options.most, sink);
                         }
                         sink.finish();
                       });
}

}  // namespace

void add_route_load(Command& parent) {
  const auto options = std::make_shared<RouteLoadOptions>();
  Command command =
      parent.add_subcommand("load", "What each link carries of a traffic: without a simulation");
  options->network.add_to(command);
  options->network.add_nics_to(command);
  options->traffic.add_to(command);
  command.add_flag("--json", options->json, "As JSON, with all links; bit/s, and shares of links' rates");
  command.add_flag("--csv", options->csv, "All links as CSV");
  command.add_option("--most", options->most, "So many of the busiest links are named").with_default();
  options->output.add_to(command);
  command.footer(
      "Examples:\n"
      "  weft route load --topology dragonfly:p=4\n"
      "  weft route load --topology torus:dims=8x8 --traffic tornado:dims=8x8 --most 3\n"
      "  weft route load --topology fat_tree:k=8 --matrix lj.csv --csv -o links.csv");
  command.callback([options] { tell(*options); });
}

}  // namespace weft::cli
