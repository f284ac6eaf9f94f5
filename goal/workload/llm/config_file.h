// The config.json that models on Hugging Face have, as a shape.
#pragma once

#include <string>

#include "goal/workload/llm/model.h"

namespace weft::goal::llm {

// Throws InputError that names the file and what it lacks, or has that no shape holds (state space layers).
ModelShape read_config_file(const std::string& path);

}  // namespace weft::goal::llm
