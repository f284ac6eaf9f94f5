// weft list, weft describe: what modules there are, and what each takes.
#pragma once

#include <string>

#include "sim/scenario/scenario.h"
#include "tools/weft/subcommand.h"

namespace weft::cli {

void add_list(CLI::App& app, int& exit_code);
void add_describe(CLI::App& app, int& exit_code);

// What they print. `kind` is one of network, topology, routing, congestion, queue, collective, protocol, or
// "" for all; `names`: only "KIND NAME", a line each, for scripts. Throws InputError for an unknown kind or
// name, with the nearest known one. A name may stand for modules of several kinds; all are described.
std::string list_text(const sim::Registries& registries, const std::string& kind, bool names);
std::string describe_text(const sim::Registries& registries, const std::string& name);

}  // namespace weft::cli
