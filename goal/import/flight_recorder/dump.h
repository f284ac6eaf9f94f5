// What PyTorch's flight recorder kept of one rank: the last calls of its communication library.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "goal/import/kineto/comm_call.h"
#include "goal/import/unread.h"

namespace weft::goal {

enum class RecordState : std::uint8_t { kScheduled, kStarted, kCompleted };

// Times in ns since 1970; 0: not known.
struct RecordedCall {
  CommCall call;
  std::uint64_t record = 0;     // counts the rank's calls
  std::uint64_t sequence = 0;   // counts the group's collectives, or its messages
  std::uint64_t operation = 0;  // counts the group's operations, also those of a bracket around several
  // What the group's two counters said, of collectives and of messages.
  std::pair<std::uint64_t, std::uint64_t> counters;
  // Calls within a bracket ("nccl:coalesced") begin and end with it: its record + 1; 0: it stands alone.
  std::uint64_t bracket = 0;
  bool message = false;  // a send or receive
  RecordState state = RecordState::kScheduled;
  std::uint64_t created = 0;    // when the host asked for it
  std::uint64_t completed = 0;  // when the host saw that it was over, some time after it was
  std::int64_t duration = -1;   // of the GPU; -1: not timed (TORCH_NCCL_ENABLE_TIMING)
};

struct RankDump {
  std::string path, version;
  std::int64_t rank = -1;  // of the file, else of its name; -1: neither says
  std::vector<GroupName> groups;
  std::vector<RecordedCall> calls;  // in the order of `record`
  Unread unread;                    // members that have no part in the graph
};

// Reads a dump, pickle or JSON. Throws InputError for what is none.
RankDump read_dump(const std::string& path);
// By its first bytes.
bool looks_like_dump(const std::string& path);

}  // namespace weft::goal
