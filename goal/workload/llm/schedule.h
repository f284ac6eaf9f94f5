// In which order a pipeline stage runs its micro-batches forward and backward.
//
// Sources: Y. Huang et al., GPipe, NeurIPS 2019; D. Narayanan et al., SC 2021 (1F1B, interleaved), and
// Megatron-LM's schedules.py for the number of micro-batches that run forward first.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::goal::llm {

enum class ScheduleKind : std::uint8_t { kGpipe, kOneForwardOneBackward };

struct Schedule {
  ScheduleKind kind = ScheduleKind::kOneForwardOneBackward;
  std::uint32_t stages = 1, chunks = 1, micro_batches = 1;  // chunks: parts of the model that each stage has
};

struct Action {
  bool backward = false;
  std::uint32_t chunk = 0, micro_batch = 0;
  bool operator==(const Action&) const = default;
};

// What stage `stage` does in a step. REQUIRES: with several chunks, micro_batches is a multiple of stages.
std::vector<Action> actions_of(const Schedule& schedule, std::uint32_t stage);

}  // namespace weft::goal::llm
