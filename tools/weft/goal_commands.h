// The subcommands of weft goal: one file each, or one for a group that share their options. Each adds itself
// to `parent` as subcommand.h describes; goal.cc lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace weft::cli {

void add_gen(CLI::App& parent);                    // goal_gen.cc
void add_info(CLI::App& parent);                   // goal_info.cc
void add_check(CLI::App& parent, int& exit_code);  // goal_check.cc
void add_print(CLI::App& parent);                  // goal_convert.cc
void add_convert(CLI::App& parent);                // goal_convert.cc
void add_merge(CLI::App& parent);                  // goal_transform.cc
void add_regroup(CLI::App& parent);                // goal_transform.cc
void add_scale(CLI::App& parent);                  // goal_transform.cc
void add_perturb(CLI::App& parent);                // goal_transform.cc
void add_slice(CLI::App& parent);                  // goal_transform.cc
void add_extrapolate(CLI::App& parent);            // goal_transform.cc
void add_stats(CLI::App& parent);                  // goal_stats.cc
void add_export(CLI::App& parent);                 // goal_export.cc

// To the standard output.
void print(const std::string& text);

}  // namespace weft::cli
