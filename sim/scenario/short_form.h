// Modules that a scenario names in a text field, with their parameters: "pipelined_chain:segment=64KiB".
#pragma once

#include <string>
#include <vector>

#include "sim/units/module.h"

namespace weft::sim {

// parse_module_choice(), with errors at `location`.
ModuleChoice read_short_form(const std::string& text, const SourceLocation& location);

// Throws InputError unless `text` is one of `all`, which are each a `kind`, with parameters that it has.
void check_one_of(const std::vector<const ModuleInfo*>& all, const std::string& kind, const std::string& text,
                  const SourceLocation& location);

}  // namespace weft::sim
