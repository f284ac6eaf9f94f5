// Training of a language model: steps of a model in a layout of tensor, context, pipeline, data and expert
// parallelism.
#pragma once

#include <optional>
#include <string>

#include "goal/workload/llm/training.h"
#include "goal/workload/workload.h"

namespace weft::goal {

Workload llm_workload();

namespace llm {

// What the parameters of the workload say, for so many ranks. Throws InputError for a combination that no
// framework would run, with what would fit. `model`: in place of the one that they name.
Training training_of(const Parameters& parameters, std::uint32_t ranks,
                     const std::optional<ModelShape>& model = std::nullopt);

// Replicas of data parallelism that the parameters ask for; 0: they leave it open.
std::uint64_t data_ranks(const Parameters& parameters);

// Ranks of a node, as the parameters or the topology say, else as usual.
std::uint32_t node_ranks(const Parameters& parameters);

// What is to be told of shard groups: how many sharding=hsdp took, or that there is one; else "".
std::string told_of_shards(const Parameters& parameters, const Training& training);

// Which of the parameters given say nothing about this layout; else "".
std::string told_of_idle(const Parameters& parameters, const Training& training);

// What is to be told of `expert_nodes`: how many a token goes to, or why the model's own limit was not taken;
// else "".
std::string told_of_expert_nodes(const Parameters& parameters, const Training& training);

// Which tensor-parallel groups and groups of experts lie on two nodes though one has room for them; else "".
// "" too where nobody says how many ranks a node has.
std::string told_of_straddling(const Parameters& parameters, const Training& training);

// What is to be told of the software that stack=auto took to compute with sharding=fsdp; else "".
std::string told_of_stack(const Parameters& parameters, const Training& training);

// What is to be told of the kernel that attention=auto took, where it is not as for most models; else "".
std::string told_of_attention(const Parameters& parameters, const Training& training);

// How much longer published steps of a model whose attention has sinks are; "" for others.
std::string told_of_sinks(const Training& training);

}  // namespace llm
}  // namespace weft::goal
