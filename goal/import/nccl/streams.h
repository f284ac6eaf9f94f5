// Turns the NCCL and CUDA calls of one GPU into operations and dependencies. README.md of this folder has the
// rules.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/mpi/rank_importer.h"
#include "goal/import/nccl/choices.h"
#include "goal/import/nccl/notes.h"
#include "goal/import/nccl/world.h"

namespace weft::goal {

class StreamImporter {
 public:
  // `first_cpu`: that of the graph for the first stream. The rank's CPU threads are `rank`'s.
  StreamImporter(const NcclWorld& world, Rank rank, std::uint16_t first_cpu, bool with_choices,
                 RankImporter& threads, NcclNotes& notes);

  // The next record of kDevice of this GPU's process, in the order of the file.
  void add(const TraceRecord& record);
  void finish();

 private:
  // Work for a stream, before or after it is an operation.
  struct Work {
    std::uint16_t cpu = 0;
    bool is_collective = false;
    Op op;  // a computation or a message; its tag is given when it becomes an operation
    Collective collective;
    std::uint64_t number = 0;  // among the stream operations of the file
    bool timed = false;        // its own GPU time is its length (a kernel)
  };
  // A stream that is captured into a graph: what was put on it, and what each waits for (indices of nodes).
  struct Node {
    Work work;
    std::vector<std::uint32_t> after;
  };
  struct Capture {
    std::vector<Node> nodes;
    bool ended = false;
  };
  // What the next operation on a stream waits for: operations, or nodes of a capture.
  struct Tail {
    std::vector<std::uint32_t> ops;
    std::shared_ptr<Capture> capture;
  };
  struct Stream {
    bool defined = false;
    std::uint16_t cpu = 0;
    std::int64_t device = -1;
    trace::StreamKind kind = trace::StreamKind::kUnknown;
    Tail tail;
  };
  // An operation of NCCL that waits for the end of its group.
  struct Issued {
    std::uint32_t comm = 0;  // number of the file
    std::int64_t stream = 0;
    trace::DeviceFunction function{};
    std::uint64_t nth = 0;  // of that function on that communicator
    std::int64_t count = 0;
    Work work;
  };
  struct Thread {
    int depth = 0;
    std::vector<Issued> group;
  };

  bool concerns(const TraceRecord& record) const;
  void pass(const TraceRecord& record, bool inside_too);
  bool note(const TraceRecord& record);
  void profiled_operation(const TraceRecord& record);
  void end_profiled_group();
  void order(const TraceRecord& record, trace::DeviceShape shape);
  void nccl_operation(const TraceRecord& record);
  std::optional<Work> work_of(const TraceRecord& record, const NcclFileComm& comm, const NcclComm& members);
  void set_choice(const Issued& issued, Collective& collective);
  void launch(const TraceRecord& record, std::vector<Issued>& group);
  void launch_on(const TraceRecord& record, std::span<const Issued> group, std::uint32_t comm);
  Work computation(const Stream& on) const;
  void kernel(const TraceRecord& record);
  void stream_order(const TraceRecord& record);
  void synchronize(const TraceRecord& record);
  void end_capture(const TraceRecord& record);
  void launch_graph(const TraceRecord& record);
  void gpu_time(const TraceRecord& record);

  Stream& stream(std::int64_t number);
  Tail tail_of(const Stream& stream) const;
  // Adds work behind `after`, and says by which index the capture or the rank knows it.
  std::uint32_t put(const TraceRecord& record, const Work& work, const Tail& after);
  OpIndex emit(const TraceRecord& record, const Work& work, std::span<const OpIndex> after);
  void put_on(const TraceRecord& record, Stream& stream, Work work);
  // Several things to wait for become one.
  void collapse(const TraceRecord& record, std::uint16_t cpu, Tail& tail);
  void wait_for(const TraceRecord& record, const Tail& tail);

  const NcclWorld& world_;
  const NcclFile& file_;
  const std::int64_t device_;
  const bool shares_process_;  // with other GPUs
  const std::uint16_t first_cpu_;
  const bool with_choices_;
  RankImporter& threads_;
  NcclNotes& notes_;
  NcclChoices choices_;
  std::uint32_t comms_defined_ = 0;
  std::map<std::pair<std::uint32_t, trace::DeviceFunction>, std::uint64_t>
      calls_;  // by communicator and function
  std::vector<Stream> streams_;
  std::map<std::int64_t, Tail> events_;
  std::map<std::int64_t, std::shared_ptr<Capture>> graphs_, executables_;
  std::vector<Thread> nccl_threads_;
  std::map<std::uint64_t, OpIndex> computations_;  // by number of the stream operation: its time comes later
  std::map<std::uint64_t, std::uint32_t> tags_;    // messages so far by communicator, peer and direction
  std::uint64_t stream_operations_ = 0;
  // These tell what is launched together where a file has the profiler's view only.
  TraceRecord last_profiled_;
  std::int64_t profiled_group_ = 0;
};

}  // namespace weft::goal
