// weft list, weft describe: what modules there are, and what each takes.
#pragma once

#include <string>

#include "tools/weft/cli/catalog.h"
#include "tools/weft/cli/subcommand.h"

namespace weft::cli {

void add_list(Command& command, int& exit_code);
void add_describe(Command& command, int& exit_code);

// What they print. `kind` is one of network, topology, routing, congestion, recovery, queue, traffic,
// fabric, placement, collective, protocol, scheduler, importer, sink, device, one or many ("topologies"), or
// "" for all; `names`: only "KIND NAME", a line each, for scripts. Throws InputError for an unknown kind or
// name, with the nearest known one. A name may stand for modules of several kinds; all are described.
std::string list_text(const Catalog& catalog, const std::string& kind, bool names);
// `only`: of this kind, if not "". What ends in ".csv" is a file of measurements of a device.
std::string describe_text(const Catalog& catalog, const std::string& name, const std::string& only = "");

}  // namespace weft::cli
