// The program of one rank: steps of training, each a schedule of micro-batches, then the optimizer.
//
// Sources: M. Shoeybi et al., Megatron-LM, 2019 (tensor parallelism); V. Korthikanti et al., 2022 (sequence
// parallelism); S. Rajbhandari et al., ZeRO, SC 2020; Y. Zhao et al., PyTorch FSDP, VLDB 2023; H. Liu et al.,
// Ring Attention, 2023; D. Lepikhin et al., GShard, 2020 (experts).
#pragma once

#include "goal/graph/graph.h"
#include "goal/workload/llm/times.h"
#include "goal/workload/llm/training.h"

namespace weft::goal::llm {

// The graph of all ranks. Throws NotEnoughMemory if there is no room for it.
Graph training_graph(const Training& training);
// With other times for the parts of layers than the device's.
Graph training_graph(const Training& training, const Times& times);

// Parts of the operations' sizes that others want to check: bytes that a rank sends in the ring for each
// layer and step, and to each rank of an all-to-all, to the experts and back.
std::uint64_t key_value_bytes(const Training& training);
std::uint64_t dispatch_bytes(const Training& training);
std::uint64_t combine_bytes(const Training& training);

}  // namespace weft::goal::llm
