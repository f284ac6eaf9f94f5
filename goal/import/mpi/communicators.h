// One number for each communicator of a run, though every rank's trace counts its own.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/mpi/trace_reader.h"

namespace weft::goal {

// Adds a communicator to the graph when an operation first uses it. Communicators are told apart by their
// trace keys, which all members share.
class CommunicatorTable {
 public:
  CommunicatorTable(GraphBuilder& builder, std::uint32_t world_size)
      : builder_(builder), world_size_(world_size) {}

  // To be called before the first communicator of another rank's file.
  void begin_rank() { of_file_.clear(); }
  // The graph's number for communicator `id` of the file being read. An intercommunicator is that of all
  // ranks of both groups, in ascending order: point-to-point messages in it need no more.
  std::uint32_t graph_number(const std::vector<TraceCommunicator>& communicators, std::uint32_t id);
  // The graph's number for the messages of a window with this key, made on communicator `id` of that file.
  std::uint32_t window_number(const std::vector<TraceCommunicator>& communicators, std::uint32_t id,
                              std::uint64_t key);
  // The graph's number for partitioned messages in communicator `id` of that file, which meet no others.
  std::uint32_t partitioned_number(const std::vector<TraceCommunicator>& communicators, std::uint32_t id);
  // The graph's number for a persistent collective of communicator `id` of that file, the `made`-th (from 0)
  // that was made there: MPI matches it by the order of making, in whatever order ranks start theirs
  // (MPI 4.0, section 6.12).
  std::uint32_t persistent_number(const std::vector<TraceCommunicator>& communicators, std::uint32_t id,
                                  std::uint32_t made);
  // These two are for intercommunicator `id` of that file: they give the graph's numbers for the collectives
  // of the group that this rank is in, in the order of that group, and for the messages that these need
  // between the groups.
  std::uint32_t group_number(const std::vector<TraceCommunicator>& communicators, std::uint32_t id);
  std::uint32_t between_number(const std::vector<TraceCommunicator>& communicators, std::uint32_t id);

 private:
  using OfKey = std::map<std::uint64_t, std::uint32_t>;
  std::uint32_t own_number(OfKey& numbers, const char* name, std::uint64_t key,
                           const TraceCommunicator& communicator);

  GraphBuilder& builder_;
  std::uint32_t world_size_;
  OfKey of_key_, of_window_, of_partitioned_, of_between_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> of_persistent_;
  std::map<std::pair<std::uint64_t, std::int32_t>, std::uint32_t> of_group_;  // by its first rank
  std::vector<std::uint32_t> of_file_;  // by id in the file; kAny: not asked for yet
};

}  // namespace weft::goal
