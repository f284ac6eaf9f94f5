// One rank of an OTF2 archive, from its locations' calls to the graph.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "goal/import/mpi/rank_importer.h"
#include "goal/import/otf2/archive.h"
#include "goal/import/otf2/collective_sizes.h"
#include "goal/import/otf2/location_calls.h"

namespace weft::goal {

// What all ranks share.
struct Otf2Run {
  const Otf2Archive& archive;
  std::map<OTF2_RegionRef, std::string> mpi_regions;              // names of MPI functions
  std::vector<TraceCommunicator> known;                           // number 1 is the rank's own
  std::unordered_map<OTF2_CommRef, std::uint32_t> communicators;  // their numbers there
  Otf2Shares shares;
  Unread unread;
  std::uint64_t spread_evenly = 0;  // v-form collectives of which not all ranks' sums are there
};

class Otf2RankEvents {
 public:
  // `locations`: the rank's, its first thread first.
  Otf2RankEvents(Otf2Run& run, Rank rank, std::vector<OTF2_LocationRef> locations);

  // Adds the rank's v-form collectives to the run's shares.
  void add_shares();
  // The rank's operations. Throws InputError for what no MPI program can do.
  void import(const MpiImportOptions& options, CommunicatorTable& communicators, ImportNotes& notes,
              GraphBuilder& builder);
  std::uint64_t elapsed_ns() const { return elapsed_ns_; }

 private:
  template <typename Take>
  void for_each_call(Unread* unread, const Take& take);
  void find_completions();
  void add_call(RankImporter& importer, ImportNotes& notes, std::uint32_t thread, const Otf2Call& call);
  bool take_event(const Otf2Event& event, trace::Function function, TraceRecord& record);
  bool take_receive_request(const Otf2Event& event, TraceRecord& record);
  bool take_collective(const Otf2Event& event, bool nonblocking, TraceRecord& record);
  std::uint32_t number_of(std::uint32_t comm) const;
  std::int32_t world_rank(std::uint32_t number, std::uint32_t rank) const;
  std::uint32_t rank_in(std::uint32_t number) const;

  Otf2Run& run_;
  const Rank rank_;
  const std::vector<OTF2_LocationRef> locations_;
  std::map<std::uint64_t, std::deque<Otf2Event>> completions_;  // by request, of receives and collectives
  std::unordered_map<std::uint64_t, std::uint64_t> requests_;   // numbers, by request
  std::uint64_t next_request_ = 1;
  std::uint64_t elapsed_ns_ = 0;
};

}  // namespace weft::goal
