// What a command line can hold, as data: what the help, the manual pages and the shells' completion are made
// of.
#pragma once

#include <string>
#include <vector>

namespace weft::cli {

struct OptionEntry {
  std::vector<std::string> names;  // "-o", "--output"; of a positional argument its name, "FILE"
  std::string value;               // what stands for its value, "TEXT", "N"; "" for a flag
  std::string default_value;       // where the help shows one
  std::string help;
  std::vector<std::string> excludes;  // names of options that can't be given beside it
  bool positional = false, required = false, many = false;
};

struct CommandEntry {
  std::string name, description, footer;
  std::vector<OptionEntry> options;
  std::vector<CommandEntry> subcommands;  // hidden ones are left out
  bool needs_subcommand = false;
};

}  // namespace weft::cli
