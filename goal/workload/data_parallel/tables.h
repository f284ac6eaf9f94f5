// Tables of embeddings that are divided among ranks, whole or by columns.
//
// Sources: M. Naumov et al., Deep Learning Recommendation Model, 2019; D. Mudigere et al., Software-Hardware
// Co-design for Fast and Scalable Training of Deep Learning Recommendation Models, ISCA 2022.
#pragma once

#include <cstdint>
#include <vector>

#include "goal/workload/workload.h"

namespace weft::goal {

struct EmbeddingTable {
  std::uint64_t rows = 0;
  std::uint32_t lookups = 1;  // rows that are summed for a sample
};

// What one rank has of a table.
struct TablePart {
  std::uint32_t table = 0;
  std::uint64_t rows = 0;
  std::uint32_t columns = 0, lookups = 1;
  std::uint64_t bytes() const { return rows * columns * sizeof(float); }
};

// What a rank has, and what it does for a batch.
struct TableRank {
  std::vector<TablePart> parts;
  std::uint64_t bytes = 0;
  std::uint64_t columns = 0;    // of all parts: what is sent for a sample, in values
  std::uint64_t looked_up = 0;  // values that are summed for a sample

  void add(const TablePart& part);
  // Values of different rows that a batch touches, at most: a row that is looked up twice counts once.
  std::uint64_t touched(std::uint64_t batch) const;
};

// Tables, and which rank has what of them, as parameters say.
struct EmbeddingTables {
  static std::vector<ParameterSpec> parameters();
  // Throws InputError.
  EmbeddingTables(const Parameters& parameters, std::uint32_t number_of_ranks);
  // Throws InputError that says what would do where a rank has more.
  void check_memory(const Parameters& parameters, double device_bytes) const;

  std::uint64_t rows() const;
  std::uint64_t weights() const { return rows() * dim; }
  std::uint64_t most_bytes() const;

  std::uint32_t dim = 0;    // values of an embedding
  std::uint32_t parts = 1;  // that each table is divided in, by columns
  std::vector<EmbeddingTable> tables;
  std::vector<TableRank> ranks;
};

}  // namespace weft::goal
