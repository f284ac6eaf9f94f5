#include <fmt/core.h>

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
#include "tools/weft/route_commands.h"
#include "tools/weft/routed_network.h"
#include "tools/weft/topo_output.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
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

struct Shown {
  const RoutedNetwork& network;
  std::uint32_t from, to;
  const routing::PathList& list;

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
};

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

bool any_length(const routing::ListedDetour& detour) { return detour.most_hops == UINT32_MAX; }

void print_json(const Shown& shown, topologies::TextSink& sink) {
  Json json = {{"topology", shown.network.topology().name()},
               {"routing", shown.network.routing()},
               {"routing_reason", shown.network.routing_reason()},
               {"remark", shown.network.remark_on_paths()},
               {"from", shown.host(shown.from)},
               {"to", shown.host(shown.to)},
               {"paths", Json::array()}};
  for (const routing::ListedPath& path : shown.list.paths) {
    json["paths"].push_back(
        {{"share", path.share}, {"hops", path.channels.size()}, {"nodes", shown.nodes(path)}});
  }
  const double left = shown.list.paths_left;
  json["left_out"] = {{"paths", std::isfinite(left) ? Json(left) : Json()}, {"share", shown.list.share_left}};
  if (!shown.list.detours.empty()) {
    json["detours"] = Json::array();
    for (const routing::ListedDetour& detour : shown.list.detours) {
      json["detours"].push_back({{"share", detour.share},
                                 {"via", shown.via(detour)},
                                 {"hosts", detour.hosts},
                                 {"least_hops", detour.least_hops},
                                 {"most_hops", any_length(detour) ? Json() : Json(detour.most_hops)}});
    }
    json["left_out"]["detours"] = shown.list.detours_left;
    json["left_out"]["detour_share"] = shown.list.detour_share_left;
  }
  sink.print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_text(const Shown& shown, topologies::TextSink& sink) {
  sink.print("{:<10} {}\n{:<10} {}\n", "topology", shown.network.topology().name(), "routing",
             shown.network.routing_line());
  if (!shown.network.remark_on_paths().empty())
    sink.print("{:<10} {}\n", "  note", shown.network.remark_on_paths());
  sink.print("{:<10} {} -> {}\n", "between", shown.host(shown.from), shown.host(shown.to));
  if (shown.list.paths.empty() && shown.list.detours.empty()) sink.print("there is no way\n");
  if (!shown.list.paths.empty()) sink.print("{:>9}  links\n", "share");
  for (const routing::ListedPath& path : shown.list.paths) {
    sink.print("{:>8.4f}%  {:>5}  {}\n", 100 * path.share, path.channels.size(),
               joined(shown.nodes(path), " -> "));
  }
  if (shown.list.paths_left > 0) {
    const std::string count = std::isfinite(shown.list.paths_left)
                                  ? grouped(std::round(shown.list.paths_left)) + " more"
                                  : std::string("more without end");
    sink.print("{:>8.4f}%  left out: {}\n", 100 * shown.list.share_left, count);
  }
  if (shown.list.detours.empty()) return;
  sink.print("by the switch of an intermediate host\n");
  for (const routing::ListedDetour& detour : shown.list.detours) {
    const std::string hops = any_length(detour) ? fmt::format("{} or more", detour.least_hops)
                             : detour.least_hops == detour.most_hops
                                 ? fmt::format("{}", detour.least_hops)
                                 : fmt::format("{} to {}", detour.least_hops, detour.most_hops);
    sink.print("{:>8.4f}%  {:>5}  {} ({} host{})\n", 100 * detour.share, hops,
               joined(shown.via(detour), ", "), detour.hosts, detour.hosts == 1 ? "" : "s");
  }
  if (shown.list.detours_left > 0) {
    sink.print("{:>8.4f}%  left out: by {} others\n", 100 * shown.list.detour_share_left,
               grouped(shown.list.detours_left));
  }
}

void tell(const Options& options) {
  const std::unique_ptr<RoutedNetwork> network = options.network.build(false);
  const std::uint32_t from = find_host(network->topology(), "--from", options.from);
  const std::uint32_t to = find_host(network->topology(), "--to", options.to);
  if (from == to) throw InputError("--from and --to are the same host: nothing goes through the network");
  routing::PathList list;
  during("listing paths", [&] {
    list =
        routing::list_paths(network->topology(), network->table(), network->paths(), from, to, options.most);
  });
  const Shown shown{*network, from, to, list};
  options.output.write([&](topologies::TextSink& sink) {
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
  const auto options = std::make_shared<Options>();
  Command command =
      parent.add_subcommand("show", "The paths between two hosts, with their share of the traffic");
  options->network.add_to(command);
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
