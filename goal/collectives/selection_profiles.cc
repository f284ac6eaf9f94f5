#include "goal/collectives/selection_profiles.h"

#include <algorithm>
#include <vector>

namespace weft::goal {
namespace {

std::string_view table_of(std::string_view profile) {
  const auto all = profile_texts();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const ProfileText& text) { return text.name == profile; });
  return found == all.end() ? std::string_view() : found->text;
}

std::vector<SelectionProfile> list_profiles() {
  std::vector<SelectionProfile> all = {
      {{"default", "The first algorithm of each kind, whatever the size.", "Weft", {}}, {}},
      {{"openmpi",
        "The fixed decision rules of Open MPI 4.1 for commutative operations.",
        "Open MPI 4.1, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c",
        {}},
       {}},
      {{"mpich",
        "The default rules of MPICH 4, with one process a node.",
        "MPICH 4, src/mpi/coll/coll_selection.json",
        {}},
       {}},
  };
  for (SelectionProfile& profile : all) profile.table = table_of(profile.info.name);
  return all;
}

}  // namespace

std::span<const SelectionProfile> selection_profiles() {
  static const std::vector<SelectionProfile> kAll = list_profiles();
  return kAll;
}

}  // namespace weft::goal
