// Reads the trace file of one MPI rank (tracer/format/README.md) into plain records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "goal/import/mpi/trace_arguments.h"
#include "goal/import/mpi/trace_chunks.h"
#include "goal/import/mpi/trace_communicators.h"
#include "goal/import/mpi/trace_records.h"
#include "tracer/format/format.h"

namespace weft::goal {

// Reads one file from front to back. A file without an end (the process was killed, or still runs) reads up
// to the last whole record; of version 1, or a damaged one, up to the last whole chunk. Not safe to share
// between threads.
class TraceReader {
 public:
  // Throws InputError if the file cannot be opened, is no trace, or has a version this reader does not know.
  explicit TraceReader(const std::string& path);
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  const TraceHeader& header() const { return chunks_.header(); }
  // The next call in the order in which calls returned; false after the last. Throws InputError for a chunk
  // whose checksum holds but whose content makes no sense.
  bool next(TraceRecord& record);

  // Communicators defined so far, by id. The first two are MPI_COMM_WORLD and MPI_COMM_SELF.
  const std::vector<TraceCommunicator>& communicators() const { return communicators_.all(); }
  // The latest counts read, in order of first call. Complete once next() has returned false.
  const std::vector<TraceCounter>& counters() const { return counters_; }

  // What the process told of itself and its machine, by the names in tracer/format/README.md: the latest
  // read.
  const std::map<std::string, std::string>& facts() const { return facts_; }
  // How many were read so far, those that came again too: as long as it stays, facts() stay.
  std::uint64_t facts_read() const { return facts_read_; }

  // Begins and ends of regions read since the last time this was called: they came before the record that
  // next() returned last, or before the end.
  std::vector<TraceRegionEvent> take_region_events() { return std::exchange(region_events_, {}); }

  // Returns the ends of threads read since it was last called: they came before the record that next()
  // returned last, or before the end.
  std::vector<TraceThreadEnd> take_thread_ends() { return std::exchange(thread_ends_, {}); }

  // These hold once next() has returned false.
  // True if the tracer closed the file at the program's end; false if it was cut or damaged, or if the
  // tracer could not write on.
  bool complete() const { return end_ != trace::End::kNone && end_ != trace::End::kStopped; }
  trace::End end() const { return end_; }
  std::uint64_t records() const { return records_; }
  // Bytes of the file up to the end of what was read: less than its size where it was cut.
  std::uint64_t used_bytes() const { return chunks_.used_bytes(); }
  // The calls that threads are in, by thread; none where the file has an end. As of when the file was opened.
  std::vector<TraceNowIn> now_in() const;
  // One sentence for a person: "complete", or "truncated after N records: why, at byte B".
  std::string status() const;

 private:
  bool read_chunk();
  bool next_record(TraceRecord& record);
  bool pending_polls(TraceRecord& record);
  bool read_meta(std::uint8_t kind);
  void read_region();
  void read_fact();
  std::uint64_t read_off_core_ns();
  void read_off_core();
  void take_off_core(TraceRecord& record);
  void read_call(std::uint8_t kind, TraceRecord& record);
  void read_function(std::uint8_t first, TraceRecord& record);
  void read_times(TraceRecord& record);
  void read_fields(TraceRecord& record);
  void repeat_fields(std::size_t slot, TraceRecord& record);
  void read_name(TraceRecord& record);

  // Fields of an earlier record of the chunk.
  struct Slot {
    std::size_t begin = 0, end = 0;
    std::uint8_t first = 0;  // byte of the record
  };

  TraceChunks chunks_;
  TraceCommunicators communicators_;
  TraceArguments arguments_;
  std::uint64_t last_enter_ = 0, last_leave_ = 0;
  std::map<std::uint32_t, std::uint64_t> left_;  // when each thread that has a slot left its last call
  std::uint32_t thread_ = 0;
  std::vector<TraceCounter> counters_;
  std::vector<TraceRegionEvent> region_events_;
  std::vector<TraceThreadEnd> thread_ends_;
  std::map<std::string, std::string> facts_;
  std::uint64_t facts_read_ = 0;
  std::array<Slot, trace::kSlots> slots_;
  trace::OffCore off_before_, off_inside_;  // of the next record
  std::uint64_t overlap_ns_ = 0;            // the same
  std::int32_t error_ = 0;                  // the same
  std::uint64_t thread_begins_cpu_ns_ = 0;  // the same
  std::deque<std::string> names_;           // of counters_; never moves, since records point into it
  std::uint64_t records_ = 0;
  trace::End end_ = trace::End::kNone;
};

}  // namespace weft::goal
