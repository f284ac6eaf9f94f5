// Schedules that divide backward in two: gradients by inputs (B), which the stage before waits for, and by
// weights (W), which fill what would be bubbles.
//
// Sources: P. Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024 (ZB-H1 and ZB-H2, here zb1p and zb2p);
// P. Qi et al., Pipeline Parallelism with Controllable Memory, NeurIPS 2024 (ZB-V); DeepSeek-AI, DeepSeek-V3
// Technical Report, 2024, section 3.2.1, and DualPipe's sources for the number of chunks in each phase.
#pragma once

#include "goal/workload/llm/schedule.h"

namespace weft::goal::llm {

// zb1p: as many micro-batches in flight as the first stage of 1F1B has, in every stage. zb2p: twice that but
// one, with which stages are never idle if F, B and W take as long.
std::vector<Action> zero_bubble(const Schedule& schedule, std::uint32_t stage);
// The model in twice as many parts, down the stages and up again; in flight: two chunks of each stage.
std::vector<Action> zero_bubble_v(const Schedule& schedule, std::uint32_t stage);
// From both ends at once; forward of one direction runs together with backward of the other.
std::vector<Action> dual_pipe(const Schedule& schedule, std::uint32_t stage);

}  // namespace weft::goal::llm
