// An Nsight Systems report, exported to SQLite: NCCL calls that NVTX ranges describe, and GPU kernels.
//
// Source: NVIDIA Nsight Systems User Guide, "SQLite Schema Reference"; the texts of the ranges are those of
// the NCCL that ATLAHS instruments (Shen et al., "ATLAHS: An Application-centric Network Simulator Toolchain
// for AI, HPC, and Distributed Storage", SC 2025).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/unread.h"

namespace weft::goal {

// What an NCCL call, or its kernel, does.
enum class NcclKind : std::uint8_t {
  kAllReduce,
  kBroadcast,
  kReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kSend,
  kRecv,
  kSendRecv,  // of kernels: sends and receives of one group
  kGroupStart,
  kGroupEnd,
  kOther,  // a kernel of NCCL that is not known
};

struct NcclCall {
  NcclKind kind = NcclKind::kOther;
  std::uint64_t communicator = 0;  // hash
  std::uint64_t stream = 0;        // handle
  std::uint64_t bytes = 0;
  std::uint32_t element_bytes = 1;
  std::uint32_t peer = 0;                  // or the root
  std::uint64_t start_ns = 0, end_ns = 0;  // on the CPU
  std::uint32_t group = 0;                 // number of the group of calls it is in; 0: none
};

struct GpuKernel {
  NcclKind kind = NcclKind::kOther;
  std::uint64_t start_ns = 0, end_ns = 0;
};

// One process of a report.
struct NsysProcess {
  std::string file;
  std::uint64_t pid = 0;
  std::vector<NcclCall> calls;                              // by start
  std::map<std::uint64_t, std::vector<GpuKernel>> kernels;  // NCCL's, by stream and start
  std::map<std::uint64_t, std::uint32_t> rank_in;  // by communicator, where the report has its making
  std::map<std::uint64_t, std::uint32_t> size_of;
  std::uint64_t begin_ns = UINT64_MAX, end_ns = 0;  // of the kernels and calls, or as marked
  std::uint64_t other_kernels = 0, other_ns = 0;    // on the GPU, but not NCCL's
  std::optional<std::uint64_t> marked_begin_ns, marked_end_ns;
};

struct NsysNotes {
  std::uint64_t broken_times = 0;  // calls and kernels that begin below 0 or end before they begin
  std::uint64_t other_ranges = 0;  // NVTX ranges that are not of this kind
  // Tables that have rows, and columns, by how many reports have them; words of ranges, by how many ranges
  // do.
  Unread unread;
  std::uint64_t outside_marks = 0;  // calls and NCCL kernels before the start mark or behind the stop mark
};

// Does the file look like such a report? Looks at its tables only.
bool is_nsys_report(const std::string& path);
// The processes of a report that have NCCL calls or kernels, by pid.
std::vector<NsysProcess> read_nsys_report(const std::string& path, NsysNotes& notes);

// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)"; none for kernels that are not NCCL's.
std::optional<NcclKind> nccl_kernel_kind(std::string_view name);

}  // namespace weft::goal
