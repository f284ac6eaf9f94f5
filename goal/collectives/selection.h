// Which algorithm a collective operation uses: what the scenario asks for.
#pragma once

#include <array>
#include <string>

#include "goal/collectives/steps.h"

namespace weft::goal {

// Every rank of a communicator gets the same answer, so it depends only on what all of them know.
class CollectiveSelection {
 public:
  // Each kind's default.
  CollectiveSelection();
  // `forced`: per kind an algorithm ("ring:segment=1MiB"), or empty for the default. Throws InputError.
  explicit CollectiveSelection(const std::array<std::string, kCollectiveKinds>& forced);

  // For a call of `collective` on a communicator of `ranks` ranks. Good as long as the selection.
  // Throws InputError if the algorithm can't be used by so many.
  const ChosenAlgorithm& choose(const Collective& collective, std::uint32_t ranks) const;

 private:
  std::array<ChosenAlgorithm, kCollectiveKinds> chosen_;
};

}  // namespace weft::goal
