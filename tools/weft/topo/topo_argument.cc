#include <fmt/core.h>

#include <new>

#include "sim/units/input_error.h"
#include "sim/units/memory.h"
#include "tools/weft/cli/memory_limit.h"
#include "tools/weft/cli/phases.h"
#include "tools/weft/cli/plugins.h"
#include "tools/weft/topo/topo_commands.h"
#include "topologies/families.h"

namespace weft::cli {

void TopologyArgument::add_to(Command& command) {
  command.add_option("TOPOLOGY", text_, "NAME:key=value,…, like slim_fly:q=5; `weft list topology` names all")
      .required();
  add_endpoints_to(command);
}

void TopologyArgument::add_option_to(Command& command) {
  command
      .add_option("--topology", text_, "NAME:key=value,…, like slim_fly:q=5; `weft list topology` names all")
      .required();
  add_endpoints_to(command);
}

void TopologyArgument::add_endpoints_to(Command& command) {
  add_plugin_option(command);
  command
      .add_option("--endpoints", endpoints_,
                  "choose the sizes for at least so many endpoints; slim_fly:endpoints=1024 does the same")
      .positive();
}

ModuleChoice TopologyArgument::choice(const std::string& text) const {
  ModuleChoice choice = parse_module_choice(text);
  if (endpoints_ && !choice.given.emplace("endpoints", std::to_string(*endpoints_)).second) {
    throw InputError(
        fmt::format("'{}' gives endpoints, and so does --endpoints; leave one of them out", text));
  }
  return topologies::sized(choice);
}

topologies::Topology TopologyArgument::build(const std::string& text) const {
  const ModuleChoice chosen = choice(text);
  Phases phases(true);
  phases.enter(fmt::format("building {}", text));
  try {
    return topologies::build(chosen);
  } catch (const std::bad_alloc& error) {
    throw NotEnoughMemory(about_memory(error, phases.current()));
  }
}

}  // namespace weft::cli
