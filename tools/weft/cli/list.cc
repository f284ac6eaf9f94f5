#include "tools/weft/cli/list.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "goal/import/importers.h"
#include "goal/workload/compute/device.h"
#include "sim/placement/policies/policies.h"
#include "sim/run/simulation.h"
#include "sim/run/sinks.h"
#include "sim/units/capabilities.h"
#include "sim/units/module.h"
#include "sim/units/wrap.h"
#include "tools/weft/cli/plugins.h"
#include "topologies/composed.h"
#include "topologies/node_presets.h"

namespace weft::cli {
namespace {

constexpr const char* kCollective = "collective";
constexpr const char* kProfile = "profile";  // of collectives: chosen as if it were a kind of them
constexpr const char* kImporter = "importer";
constexpr const char* kSink = "sink";
constexpr const char* kProtocol = "protocol";
constexpr const char* kPlacement = "placement";
constexpr const char* kScheduler = "scheduler";
constexpr const char* kFabric = "fabric";
constexpr const char* kDevice = "device";
constexpr const char* kSection = "section";  // of the scenario; described, but no module

struct Listed {
  std::string kind;        // "topology"
  std::string collective;  // for an algorithm: the operation it is for
  ModuleInfo info;
  std::string details = {};   // what is said of it beside that, in whole lines
  std::string in_short = {};  // the part of that which stands in lists too
};

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

// What it needs of queues, or offers as one: with a line for each, or in short.
Listed listed(const sim::Seam& seam, const sim::RegisteredModule& module) {
  Listed all{seam.field, "", module.info};
  const auto add = [&](const char* line, const char* brief, Capabilities capabilities,
                       const std::string& how) {
    if (capabilities.empty()) return;
    all.details +=
        fmt::format("{}  {} {}{}.\n", all.details.empty() ? "\n" : "", line, to_string(capabilities), how);
    all.in_short += fmt::format("{}{} {}", all.in_short.empty() ? "" : "; ", brief, to_string(capabilities));
  };
  add("Requires of queues:", "requires", module.needs.required, "");
  add("Uses where queues offer it:", "uses", module.needs.used, "");
  add("Can't live with queues that offer:", "not with", module.needs.forbidden, "");
  std::string how;
  for (const CapabilitySwitch& each : module.offers.switches) {
    how += fmt::format("{}{} takes {}={}", how.empty() ? "; " : ", ", to_string(each.capability),
                       each.parameter, each.on);
  }
  add("Offers:", "offers", module.offers.at_most(), how);
  if (!module.routing.empty()) {
    const std::string around = topologies::is_routed_as_inner(module.info.name)
                                   ? ", or with `of` what that network has, and its fabric"
                                   : "";
    all.details += fmt::format("\n  Routing, if none is given: {}{}.\n", module.routing, around);
    all.in_short = fmt::format("routing {}", module.routing);
  }
  if (!module.queue.empty()) {
    all.details += fmt::format("  Queue, if none is given: {}.\n", module.queue);
  }
  for (const auto& [parameter, value] : module.queue_settings) {
    all.details += fmt::format("  Sets of queues, where it isn't given: {}={}.\n", parameter, value);
  }
  return all;
}

// Its peaks, the times they make, and what to doubt; in short, whether it was measured.
Listed listed(const goal::Device& of) {
  const goal::DeviceSpec& device = of.spec();
  const bool measured = device.fitted_to == device.name;
  return {kDevice,
          "",
          {device.name, device.summary, device.source, {}},
          goal::device_details(of),
          measured ? "measured" : "not measured; as " + device.fitted_to};
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

std::vector<Listed> modules(const Catalog& catalog) {
  const sim::Registries& registries = catalog.registries;
  std::vector<Listed> all;
  for (const sim::Seam& seam : all_seams()) {
    for (const sim::RegisteredModule& module : registries.*seam.modules) {
      all.push_back(listed(seam, module));
      if (module.info.name == "scale_up") all.back().details += topologies::node_preset_table();
    }
  }
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
  for (const goal::DeviceSpec& device : catalog.devices) all.push_back(listed(goal::Device(device)));
  return all;
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

bool is_quoted(ParameterType type) {
  return type != ParameterType::kInteger && type != ParameterType::kReal && type != ParameterType::kBoolean;
}

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

// A paragraph in lines of at most 100 columns.
std::string wrapped(const std::string& paragraph) {
  constexpr std::size_t kWidth = 98;
  std::string text, line;
  std::istringstream words(paragraph);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
      text += "  " + std::exchange(line, "") + "\n";
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? text : text + "  " + line + "\n";
}

std::string describe(const Listed& module) {
  const ModuleInfo& info = module.info;
  std::string text = fmt::format("{} ({}{})\n  {}\n", info.name, module.kind,
                                 module.collective.empty()       ? std::string()
                                 : module.collective == kProfile ? " profile"
                                                                 : " algorithm for " + module.collective,
                                 info.summary);
  if (!info.source.empty()) text += fmt::format("  Source: {}\n", info.source);
  if (!info.about.empty()) text += "\n" + wrapped(info.about);
  const std::string how = usage(module);
  if (!how.empty()) text += "\n" + how;
  text += module.details;
  if (info.parameters.empty()) return text;
  std::size_t name_width = 9, default_width = 8;
  for (const ParameterSpec& spec : info.parameters) {
    name_width = std::max(name_width, spec.name.size());
    default_width = std::max(default_width, spec.default_value.size());
  }
  text += fmt::format("\n  {:<{}}  {:<9}  {:<{}}  meaning\n", "parameter", name_width, "type", "default",
                      default_width);
  for (const ParameterSpec& spec : info.parameters) {
    text +=
        fmt::format("  {:<{}}  {:<9}  {:<{}}  {}\n", spec.name, name_width, type_name(spec.type),
                    is_required(spec) ? "required" : spec.default_value, default_width, weft::describe(spec));
  }
  return text;
}

std::vector<std::string> all_kinds() {
  std::vector<std::string> kinds;
  for (const sim::Seam& seam : all_seams()) kinds.push_back(seam.field);
  for (const char* kind :
       {kFabric, kPlacement, kCollective, kProtocol, kScheduler, kImporter, kSink, kDevice}) {
    kinds.push_back(kind);
  }
  return kinds;
}

// "topology" for "topology" and "topologies"; "" stays. Throws InputError for what is no kind.
std::string kind_of(const std::string& word) {
  const std::vector<std::string> kinds = all_kinds();
  for (const std::string& kind : kinds) {
    const std::string many = kind.back() == 'y' ? kind.substr(0, kind.size() - 1) + "ies" : kind + "s";
    if (word == kind || word == many) return kind;
  }
  if (word.empty()) return word;
  fail_unknown_name("kind of module", word, kinds);
}

// On a terminal lines are broken between words; for other programs each stays one.
void print_wrapped(const std::string& text) {
  std::fputs(wrap(text, terminal_columns(STDOUT_FILENO)).c_str(), stdout);
}

}  // namespace

Catalog builtin_catalog() {
  return {sim::builtin_registries(), goal::importers(), sim::sinks(), placement::policies(),
          goal::device_specs()};
}

std::string list_text(const Catalog& catalog, const std::string& word, bool names) {
  const std::vector<std::string> kinds = all_kinds();
  const std::string kind = kind_of(word);
  const std::vector<Listed> all = modules(catalog);
  const auto title = [](const Listed& module) {
    return module.collective.empty() ? module.info.name : module.collective + ": " + module.info.name;
  };
  std::size_t width = 0;
  for (const Listed& module : all) {
    if (kind.empty() || module.kind == kind) width = std::max(width, title(module).size());
  }
  std::string text;
  std::vector<std::string> lines;
  for (const std::string& at : kinds) {
    if (!kind.empty() && at != kind) continue;
    if (!names) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", at);
    for (const Listed& module : all) {
      if (module.kind != at) continue;
      if (!names) {
        text += fmt::format("  {:<{}}  {}{}\n", title(module), width, module.info.summary,
                            module.in_short.empty() ? "" : " (" + module.in_short + ")");
        continue;
      }
      // An algorithm's name may serve several operations.
      const std::string line = fmt::format("{} {}\n", at, module.info.name);
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
  }
  for (const std::string& line : lines) text += line;
  return text;
}

std::string describe_text(const Catalog& catalog, const std::string& name, const std::string& only) {
  const std::string kind = kind_of(only);
  if (name.ends_with(".csv") && (kind.empty() || kind == kDevice))
    return describe(listed(goal::find_device(name)));
  const sim::Registries& registries = catalog.registries;
  std::vector<Listed> all = modules(catalog);
  all.push_back({kSection, "", sim::hosts_section()});
  all.push_back({kSection, "", sim::collectives_section(registries)});
  all.push_back({kSection, "", sim::fault_section()});
  std::string text;
  std::vector<std::string> known;
  for (const Listed& module : all) {
    if (!kind.empty() && module.kind != kind) continue;
    if (std::find(known.begin(), known.end(), module.info.name) == known.end()) {
      known.push_back(module.info.name);
    }
    if (module.info.name == name || module.collective == name)
      text += (text.empty() ? "" : "\n") + describe(module);
  }
  const auto is_kind = [&](const Listed& module) {
    return kind.empty() && module.kind == name && name != kSection;
  };
  // A word may name a kind and a module.
  if (std::any_of(all.begin(), all.end(), is_kind)) {
    text += (text.empty() ? "" : "\n") + list_text(catalog, name, false);
  }
  if (!text.empty()) return text;
  fail_unknown_name(kind.empty() ? "module" : kind, name, known);
}

void add_list(Command& command, int&) {
  struct Options {
    std::string kind;
    bool names = false;
  };
  auto options = std::make_shared<Options>();
  command.add_option("kind", options->kind,
                     "only these: network, topology, routing, congestion, recovery, queue, traffic, "
                     "fabric, placement, collective, protocol, scheduler, importer, "
                     "sink or device");
  command.add_flag("--names", options->names, "only a kind and a name on each line, for scripts");
  add_plugin_option(command);
  command.footer("Examples:\n  weft list\n  weft list topology");
  command.callback([options] { print_wrapped(list_text(builtin_catalog(), options->kind, options->names)); });
}

void add_describe(Command& command, int&) {
  auto words = std::make_shared<std::vector<std::string>>();
  command
      .add_option("name", *words,
                  "a module that `weft list` names, which its kind may stand before; or a kind of module, a "
                  "collective, hosts, "
                  "collectives, fault; or a file of measurements of a device (.csv)")
      .required();
  add_plugin_option(command);
  command.footer(
      "Examples:\n  weft describe fat_tree\n  weft describe device h100\n  weft describe hosts\n  weft "
      "describe allreduce");
  command.callback([words] {
    if (words->size() > 2)
      throw InputError("found " + words->at(2) +
                       "; expected the name of a module, and its kind before it at most");
    const std::string kind = words->size() == 2 ? words->front() : "";
    print_wrapped(describe_text(builtin_catalog(), words->back(), kind));
  });
}

}  // namespace weft::cli
