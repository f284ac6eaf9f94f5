// What a trace file of one MPI rank (tracer/format/README.md) holds, as plain records.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/format/device.h"
#include "tracer/format/format.h"

namespace weft::goal {

// What stands at the head of a rank's file.
struct TraceHeader {
  std::uint32_t version = 0;
  std::uint32_t rank = 0;   // in MPI_COMM_WORLD
  std::uint32_t size = 0;   // of MPI_COMM_WORLD
  std::string mpi_library;  // first line of MPI_Get_library_version
  std::string host, program;
  std::string clock;           // "CLOCK_MONOTONIC"
  std::uint64_t clock_ns = 0;  // that clock when the file was opened …
  std::uint64_t epoch_ns = 0;  // … and nanoseconds since 1970 at the same moment
  std::uint64_t process = 0;   // its number on that host; 0 where the file does not say (version 1)
};

// The message a receive or probe got.
struct TraceMessage {
  bool valid = false;  // false: none (a send's completion, an Iprobe in vain, MPI_PROC_NULL)
  std::int32_t source = trace::kUndefined;  // world rank, or kProcNull, kOutsideWorld
  std::int32_t tag = trace::kUndefined;
  std::uint64_t bytes = 0;
  bool operator==(const TraceMessage&) const = default;
};

// One request that a Wait or Test found complete.
struct TraceCompletion {
  std::uint64_t request = trace::kUnknownRequest;
  bool cancelled = false;
  TraceMessage message;  // valid for receives
  bool operator==(const TraceCompletion&) const = default;
};

// A call of NCCL or of CUDA's runtime (TraceRecord::function is kDevice).
struct TraceDeviceCall {
  trace::DeviceFunction function{};
  std::array<std::int64_t, trace::kMaxDeviceFields> fields{};  // as its shape says (tracer/format/device.h)
  bool operator==(const TraceDeviceCall&) const = default;
};

// One MPI call. Fields its shape (trace::function_info(function).shape) does not have keep these defaults.
struct TraceRecord {
  trace::Function function = trace::Function::kInit;
  std::uint32_t thread = 0;    // 0 is the first thread that made an MPI call
  std::int32_t error = 0;      // what the call returned; 0 is MPI_SUCCESS
  std::uint64_t enter_ns = 0;  // on the header's clock
  std::uint64_t leave_ns = 0;

  std::uint32_t comm = trace::kNoComm;  // an id of TraceReader::communicators()

  // Send side, or the receive as posted where there is only one side. World ranks.
  std::int32_t peer = trace::kUndefined;
  std::int32_t tag = trace::kUndefined;
  std::uint64_t count = 0;
  std::uint64_t type_size = 0;  // bytes of one datatype element
  // The receive side, as posted, of Sendrecv; counts also of collectives that have one.
  std::int32_t recv_peer = trace::kUndefined;
  std::int32_t recv_tag = trace::kUndefined;
  std::uint64_t recv_count = 0;
  std::uint64_t recv_type_size = 0;

  // Isend, Irecv, *_init, nonblocking collectives, Comm_idup: the request made. Request_free, Cancel, Pready,
  // Parrived: the one named. Requests count from 1 in the order they were made; a persistent one keeps its
  // number.
  std::uint64_t request = trace::kUnknownRequest;
  // Mprobe, Improbe: number of the message found. Mrecv, Imrecv: of the message taken. 0: none or unknown.
  std::uint64_t message = 0;
  // Blocking receives and probes: what came.
  TraceMessage received;
  // Test*: the call set its flag. Iprobe, Improbe: a message was there. Always true of Wait* and Probe.
  bool flag = true;
  // Test* and Iprobe in vain: how many equal calls, less than a microsecond apart, this one record stands
  // for. enter_ns is the first's, leave_ns the last's.
  std::uint64_t polls = 1;
  // Time inside MPI: leave_ns - enter_ns, less the gaps between polls.
  std::uint64_t inside_ns = 0;
  // For how long the thread did not run between its last call and this one, and in this one. Where
  // facts() are empty, nothing is known of it.
  trace::OffCore off_before, off_inside;
  // In the first call of a thread other than 0 this is the processor time of the process when it was entered;
  // else 0.
  std::uint64_t thread_begins_cpu_ns = 0;

  // Collectives. `root` is a rank of the communicator (of the remote group over an intercommunicator), or
  // kProcNull, kRootHere; kUndefined where the operation has none. For a call with MPI_IN_PLACE the replaced
  // side is filled in with what MPI takes for it. At ranks where MPI does not look at an argument, it is 0.
  // count and type_size are the send side: of Bcast, Reduce, Allreduce, Scan, Exscan the only one; of
  // Reduce_scatter this rank's whole vector; 0 where send_bytes says it.
  std::int32_t root = trace::kUndefined;
  bool in_place = false;
  std::vector<std::uint64_t> send_bytes;  // v and w forms: bytes to each rank
  std::vector<std::uint64_t> recv_bytes;  // v and w forms, Reduce_scatter: bytes from (or kept by) each rank

  TraceDeviceCall device;  // of function kDevice
  // Collectives among neighbors: ranks of the communicator that this one sends to and receives from, or
  // kProcNull; send_bytes and recv_bytes are by these, and count, recv_count what goes to and comes from
  // each.
  std::vector<std::int32_t> destinations, sources;

  // One-sided communication: which window (from 1 in the order of creation; 0: unknown), with `peer` as
  // target, and what goes to it and comes from it. Win_create and its kin: `comm`, and how large this rank's
  // part is.
  std::uint64_t window = 0;
  std::uint64_t window_bytes = 0, bytes_out = 0, bytes_in = 0;
  std::vector<std::int32_t> group;  // Win_post, Win_start: world ranks

  // Psend_init, Precv_init: how many partitions of `count` elements. Pready and its kin: those that are
  // there. Parrived, where it set its flag: the one asked for.
  std::uint32_t partitions = 0;
  std::vector<std::uint32_t> ready;

  // Communicator creation; kNoComm where this rank is no member.
  std::uint32_t new_comm = trace::kNoComm;

  // Wait* and Test*: requests handed in (null ones too), and those found complete, in the order of the array.
  // MPI_REQUEST_NULL and inactive persistent requests are in no list.
  std::uint32_t requests_given = 0;
  std::vector<TraceCompletion> completions;
  std::vector<std::uint64_t> started;  // Start, Startall

  // Undecoded: the function's name ("MPI_Put"); points into the reader.
  std::string_view name;

  std::uint64_t bytes() const { return count * type_size; }
  std::uint64_t recv_posted_bytes() const { return recv_count * recv_type_size; }
  std::string_view function_name() const {
    return name.empty() ? std::string_view(trace::function_info(function).name) : name;
  }
};

// A communicator this rank belongs to.
struct TraceCommunicator {
  std::uint32_t id = 0;  // within this file; equals its index in communicators()
  // This is the same number in the files of all members, and different for different communicators (a 64-bit
  // hash of parent, members and how many like it came before).
  std::uint64_t key = 0;
  std::uint32_t parent = trace::kNoComm;
  std::vector<std::int32_t> ranks;  // world ranks in communicator order (kOutsideWorld: a spawned process)
  bool outside = false;             // has such processes; their messages and collectives are not in the graph
  bool inter = false;
  std::vector<std::int32_t> remote_ranks;  // of an intercommunicator
};

// Bytes that an operation with these arguments moves: of a message at its sender, of a collective what this
// rank puts in. What is for MPI_PROC_NULL moves nothing.
std::uint64_t moved_bytes(const TraceRecord& record);

// Is it MPI_Init, MPI_Finalize, or one of their kin: the bounds of the time that is looked at?
bool begins_mpi(trace::Function function);
bool ends_mpi(trace::Function function);

// Does the call only make a persistent request, so that each Start of it moves those bytes?
bool makes_persistent(trace::Function function);

// Calls of a function that the tracer does not decode.
struct TraceCounter {
  std::string name;  // "MPI_Put"
  trace::CallClass call_class = trace::CallClass::kLocal;
  std::uint64_t calls = 0;
  std::uint64_t ns = 0;  // time inside; 0 for kLocal functions, which are not timed
};

// The program began or ended a region.
struct TraceRegionEvent {
  std::string name;
  bool begin = false;
  std::uint64_t at_ns = 0;  // on the header's clock
};

// A thread that made calls has ended; thread 0 with the process, between two calls and without MPI_Finalize.
struct TraceThreadEnd {
  std::uint32_t thread = 0;
  std::uint64_t at_ns = 0;  // on the header's clock
  std::uint64_t process_cpu_ns = 0;
  trace::OffCore off_before;  // as of a call, of thread 0 only
};

// A call that a thread had entered and not left when the file was read, or when its process ended.
struct TraceNowIn {
  std::uint32_t thread = 0;
  trace::Function function = trace::Function::kInit;
  std::string_view name;                // "MPI_Recv"; points into the reader
  std::uint64_t enter_ns = 0;           // on the header's clock
  std::uint32_t comm = trace::kNoComm;  // kNoComm also where the communicator is not known
  // World ranks, or the constants of the format: whom it sends to or receives from (a Sendrecv: receives
  // from), a collective's root; kUndefined where the call has none.
  std::int32_t peer = trace::kUndefined;
  std::int32_t to = trace::kUndefined;  // of a Sendrecv
  std::int32_t tag = trace::kUndefined;
  std::uint32_t requests = 0;  // handed in to a Wait or Test
};

}  // namespace weft::goal
