#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/packet/channel_choice.h"
#include "sim/packet/deadlock_check.h"
#include "sim/packet/queues/queues.h"
#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "tools/weft/route_commands.h"
#include "tools/weft/routed_network.h"
#include "tools/weft/subcommand.h"
#include "tools/weft/topo_output.h"

namespace weft::cli {
namespace {

struct Options {
  RoutedArguments network;
  TextOutput output;
  std::string queue;
  bool json = false;
};

using Json = nlohmann::ordered_json;

Json cycle_json(const topologies::Topology& topology, const sim::packet::DeadlockCheck& check) {
  Json cycle = Json::array();
  for (const routing::Dependencies::Place& place : check.found.cycle) {
    const topologies::Channel& channel = topology.channels()[place.channel];
    cycle.push_back({{"from", topology.node(channel.from).name},
                     {"to", topology.node(channel.to).name},
                     {"virtual_channel", place.virtual_channel}});
  }
  return cycle;
}

void tell(const Options& options, int& exit_code) {
  const ModuleChoice choice = parse_module_choice(options.queue);
  const sim::packet::Discipline& queue = find_module(sim::packet::disciplines(), choice, "queue discipline");
  Parameters parameters(queue.info, choice);
  if (queue.channels == nullptr) {
    throw InputError(
        fmt::format("queue {} drops packets, so they never wait for each other; lossless ones are pfc and "
                    "credit",
                    queue.info.name));
  }
  const std::unique_ptr<RoutedNetwork> network = options.network.build(false);
  const topologies::Topology& topology = network->topology();
  std::optional<sim::packet::DeadlockCheck> check;
  std::string reason;
  during("looking for packets that wait in a circle", [&] {
    const auto choice =
        sim::packet::choose_channels(network->policy(), network->setup_of_nics(), queue, parameters);
    if (choice) {
      parameters = sim::packet::with_channels(queue, parameters, *choice);
      reason = choice->reason;
    }
    check = sim::packet::check_deadlocks(network->policy(), network->setup_of_nics(), queue, parameters);
  });
  const routing::Dependencies& found = check->found;
  const std::string short_queue = to_short_form(queue.info.name, parameters);
  options.output.write([&](topologies::TextSink& sink) {
    if (options.json) {
      const Json json = {{"topology", topology.name()},
                         {"routing", network->routing()},
                         {"routing_reason", network->routing_reason()},
                         {"remark", network->remark()},
                         {"queue", short_queue},
                         {"queue_reason", reason},
                         {"acyclic", found.acyclic()},
                         {"channels", found.channels},
                         {"dependencies", found.dependencies},
                         {"cycle", cycle_json(topology, *check)}};
      sink.print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
      return sink.finish();
    }
    sink.print("{:<13} {}\n{:<13} {}\n{:<13} {}\n", "topology", topology.name(), "routing",
               network->routing_line(), "queue", short_queue);
    if (!network->remark().empty()) sink.print("{:<13} {}\n", "  note", network->remark());
    if (!reason.empty()) sink.print("{:<13} {}\n", "  chosen", reason);
    sink.print("{:<13} {}\n{:<13} {}\n", "channels", grouped(static_cast<double>(found.channels)),
               "dependencies", grouped(static_cast<double>(found.dependencies)));
    if (found.acyclic()) {
      sink.print("acyclic: packets can't wait for each other in a circle\n");
    } else {
      sink.print(
          "cyclic: packets can come to wait for each other, each for the next and the last for the first\n");
    }
    for (const routing::Dependencies::Place& place : found.cycle) {
      sink.print("  {}\n", routing::name_of(topology, place, check->rule));
    }
    sink.finish();
  });
  if (!found.acyclic()) exit_code = kAbnormalEnd;
}

}  // namespace

void add_route_check(Command& parent, int& exit_code) {
  const auto options = std::make_shared<Options>();
  Command command =
      parent.add_subcommand("check", "Can packets of a lossless network wait for each other in a circle?");
  options->network.add_to(command);
  command.add_option("--queue", options->queue, "A lossless queue discipline, like credit:vcs=4").required();
  command.add_flag("--json", options->json, "As JSON");
  options->output.add_to(command);
  command.footer(
      "Exit status: 0 if they can't (acyclic), 3 if they can (cyclic).\n"
      "Examples:\n"
      "  weft route check --topology dragonfly:p=4 --queue credit\n"
      "  weft route check --topology torus:dims=8x8 --queue credit:vcs=8 --json\n"
      "  weft route check --topology fat_tree:k=8 --queue pfc");
  command.callback([options, &exit_code] { tell(*options, exit_code); });
}

}  // namespace weft::cli
