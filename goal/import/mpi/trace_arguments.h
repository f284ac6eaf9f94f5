// What a record has behind its times: the fields of each shape of call (tracer/format/README.md).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "goal/import/mpi/trace_chunks.h"
#include "goal/import/mpi/trace_communicators.h"
#include "goal/import/mpi/trace_records.h"
#include "tracer/format/format.h"

namespace weft::goal {

// Knows the requests that were made and what receives asked for, as later calls refer to these.
class TraceArguments {
 public:
  // Both must outlive it.
  TraceArguments(TraceChunks& values, TraceCommunicators& communicators)
      : values_(values), communicators_(communicators) {}

  // As each chunk says anew.
  void set_next_request(std::uint64_t request) { next_request_ = request; }
  // REQUIRES: the record has its function, error and times; the function is one that the tracer decodes.
  void read(trace::Shape shape, TraceRecord& record);
  // What is behind the fields of a test or probe that was in vain.
  void read_polls(TraceRecord& record);

 private:
  void read_message(TraceMessage& message, std::uint8_t flags, const TraceMessage& posted);
  void remember_posted(const TraceRecord& record, const TraceMessage& receive);
  void read_posted(TraceRecord& record);
  void read_size(TraceRecord& record);
  std::uint64_t read_reference();
  void read_probe(TraceRecord& record);
  void read_completions(TraceRecord& record);
  void read_started(TraceRecord& record);
  void read_vector(std::vector<std::uint64_t>& values);
  void read_collective(TraceRecord& record);
  void read_matched(trace::Shape shape, TraceRecord& record);
  void read_operation(trace::Shape shape, TraceRecord& record);
  void read_ranks(std::vector<std::int32_t>& ranks);
  void read_neighbors(TraceRecord& record);
  void read_file(trace::Shape shape, TraceRecord& record);
  void read_partitions(trace::Shape shape, TraceRecord& record);
  void read_one_sided(trace::Shape shape, TraceRecord& record);
  void read_exchange(trace::Shape shape, TraceRecord& record);
  void read_status(TraceRecord& record);
  void read_device(TraceRecord& record);

  TraceChunks& values_;
  TraceCommunicators& communicators_;
  std::uint64_t next_request_ = 1;
  // What the receives that are not complete asked for, by request: as source, tag and bytes. Not those with a
  // wildcard.
  struct Posted {
    TraceMessage message;
    bool persistent = false;
  };
  std::unordered_map<std::uint64_t, Posted> posted_;
};

}  // namespace weft::goal
