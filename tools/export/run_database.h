// The results.sqlite of a run, of which nothing is trusted (sim/units/foreign_database.h).
#pragma once

#include <string>

#include "sim/units/foreign_database.h"

namespace weft::tools {

class RunDatabase : public ForeignDatabase {
 public:
  // `run`: the folder of a run, or the file in it. Throws InputError, as everything there does.
  explicit RunDatabase(const std::string& run);
};

}  // namespace weft::tools
