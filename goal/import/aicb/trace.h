// AICB's tables (CSV) of communications and computations, one row after the other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/training_steps/groups.h"
#include "goal/import/unread.h"

namespace weft::goal {

enum class AicbKind : std::uint8_t { kComputation, kCollective, kMessage, kEpochEnd };

// A matrix multiplication, m x k by k x n.
struct AicbShape {
  std::uint64_t m = 0, n = 0, k = 0;
};

struct AicbRow {
  AicbKind kind = AicbKind::kEpochEnd;
  CollectiveKind collective = CollectiveKind::kBarrier;
  TrainingAxis axis = TrainingAxis::kWorld;
  bool send = false, to_next = false;  // of messages: and whether the neighbor is the next stage
  std::uint64_t bytes = 0;
  std::optional<double> elapsed;   // of computations: nanoseconds or milliseconds
  std::optional<AicbShape> shape;  // likewise
};

// Rows of the ranks that a line before them names; with no such line, of all.
struct AicbSection {
  std::vector<Rank> ranks;
  std::int64_t line = 0;
  std::vector<AicbRow> rows;
};

struct AicbTrace {
  std::vector<AicbSection> sections;
  std::array<std::uint32_t, kTrainingAxes> sizes{};  // ranks in a group of each axis; 0: not said
  std::array<bool, kTrainingAxes> used{};
  bool measured = false;  // a run's log: times of communications stand in it, all in milliseconds
  std::uint64_t assumed_roots = 0;
  std::int64_t first_message = 0;  // its line; 0: there is none
  Unread unread;
};

// Throws InputError with line and column.
AicbTrace parse_aicb(std::string_view text, const std::string& file_name);

// Is it a line of column names?
bool is_aicb_header(std::string_view line);

}  // namespace weft::goal
