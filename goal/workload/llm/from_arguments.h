// A training run as Megatron-LM's or torchtitan's arguments describe it.
//
// Sources: Megatron-LM's arguments.py (names, defaults); torchtitan's config files of Llama 3.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "goal/workload/llm/model.h"

namespace weft::goal::llm {

struct FromArguments {
  std::map<std::string, std::string> parameters;  // of the workload
  std::optional<ModelShape> model;                // if it isn't one known by name
  std::vector<std::string> remarks;               // what was not read, and what was guessed
};

// A file whose name ends in .toml is torchtitan's, any other Megatron-LM's. Throws InputError, with the line,
// for values that the workload has no counterpart for.
FromArguments read_arguments(const std::string& path);

}  // namespace weft::goal::llm
