// What people should know of a sweep's runs beside its tables.
#pragma once

#include <string>
#include <vector>

#include "tools/sweep/folder.h"
#include "tools/sweep/groups.h"

namespace weft::sweep {

struct Remarks {
  // What the runs warned of, the most frequent first, with how many of those that are done said it. Warnings
  // that differ in nothing but numbers are one.
  std::vector<std::string> warnings;
  // Fields and values that made no difference to time, by the digests of all events: results that are alike
  // because a setting had no effect look as if it had been found not to matter. Signals may differ, as marks
  // do that nobody heeds.
  std::vector<std::string> without_effect;
};
Remarks remarks_of(const Folder& folder, const Outcomes& outcomes);

}  // namespace weft::sweep
