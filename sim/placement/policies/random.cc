#include "sim/units/random.h"

#include <algorithm>

#include "sim/placement/policies/built_in.h"
#include "sim/placement/policies/nodes.h"

namespace weft::placement {
namespace {

Outcome place_at_random(const Setup& setup) {
  const std::uint32_t needed = setup.request.nodes();
  std::vector<std::uint32_t> free = list_free(setup.machine);
  if (free.size() < needed) return too_few(needed, static_cast<std::uint32_t>(free.size()));
  RandomStream stream(setup.request.seed, 0, kRandomPurpose);
  shuffle(free, stream);
  free.resize(needed);
  if (choose_word(setup.parameters, "order", {"random", "sorted"}) == 1) std::sort(free.begin(), free.end());
  return deal_ranks(setup, free);
}

}  // namespace

Policy random() {
  return {
      .info = {.name = "random",
               .summary = "Any free hosts, in any order, all choices equally likely.",
               .source = "N. Jain, A. Bhatele, X. Ni, N. J. Wright, L. V. Kale, Maximizing throughput on a "
                         "dragonfly network, SC 2014",
               .parameters = with_distribution(
                   {{"order", ParameterType::kText, "random",
                     "Of the hosts drawn: random, or sorted by number, as a scheduler without regard to the "
                     "network leaves them.",
                     one_of({"random", "sorted"})}}),
               .about = "Spreads a job over the whole network, so that it uses all links evenly and shares "
                        "them with everyone. Good against hot spots where links between groups are few, bad "
                        "for neighbours and for jobs that talk to near ranks."},
      .place = place_at_random};
}

}  // namespace weft::placement
