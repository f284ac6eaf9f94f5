#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/routing/paths/path_list.h"
#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "sim/units/module.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/route/route_commands.h"
#include "tools/weft/route/routed_network.h"
#include "tools/weft/topo/topo_output.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RouteShowOptions {
  RoutedArguments network;
  TextOutput output;
  std::string from, to;
  bool json = false;
  std::uint32_t most = 20;
};

// By its number or its name.
std::uint32_t find_host(const topologies::Topology& topology, const std::string& option,
                        const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) {
    if (number < topology.hosts()) return number;
    throw InputError(fmt::format("{} is {}, but the network has {} hosts (0 to {})", option, text,
                                 topology.hosts(), topology.hosts() - 1));
  }
  for (std::uint32_t h = 0; h < topology.hosts(); ++h) {
    if (topology.node(topology.host(h)).name == text) return h;
  }
  throw InputError(fmt::format("{} is '{}', but expected the number or name of a host, like '{}'", option,
                               text, topology.node(topology.host(0)).name));
}

// What leaves through one NIC, or the whole where paths take any; all shares are of the pair's traffic.
struct Side {
  const routing::Rail* rail = nullptr;
  routing::PathList list;
};

struct Shown {
  const RoutedNetwork& network;
  std::uint32_t from, to;
  const std::vector<Side>& sides;

  const std::string& name(std::uint32_t vertex) const { return network.topology().node(vertex).name; }
  const std::string& host(std::uint32_t h) const {
    return network.topology().node(network.topology().host(h)).name;
  }
  std::vector<std::string> nodes(const routing::ListedPath& path) const {
    std::vector<std::string> names = {host(from)};
    for (const std::uint32_t c : path.channels) names.push_back(name(network.topology().channels()[c].to));
    return names;
  }
  std::vector<std::string> via(const routing::ListedDetour& detour) const {
    std::vector<std::string> names;
    for (const std::uint32_t v : detour.via) names.push_back(name(v));
    return names;
  }
  bool any_detours() const {
    return std::ranges::any_of(sides, [](const Side& side) { return !side.list.detours.empty(); });
  }
};

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

bool any_length(const routing::ListedDetour& detour) { return detour.most_hops == UINT32_MAX; }

Json json_of(const Shown& shown, const Side& side, const routing::ListedPath& path) {
  Json json = {{"share", path.share}, {"hops", path.channels.size()}, {"nodes", shown.nodes(path)}};
  if (side.rail != nullptr) json["nics"] = {side.rail->source, side.rail->destination};
  return json;
}

Json json_of(const Shown& shown, const Side& side, const routing::ListedDetour& detour) {
  Json json = {{"share", detour.share},
               {"via", shown.via(detour)},
               {"hosts", detour.hosts},
               {"least_hops", detour.least_hops},
               {"most_hops", any_length(detour) ? Json() : Json(detour.most_hops)}};
  if (side.rail != nullptr) json["nics"] = {side.rail->source, side.rail->destination};
  return json;
}

void print_json(const Shown& shown, topologies::TextSink& sink) {
  Json json = {{"topology", shown.network.topology().name()},
               {"routing", shown.network.routing()},
               {"routing_reason", shown.network.routing_reason()},
               {"remark", shown.network.remark_on_paths()},
               {"from", shown.host(shown.from)},
               {"to", shown.host(shown.to)},
               {"paths", Json::array()}};
  routing::PathList left;  // out, of all sides
  Json detours = Json::array();
  for (const Side& side : shown.sides) {
    for (const routing::ListedPath& path : side.list.paths)
      json["paths"].push_back(json_of(shown, side, path));
    for (const routing::ListedDetour& detour : side.list.detours)
      detours.push_back(json_of(shown, side, detour));
    left.paths_left += side.list.paths_left;
    left.share_left += side.list.share_left;
    left.detours_left += side.list.detours_left;
    left.detour_share_left += side.list.detour_share_left;
  }
  json["left_out"] = {{"paths", std::isfinite(left.paths_left) ? Json(left.paths_left) : Json()},
                      {"share", left.share_left}};
  if (shown.any_detours()) {
    json["detours"] = detours;
    json["left_out"]["detours"] = left.detours_left;
    json["left_out"]["detour_share"] = left.detour_share_left;
  }
  sink.print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_detours(const Shown& shown, const routing::PathList& list, topologies::TextSink& sink) {
  if (list.detours.empty()) return;
  sink.print("by the switch of an intermediate host\n");
  for (const routing::ListedDetour& detour : list.detours) {
    const std::string hops = any_length(detour) ? fmt::format("{} or more", detour.least_hops)
                             : detour.least_hops == detour.most_hops
                                 ? fmt::format("{}", detour.least_hops)
                                 : fmt::format("{} to {}", detour.least_hops, detour.most_hops);
    sink.print("{:>8.4f}%  {:>5}  {} ({} host{})\n", 100 * detour.share, hops,
               joined(shown.via(detour), ", "), detour.hosts, detour.hosts == 1 ? "" : "s");
  }
  if (list.detours_left > 0) {
    sink.print("{:>8.4f}%  left out: by {} others\n", 100 * list.detour_share_left,
               grouped(list.detours_left));
  }
}

void print_side(const Shown& shown, const Side& side, topologies::TextSink& sink) {
  const routing::PathList& list = side.list;
  if (side.rail != nullptr) {
    sink.print("{:<10} {} -> NIC {}, {:.4f}% of it\n", fmt::format("NIC {}", side.rail->source),
               shown.host(shown.to), side.rail->destination, 100 * side.rail->share);
  }
  if (list.paths.empty() && list.detours.empty()) sink.print("there is no way\n");
  if (!list.paths.empty()) sink.print("{:>9}  links\n", "share");
  for (const routing::ListedPath& path : list.paths) {
    sink.print("{:>8.4f}%  {:>5}  {}\n", 100 * path.share, path.channels.size(),
               joined(shown.nodes(path), " -> "));
  }
  if (list.paths_left > 0) {
    const std::string count = std::isfinite(list.paths_left) ? grouped(std::round(list.paths_left)) + " more"
                                                             : std::string("more without end");
    sink.print("{:>8.4f}%  left out: {}\n", 100 * list.share_left, count);
  }
  print_detours(shown, list, sink);
}

void print_text(const Shown& shown, topologies::TextSink& sink) {
  sink.print("{:<10} {}\n{:<10} {}\n", "topology", shown.network.topology().name(), "routing",
             shown.network.routing_line());
  if (!shown.network.remark_on_paths().empty())
    sink.print("{:<10} {}\n", "  note", shown.network.remark_on_paths());
  sink.print("{:<10} {} -> {}\n", "between", shown.host(shown.from), shown.host(shown.to));
  for (const Side& side : shown.sides) print_side(shown, side, sink);
}

// A rail's own, as shares of the pair's traffic.
routing::PathList list_rail(const RoutedNetwork& network, const routing::Rail& rail, std::uint32_t from,
                            std::uint32_t to, std::uint32_t most) {
  const routing::NicNetwork& nics = *network.rails();
  routing::PathList list =
      routing::list_paths(nics.topology(), nics.table(), network.rail_paths(),
                          nics.endpoint(from, rail.source), nics.endpoint(to, rail.destination), most);
  for (routing::ListedPath& path : list.paths) path.share *= rail.share;
  for (routing::ListedDetour& detour : list.detours) detour.share *= rail.share;
  list.share_left *= rail.share;
  list.detour_share_left *= rail.share;
  return list;
}

void tell(const RouteShowOptions& options) {
  refuse_ending_of_another(options.output.path, options.json);
  const std::unique_ptr<RoutedNetwork> network = options.network.build(false);
  const std::uint32_t from = find_host(network->topology(), "--from", options.from);
  const std::uint32_t to = find_host(network->topology(), "--to", options.to);
  if (from == to) throw InputError("--from and --to are the same host: nothing goes through the network");
  std::vector<routing::Rail> rails;
  if (network->rails() != nullptr) rails = network->rails_between(from, to);
  std::vector<Side> sides;
  during("listing paths", [&] {
    for (const routing::Rail& rail : rails) {
      sides.push_back({&rail, list_rail(*network, rail, from, to, options.most)});
    }
    if (!rails.empty()) return;
    sides.push_back({nullptr, routing::list_paths(network->topology(), network->table(), network->paths(),
                                                  from, to, options.most)});
  });
  const Shown shown{*network, from, to, sides};
  options.output.write(options.json ? ReadBy::kPrograms : ReadBy::kPeople, [&](topologies::TextSink& sink) {
    if (options.json) {
      print_json(shown, sink);
    } else {
      print_text(shown, sink);
    }
    sink.finish();
  });
}

}  // namespace

void add_route_show(Command& parent) {
  const auto options = std::make_shared<RouteShowOptions>();
  Command command =
      parent.add_subcommand("show", "The paths between two hosts, with their share of the traffic");
  options->network.add_to(command);
  options->network.add_nics_to(command);
  command.add_option("--from", options->from, "A host: its number or its name").required();
  command.add_option("--to", options->to, "Another one").required();
  command.add_option("--most", options->most, "So many paths, and detours, the likeliest first")
      .with_default()
      .positive();
  command.add_flag("--json", options->json, "As JSON; shares of 1");
  options->output.add_to(command);
  command.footer(
      "Examples:\n"
      "  weft route show --topology fat_tree:k=4 --from 0 --to 15\n"
      "  weft route show --topology slim_fly:q=5 --routing ecmp --from 'host 3' --to 'host 90' --json");
  command.callback([options] { tell(*options); });
}

}  // namespace weft::cli
