// Training of a language model: steps of a model in a layout of tensor, context, pipeline, data and expert
// parallelism.
#pragma once

#include "goal/workload/llm/training.h"
#include "goal/workload/workload.h"

namespace weft::goal {

Workload llm_workload();

namespace llm {

// What the parameters of the workload say, for so many ranks. Throws InputError for a combination that no
// framework would run, with what would fit.
Training training_of(const Parameters& parameters, std::uint32_t ranks);

}  // namespace llm
}  // namespace weft::goal
