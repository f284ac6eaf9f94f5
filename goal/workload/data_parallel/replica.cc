#include "goal/workload/data_parallel/replica.h"

#include <algorithm>
#include <numeric>

#include "goal/workload/compute/device_choice.h"
#include "goal/workload/compute/efficiency.h"
#include "goal/workload/compute/overlap.h"
#include "goal/workload/phases.h"
#include "goal/workload/workload.h"

namespace weft::goal {
namespace {

Precision precision_of(const Parameters& parameters, const char* name) {
  return parameters.text(name) == "fp32" ? Precision::kFp32 : Precision::kBf16;
}

std::uint64_t bytes_of(Precision precision) { return precision == Precision::kFp32 ? 4 : 2; }

}  // namespace

Processor::Processor(const Parameters& parameters)
    : device_(device_of(parameters)),
      precision_(precision_of(parameters, "precision")),
      efficiency_(efficiency(parameters, device_)),
      activation_bytes_(bytes_of(precision_)) {}

Buckets::Buckets(const Parameters& parameters, std::uint32_t number_of_ranks)
    : ranks(number_of_ranks),
      limit_bytes(parameters.bytes("bucket")),
      gradient_bytes(bytes_of(precision_of(parameters, "gradients"))) {}

std::vector<ParameterSpec> with_replica_parameters(std::vector<ParameterSpec> own, ParameterSpec efficiency) {
  const std::vector<ParameterSpec> common = {
      {"bucket", ParameterType::kBytes, "25MiB",
       "Gradients that are all-reduced together, counted in fp32; the first of a step are 1 MiB at most."},
      {"gradients", ParameterType::kText, "fp32", "Format in which gradients are reduced.",
       one_of({"fp32", "bf16"})},
      {"precision", ParameterType::kText, "bf16",
       "Of products and activations; fp16 takes the times of bf16.", one_of({"bf16", "fp16", "fp32"})},
      device_parameter(),
      std::move(efficiency),
      overlap_slowdown_parameter(),
      iterations_parameter("1000000"),
      ranks_parameter()};
  own.insert(own.end(), common.begin(), common.end());
  return own;
}

void Reducer::begin() { limit_bytes_ = std::min(kFirstBucketBytes, buckets_.limit_bytes); }

void Reducer::gradient(std::uint64_t weights) {
  weights_ += weights;
  if (weights_ * kWeightBytes >= limit_bytes_) flush();
}

void Reducer::finish() {
  flush();
  emitter_.wait(emitter_.last(llm::Chain::kReduce));
  begin();
}

void Reducer::flush() {
  if (buckets_.ranks > 1 && weights_ > 0) {
    const Collective allreduce{.kind = CollectiveKind::kAllreduce,
                               .comm = kReplicas,
                               .bytes = weights_ * buckets_.gradient_bytes,
                               .element_bytes = static_cast<std::uint32_t>(buckets_.gradient_bytes)};
    emitter_.collective(llm::Chain::kReduce, allreduce, emitter_.computed());
  }
  weights_ = 0;
  limit_bytes_ = buckets_.limit_bytes;
}

std::array<std::uint16_t, llm::kChains> replica_cpus() {
  std::array<std::uint16_t, llm::kChains> cpus{};
  cpus[static_cast<std::size_t>(llm::Chain::kReduce)] = 1;
  cpus[static_cast<std::size_t>(llm::Chain::kStep)] = 1;
  cpus[static_cast<std::size_t>(llm::Chain::kExpert)] = 2;
  return cpus;
}

GraphBuilder with_communicators(std::uint32_t ranks, std::span<const char* const> names) {
  std::vector<Rank> all(ranks);
  std::iota(all.begin(), all.end(), Rank{0});
  GraphBuilder builder;
  for (const char* name : names) builder.add_communicator({name, all});
  return builder;
}

}  // namespace weft::goal
