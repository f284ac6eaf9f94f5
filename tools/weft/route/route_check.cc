#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/packet/channel_choice.h"
#include "sim/packet/deadlock_check.h"
#include "sim/packet/deadlock_proof.h"
#include "sim/packet/queues/queues.h"
#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "tools/weft/cli/file_ending.h"
#include "tools/weft/cli/subcommand.h"
#include "tools/weft/route/route_commands.h"
#include "tools/weft/route/routed_network.h"
#include "tools/weft/topo/topo_output.h"

namespace weft::cli {
namespace {

struct RouteCheckOptions {
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

struct Verdict {
  std::optional<sim::packet::DeadlockCheck> check;
  std::string queue;          // in short form, with what was chosen
  std::string reason, proof;  // "": nothing was chosen, nothing is proven
};

Verdict look(const RoutedNetwork& network, const sim::packet::Discipline& queue, Parameters parameters) {
  const routing::Policy& policy = network.policy();
  const routing::PlanSetup setup = network.setup_of_nics();
  Verdict verdict;
  if (const auto choice = sim::packet::choose_channels(policy, setup, queue, parameters)) {
    parameters = sim::packet::with_channels(queue, parameters, *choice);
    verdict.reason = choice->reason;
    verdict.proof = choice->proof;
  } else {
    verdict.proof = sim::packet::deadlock_proof(policy, setup, queue, parameters);
  }
  // What is proven is counted where that is quick.
  const std::uint64_t most_work = verdict.proof.empty() ? UINT64_MAX : routing::kCheckWork / 10;
  verdict.check = sim::packet::check_deadlocks(policy, setup, queue, parameters, most_work);
  if (verdict.check->found.acyclic() && verdict.proof.empty())
    verdict.proof = "all were looked at, and none waits for itself by way of others";
  verdict.queue = to_short_form(queue.info.name, parameters);
  return verdict;
}

Json as_json(const RoutedNetwork& network, const Verdict& verdict) {
  const routing::Dependencies& found = verdict.check->found;
  return {{"topology", network.topology().name()},
          {"routing", network.routing()},
          {"routing_reason", network.routing_reason()},
          {"remark", network.remark()},
          {"queue", verdict.queue},
          {"queue_reason", verdict.reason},
          {"acyclic", !verdict.proof.empty()},
          {"proof", verdict.proof},
          {"channels", found.finished ? Json(found.channels) : Json()},
          {"dependencies", found.finished ? Json(found.dependencies) : Json()},
          {"cycle", cycle_json(network.topology(), *verdict.check)}};
}

void print(topologies::TextSink& sink, const RoutedNetwork& network, const Verdict& verdict) {
  const routing::Dependencies& found = verdict.check->found;
  const auto line = [&](const char* name, const std::string& text) {
    if (!text.empty()) sink.print("{:<13} {}\n", name, text);
  };
  line("topology", network.topology().name());
  line("routing", network.routing_line());
  line("queue", verdict.queue);
  line("  note", network.remark());
  line("  chosen", verdict.reason);
  if (found.finished) {
    line("channels", grouped(static_cast<double>(found.channels)));
    line("dependencies", grouped(static_cast<double>(found.dependencies)));
  }
  line("proof", verdict.proof);
  sink.print("{}\n",
             verdict.proof.empty()
                 ? "cyclic: packets can come to wait for each other, each for the next and the last for "
                   "the first"
                 : "acyclic: packets can't wait for each other in a circle");
  for (const routing::Dependencies::Place& place : found.cycle) {
    sink.print("  {}\n", routing::name_of(network.topology(), place, verdict.check->rule));
  }
}

void tell(const RouteCheckOptions& options, int& exit_code) {
  refuse_ending_of_another(options.output.path, options.json);
  const ModuleChoice choice = parse_module_choice(options.queue);
  const sim::packet::Discipline& queue = find_module(sim::packet::disciplines(), choice, "queue discipline");
  const Parameters parameters(queue.info, choice);
  if (queue.channels == nullptr) {
    throw InputError(
        fmt::format("queue {} drops packets, so they never wait for each other; lossless ones are pfc and "
                    "credit",
                    queue.info.name));
  }
  const std::unique_ptr<RoutedNetwork> network = options.network.build(false);
  Verdict verdict;
  during("looking for packets that wait in a circle", [&] { verdict = look(*network, queue, parameters); });
  options.output.write(options.json ? ReadBy::kPrograms : ReadBy::kPeople, [&](topologies::TextSink& sink) {
    if (options.json) {
      const Json json = as_json(*network, verdict);
      sink.print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    } else {
      print(sink, *network, verdict);
    }
    sink.finish();
  });
  if (verdict.proof.empty()) exit_code = kAbnormalEnd;
}

}  // namespace

void add_route_check(Command& parent, int& exit_code) {
  const auto options = std::make_shared<RouteCheckOptions>();
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
