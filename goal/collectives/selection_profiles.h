// How MPI libraries choose their algorithms, as tables that are part of the program; and NCCL, which
// estimates.
#pragma once

#include <span>
#include <string_view>

#include "goal/collectives/selection_table.h"

namespace weft::goal {

// The first, "default", has no rules. `info.name` is also the name of the table: profiles/NAME.txt; "nccl"
// has none: it goes by nccl::Tuner.
struct SelectionProfile {
  ModuleInfo info;
  std::string_view table;
};
inline constexpr std::string_view kNcclProfile = "nccl";
std::span<const SelectionProfile> selection_profiles();

// The files of profiles/, in the order of their names.
struct ProfileText {
  std::string_view name, text;
};
std::span<const ProfileText> profile_texts();

}  // namespace weft::goal
