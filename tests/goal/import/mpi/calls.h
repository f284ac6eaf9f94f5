// Short ways to write down the MPI calls of a rank, as the trace reader would give them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goal/import/mpi/rank_importer.h"
#include "goal/text/text.h"

namespace weft::goal {

using trace::Function;

inline TraceRecord call(Function function, std::uint64_t enter_ns, std::uint64_t leave_ns) {
  TraceRecord record;
  record.function = function;
  record.enter_ns = enter_ns;
  record.leave_ns = leave_ns;
  record.comm = trace::kCommWorld;
  return record;
}

inline TraceRecord on_comm(std::uint32_t comm, TraceRecord record) {
  record.comm = comm;
  return record;
}

inline TraceRecord init(std::uint64_t leave_ns) { return call(Function::kInit, 0, leave_ns); }
inline TraceRecord finalize(std::uint64_t enter_ns) {
  return call(Function::kFinalize, enter_ns, enter_ns + 1000);
}

// A send, or a receive as posted, of `count` elements of 8 bytes.
inline TraceRecord message(Function function, std::uint64_t enter_ns, std::uint64_t leave_ns,
                           std::int32_t peer, std::int32_t tag, std::uint64_t count,
                           std::uint64_t request = 0) {
  TraceRecord record = call(function, enter_ns, leave_ns);
  record.peer = peer;
  record.tag = tag;
  record.count = count;
  record.type_size = 8;
  record.request = request;
  return record;
}

inline TraceMessage got(std::int32_t source, std::int32_t tag, std::uint64_t bytes) {
  return {.valid = true, .source = source, .tag = tag, .bytes = bytes};
}

inline TraceRecord received(TraceRecord record, TraceMessage message) {
  record.received = message;
  return record;
}

// What a Wait or Test found complete.
inline TraceCompletion request(std::uint64_t number, TraceMessage message = {}) {
  return {.request = number, .cancelled = false, .message = message};
}

// A Wait or Test and what it found complete.
inline TraceRecord done(Function function, std::uint64_t enter_ns, std::uint64_t leave_ns,
                        std::vector<TraceCompletion> completions) {
  TraceRecord record = call(function, enter_ns, leave_ns);
  record.requests_given = static_cast<std::uint32_t>(completions.size() + 1);
  record.completions = std::move(completions);
  record.flag = !record.completions.empty();
  return record;
}

// The world, each rank's MPI_COMM_SELF, and what a test adds.
struct Files {
  std::vector<std::vector<TraceRecord>> ranks;
  std::vector<TraceCommunicator> communicators;  // of every rank; empty: the world and self
  ImportNotes notes;

  Graph import(const MpiImportOptions& options = {}) {
    const auto size = static_cast<std::uint32_t>(ranks.size());
    GraphBuilder builder;
    CommunicatorTable table(builder, size);
    OneSidedTraffic traffic(size, [&](OneSidedTraffic& all) {
      for (std::uint32_t r = 0; r < size; ++r) {
        for (const TraceRecord& record : ranks[r]) all.add(r, record, known(r));
      }
    });
    for (std::uint32_t r = 0; r < size; ++r) {
      table.begin_rank();
      RankImporter importer(options, r, size, table, traffic, notes);
      for (const TraceRecord& record : ranks[r]) importer.add(record, known(r));
      importer.finish(builder);
    }
    return builder.finish();
  }

  // Communicators of rank r's file.
  std::vector<TraceCommunicator> known(std::uint32_t r) const {
    std::vector<TraceCommunicator> all(2);
    for (std::uint32_t i = 0; i < ranks.size(); ++i) all[0].ranks.push_back(static_cast<std::int32_t>(i));
    all[1] = {.id = 1, .key = 1000 + r, .parent = 0, .ranks = {static_cast<std::int32_t>(r)}};
    all.insert(all.end(), communicators.begin(), communicators.end());
    return all;
  }
};

// The text of rank 0 alone, where the others make no calls: one line an operation or dependency.
inline std::string text_of_rank0(const std::vector<TraceRecord>& records, std::uint32_t world_size = 4,
                                 const MpiImportOptions& options = {}, ImportNotes* notes = nullptr) {
  Files files;
  files.ranks.resize(world_size);
  files.ranks[0] = records;
  const Graph graph = files.import(options);
  if (notes != nullptr) *notes = files.notes;
  std::string text;
  GraphRanks ranks(graph);
  print_rank(ranks, 0, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace weft::goal
