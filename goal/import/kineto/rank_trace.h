// What is kept of one rank's profile: when its threads and GPU were busy with what.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "goal/import/kineto/comm_call.h"
#include "goal/import/unread.h"

namespace weft::goal {

inline constexpr std::uint32_t kNoCall = 0xFFFFFFFFu;
inline constexpr std::uint64_t kNoCorrelation = 0;

enum class HostKind : std::uint8_t {
  kOp,          // compute
  kComm,        // asks a GPU's library for communication: record_param_comms (call)
  kHostComm,    // is communication of the host: gloo:all_reduce (call)
  kAnnotation,  // says more of a kComm around it: nccl:all_reduce (call)
  kApi,         // a call of the GPU's runtime that may start something there
  kMemcpy,      // such a call that may wait for its copy
  kStreamSync,
  kEventSync,
  kDeviceSync,
  kStreamWait,  // one stream waits for what was recorded on another
  kEventRecord,
};

// An event of a thread; times in ns.
struct HostEvent {
  std::int64_t start = 0, end = 0;
  std::uint64_t correlation = kNoCorrelation;  // with what it starts on the GPU
  std::uint32_t thread = 0;
  std::uint32_t call = kNoCall;
  HostKind kind = HostKind::kOp;
};

// A kernel, copy or fill of a GPU.
struct GpuEvent {
  std::int64_t start = 0, end = 0;
  std::uint64_t correlation = kNoCorrelation;
  std::uint32_t stream = 0;
  std::uint32_t call = kNoCall;  // of a kernel that carries its own arguments
  bool communicates = false;
};

// "Stream Wait Event" and its kin, where the profiler was told to record them.
struct SyncRecord {
  std::uint64_t correlation = kNoCorrelation;  // of the host's call
  std::int64_t stream = -1, wait_on_stream = -1;
  std::uint64_t record_correlation = kNoCorrelation;  // of the call that recorded the event
};

struct StepRange {
  std::int64_t number = 0, start = 0, end = 0;
};

// One rank's file, read.
struct RankTrace {
  std::string path;
  std::int64_t rank = -1, world = -1;  // of distributedInfo; -1: not said
  bool names_no_rank = false;          // there is a distributedInfo, and it says no rank
  std::string other_schema;            // the schemaVersion, if it is another one than PyTorch's 1
  std::string backend;
  std::vector<GroupName> groups;  // process groups that distributedInfo lists
  std::vector<HostEvent> host;
  std::vector<GpuEvent> gpu;
  std::vector<SyncRecord> syncs;
  std::vector<CommCall> calls;
  // Gives the index of a call by the id of the function call that PyTorch recorded (rf_id of an execution
  // trace).
  std::unordered_map<std::uint64_t, std::uint32_t> call_of_function;
  std::vector<StepRange> steps;
  std::vector<std::int64_t> stream_numbers;  // of each stream index, as in the trace
  std::uint32_t threads = 0;
  std::map<std::string, std::uint64_t> other_events;         // by category
  std::map<std::string, std::uint64_t> other_communication;  // kernels of other libraries, by name
  // Members of the file, of distributedInfo, of events, and arguments of those that are taken.
  Unread unread;
  std::uint64_t broken_events = 0;  // without a time, or that end before they begin
};

}  // namespace weft::goal
