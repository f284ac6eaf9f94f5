#include "sim/scenario/scenario.h"

namespace weft::sim {

Draft draft_of(const Scenario& scenario) {
  Draft draft;
  static_cast<RunSettings&>(draft) = scenario;
  draft.jobs = scenario.jobs;
  draft.connections = scenario.connections ? to_text(*scenario.connections) : "";
  return draft;
}

Scenario load_scenario(const Registries& registries, const std::string& path,
                       std::span<const Setting> settings) {
  return resolve(read_scenario_file(registries, path, settings), registries);
}

std::string to_text(const Scenario& scenario, const Registries& registries) {
  return to_text(draft_of(scenario), registries);
}

}  // namespace weft::sim
