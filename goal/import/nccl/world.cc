#include "goal/import/nccl/world.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "goal/import/mpi/trace_files.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

namespace fs = std::filesystem;
using trace::DeviceFunction;
using trace::DeviceShape;

DeviceShape shape_of(const TraceRecord& record) {
  return trace::device_function_info(record.device.function).shape;
}

[[noreturn]] void fail(const NcclFile& file, const std::string& what) {
  throw InputError({file.path.string()}, what);
}

// Numbers count up from 1 in the order of definition; 0 is unknown.
template <typename T>
const T* numbered(const NcclFile& file, const std::vector<T>& all, std::int64_t number, const char* what) {
  if (number < 0 || number > static_cast<std::int64_t>(all.size())) {
    fail(file, fmt::format("a call with {} {}, of which {} are defined", what, number, all.size()));
  }
  return number == 0 ? nullptr : &all[static_cast<std::size_t>(number - 1)];
}

}  // namespace

NcclWorld::NcclWorld(const fs::path& directory, Rank mpi_ranks, bool partial) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    throw InputError(directory.string() + ": not a directory; expected the one that 'weft trace -o' wrote");
  }
  for (const fs::path& path : trace_files(directory, kNcclTraces)) {
    files_.emplace_back();
    files_.back().path = path;
  }
  if (files_.empty()) {
    throw InputError(directory.string() + ": no NCCL traces here; expected files nccl-HOST-PROCESS.wtrc");
  }
  for (NcclFile& file : files_) read(file, partial);
  if (mpi_ranks > 0) {
    assign_mpi_ranks(mpi_ranks);
  } else {
    assign_ranks();
  }
  find_members(partial);
}

void NcclWorld::read(NcclFile& file, bool partial) {
  TraceReader reader(file.path.string());
  file.header = reader.header();
  TraceRecord record;
  std::vector<TraceDeviceCall> profiled;
  while (reader.next(record)) {
    if (record.function != trace::Function::kDevice) continue;
    if (record.thread > 0xFFFF) fail(file, "more than 65536 threads called NCCL");
    file.threads = std::max(file.threads, record.thread + 1);
    const auto& fields = record.device.fields;
    switch (shape_of(record)) {
      case DeviceShape::kDefineComm:
      case DeviceShape::kDefineStream:
        define(file, record);
        break;
      case DeviceShape::kProfilerComm:
        profiled.push_back(record.device);
        break;
      case DeviceShape::kCollective:
      case DeviceShape::kPeer:
        if (const auto* comm = numbered(file, file.comms, fields[0], "communicator")) {
          file.threads_of_device[comm->device].insert(record.thread);
        }
        numbered(file, file.streams, fields[1], "stream");
        break;
      case DeviceShape::kCommunicator:
        numbered(file, file.comms, fields[0], "communicator");
        break;
      case DeviceShape::kOnStream:
      case DeviceShape::kCopy:
      case DeviceShape::kEventOnStream:
      case DeviceShape::kEndCapture:
      case DeviceShape::kGraphLaunch:
        if (const auto* stream = numbered(file, file.streams, fields[0], "stream")) {
          file.threads_of_device[stream->device].insert(record.thread);
        }
        break;
      default:
        break;
    }
  }
  if (file.comms.empty() && !profiled.empty()) define_profiled(file, profiled);
  file.complete = reader.complete();
  if (!file.complete && !partial) {
    fail(file,
         fmt::format("the trace of this process is {}; --partial takes each process up to where its trace "
                     "ends",
                     reader.status()));
  }
}

void NcclWorld::define(NcclFile& file, const TraceRecord& record) {
  const auto& fields = record.device.fields;
  const bool is_comm = shape_of(record) == DeviceShape::kDefineComm;
  const auto next = static_cast<std::int64_t>(is_comm ? file.comms.size() : file.streams.size()) + 1;
  if (fields[0] != next) {
    fail(file, fmt::format("{} {} defined where {} comes next", is_comm ? "communicator" : "stream",
                           fields[0], next));
  }
  if (!is_comm) {
    if (fields[2] < 0 || fields[2] > 3) fail(file, fmt::format("stream of kind {}", fields[2]));
    file.streams.push_back({fields[1], static_cast<trace::StreamKind>(fields[2])});
    return;
  }
  add_comm(file, fields[1], fields[3], fields[4], fields[5]);
}

void NcclWorld::add_comm(NcclFile& file, std::int64_t key, std::int64_t rank, std::int64_t size,
                         std::int64_t device) {
  if (size < 1 || size > trace::kMaxMembers || rank < 0 || rank >= size) {
    fail(file, fmt::format("rank {} in a communicator of {} ranks", rank, size));
  }
  NcclFileComm comm;
  comm.rank = static_cast<std::uint32_t>(rank);
  comm.size = static_cast<std::uint32_t>(size);
  comm.device = device;
  file.threads_of_device[comm.device];
  if (key != 0) {
    const auto [found, is_new] =
        of_key_.try_emplace(static_cast<std::uint64_t>(key), static_cast<std::uint32_t>(comms_.size()));
    if (is_new) comms_.emplace_back();
    comm.comm = found->second;
  }
  file.comms.push_back(comm);
}

// NCCL linked statically: what its profiler interface told is all there is.
void NcclWorld::define_profiled(NcclFile& file, const std::vector<TraceDeviceCall>& profiled) {
  file.profiled_only = true;
  for (const TraceDeviceCall& call : profiled) {
    if (call.fields[3] == 0) {
      fail(
          file,
          "only NCCL's profiler interface was seen here, in a version (below 4) that does not tell the sizes "
          "of communicators");
    }
    add_comm(file, call.fields[1], call.fields[2], call.fields[3], -1);
    file.streams.push_back({-1, trace::StreamKind::kNonBlocking});
  }
}

// Without MPI: in the order of the first communicator that has all GPUs, else by what the launcher said, host
// and process.
void NcclWorld::assign_ranks() {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    for (const NcclFileComm& comm : files_[i].comms) {
      const auto same = [&](const NcclGpu& gpu) { return gpu.file == i && gpu.device == comm.device; };
      if (std::none_of(gpus_.begin(), gpus_.end(), same)) gpus_.push_back({i, comm.device});
    }
  }
  if (gpus_.empty()) {
    throw InputError(files_[0].path.parent_path().string() + ": no process here made an NCCL communicator");
  }
  const auto place = [&](const NcclGpu& gpu) {
    const NcclFile& file = files_[gpu.file];
    std::uint32_t rank = kAny;
    for (const NcclFileComm& comm : file.comms) {
      if (comm.device == gpu.device && comm.size == gpus_.size()) {
        rank = comm.rank;
        break;
      }
    }
    return std::make_tuple(rank, file.header.rank, gpu.file, gpu.device);
  };
  std::sort(gpus_.begin(), gpus_.end(),
            [&](const NcclGpu& a, const NcclGpu& b) { return place(a) < place(b); });
}

void NcclWorld::assign_mpi_ranks(Rank ranks) {
  gpus_.assign(ranks, NcclGpu{0, kNoDevice});
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const NcclFile& file = files_[i];
    if (file.comms.empty()) continue;
    if (file.header.size != ranks || file.header.rank >= ranks) {
      fail(file, fmt::format("of rank {} of {}, but the MPI traces here are of {} ranks", file.header.rank,
                             file.header.size, ranks));
    }
    NcclGpu& gpu = gpus_[file.header.rank];
    if (gpu.device != kNoDevice) {
      fail(file, fmt::format("a second process of rank {}, beside {}", file.header.rank,
                             files_[gpu.file].path.filename().string()));
    }
    gpu = {i, file.comms[0].device};
    for (const NcclFileComm& comm : file.comms) {
      if (comm.device == gpu.device) continue;
      fail(file, fmt::format("an MPI rank with two GPUs, {} and {}; expected one for each rank", gpu.device,
                             comm.device));
    }
  }
}

void NcclWorld::find_members(bool partial) {
  for (Rank rank = 0; rank < ranks(); ++rank) {
    if (gpu(rank) == nullptr) continue;
    const NcclFile& file = files_[gpus_[rank].file];
    for (const NcclFileComm& own : file.comms) {
      if (own.comm == kAny || own.device != gpus_[rank].device) continue;
      std::vector<Rank>& members = comms_[own.comm].members;
      if (!members.empty() && members.size() != own.size) {
        fail(file,
             fmt::format("a communicator of {} ranks, of {} in another file", own.size, members.size()));
      }
      // A file may claim to be of millions.
      if (own.size > gpus_.size() && !partial) {
        fail(file, fmt::format("a communicator of {} ranks, but {} GPUs have a trace here", own.size,
                               gpus_.size()));
      }
      if (own.size > gpus_.size()) continue;
      members.resize(own.size, kAny);
      if (members[own.rank] != kAny) {
        fail(file, fmt::format("says it is rank {} of a communicator that has one already (were two programs "
                               "traced into this folder?)",
                               own.rank));
      }
      members[own.rank] = rank;
    }
  }
  for (const NcclComm& comm : comms_) {
    const auto missing = std::find(comm.members.begin(), comm.members.end(), kAny);
    if (missing == comm.members.end() || partial) continue;
    throw InputError(fmt::format("{}: rank {} of a communicator of {} ranks has no trace here",
                                 files_[0].path.parent_path().string(), missing - comm.members.begin(),
                                 comm.members.size()));
  }
}

void NcclWorld::add_communicators(GraphBuilder& builder) {
  for (NcclComm& comm : comms_) {
    if (comm.members.empty() || std::count(comm.members.begin(), comm.members.end(), kAny) > 0) continue;
    bool is_world = comm.members.size() == gpus_.size();
    for (std::size_t i = 0; i < comm.members.size(); ++i) is_world = is_world && comm.members[i] == i;
    comm.graph_number = is_world ? kWorld : builder.add_communicator({"", comm.members});
  }
}

}  // namespace weft::goal
