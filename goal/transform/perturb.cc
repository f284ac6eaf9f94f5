#include "goal/transform/perturb.h"

#include <memory>
#include <vector>

#include "goal/transform/copy.h"
#include "goal/transform/noise.h"

namespace weft::goal {

Graph perturb(const Graph& graph, std::span<const ModuleChoice> noises, const PerturbOptions& options) {
  std::vector<NoiseMaker> makers;
  for (const ModuleChoice& choice : noises) {
    const NoiseModel& model = find_module(noise_models(), choice, "noise");
    makers.push_back(model.make(Parameters(model.info, choice), graph.ranks(), options.seed, makers.size()));
  }
  std::vector<std::unique_ptr<Noise>> of_rank;
  Rank current = kAny;
  return copy_graph(graph, [&](Rank rank, OpIndex, Op& op) {
    if (op.kind != OpKind::kCalc || (options.cpu && *options.cpu != op.cpu)) return;
    if (options.ranks && !options.ranks->contains(rank)) return;
    if (rank != current) {
      current = rank;
      of_rank.clear();
      for (const NoiseMaker& make : makers) of_rank.push_back(make(rank));
    }
    for (const std::unique_ptr<Noise>& noise : of_rank) op.value = noise->disturb(op.value, op.cpu);
  });
}

}  // namespace weft::goal
