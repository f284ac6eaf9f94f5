#include "sim/scenario/resolve_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "sim/fabrics/fabric.h"
#include "sim/scenario/queue_match.h"
#include "sim/scenario/scenario.h"
#include "sim/units/did_you_mean.h"
#include "sim/units/plugin_modules.h"

namespace weft::sim {
namespace {

using fabrics::Fabric;
using fabrics::FabricRouting;

// A kind of module that fabrics choose.
struct Part {
  const char* field;
  const char* word;
  ModuleChoice RunSettings::*choice;
  std::string Fabric::*setting;
  std::string FabricRouting::*of_family;  // in its place for some families, where it isn't empty; may be null
};
constexpr Part kCongestion = {"congestion", "congestion control", &RunSettings::congestion,
                              &Fabric::congestion, nullptr};
constexpr Part kRecovery = {"recovery", "loss recovery", &RunSettings::recovery, &Fabric::recovery,
                            &FabricRouting::recovery};
constexpr Part kQueue = {"queue", "queue discipline", &RunSettings::queue, &Fabric::queue,
                         &FabricRouting::queue};

const RegisteredTopology* find_routed(const Registries& registries, const ModuleChoice& topology) {
  const RegisteredTopology* own = find_registered(registries.topologies, topology.name);
  if (own == nullptr || own->routed_as == nullptr) return own;
  const RegisteredTopology* other = find_registered(registries.topologies, own->routed_as(topology));
  return other == nullptr ? own : other;
}

// Do two texts mean the same value?
bool is_same(ParameterType type, const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (is_text(type)) return false;
  const ModuleInfo one{
      .name = "fabric", .summary = "", .source = "", .parameters = {{"x", type, "auto", ""}}};
  const Parameters first(one, std::map<std::string, std::string>{{"x", a}}),
      second(one, std::map<std::string, std::string>{{"x", b}});
  if (first.automatic("x") || second.automatic("x")) return false;
  switch (type) {
    case ParameterType::kInteger:
      return first.integer("x") == second.integer("x");
    case ParameterType::kReal:
      return first.real("x") == second.real("x");
    case ParameterType::kTime:
      return first.time("x") == second.time("x");
    case ParameterType::kBandwidth:
      return first.bandwidth("x") == second.bandwidth("x");
    case ParameterType::kBytes:
      return first.bytes("x") == second.bytes("x");
    default:
      return first.boolean("x") == second.boolean("x");
  }
}

class Filler {
 public:
  Filler(Scenario& scenario, const Registries& registries)
      : scenario_(scenario),
        registries_(registries),
        network_(find_registered(registries.networks, scenario.network.name)),
        topology_(find_routed(registries, scenario.topology)) {}

  void fill() {
    if (network_ == nullptr) return;  // told where it is looked for; here and below
    if (!network_->has_fabric) return drop();
    if (topology_ == nullptr) return;
    if (scenario_.fabric.empty()) choose_default();
    if (scenario_.fabric.empty() || scenario_.fabric == fabrics::kNone) return;
    fabric_ =
        &find_module(std::span<const Fabric>(registries_.fabrics),
                     ModuleChoice{.name = scenario_.fabric, .location = scenario_.fabric_location}, "fabric");
    check_names();
    parameters(network_->info, parameters_of("network", fabric_->network), "", scenario_.network);
    wanted_ = routing_for(*fabric_, topology_->info.name, topology_->routing);
    routing();
    if (!network_->has_packets) return;
    part(kCongestion, registries_.congestion);
    part(kQueue, registries_.queues);
    part(kRecovery, registries_.recoveries);
  }

 private:
  void drop() {
    if (scenario_.fabric.empty()) return;
    const std::string what =
        fmt::format("fabric has no effect: network model {} has no topology", scenario_.network.name);
    if (scenario_.fabric_location.line == 0) throw InputError(scenario_.fabric_location, what);
    scenario_.warnings.push_back(scenario_.fabric_location.prefix() + what);
    scenario_.fabric.clear();
  }

  // Whatever of it counts here: a fabric with a wrong name is none.
  void check_names() const {
    check_name(kCongestion.word, fabric_->congestion, registries_.congestion);
    check_name(kRecovery.word, fabric_->recovery, registries_.recoveries);
    check_name(kQueue.word, fabric_->queue, registries_.queues);
    for (const FabricRouting& routing : fabric_->routing) {
      if (routing.policy != fabrics::kRecommended) {
        check_name("routing policy", routing.policy, registries_.routing);
      }
      check_name(kRecovery.word, routing.recovery, registries_.recoveries);
      check_name(kQueue.word, routing.queue, registries_.queues);
      for (const std::string& family : routing.families) {
        check_name("topology", family, registries_.topologies);
      }
    }
    for (const auto& [name, value] : parameters_of("network", fabric_->network)) {
      std::vector<std::string> known;
      for (const RegisteredNetwork& network : registries_.networks) {
        for (const ParameterSpec& spec : network.info.parameters) known.push_back(spec.name);
      }
      check_known("parameter of network models", name, known);
    }
  }
  template <typename Registered>
  void check_name(const char* word, const std::string& text, const std::vector<Registered>& modules) const {
    if (text.empty()) return;
    std::vector<std::string> known;
    for (const Registered& module : modules) known.push_back(module.info.name);
    check_known(word, choice_of(text).name, known);
  }
  void check_known(const char* word, const std::string& name, const std::vector<std::string>& known) const {
    if (known.empty() || std::ranges::find(known, name) != known.end()) return;
    throw InputError(scenario_.fabric_location,
                     fmt::format("{}: '{}' is not a {}{}", name_of_module("fabric", fabric_->info.name), name,
                                 word, did_you_mean(name, known)));
  }

  // Who chose another control, recovery or queue has another network in mind.
  void choose_default() {
    if (registries_.fabrics.empty()) return;
    scenario_.fabric = fabrics::kNone;
    const auto usual = std::ranges::find_if(
        registries_.fabrics, [&](const Fabric& fabric) { return fabric.info.name == topology_->fabric; });
    if (usual == registries_.fabrics.end()) return;
    for (const Part* part : {&kCongestion, &kRecovery, &kQueue}) {
      const ModuleChoice& given = scenario_.*part->choice;
      const std::string own = choice_of((*usual).*part->setting).name;
      if (given.empty() || given.name == own) continue;
      scenario_.fabric_reason =
          fmt::format("{} has {} {}, and {} was chosen", usual->info.name, part->word, own, given.name);
      return;
    }
    scenario_.fabric = topology_->fabric;
    scenario_.fabric_reason = topology_->fabric_reason;
  }

  ModuleChoice choice_of(const std::string& text) const {
    ModuleChoice choice = text.empty() ? ModuleChoice() : parse_module_choice(text);
    choice.location = scenario_.fabric_location;
    return choice;
  }
  static std::map<std::string, std::string> parameters_of(const std::string& name, const std::string& list) {
    return list.empty() ? std::map<std::string, std::string>() : parse_module_choice(name + ":" + list).given;
  }

  void change(const std::string& what) { scenario_.fabric_changes.push_back(what); }

  // Those that the module has and that aren't given.
  void parameters(const ModuleInfo& info, const std::map<std::string, std::string>& own,
                  const std::string& prefix, ModuleChoice& choice) {
    for (const ParameterSpec& spec : info.parameters) {
      const auto wanted = own.find(spec.name);
      if (wanted == own.end()) continue;
      const auto [place, is_new] = choice.given.try_emplace(spec.name, wanted->second);
      if (is_new || is_same(spec.type, place->second, wanted->second)) continue;
      change(fmt::format("{}{} {} instead of {}", prefix, spec.name, place->second, wanted->second));
    }
  }

  // What was chosen has what the fabric says of it, if it is the same module.
  template <typename Registered>
  void keep(const char* field, const std::vector<Registered>& modules, const ModuleChoice& own,
            ModuleChoice& choice) {
    if (own.empty()) return;
    if (choice.name != own.name) {
      return change(fmt::format("{} {} instead of {}", field, choice.name, own.name));
    }
    const Registered* module = find_registered(modules, choice.name);
    if (module != nullptr) parameters(module->info, own.given, fmt::format("{} ", field), choice);
  }

  void routing() {
    if (wanted_ == nullptr) return;
    const RegisteredRouting* usual = find_registered(registries_.routing, topology_->routing);
    const ModuleInfo recommended = usual != nullptr ? usual->info : ModuleInfo{.name = topology_->routing};
    ModuleChoice own = policy_of(*wanted_, recommended, network_->has_packets);
    own.location = scenario_.fabric_location;
    if (!scenario_.routing.empty()) return keep("routing", registries_.routing, own, scenario_.routing);
    const RegisteredRouting* policy = find_registered(registries_.routing, own.name);
    if (policy == nullptr || (!network_->has_packets && !policy->has_fluid)) return;
    scenario_.routing = own;
    scenario_.routing_reason = reason_of(*fabric_, *wanted_, topology_->routing_reason);
  }

  template <typename Registered>
  void part(const Part& part, const std::vector<Registered>& modules) {
    const bool of_family =
        part.of_family != nullptr && wanted_ != nullptr && !(wanted_->*part.of_family).empty();
    const ModuleChoice own = choice_of(of_family ? wanted_->*part.of_family : fabric_->*part.setting);
    ModuleChoice& choice = scenario_.*part.choice;
    if (!choice.empty()) return keep(part.field, modules, own, choice);
    const Registered* module = find_registered(modules, own.name);
    if (module == nullptr) return;  // left open: check_names() found it otherwise
    if (const std::string obstacle = what_excludes(*module, own); !obstacle.empty()) {
      return change(fmt::format("not {} {}, which does not go with {}", part.field, own.name, obstacle));
    }
    choice = own;
  }

  // The module that was chosen, by the user or here, and that this one can't be with; "": it can.
  template <typename Registered>
  std::string what_excludes(const Registered& module, const ModuleChoice&) const {
    const RegisteredQueue* chosen = find_registered(registries_.queues, scenario_.queue.name);
    if (chosen != nullptr) return may_suit(*chosen, scenario_.queue, module.needs) ? "" : chosen->info.name;
    const bool some = std::ranges::any_of(registries_.queues, [&](const RegisteredQueue& queue) {
      return may_suit(queue, {}, module.needs) && what_excludes(queue, {}).empty();
    });
    return some ? "" : "the others under any queue";
  }
  std::string what_excludes(const RegisteredQueue& queue, const ModuleChoice& choice) const {
    const auto hinders = [&](const auto& modules, const ModuleChoice& other) -> std::string {
      const auto* party = find_registered(modules, other.name);
      return party != nullptr && !may_suit(queue, choice, party->needs) ? party->info.name : "";
    };
    for (const std::string& one : {hinders(registries_.congestion, scenario_.congestion),
                                   hinders(registries_.recoveries, scenario_.recovery),
                                   hinders(registries_.routing, scenario_.routing)}) {
      if (!one.empty()) return one;
    }
    if (!network_->needs_of) return "";
    const CapabilityNeeds needs = network_->needs_of(Parameters(network_->info, scenario_.network));
    return may_suit(queue, choice, needs) ? "" : "network " + network_->info.name;
  }

  Scenario& scenario_;
  const Registries& registries_;
  const RegisteredNetwork* network_;
  const RegisteredTopology* topology_;
  const Fabric* fabric_ = nullptr;
  const FabricRouting* wanted_ = nullptr;
};

}  // namespace

void fill_from_fabric(Scenario& scenario, const Registries& registries) {
  Filler(scenario, registries).fill();
}

bool has_queue_of_fabric(const Scenario& scenario, const Registries& registries) {
  const auto fabric = std::ranges::find_if(
      registries.fabrics, [&](const Fabric& each) { return each.info.name == scenario.fabric; });
  return fabric != registries.fabrics.end() && !fabric->queue.empty() &&
         parse_module_choice(fabric->queue).name == scenario.queue.name;
}

}  // namespace weft::sim
