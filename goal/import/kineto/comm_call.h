// What a training program asked its communication library for, as PyTorch's profiler writes it down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/json/json_value.h"

namespace weft::goal {

enum class CommKind : std::uint8_t {
  kUnknown,     // its name says nothing to us
  kNone,        // moves nothing: wait, init, the bracket around a group of calls
  kCollective,  // CommCall::collective
  kSend,
  kRecv,
};

// A process group as one call names it. What is not said is empty or -1.
struct GroupName {
  std::string name;
  std::vector<Rank> ranks;
  std::int64_t size = -1, start = -1, stride = -1;
  bool operator==(const GroupName&) const = default;
};

struct CommCall {
  CommKind kind = CommKind::kUnknown;
  CollectiveKind collective = CollectiveKind::kBarrier;
  std::string name;  // as written: "_allgather_base"
  GroupName group;
  std::uint64_t in_bytes = 0, out_bytes = 0;
  bool sized = false;  // were in_bytes and out_bytes there?
  std::uint32_t element_bytes = 1;
  bool known_type = true;
  std::string type;  // as written, of elements whose type is not known
  // Shares of each member of an all-to-all; empty: equal ones.
  std::vector<std::uint64_t> in_split, out_split;
  bool cut_split = false;    // the profiler kept only the beginning of a list
  bool tells_splits = true;  // would they be there if they weren't equal?
  std::int64_t root = -1;    // rank in the group
  bool joined = false;       // from an execution trace, which tells more than a profile
  std::int64_t peer = -1;    // world rank of a message's other end
};

// "allreduce", "nccl:all_reduce", "_reduce_scatter_base", "c10d::broadcast_",
// "ncclDevKernel_AllGather_RING_LL": what they do.
void read_comm_name(std::string_view name, CommCall& call);
// Bytes of an element of "Float", "c10::BFloat16", "long int", "bf16" …; nothing if not known.
std::optional<std::uint32_t> bytes_of_type(std::string_view type);
// "[0, 1, 2]"; `cut` if it ends in "...". Nothing if it is no such list.
std::optional<std::vector<std::uint64_t>> read_list(std::string_view text, bool& cut);
// The arguments of a record_param_comms, or of a kernel that carries the same. Is there a collective's name?
bool read_comm_args(JsonValue args, CommCall& call);
// "nccl:all_to_all" and its kin, whose arguments are only the shapes and types of its inputs.
void read_annotation(std::string_view name, JsonValue args, CommCall& call);

}  // namespace weft::goal
