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
  std::string_view library =
      {};  // how the versions of the MPI library begin whose rules these are; "": nobody's
};
inline constexpr std::string_view kNcclProfile = "nccl";
// By which collectives of a graph go that names no library, or one that isn't known: by kind, ranks and size.
// R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH",
// IJHPCA 19(1), 2005.
inline constexpr std::string_view kUsualProfile = "mpich";
// The rules of an MPI library by the text of its version, "Open MPI v4.1.4, …"; null of one that isn't known,
// and of "".
const SelectionProfile* profile_of_library(std::string_view version);
// Its name; the usual one of a library that isn't known.
std::string_view profile_name_of_library(std::string_view version);
std::span<const SelectionProfile> selection_profiles();

// The files of profiles/, in the order of their names.
struct ProfileText {
  std::string_view name, text;
};
std::span<const ProfileText> profile_texts();

}  // namespace weft::goal
