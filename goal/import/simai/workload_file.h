// Workload files of ASTRA-sim 1.0 and SimAI: a line for each layer, with times and collectives of three
// passes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/unread.h"

namespace weft::goal {

// How layers follow each other, the first word of a file.
enum class SimaiLoop : std::uint8_t {
  kData,
  kModel,
  kDataModel,
  kModelData,
  kCustomized,
  kTransformer,
  kTransformerForwardInBackward,
  kDlrm,
  kDlrmEnhanced,
  kInference,
  kMicro,
};
// "DATA", "HYBRID_TRANSFORMER" …; nothing for another word.
std::optional<SimaiLoop> simai_loop(std::string_view word);

// What a collective's name ends in: nothing, "_EP" or "_DP_EP".
enum class SimaiGroup : std::uint8_t { kOfPass, kExpert, kExpertData };

struct SimaiCollective {
  CollectiveKind kind = CollectiveKind::kBarrier;  // kBarrier: none
  SimaiGroup group = SimaiGroup::kOfPass;
  std::uint64_t bytes = 0;
  bool empty() const { return kind == CollectiveKind::kBarrier; }
};

struct SimaiPass {
  std::uint64_t ns = 0;
  SimaiCollective collective;
};

struct SimaiLayer {
  SimaiPass forward, input_gradients, weight_gradients;
  std::uint64_t update_ns = 0;  // behind each of its collectives
  SimaiLoop loop = SimaiLoop::kData;
  bool checkpoint = false;  // where recomputation may begin
  bool recomputes = false;  // backward begins with forward again, from the last checkpoint
};

struct SimaiWorkload {
  SimaiLoop loop = SimaiLoop::kData;
  // 0: not said.
  std::uint64_t tensor = 0, expert = 0, pipeline = 0, gpus = 0;
  std::uint64_t last_bottom_layer = 0;  // of DLRM
  std::vector<SimaiLayer> layers;
  Unread unread;
};

// Throws InputError with line and column.
SimaiWorkload parse_simai(std::string_view text, const std::string& file_name);

}  // namespace weft::goal
