// One step of training: from a run of `weft sim`, or as a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::cli {

struct TrainingStep {
  double time_s = 0;
  // Known of runs only: replicas of those of `llm`, parameters of all that train.
  std::string run;
  std::optional<std::uint32_t> gpus, replicas;  // replicas: of data parallelism
  std::optional<double> tokens, parameters;
  std::vector<std::string> remarks;
};

// `text`: the folder of a run, or a time like 3.9s; `of` names it in messages. `steps`: how many the run has,
// where its workload doesn't tell. Throws InputError.
TrainingStep read_training_step(const std::string& text, const std::string& of,
                                std::optional<std::uint64_t> steps);

// Cables of a run's network, but for those inside of nodes and hosts.
std::uint64_t cables_of_run(const std::string& run);

}  // namespace weft::cli
