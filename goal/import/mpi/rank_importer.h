// Turns the MPI calls of one rank into operations and dependencies. README.md of this folder has the rules.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/mpi/communicators.h"
#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

struct MpiImportOptions {
  // Keep MPI_ANY_SOURCE and MPI_ANY_TAG as wildcards, instead of the source and tag that were received.
  bool keep_wildcards = false;
  // Take ranks whose file was cut (the program was killed), each up to where its file ends.
  bool partial = false;
  // A gap of at most this long after an unsuccessful Test or Iprobe and before the next one is waiting, not
  // compute.
  std::uint64_t poll_gap_ns = 5000;
  // Take only what each rank does while it is in the region of this name; empty: all.
  std::string region;
};

class RankImporter {
 public:
  RankImporter(const MpiImportOptions& options, std::uint32_t world_size, CommunicatorTable& communicators,
               ImportNotes& notes)
      : options_(options),
        world_size_(world_size),
        communicators_(communicators),
        notes_(notes),
        inside_(options.region.empty() || options.region == trace::kPcontrolRegion ? 1 : 0) {}

  // The next call of the rank, in the order of the file. `known` are the communicators of that file.
  // Throws InputError for what no MPI program can do (a rank outside the world).
  void add(const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  // The program begins or ends a region, before the next call.
  void region(const TraceRegionEvent& event);
  // Ends the rank: hands its operations to the builder and calls its end_rank().
  void finish(GraphBuilder& builder);
  // Time between the end of MPI_Init and the start of MPI_Finalize, or of the last call.
  // Where a region was asked for: the time in it.
  std::uint64_t elapsed_ns() const;

 private:
  static constexpr OpIndex kNone = 0xFFFFFFFFu;
  // Something that must have finished or (on_start) started.
  struct Before {
    OpIndex op = kNone;
    bool on_start = false;
  };
  struct EdgeRecord {
    OpIndex first, dependent;
    bool on_start;
  };
  struct Thread {
    bool seen = false;
    bool polling = false;  // the last call was a Test or Iprobe in vain
    std::uint64_t last_leave_ns = 0;
    std::uint64_t pending_ns = 0;  // compute that is not yet an operation
    Before point;                  // where the thread is in program order
    std::vector<Before> joins;     // and what else its next operation waits for
  };
  struct Request {
    OpIndex op = kNone;  // the active operation; kNone: inactive, or no operation (MPI_PROC_NULL)
    bool persistent = false;
    bool local = false;      // a buffered send: complete without the receiver
    bool operation = false;  // has `prototype`
    Op prototype;            // what Start starts
  };
  // Where thread 0 was after a call, for threads that begin later.
  struct MainPoint {
    std::uint64_t leave_ns;
    Before point, last_join;
  };

  bool is_inside() const { return inside_ > 0; }
  Thread& enter(const TraceRecord& record);
  void fork(Thread& thread, std::uint64_t enter_ns);
  void flush(Thread& thread, std::uint16_t cpu);
  OpIndex append(Thread& thread, const Op& op);
  // These two leave out what is outside of the region.
  void blocking(Thread& thread, const Op& op) {
    if (is_inside()) thread.point = {append(thread, op), false};
  }
  OpIndex nonblocking(Thread& thread, const Op& op);
  void join(Thread& thread, std::uint16_t cpu, OpIndex op);
  void erase(OpIndex op) { ops_[op] = {.kind = OpKind::kCalc, .cpu = ops_[op].cpu}; }

  bool is_operation(std::int32_t peer);
  Op send_of(const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  Op recv_of(const TraceRecord& record, std::int32_t peer, std::int32_t tag, std::uint64_t posted,
             const std::vector<TraceCommunicator>& known);
  void resolve(Op& op, const TraceMessage& message);

  void send(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void recv(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void sendrecv(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void make_request(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void matched_recv(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void complete(Thread& thread, const TraceRecord& record);
  void start(Thread& thread, const TraceRecord& record);
  void collective(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void create_communicator(Thread& thread, const TraceRecord& record,
                           const std::vector<TraceCommunicator>& known);
  static void check_fits(const Collective& collective, const TraceCommunicator& communicator);
  Op collective_op(const TraceRecord& record, const Collective& collective);

  const MpiImportOptions options_;
  const std::uint32_t world_size_;
  CommunicatorTable& communicators_;
  ImportNotes& notes_;
  std::vector<Op> ops_;  // a collective's `value` is its index in collectives_
  std::vector<EdgeRecord> edges_;
  std::vector<Collective> collectives_;
  std::vector<Thread> threads_;
  std::vector<MainPoint> main_points_;
  std::unordered_map<std::uint64_t, Request> requests_;
  std::unordered_map<std::uint64_t, TraceMessage> probed_;  // by Mprobe and Improbe
  std::uint64_t init_ns_ = 0, last_ns_ = 0;
  std::uint64_t inside_;  // how often the region was begun and not ended
  std::uint64_t region_begin_ns_ = 0, region_ns_ = 0;
};

}  // namespace weft::goal
