// The subcommands of weft goal: one file each, or one for a group that share their options. Each adds itself
// to `parent` as subcommand.h describes; goal.cc lists them.
#pragma once

#include <string>

#include "tools/weft/cli/command.h"

namespace weft::cli {

void add_gen(Command& parent);                    // goal_gen.cc
void add_info(Command& parent);                   // goal_info.cc
void add_check(Command& parent, int& exit_code);  // goal_check.cc
void add_print(Command& parent);                  // goal_convert.cc
void add_convert(Command& parent);                // goal_convert.cc
void add_merge(Command& parent);                  // goal_transform.cc
void add_regroup(Command& parent);                // goal_transform.cc
void add_scale(Command& parent);                  // goal_transform.cc
void add_perturb(Command& parent);                // goal_transform.cc
void add_slice(Command& parent);                  // goal_transform.cc
void add_extrapolate(Command& parent);            // goal_transform.cc
void add_stats(Command& parent);                  // goal_stats.cc
void add_export(Command& parent);                 // goal_export.cc

// To the standard output.
void print(const std::string& text);

}  // namespace weft::cli
