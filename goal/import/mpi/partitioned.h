// Replays the partitioned communication of one rank. RULES.md of this folder has the rules.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "goal/import/mpi/communicators.h"
#include "goal/import/mpi/notes.h"
#include "goal/import/mpi/one_sided_traffic.h"
#include "goal/import/mpi/rank_program.h"

namespace weft::goal {

class Partitioned {
 public:
  Partitioned(std::uint32_t rank, OneSidedTraffic& traffic, CommunicatorTable& communicators,
              RankProgram& program, ImportNotes& notes)
      : rank_(rank), traffic_(traffic), communicators_(communicators), program_(program), notes_(notes) {}

  // A call that makes a request with a peer in the graph.
  void make(const TraceRecord& record, const std::vector<TraceCommunicator>& known);
  bool has(std::uint64_t request) const { return requests_.count(request) > 0; }
  // The request is started, found complete, or freed.
  void start(RankProgram::Thread& thread, std::uint32_t number, std::uint64_t request);
  void complete(RankProgram::Thread& thread, std::uint32_t number, std::uint64_t request);
  void free(std::uint64_t request) { requests_.erase(request); }
  // MPI_Pready and its kin, and an MPI_Parrived that found its partition.
  void ready(RankProgram::Thread& thread, const TraceRecord& record);
  void arrived(RankProgram::Thread& thread, const TraceRecord& record);

 private:
  struct Request {
    bool sends = false;
    std::uint32_t peer = 0, comm = 0, first_tag = 0;
    std::uint64_t bytes = 0;                  // of one of this side's partitions
    std::uint64_t sender_bytes = 0;           // of one of the sender's, each of which is a message
    std::uint32_t thread = 0;                 // that started it
    Before started;                           // where it was then
    std::map<std::uint32_t, OpIndex> active;  // by the sender's partition
    // At a receiver, what the sender has yet to give.
    std::map<std::uint32_t, std::uint64_t> expected;
  };
  Op message(OpKind kind, const Request& request, std::uint32_t thread, std::uint32_t partition) const;

  const std::uint32_t rank_;
  OneSidedTraffic& traffic_;
  CommunicatorTable& communicators_;
  RankProgram& program_;
  ImportNotes& notes_;
  std::unordered_map<std::uint64_t, Request> requests_;
};

}  // namespace weft::goal
