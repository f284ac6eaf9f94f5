// The trace file of one MPI rank: record kinds, function numbers and the byte-level encoding.
//
// Specified in README.md beside this file. Used by the tracer, which writes it from inside other people's
// processes, and by the importer, which reads it: so no dependency but the language's own headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::trace {

inline constexpr char kMagic[8] = {'W', 'E', 'F', 'T', 'T', 'R', 'C', '\n'};
inline constexpr std::uint32_t kVersion = 4;
inline constexpr std::uint32_t kOldestVersion = 1;        // that readers know
inline constexpr std::uint32_t kChunkMagic = 0x4B435457;  // "WTCK" in a little-endian file
inline constexpr std::size_t kChunkHeaderBytes = 16;      // magic, payload bytes, Adler-32, state
// The state of a chunk that is being written ("OPEN"): its length grows, its checksum does not hold yet. One
// that is finished has 0.
inline constexpr std::uint32_t kChunkOpen = 0x4E45504F;
// From version 2 on the live block and each chunk begin at a multiple of this.
inline constexpr std::size_t kAlignment = 8;
constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}
// A writer never makes a longer chunk; a reader takes a longer one for damage.
inline constexpr std::size_t kMaxChunkBytes = std::size_t{1} << 28;
inline constexpr std::uint32_t kMaxMembers = 1u << 26;  // of a communicator

// World ranks and tags below zero, whatever numbers the traced MPI library uses for them.
inline constexpr std::int32_t kAnySource = -1;
inline constexpr std::int32_t kAnyTag = -1;
inline constexpr std::int32_t kProcNull = -2;
inline constexpr std::int32_t kOutsideWorld = -3;  // a process of another MPI_COMM_WORLD
inline constexpr std::int32_t kRootHere = -4;      // MPI_ROOT of a collective over an intercommunicator
inline constexpr std::int32_t kUndefined = -5;     // the library reported none

// Communicator numbers of one file. Others count up in the order of definition.
inline constexpr std::uint32_t kCommWorld = 0;
inline constexpr std::uint32_t kCommSelf = 1;
inline constexpr std::uint32_t kNoComm = 0xFFFFFFFFu;
// A request or message that no decoded call of this file created.
inline constexpr std::uint64_t kUnknownRequest = 0;

// Which fields follow the times in a record of a function.
enum class Shape : std::uint8_t {
  kPlain,               // none
  kSend,                // one message out
  kSendRequest,         // … and the request made
  kRecv,                // one message in, as posted, and what came
  kRecvRequest,         // one message in, as posted, and the request made
  kSendrecv,            // one message out; one in, as posted, and what came
  kProbe,               // as posted; whether there was one, and which
  kMessageRecv,         // the probed message taken, and what came
  kMessageRecvRequest,  // the probed message taken, and the request made
  kComplete,            // requests found complete
  kStart,               // persistent requests started
  kRequest,             // one request freed or cancelled
  kCollective,          // an operation over a communicator
  kCollectiveRequest,   // … and the request made
  kCommCreate,          // parent and new communicator
  kCommCreateRequest,   // … and the request made
  kComm,                // one communicator
  kUndecoded,           // name of a call that is only counted
  kDevice,              // a call of NCCL or of CUDA's runtime (device.h)
  kWindowCreate,        // a communicator and the new window
  kWindow,              // one window
  kWindowTarget,        // one window, and one rank of it
  kWindowGroup,         // one window, and some ranks of it
  kWindowTest,          // one window, and whether its epoch has ended
  kOneSided,            // one window, one rank of it, what goes there and what comes from there
  kOneSidedRequest,     // … and the request made
  kCollectiveInit,      // an operation over a communicator and the persistent request made
  kNeighbor,            // an operation among neighbors
  kNeighborRequest,     // … and the request made
  kNeighborInit,        // … and the persistent request made
  kFile,                // bytes read from a file or written to it
  kFileRequest,         // … and the request made
  kPartitionedInit,     // a message in partitions, and the persistent request made
  kReady,               // partitions of a started request whose bytes are there
  kArrived,             // whether a partition has come, and of which request
  kSendrecvRequest,     // one message out; one in, as posted; and the one request of both
  kStatus,              // whether a request is complete, which stays open
};

// Function numbers are part of the format: append only. Those from 128 on take a byte more in a record; none
// is from 111 to 118, as some of those begin other records.
// X(number, name in MPI without "MPI_", shape)
#define WEFT_TRACE_FUNCTIONS(X)                      \
  X(1, Init, kPlain)                                 \
  X(2, Init_thread, kPlain)                          \
  X(3, Finalize, kPlain)                             \
  X(4, Abort, kPlain)                                \
  X(5, Send, kSend)                                  \
  X(6, Bsend, kSend)                                 \
  X(7, Ssend, kSend)                                 \
  X(8, Rsend, kSend)                                 \
  X(9, Recv, kRecv)                                  \
  X(10, Isend, kSendRequest)                         \
  X(11, Ibsend, kSendRequest)                        \
  X(12, Issend, kSendRequest)                        \
  X(13, Irsend, kSendRequest)                        \
  X(14, Irecv, kRecvRequest)                         \
  X(15, Send_init, kSendRequest)                     \
  X(16, Bsend_init, kSendRequest)                    \
  X(17, Ssend_init, kSendRequest)                    \
  X(18, Rsend_init, kSendRequest)                    \
  X(19, Recv_init, kRecvRequest)                     \
  X(20, Start, kStart)                               \
  X(21, Startall, kStart)                            \
  X(22, Request_free, kRequest)                      \
  X(23, Cancel, kRequest)                            \
  X(24, Sendrecv, kSendrecv)                         \
  X(25, Sendrecv_replace, kSendrecv)                 \
  X(26, Probe, kProbe)                               \
  X(27, Iprobe, kProbe)                              \
  X(28, Mprobe, kProbe)                              \
  X(29, Improbe, kProbe)                             \
  X(30, Mrecv, kMessageRecv)                         \
  X(31, Imrecv, kMessageRecvRequest)                 \
  X(32, Wait, kComplete)                             \
  X(33, Waitall, kComplete)                          \
  X(34, Waitany, kComplete)                          \
  X(35, Waitsome, kComplete)                         \
  X(36, Test, kComplete)                             \
  X(37, Testall, kComplete)                          \
  X(38, Testany, kComplete)                          \
  X(39, Testsome, kComplete)                         \
  X(40, Barrier, kCollective)                        \
  X(41, Bcast, kCollective)                          \
  X(42, Gather, kCollective)                         \
  X(43, Gatherv, kCollective)                        \
  X(44, Scatter, kCollective)                        \
  X(45, Scatterv, kCollective)                       \
  X(46, Allgather, kCollective)                      \
  X(47, Allgatherv, kCollective)                     \
  X(48, Alltoall, kCollective)                       \
  X(49, Alltoallv, kCollective)                      \
  X(50, Alltoallw, kCollective)                      \
  X(51, Reduce, kCollective)                         \
  X(52, Allreduce, kCollective)                      \
  X(53, Reduce_scatter, kCollective)                 \
  X(54, Reduce_scatter_block, kCollective)           \
  X(55, Scan, kCollective)                           \
  X(56, Exscan, kCollective)                         \
  X(60, Ibarrier, kCollectiveRequest)                \
  X(61, Ibcast, kCollectiveRequest)                  \
  X(62, Igather, kCollectiveRequest)                 \
  X(63, Igatherv, kCollectiveRequest)                \
  X(64, Iscatter, kCollectiveRequest)                \
  X(65, Iscatterv, kCollectiveRequest)               \
  X(66, Iallgather, kCollectiveRequest)              \
  X(67, Iallgatherv, kCollectiveRequest)             \
  X(68, Ialltoall, kCollectiveRequest)               \
  X(69, Ialltoallv, kCollectiveRequest)              \
  X(70, Ialltoallw, kCollectiveRequest)              \
  X(71, Ireduce, kCollectiveRequest)                 \
  X(72, Iallreduce, kCollectiveRequest)              \
  X(73, Ireduce_scatter, kCollectiveRequest)         \
  X(74, Ireduce_scatter_block, kCollectiveRequest)   \
  X(75, Iscan, kCollectiveRequest)                   \
  X(76, Iexscan, kCollectiveRequest)                 \
  X(80, Comm_dup, kCommCreate)                       \
  X(81, Comm_dup_with_info, kCommCreate)             \
  X(82, Comm_idup, kCommCreateRequest)               \
  X(83, Comm_split, kCommCreate)                     \
  X(84, Comm_split_type, kCommCreate)                \
  X(85, Comm_create, kCommCreate)                    \
  X(86, Comm_create_group, kCommCreate)              \
  X(87, Cart_create, kCommCreate)                    \
  X(88, Cart_sub, kCommCreate)                       \
  X(89, Graph_create, kCommCreate)                   \
  X(90, Dist_graph_create, kCommCreate)              \
  X(91, Dist_graph_create_adjacent, kCommCreate)     \
  X(92, Intercomm_create, kCommCreate)               \
  X(93, Intercomm_merge, kCommCreate)                \
  X(94, Comm_free, kComm)                            \
  X(95, Comm_disconnect, kComm)                      \
  X(96, Comm_idup_with_info, kCommCreateRequest)     \
  X(110, Undecoded, kUndecoded)                      \
  X(119, Device, kDevice)                            \
  X(128, Win_create, kWindowCreate)                  \
  X(129, Win_allocate, kWindowCreate)                \
  X(130, Win_allocate_shared, kWindowCreate)         \
  X(131, Win_create_dynamic, kWindowCreate)          \
  X(132, Win_free, kWindow)                          \
  X(133, Win_fence, kWindow)                         \
  X(134, Win_lock, kWindowTarget)                    \
  X(135, Win_unlock, kWindowTarget)                  \
  X(136, Win_lock_all, kWindow)                      \
  X(137, Win_unlock_all, kWindow)                    \
  X(138, Win_flush, kWindowTarget)                   \
  X(139, Win_flush_all, kWindow)                     \
  X(140, Win_flush_local, kWindowTarget)             \
  X(141, Win_flush_local_all, kWindow)               \
  X(142, Win_sync, kWindow)                          \
  X(143, Win_post, kWindowGroup)                     \
  X(144, Win_start, kWindowGroup)                    \
  X(145, Win_complete, kWindow)                      \
  X(146, Win_wait, kWindow)                          \
  X(147, Win_test, kWindowTest)                      \
  X(148, Put, kOneSided)                             \
  X(149, Get, kOneSided)                             \
  X(150, Accumulate, kOneSided)                      \
  X(151, Get_accumulate, kOneSided)                  \
  X(152, Fetch_and_op, kOneSided)                    \
  X(153, Compare_and_swap, kOneSided)                \
  X(154, Rput, kOneSidedRequest)                     \
  X(155, Rget, kOneSidedRequest)                     \
  X(156, Raccumulate, kOneSidedRequest)              \
  X(157, Rget_accumulate, kOneSidedRequest)          \
  X(158, Barrier_init, kCollectiveInit)              \
  X(159, Bcast_init, kCollectiveInit)                \
  X(160, Gather_init, kCollectiveInit)               \
  X(161, Gatherv_init, kCollectiveInit)              \
  X(162, Scatter_init, kCollectiveInit)              \
  X(163, Scatterv_init, kCollectiveInit)             \
  X(164, Allgather_init, kCollectiveInit)            \
  X(165, Allgatherv_init, kCollectiveInit)           \
  X(166, Alltoall_init, kCollectiveInit)             \
  X(167, Alltoallv_init, kCollectiveInit)            \
  X(168, Alltoallw_init, kCollectiveInit)            \
  X(169, Reduce_init, kCollectiveInit)               \
  X(170, Allreduce_init, kCollectiveInit)            \
  X(171, Reduce_scatter_init, kCollectiveInit)       \
  X(172, Reduce_scatter_block_init, kCollectiveInit) \
  X(173, Scan_init, kCollectiveInit)                 \
  X(174, Exscan_init, kCollectiveInit)               \
  X(175, Neighbor_allgather, kNeighbor)              \
  X(176, Neighbor_allgatherv, kNeighbor)             \
  X(177, Neighbor_alltoall, kNeighbor)               \
  X(178, Neighbor_alltoallv, kNeighbor)              \
  X(179, Neighbor_alltoallw, kNeighbor)              \
  X(180, Ineighbor_allgather, kNeighborRequest)      \
  X(181, Ineighbor_allgatherv, kNeighborRequest)     \
  X(182, Ineighbor_alltoall, kNeighborRequest)       \
  X(183, Ineighbor_alltoallv, kNeighborRequest)      \
  X(184, Ineighbor_alltoallw, kNeighborRequest)      \
  X(185, Neighbor_allgather_init, kNeighborInit)     \
  X(186, Neighbor_allgatherv_init, kNeighborInit)    \
  X(187, Neighbor_alltoall_init, kNeighborInit)      \
  X(188, Neighbor_alltoallv_init, kNeighborInit)     \
  X(189, Neighbor_alltoallw_init, kNeighborInit)     \
  X(190, File_read, kFile)                           \
  X(191, File_read_at, kFile)                        \
  X(192, File_read_all, kFile)                       \
  X(193, File_read_at_all, kFile)                    \
  X(194, File_read_shared, kFile)                    \
  X(195, File_read_ordered, kFile)                   \
  X(196, File_write, kFile)                          \
  X(197, File_write_at, kFile)                       \
  X(198, File_write_all, kFile)                      \
  X(199, File_write_at_all, kFile)                   \
  X(200, File_write_shared, kFile)                   \
  X(201, File_write_ordered, kFile)                  \
  X(202, File_iread, kFileRequest)                   \
  X(203, File_iread_at, kFileRequest)                \
  X(204, File_iread_all, kFileRequest)               \
  X(205, File_iread_at_all, kFileRequest)            \
  X(206, File_iread_shared, kFileRequest)            \
  X(207, File_iwrite, kFileRequest)                  \
  X(208, File_iwrite_at, kFileRequest)               \
  X(209, File_iwrite_all, kFileRequest)              \
  X(210, File_iwrite_at_all, kFileRequest)           \
  X(211, File_iwrite_shared, kFileRequest)           \
  X(212, File_read_all_begin, kFile)                 \
  X(213, File_read_at_all_begin, kFile)              \
  X(214, File_read_ordered_begin, kFile)             \
  X(215, File_write_all_begin, kFile)                \
  X(216, File_write_at_all_begin, kFile)             \
  X(217, File_write_ordered_begin, kFile)            \
  X(218, Psend_init, kPartitionedInit)               \
  X(219, Precv_init, kPartitionedInit)               \
  X(220, Pready, kReady)                             \
  X(221, Pready_range, kReady)                       \
  X(222, Pready_list, kReady)                        \
  X(223, Parrived, kArrived)                         \
  X(224, Session_init, kPlain)                       \
  X(225, Session_finalize, kPlain)                   \
  X(226, Comm_create_from_group, kCommCreate)        \
  X(227, Isendrecv, kSendrecvRequest)                \
  X(228, Isendrecv_replace, kSendrecvRequest)        \
  X(229, Request_get_status, kStatus)

enum class Function : std::uint16_t {
#define WEFT_TRACE_X(number, name, shape) k##name = number,
  WEFT_TRACE_FUNCTIONS(WEFT_TRACE_X)
#undef WEFT_TRACE_X
};

struct FunctionInfo {
  const char* name;  // as in the MPI standard: "MPI_Isend"; null for numbers not in use
  Shape shape;
};

constexpr FunctionInfo function_info(Function function) {
  switch (function) {
#define WEFT_TRACE_X(number, name, shape) \
  case Function::k##name:                 \
    return {"MPI_" #name, Shape::shape};
    WEFT_TRACE_FUNCTIONS(WEFT_TRACE_X)
#undef WEFT_TRACE_X
  }
  return {nullptr, Shape::kPlain};
}

// First byte of a record: a function number, kRepeats with a slot, or one of these.
// In the place of a function number from 128 on, which stands before the fields, less 128.
inline constexpr std::uint8_t kLongNumber = 112;
inline constexpr unsigned kFirstLongNumber = 128;
enum class Meta : std::uint8_t {
  kOverlap = 111,  // the call whose record follows was entered before the one of the last record was left
  kWaitingInside = 113,  // kOffCore of one time only, the most frequent
  kThreadBegin = 114,    // the call whose record follows is its thread's first
  kThreadEnd = 115,      // a thread that made calls has ended
  kFailure = 116,        // the error code of the call whose record follows
  kFact = 118,           // something known of the process or its machine
  kThread = 120,         // the following records are of another thread
  kCommunicator = 121,   // defines a communicator
  kName = 122,           // numbers the name of an undecoded function
  kCounter = 123,        // calls and time so far of an undecoded function
  kEnd = 124,            // nothing follows
  kHandle = 125,         // the MPI library's handle of a communicator
  kRegion = 126,         // begin or end of a region that the program names
  kOffCore = 127,        // how long the thread did not run before and in the call whose record follows
};

// Up to version 3 added to the function number of a call that returned an error.
inline constexpr std::uint8_t kFailed = 0x80;

// From version 4 on a record with fields that an earlier one of its chunk has leaves them out: its first byte
// is kRepeats and the slot that keeps them. Fields that were written out are kept in the slot that slot_of()
// gives them, in the place of others; but for longer ones than kMostKept, or a small file could make its
// reader read without end.
inline constexpr std::uint8_t kRepeats = 0x80;
inline constexpr std::size_t kSlots = 128;
inline constexpr std::size_t kMostKept = 1024;
// `first`: the record's first byte. REQUIRES: 7 bytes behind the fields can be read, whatever they are.
inline std::size_t slot_of(std::uint8_t first, const std::uint8_t* fields, std::size_t bytes);

// Time in which a thread did not run although it was in the middle of something: it was ready and waited for
// a core, or it slept (blocked in the system). What is below kLeastOffCoreNs is not told. Before the first
// call of a later thread it is what that waited for a core since it was created.
struct OffCore {
  std::uint64_t waiting_ns = 0, asleep_ns = 0;
  std::uint64_t sum() const { return waiting_ns + asleep_ns; }
  OffCore& operator+=(const OffCore& other) {
    waiting_ns += other.waiting_ns;
    asleep_ns += other.asleep_ns;
    return *this;
  }
  bool operator==(const OffCore&) const = default;
};
inline constexpr std::uint64_t kLeastOffCoreNs = 10'000;
inline constexpr std::size_t kMaxFactBytes = 255;  // of its name, and of its value

// The region that MPI_Pcontrol ends with level 0 and begins with others; every program begins in it.
inline constexpr char kPcontrolRegion[] = "MPI_Pcontrol";
inline constexpr std::size_t kMaxRegionName = 255;

// Why a file ends.
enum class End : std::uint8_t {
  kNone = 0,
  kFinalize = 1,
  kAbort = 2,
  kExit = 3,
  kStopped = 4,  // the tracer could not go on (a full disk); the program did
};

// The live block behind the header: what the process is in the middle of. It is changed while the program
// runs, and tells something only while the file has no end.
inline constexpr std::size_t kNowInSlots = 8;  // threads that have one
// The call that a thread is in.
struct NowIn {
  std::uint64_t enter_ns;  // 0: none. Written last, so that a reader can tell whether the rest belongs to it
  std::uint64_t comm_handle;  // see Meta::kHandle; 0: the call has none
  std::int32_t peer;          // rank in that communicator (source of a Sendrecv, root of a collective)
  std::int32_t tag;
  std::uint32_t function;
  std::uint32_t count;  // requests handed in; destination of a Sendrecv; number of a name plus one
};
// Equal Tests or probes in vain that will be one record; see "polls" in README.md.
struct PendingPolls {
  std::uint64_t calls;               // 0: none. Written last
  std::uint64_t enter_ns, leave_ns;  // of the first and of the last
  std::uint64_t inside_ns;
  std::uint32_t function, thread, comm_plus_1;
  std::int32_t peer, tag;
  std::uint32_t given;
};
struct Live {
  NowIn now_in[kNowInSlots];  // by thread
  PendingPolls polls;
};
static_assert(sizeof(NowIn) == 32 && sizeof(PendingPolls) == 56 && sizeof(Live) == 312,
              "the file has these bytes");

// How much a call that is only counted matters to a replay.
enum class CallClass : std::uint8_t {
  kLocal = 0,          // moves no data between ranks: its absence from the timeline loses nothing
  kCommunication = 1,  // moves data or synchronizes ranks, so a replay without it is incomplete
};

// Bits of a kComplete entry, and of "what came" in kRecv, kSendrecv, kProbe and kMessageRecv.
inline constexpr std::uint8_t kHasMessage = 1;  // source, tag and bytes follow
inline constexpr std::uint8_t kCancelled = 2;
inline constexpr std::uint8_t kAsPosted = 8;      // … but source and tag are those of the receive
inline constexpr std::uint8_t kAllAsPosted = 16;  // … and so is the number of bytes
// First byte of a kComplete record.
inline constexpr std::uint8_t kNothingFound = 0;
inline constexpr std::uint8_t kFoundSome = 1;
inline constexpr std::uint8_t kFoundOne = 2;  // the one that was handed in
inline constexpr std::uint8_t kFoundAll = 3;  // as many as were handed in
// Bit of "what came" in kProbe: the call found a message (MPI_PROC_NULL included, which has none of the
// above).
inline constexpr std::uint8_t kFound = 4;
// Bits of a collective.
inline constexpr std::uint8_t kInPlace = 1;
inline constexpr std::uint8_t kHasRoot = 2;
inline constexpr std::uint8_t kHasReceiveCount = 4;
inline constexpr std::uint8_t kHasSendVector = 8;
inline constexpr std::uint8_t kHasReceiveVector = 16;

// LEB128: seven bits a byte, least significant first, high bit set on all but the last. At most 10 bytes.
inline constexpr std::size_t kMaxVarintBytes = 10;
inline std::uint8_t* put_varint(std::uint8_t* out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value) | 0x80;
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}
// Small numbers of either sign become small numbers: 0, -1, 1, -2, … to 0, 1, 2, 3, …
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}
inline std::uint8_t* put_signed(std::uint8_t* out, std::int64_t value) {
  return put_varint(out, zigzag(value));
}
// Reads one from [at, end) and moves `at` behind it; false (and `at` unspecified) where it is cut or too
// long.
inline bool get_varint(const std::uint8_t*& at, const std::uint8_t* end, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; at != end && shift < 64; shift += 7) {
    const std::uint8_t byte = *at++;
    if (shift == 63 && byte > 1) return false;
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return true;
  }
  return false;
}

// Fixed-width little-endian numbers of the file and chunk headers.
inline void put_u32(std::uint8_t* out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
}
inline std::uint32_t get_u32(const std::uint8_t* in) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(in[i]) << (8 * i);
  return value;
}

// Up to 8 bytes as a little-endian number. REQUIRES: 8 bytes can be read.
inline std::uint64_t get_word(const std::uint8_t* in, std::size_t bytes) {
  std::uint64_t word;
  __builtin_memcpy(&word, in, sizeof word);
  return bytes >= sizeof word ? word : word & ((std::uint64_t{1} << (8 * bytes)) - 1);
}
inline std::size_t slot_of(std::uint8_t first, const std::uint8_t* fields, std::size_t bytes) {
  std::uint64_t hash = first;
  for (std::size_t at = 0; at < bytes; at += 8) {
    hash = (hash ^ get_word(fields + at, bytes - at)) * 0x9E3779B97F4A7C15u;
  }
  return hash >> 57;
}

// Adler-32 of RFC 1950, section 8.2.
inline std::uint32_t checksum(const std::uint8_t* data, std::size_t bytes) {
  std::uint32_t a = 1, b = 0;
  while (bytes > 0) {
    // 5552 bytes are the most that cannot overflow 32 bits before the remainder is taken.
    std::size_t block = bytes < 5552 ? bytes : 5552;
    bytes -= block;
    while (block-- > 0) {
      a += *data++;
      b += a;
    }
    a %= 65521;
    b %= 65521;
  }
  return (b << 16) | a;
}

}  // namespace weft::trace
