#include "tools/weft/cli/catalog.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "goal/import/importers.h"
#include "goal/workload/compute/device.h"
#include "sim/fabrics/machine_hosts.h"
#include "sim/placement/policies/policies.h"
#include "sim/run/default_routing.h"
#include "sim/run/simulation.h"
#include "sim/run/sinks.h"
#include "sim/units/capabilities.h"
#include "topologies/composed.h"
#include "topologies/node_presets.h"

namespace weft::cli {
namespace {

// Every seam, the most far-reaching choice first.
std::vector<sim::Seam> all_seams() {
  std::vector<sim::Seam> all(sim::seams().begin(), sim::seams().end());
  all.push_back(sim::traffic_seam());
  return all;
}

// When a sink acts and what it leaves.
std::string details_of(const sim::Sink& sink) {
  std::string text = fmt::format("\n  Acts {}.\n", sink.when);
  for (const sim::SinkFile& file : sink.files) {
    text += fmt::format("  Leaves {}{}{}\n", file.name, file.columns.empty() ? "" : ": ", file.columns);
  }
  return text;
}

// What it goes by.
Listed listed(const placement::Policy& policy) {
  Listed all{kPlacement, "", policy.info};
  if (!policy.needs.empty()) {
    all.details = fmt::format("\n  Needs: {}.\n", policy.needs);
    all.in_short = fmt::format("needs {}", policy.needs);
  }
  return all;
}

// A line of what it needs of queues, or offers as one, and the same in short.
void add_capabilities(const char* line, const char* brief, Capabilities capabilities, const std::string& how,
                      Listed& all) {
  if (capabilities.empty()) return;
  all.details +=
      fmt::format("{}  {} {}{}.\n", all.details.empty() ? "\n" : "", line, to_string(capabilities), how);
  all.in_short += fmt::format("{}{} {}", all.in_short.empty() ? "" : "; ", brief, to_string(capabilities));
}

void add_needs(const CapabilityNeeds& needs, Listed& all) {
  add_capabilities("Requires of queues:", "requires", needs.required, "", all);
  add_capabilities("Uses where queues offer it:", "uses", needs.used, "", all);
  add_capabilities("Can't live with queues that offer:", "not with", needs.forbidden, "", all);
}

// What the lists have of a module beside its description, by its kind.
void add_details(const sim::RegisteredNetwork&, Listed&) {}
void add_details(const sim::RegisteredTraffic&, Listed&) {}
void add_details(const sim::RegisteredRouting& policy, Listed& all) { add_needs(policy.needs, all); }
void add_details(const sim::RegisteredRecovery& recovery, Listed& all) { add_needs(recovery.needs, all); }
void add_details(const sim::RegisteredControl& control, Listed& all) {
  add_needs(control.needs, all);
  if (!control.queue.empty()) all.details += fmt::format("  Queue, if none is given: {}.\n", control.queue);
  for (const auto& [parameter, value] : control.queue_settings) {
    all.details += fmt::format("  Sets of queues, where it isn't given: {}={}.\n", parameter, value);
  }
}
void add_details(const sim::RegisteredQueue& queue, Listed& all) {
  std::string how;
  for (const CapabilitySwitch& each : queue.offers.switches) {
    how += fmt::format("{}{} takes {}={}", how.empty() ? "; " : ", ", to_string(each.capability),
                       each.parameter, each.on);
  }
  add_capabilities("Offers:", "offers", queue.offers.at_most(), how, all);
}
void add_details(const sim::RegisteredTopology& topology, Listed& all) {
  if (!topology.routing.empty()) {
    const std::string around = topologies::is_routed_as_inner(topology.info.name)
                                   ? ", or with `of` what that network has, and its fabric"
                                   : "";
    const std::string policy = sim::wanted_routing(topology.info.name, topology.fabric).policy.name;
    all.details +=
        fmt::format("\n  Routing, if none is given: {}, of fabric {}{}{}.\n", policy, topology.fabric,
                    policy == topology.routing ? "" : "; without a fabric " + topology.routing, around);
    all.in_short = fmt::format("routing {}", policy);
  }
  if (const fabrics::HostCosts* const costs = fabrics::host_costs(topology.info.name)) {
    all.details += fmt::format(
        "\n  Hosts, where nothing is said of them: o={}, O={}, reduction_per_byte={}, "
        "reduction_from_memory={}, copy_per_byte={}, copy_from_memory={}, and {}: "
        "protocol {}, collectives profile {}.\n  Source of these: {}\n  To be doubted: {}\n",
        costs->o, costs->O, costs->reduction_per_byte, costs->reduction_from_memory, costs->copy_per_byte,
        costs->copy_from_memory, costs->library, costs->protocol, costs->profile, costs->source,
        costs->doubt);
  }
  if (topology.info.name == "scale_up") all.details += topologies::node_preset_table();
}

template <typename Registered>
void list_modules(const char* kind, const std::vector<Registered>& modules, std::vector<Listed>& all) {
  for (const Registered& module : modules) {
    all.push_back({kind, "", module.info});
    add_details(module, all.back());
  }
}

// Its settings, as users write them, and what to doubt.
Listed listed(const fabrics::Fabric& fabric) {
  Listed all{kFabric, "", fabric.info, "\n"};
  const auto add = [&](const char* field, const std::string& value) {
    if (!value.empty()) all.details += fmt::format("  {:<11} {}\n", field, value);
  };
  for (const fabrics::FabricRouting& routing : fabric.routing) {
    const std::string where = routing.only_own ? " (where another than ecmp is recommended)"
                              : routing.families.empty()
                                  ? ""
                                  : fmt::format(" ({})", fmt::join(routing.families, ", "));
    const std::string with = routing.recovery.empty() ? "" : "; recovery " + routing.recovery;
    add(&routing == fabric.routing.data() ? "routing" : "or else", routing.policy + where + with);
  }
  add("congestion", fabric.congestion);
  add("recovery", fabric.recovery);
  add("queue", fabric.queue);
  add("network", fabric.network);
  if (!fabric.doubts.empty()) all.details += "\n  To be doubted:\n";
  for (const std::string& doubt : fabric.doubts) all.details += fmt::format("  - {}\n", doubt);
  return all;
}

bool is_quoted(ParameterType type) {
  return type != ParameterType::kInteger && type != ParameterType::kReal && type != ParameterType::kBoolean;
}

}  // namespace

// Its peaks, the times they make, and what to doubt; in short, whether it was measured.
Listed listed_device(const goal::Device& of) {
  const goal::DeviceSpec& device = of.spec();
  const bool measured = device.fitted_to == device.name;
  return {kDevice,
          "",
          {device.name, device.summary, device.source, {}},
          goal::device_details(of),
          measured ? "measured" : "not measured; as " + device.fitted_to};
}

std::vector<Listed> listed_modules(const Catalog& catalog) {
  const sim::Registries& registries = catalog.registries;
  std::vector<Listed> all;
  list_modules("network", registries.networks, all);
  list_modules("topology", registries.topologies, all);
  list_modules("routing", registries.routing, all);
  list_modules("congestion", registries.congestion, all);
  list_modules("recovery", registries.recoveries, all);
  list_modules("queue", registries.queues, all);
  list_modules("traffic", registries.traffic, all);
  for (const sim::RegisteredAlgorithm& algorithm : registries.algorithms) {
    all.push_back({kCollective, algorithm.collective, algorithm.info});
  }
  for (const ModuleInfo& profile : registries.profiles) all.push_back({kCollective, kProfile, profile});
  for (const goal::Importer& importer : catalog.importers) {
    all.push_back({kImporter, "", importer.info, fmt::format("\n  Reads {}.\n", importer.looks_like)});
  }
  for (const sim::Sink& sink : catalog.sinks) all.push_back({kSink, "", sink.info, details_of(sink)});
  for (const fabrics::Fabric& fabric : registries.fabrics) all.push_back(listed(fabric));
  for (const ModuleInfo& protocol : registries.protocols) all.push_back({kProtocol, "", protocol});
  for (const placement::Policy& policy : catalog.placements) all.push_back(listed(policy));
  for (const sim::RegisteredModule& scheduler : registries.schedulers) {
    all.push_back({kScheduler, "", scheduler.info});
  }
  for (const goal::DeviceSpec& device : catalog.devices) all.push_back(listed_device(goal::Device(device)));
  return all;
}

std::vector<Listed> listed_sections(const Catalog& catalog) {
  return {{kSection, "", sim::hosts_section()},
          {kSection, "", sim::collectives_section(catalog.registries)},
          {kSection, "", sim::fault_section()}};
}

// How a value of this type is written, in words.
const char* type_name(ParameterType type) {
  switch (type) {
    case ParameterType::kInteger:
      return "integer";
    case ParameterType::kReal:
      return "number";
    case ParameterType::kBoolean:
      return "boolean";
    case ParameterType::kText:
      return "text";
    case ParameterType::kFile:
      return "file";
    case ParameterType::kNameOrFile:
      return "name or file";
    case ParameterType::kTopologies:
      return "topologies";
    case ParameterType::kTime:
      return "time";
    case ParameterType::kBandwidth:
      return "bandwidth";
    case ParameterType::kBytes:
      return "bytes";
  }
  return "";
}

bool is_required(const ParameterSpec& spec) { return spec.default_value.empty() && !is_text(spec.type); }

// How to choose it: on the command line and in a scenario file.
std::string usage(const Listed& module) {
  if (module.kind == kSection || module.kind == kSink || module.kind == kDevice) return "";
  if (module.kind == kProtocol) {
    return fmt::format("  --protocol {0}\n  hosts {{ protocol: \"{0}\" }}\n", module.info.name);
  }
  if (module.kind == kFabric) return fmt::format("  --fabric {0}\n  fabric: \"{0}\"\n", module.info.name);
  if (module.kind == kPlacement) {
    return fmt::format(
        "  --placement {0}\n  job {{ placement {{ {0} {{}} }} }}\n  weft place GRAPH --topology … "
        "--placement {0}\n",
        module.info.name);
  }
  if (module.kind == kScheduler) {
    return fmt::format("  --scheduler {0}\n  scheduler {{ {0} {{}} }}\n  weft jobs LIST --scheduler {0}\n",
                       module.info.name);
  }
  if (module.kind == kImporter) return fmt::format("  weft import {} PATH -o NAME.weft\n", module.info.name);
  if (module.kind == kCollective) {
    return fmt::format("  --set collectives.{0}={1}\n  collectives {{ {0}: \"{1}\" }}\n", module.collective,
                       module.info.name);
  }
  std::string flag, file;
  for (const ParameterSpec& spec : module.info.parameters) {
    if (!is_required(spec)) continue;
    flag += fmt::format("{}{}=…", flag.empty() ? ":" : ",", spec.name);
    file += fmt::format("{}: {} ", spec.name, is_quoted(spec.type) ? "\"…\"" : "…");
  }
  const std::string choice = fmt::format("{} {{ {} {{ {}}} }}", module.kind, module.info.name, file);
  const bool in_job = module.kind == sim::traffic_seam().field;
  if (!in_job) return fmt::format("  --{} {}{}\n  {}\n", module.kind, module.info.name, flag, choice);
  return fmt::format("  --{0} {1}{2}\n  job {{ {3} }}\n  weft goal gen {1}{2} --ranks … -o FILE.weft\n",
                     module.kind, module.info.name, flag, choice);
}

std::vector<std::string> module_kinds() {
  std::vector<std::string> kinds;
  for (const sim::Seam& seam : all_seams()) kinds.push_back(seam.field);
  for (const char* kind :
       {kFabric, kPlacement, kCollective, kProtocol, kScheduler, kImporter, kSink, kDevice}) {
    kinds.push_back(kind);
  }
  return kinds;
}

Catalog builtin_catalog() {
  return {sim::builtin_registries(), goal::importers(), sim::sinks(), placement::policies(),
          goal::device_specs()};
}

}  // namespace weft::cli
