// weft goal: makes, looks at, checks, converts and changes GOAL graphs, in any of their formats.
#pragma once

#include <CLI/CLI.hpp>

namespace weft::cli {

void add_goal(CLI::App& app, int& exit_code);

}  // namespace weft::cli
