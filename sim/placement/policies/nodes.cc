#include "sim/placement/policies/nodes.h"

#include <fmt/core.h>

#include <algorithm>

namespace weft::placement {

std::vector<ParameterSpec> with_distribution(std::vector<ParameterSpec> parameters) {
  parameters.push_back({"distribution", ParameterType::kText, "block",
                        "How ranks go to nodes, as srun's --distribution: block fills one after the other, "
                        "cyclic deals one rank to each in turn.",
                        one_of({"block", "cyclic"})});
  return parameters;
}

Outcome deal_ranks(const Setup& setup, const std::vector<std::uint32_t>& nodes) {
  const bool cyclic = choose_word(setup.parameters, "distribution", {"block", "cyclic"}) == 1;
  Outcome outcome;
  outcome.hosts.resize(setup.request.ranks);
  for (std::uint32_t r = 0; r < setup.request.ranks; ++r) {
    outcome.hosts[r] = nodes[cyclic ? r % nodes.size() : r / setup.request.ranks_per_node];
  }
  return outcome;
}

std::vector<std::uint32_t> list_free(const Machine& machine) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t h = 0; h < machine.state.size(); ++h) {
    if (machine.is_free(h)) list.push_back(h);
  }
  return list;
}

Outcome too_few(std::uint32_t needed, std::uint32_t free) {
  return {{}, fmt::format("{} hosts are needed, and {} are free", needed, free)};
}

std::size_t choose_word(const Parameters& parameters, const std::string& name,
                        const std::vector<std::string>& words) {
  return static_cast<std::size_t>(std::ranges::find(words, parameters.text(name)) - words.begin());
}

}  // namespace weft::placement
