// In which order a pipeline stage runs its micro-batches forward and backward, and which parts of the model
// it has for that.
//
// Sources: Y. Huang et al., GPipe, NeurIPS 2019; D. Narayanan et al., SC 2021 (1F1B, interleaved), and
// Megatron-LM's schedules.py for the number of micro-batches that run forward first. Those that divide
// backward into gradients by inputs and by weights are in zero_bubble.h.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::goal::llm {

enum class ScheduleKind : std::uint8_t {
  kGpipe,
  kOneForwardOneBackward,
  kZb1p,
  kZb2p,
  kZbV,
  kDualPipe,
};

struct Schedule {
  ScheduleKind kind = ScheduleKind::kOneForwardOneBackward;
  // chunks: parts of the model that each stage has. Of micro-batches DualPipe sends one half through the
  // stages from either end.
  std::uint32_t stages = 1, chunks = 1, micro_batches = 1;

  // Stages go through a step one behind the other, and don't wait for each other at its end.
  bool staggered() const { return kind == ScheduleKind::kZb2p || kind == ScheduleKind::kZbV; }
  // Every part of the model is in two stages: s and stages-1-s.
  bool mirrored() const { return kind == ScheduleKind::kDualPipe; }
  bool divides_backward() const { return staggered() || mirrored() || kind == ScheduleKind::kZb1p; }
  // The model's first part and its last are in different stages.
  bool ends_apart() const { return stages > 1 && !mirrored() && kind != ScheduleKind::kZbV; }

  // Parts that the model is divided into, in the order forward.
  std::uint32_t parts() const { return mirrored() ? stages : stages * chunks; }
  // Which of them is the stage's chunk.
  std::uint32_t number(std::uint32_t stage, std::uint32_t chunk) const;
  // Where part `number` is for the micro-batches of that chunk of that stage.
  std::uint32_t stage_of(std::uint32_t number, std::uint32_t stage, std::uint32_t chunk) const;
  // Micro-batches that go through each chunk.
  std::uint32_t of_chunk() const { return mirrored() ? micro_batches / 2 : micro_batches; }
};

enum class Work : std::uint8_t {
  kForward,
  kBackward,  // both of the next, in one
  kInputs,    // gradients by inputs, which the stage before waits for
  kWeights,   // gradients by weights, which nothing waits for but the step's end
};

struct Action {
  Work work = Work::kForward;
  std::uint32_t chunk = 0, micro_batch = 0;
  bool with_next = false;  // it and the next one run together: what one sends is hidden behind the other
  bool operator==(const Action&) const = default;
};

// What stage `stage` does in a step. REQUIRES: with several chunks, micro_batches is a multiple of stages if
// they are interleaved; of DualPipe stages and micro_batches are even, the latter 2 · stages or more.
std::vector<Action> actions_of(const Schedule& schedule, std::uint32_t stage);

// Chunks that the stage keeps activations of, at most: those gone forward, until the gradients of their
// weights are there.
std::uint32_t most_in_flight(const Schedule& schedule, std::uint32_t stage);

}  // namespace weft::goal::llm
