// NCCL's figures for its own estimates. Source: NCCL 2.20.5 and 2.30.7, src/graph/tuning.cc and
// src/graph/search.cc (https://github.com/NVIDIA/nccl). Latencies in us, rates in GB/s.
#pragma once

#include <cstdint>
#include <span>

#include "goal/collectives/nccl/node.h"
#include "goal/collectives/nccl/settings.h"

namespace weft::goal::nccl {

enum class LinkKind : std::uint8_t { kNvlink, kPcie, kNetwork };

struct Tables {
  // [algorithm][protocol]
  double base_us[kAlgorithms][kProtocols];
  // [link][algorithm][protocol]
  double link_us[3][kAlgorithms][kProtocols];
  // [Volta or Intel, Ampere or AMD, Hopper, Blackwell][1 node, 2, more]
  double ll_most[4][3];
  double ring_ll128_per_channel[4];
  double tree_ll128_per_channel[4][3], tree_per_channel[4][3];
  double nvls_tree_per_channel[4][3];
  double nvls_efficiency[4];
  std::uint32_t most_channels;
};
const Tables& tables(Version version);

// Row of a table that goes by the GPU's generation.
int generation(std::uint32_t compute_capability);
// What is left of a tree's rate in an allreduce of so many bytes.
double tree_correction(Protocol protocol, std::uint64_t bytes);
// Rates that the search for rings tries, fastest first.
std::span<const double> ring_rates(std::uint32_t compute_capability, bool between_nodes);

}  // namespace weft::goal::nccl
