// What replicas of a model share: a device that computes, and gradients that are all-reduced in buckets.
//
// Source: S. Li et al., PyTorch Distributed, VLDB 2020, and DistributedDataParallel of PyTorch 2.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "goal/workload/compute/device.h"
#include "goal/workload/llm/emitter.h"
#include "sim/units/module.h"

namespace weft::goal {

// What computes, as the parameters `precision`, `device` and `efficiency` say. All times are nanoseconds.
class Processor {
 public:
  // Throws InputError.
  explicit Processor(const Parameters& parameters);

  // groups products of m x k by k x n.
  double product_ns(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::uint64_t groups = 1) const {
    return device_.gemm_ns({m, n, k, groups, precision_}) / efficiency_;
  }
  // By inputs and by weights; the first layer has no gradient of its inputs.
  double product_backward_ns(std::uint64_t m, std::uint64_t n, std::uint64_t k, bool first) const {
    return product_ns(k, n, m) + (first ? 0 : product_ns(m, k, n));
  }
  double memory_ns(double bytes) const { return device_.memory_ns(bytes) / efficiency_; }
  // So many activations read or written.
  double activations_ns(double values) const { return memory_ns(activation_bytes_ * values); }
  std::uint64_t activation_bytes() const { return activation_bytes_; }
  const Device& device() const { return device_; }
  Precision precision() const { return precision_; }

 private:
  const Device& device_;
  Precision precision_ = Precision::kBf16;
  double efficiency_ = 1;
  std::uint64_t activation_bytes_ = 2;
};

inline constexpr std::uint64_t kWeightBytes = 4;  // fp32, as the optimizer has them
inline constexpr std::uint64_t kFirstBucketBytes = 1u << 20;

// Bytes that SGD moves for a weight, all in fp32: gradient and weight read, the weight written; with momentum
// that is read and written, too.
inline constexpr double kSgdBytes = 12, kMomentumBytes = 20;

// How gradients are reduced, as the parameters `bucket` and `gradients` say.
struct Buckets {
  // Throws InputError.
  Buckets(const Parameters& parameters, std::uint32_t number_of_ranks);

  std::uint32_t ranks;
  std::uint64_t limit_bytes;     // of the weights in fp32
  std::uint64_t gradient_bytes;  // sent for each
};

// A workload's own parameters, and behind them those that all of these have: of Buckets and Processor,
// iterations, ranks. `efficiency` is by default what whole steps were found to reach.
std::vector<ParameterSpec> with_replica_parameters(std::vector<ParameterSpec> own, ParameterSpec efficiency);

// The communicators of the graph, in the order in which replica_graph makes them.
inline constexpr std::uint32_t kReplicas = 1, kTables = 2;

// All-reduces gradients over all ranks beside the backward pass. A bucket is full with the tensor with which
// it reaches its limit, the first of a step 1 MiB, in the order in which backward makes the gradients.
class Reducer {
 public:
  Reducer(llm::Emitter& emitter, const Buckets& buckets) : emitter_(emitter), buckets_(buckets) { begin(); }
  // The next tensor's gradients are there, behind what was computed so far.
  void gradient(std::uint64_t weights);
  // Sends the rest.
  void flush();
  // Sends the rest, and lets what is computed from here on wait for all of it. A new step begins.
  void finish();

 private:
  void begin();

  llm::Emitter& emitter_;
  const Buckets& buckets_;
  std::uint64_t weights_ = 0, limit_bytes_ = 0;
};

// The cpus of the program's chains: computation, all-reduces and what ends a step, all-to-all.
std::array<std::uint16_t, llm::kChains> replica_cpus();

// A builder with communicators of all ranks by these names.
GraphBuilder with_communicators(std::uint32_t ranks, std::span<const char* const> names);

// The graph in which rank r runs what program(r, emitter) writes. REQUIRES: the ranks have as many
// operations and dependencies as rank 0, or fewer.
template <typename Program>
Graph replica_graph(std::uint32_t ranks, std::span<const char* const> communicators, const Program& program) {
  llm::Emitter counted(nullptr, replica_cpus());
  program(0, counted);
  counted.end_rank();
  GraphBuilder builder = with_communicators(ranks, communicators);
  builder.reserve(counted.ops() * ranks, counted.edges() * ranks);
  llm::Emitter emitter(&builder, replica_cpus());
  for (Rank rank = 0; rank < ranks; ++rank) {
    program(rank, emitter);
    emitter.end_rank();
  }
  return builder.finish();
}

}  // namespace weft::goal
