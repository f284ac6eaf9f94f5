// Every module there is, with what `weft list`, `weft describe` and the reference tell of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "goal/import/importer.h"
#include "goal/workload/compute/device_spec.h"
#include "sim/placement/placement.h"
#include "sim/run/sink.h"
#include "sim/scenario/scenario.h"
#include "sim/units/module.h"

namespace weft::goal {
class Device;
}

namespace weft::cli {

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

// All that can be listed: what a scenario may name, and what stands before and behind a run.
struct Catalog {
  sim::Registries registries;
  std::span<const goal::Importer> importers = {};
  std::span<const sim::Sink> sinks = {};
  std::span<const placement::Policy> placements = {};
  std::span<const goal::DeviceSpec> devices = {};
};
Catalog builtin_catalog();

struct Listed {
  std::string kind;        // "topology"
  std::string collective;  // for an algorithm: the operation it is for
  ModuleInfo info;
  std::string details = {};   // what is said of it beside that, in whole lines
  std::string in_short = {};  // the part of that which stands in lists too
};

// The most far-reaching choice first, in lists and in the catalog's modules alike.
std::vector<std::string> module_kinds();
std::vector<Listed> listed_modules(const Catalog& catalog);
// Parts of a scenario that are no modules, but have parameters like one: hosts, collectives, fault.
std::vector<Listed> listed_sections(const Catalog& catalog);
Listed listed_device(const goal::Device& device);

// How to choose it, on the command line and in a scenario file: whole lines, set in. "" of what isn't chosen.
std::string usage(const Listed& module);
// How a value of this type is written, in words: "bandwidth".
const char* type_name(ParameterType type);
// Has it to be given?
bool is_required(const ParameterSpec& spec);

}  // namespace weft::cli
