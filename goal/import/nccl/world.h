// Who takes part in a traced NCCL run: its processes, GPUs and communicators, from all files of a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

// A communicator: its members are known from what each of them wrote.
struct NcclComm {
  std::vector<Rank> members;          // ranks of the graph, by rank in the communicator; kAny: no trace of it
  std::uint32_t graph_number = kAny;  // kAny: not all members are known, so nothing in it can be replayed
};

// A communicator as one file defines it.
struct NcclFileComm {
  std::uint32_t comm = kAny;  // in NcclWorld::comms(); kAny: made before the trace began, members unknown
  std::uint32_t rank = 0, size = 0;
  std::int64_t device = -1;
};

struct NcclFileStream {
  std::int64_t device = -1;
  trace::StreamKind kind = trace::StreamKind::kUnknown;
};

// What one process wrote, without the calls.
struct NcclFile {
  std::filesystem::path path;
  TraceHeader header;
  std::vector<NcclFileComm> comms;      // by number, less one
  std::vector<NcclFileStream> streams;  // by number, less one
  std::uint32_t threads = 1;
  // The threads that have to do with a device. A process may drive several GPUs.
  std::map<std::int64_t, std::set<std::uint32_t>> threads_of_device;
  bool complete = false;
  // Only NCCL's profiler interface was seen here, no calls; the communicators are as it knows them, and each
  // has a stream of its number.
  bool profiled_only = false;
};

// One GPU of one process: a rank of the graph.
struct NcclGpu {
  std::size_t file = 0;
  std::int64_t device = -1;
};

class NcclWorld {
 public:
  // Reads nccl-*.wtrc of the folder. With `mpi_ranks` above 0 the process of each MPI rank is the graph's
  // rank of that number, and has at most one GPU. `partial`: take cut files and communicators that lack
  // members. Throws InputError for what is not that, contradicts itself, or lacks a part.
  NcclWorld(const std::filesystem::path& directory, Rank mpi_ranks, bool partial);

  // Makes the graph's communicators.
  void add_communicators(GraphBuilder& builder);

  Rank ranks() const { return static_cast<Rank>(gpus_.size()); }
  // Null for an MPI rank that does not use NCCL.
  const NcclGpu* gpu(Rank rank) const { return gpus_[rank].device == kNoDevice ? nullptr : &gpus_[rank]; }
  const std::vector<NcclFile>& files() const { return files_; }
  const std::vector<NcclComm>& comms() const { return comms_; }

 private:
  static constexpr std::int64_t kNoDevice = -2;
  void read(NcclFile& file, bool partial);
  void define(NcclFile& file, const TraceRecord& record);
  void define_profiled(NcclFile& file, const std::vector<TraceDeviceCall>& profiled);
  void add_comm(NcclFile& file, std::int64_t key, std::int64_t rank, std::int64_t size, std::int64_t device);
  void assign_ranks();
  void assign_mpi_ranks(Rank ranks);
  void find_members(bool partial);

  std::vector<NcclFile> files_;
  std::vector<NcclGpu> gpus_;
  std::vector<NcclComm> comms_;
  std::map<std::uint64_t, std::uint32_t> of_key_;
};

}  // namespace weft::goal
