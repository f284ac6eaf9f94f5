// Turns the MPI calls of one rank into operations and dependencies. RULES.md of this folder has the rules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/mpi/communicators.h"
#include "goal/import/mpi/left_out.h"
#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/one_sided.h"
#include "goal/import/mpi/partitioned.h"
#include "goal/import/mpi/rank_program.h"
#include "goal/import/mpi/request_table.h"
#include "goal/import/mpi/trace_reader.h"
#include "goal/import/mpi/two_groups.h"

namespace weft::goal {

struct MpiImportOptions {
  // Keep MPI_ANY_SOURCE and MPI_ANY_TAG as wildcards, instead of the source and tag that were received.
  bool keep_wildcards = false;
  // Take ranks whose file was cut (the program was killed), each up to where its file ends.
  bool partial = false;
  // A gap of at most this long after an unsuccessful Test or Iprobe and before the next one is waiting, not
  // compute.
  std::uint64_t poll_gap_ns = 5000;
  ComputeTimes compute_times = ComputeTimes::kAuto;
  // Take only what each rank does while it is in the region of this name; empty: all.
  std::string region;
};

class RankImporter {
 public:
  RankImporter(const MpiImportOptions& options, std::uint32_t rank, std::uint32_t world_size,
               CommunicatorTable& communicators, OneSidedTraffic& traffic, ImportNotes& notes)
      : options_(options),
        world_size_(world_size),
        communicators_(communicators),
        notes_(notes),
        account_(notes.not_replayed),
        program_(options.poll_gap_ns, options.compute_times, options.region, notes),
        one_sided_(rank, world_size, traffic, communicators, program_, notes),
        partitioned_(rank, traffic, communicators, program_, notes),
        requests_(program_, partitioned_, notes),
        two_groups_(rank, communicators, program_) {}

  // The next call of the rank, in the order of the file. `known` are the communicators of that file.
  // Throws InputError for what no MPI program can do (a rank outside the world).
  void add(const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  // The count of a function that is not decoded, where it is more than the calls that were added.
  void add(const TraceCounter& counter);
  // The program begins or ends a region, before the next call.
  void region(const TraceRegionEvent& event) { program_.region(event); }
  // A thread has ended, before the next call.
  void thread_ended(const TraceThreadEnd& end) { program_.thread_ended(end); }
  // Can no two threads be in MPI at once, from now on?
  void threads_take_turns(bool they_do) { program_.threads_take_turns(they_do); }
  // Ends the rank: hands its operations to the builder and calls its end_rank().
  void finish(GraphBuilder& builder);

  // For work that runs beside the threads, such as on a GPU's streams (goal/import/nccl). A call that is no
  // MPI function: accounts for the time since the thread's last call and, if `inside_too`, for that in this
  // one.
  void pass_time(const TraceRecord& record, bool inside_too);
  // An operation that waits for all that the calling thread has done and for `after`; the thread goes on at
  // once. The collective's communicator is one of the graph.
  OpIndex add_beside(const TraceRecord& record, const Op& op, std::span<const OpIndex> after);
  OpIndex add_beside(const TraceRecord& record, std::uint16_t cpu, const Collective& collective,
                     std::span<const OpIndex> after);
  // The calling thread's next operation waits for these.
  void wait_for(const TraceRecord& record, std::span<const OpIndex> ops);
  // How long a computation takes, learnt later. REQUIRES: `op` is one.
  void set_compute(OpIndex op, std::uint64_t ns) { program_.op(op).value = ns; }

  // Time between the end of MPI_Init and the start of MPI_Finalize, or of the last call.
  // Where a region was asked for: the time in it.
  std::uint64_t elapsed_ns() const { return program_.elapsed_ns(); }
  // The end of MPI_Init and the start of MPI_Finalize, or the end of the last call, on the host's clock.
  std::uint64_t begin_ns() const { return program_.begin_ns(); }
  std::uint64_t end_ns() const { return program_.end_ns(); }
  // Tells where the first thread's time went until here.
  const TimeSplit& split() const { return program_.split(); }
  // The most threads that made MPI calls and lived at once.
  std::size_t threads_at_once() const { return program_.threads_at_once(); }

 private:
  using Thread = RankProgram::Thread;
  void take(const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  bool stands_for_nothing(const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void pass_over(const TraceRecord& record);
  void replay(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void begin_or_end(Thread& thread, const TraceRecord& record);
  void partitioned(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void leave_out(const TraceRecord& record);
  bool is_operation(std::int32_t peer);
  Op send_of(const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  Op recv_of(const TraceRecord& record, std::int32_t peer, std::int32_t tag, std::uint64_t posted,
             const std::vector<TraceCommunicator>& known);
  void resolve(Op& op, const TraceMessage& message);

  void send(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void recv(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void exchange(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void sendrecv(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void isendrecv(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void status(Thread& thread, const TraceRecord& record);
  void make_request(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void matched_recv(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void complete(Thread& thread, const TraceRecord& record);
  void start(Thread& thread, const TraceRecord& record);
  void collective(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void between_groups(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void one_sided(Thread& thread, const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  void perform(Thread& thread, const TraceRecord& record, const Op* op);
  void create_communicator(Thread& thread, const TraceRecord& record,
                           const std::vector<TraceCommunicator>& known);
  void agree_between_groups(Thread& thread, const TraceRecord& record, std::uint32_t over,
                            const std::vector<TraceCommunicator>& known);

  const MpiImportOptions options_;
  const std::uint32_t world_size_;
  CommunicatorTable& communicators_;
  ImportNotes& notes_;
  CallAccount account_;
  RankProgram program_;
  OneSided one_sided_;
  Partitioned partitioned_;
  RequestTable requests_;
  TwoGroups two_groups_;
  std::unordered_map<std::uint32_t, std::uint32_t> persistent_made_;  // collectives, by communicator
  std::unordered_map<std::uint64_t, TraceMessage> probed_;            // by Mprobe and Improbe
  bool outside_ = false;  // the call at hand is with a process of another MPI_COMM_WORLD
};

}  // namespace weft::goal
