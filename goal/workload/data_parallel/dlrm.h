// Training of DLRM, Facebook's recommendation model: tables of embeddings divided among ranks, layers as
// replicas.
//
// Sources: M. Naumov et al., Deep Learning Recommendation Model for Personalization and Recommendation
// Systems, 2019; sizes of MLPerf's benchmark (facebookresearch/dlrm, bench/run_and_time.sh).
#pragma once

#include <cstdint>
#include <vector>

#include "goal/workload/workload.h"

namespace weft::goal {

// A fully connected layer.
struct DenseLayer {
  std::uint32_t in = 0, out = 0;
  std::uint64_t weights() const { return std::uint64_t{in} * out; }
};

// The layers, without the tables.
struct DlrmShape {
  // Throws InputError. `tables` of embeddings with `dim` values each.
  DlrmShape(const Parameters& parameters, std::uint32_t number_of_tables, std::uint32_t dim_of_tables);

  std::uint32_t features = 0;  // that interact, all with all: tables, and what the bottom layers make
  std::uint32_t dim = 0;
  std::vector<DenseLayer> bottom, top;

  std::uint32_t top_inputs() const { return dim + features * (features - 1) / 2; }
  std::uint64_t parameters() const;
  // Multiplications with additions, forward, of a sample. Interactions are counted as they are multiplied:
  // all pairs.
  std::uint64_t multiply_adds() const;
};

Workload dlrm_workload();

}  // namespace weft::goal
