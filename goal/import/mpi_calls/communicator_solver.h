// Finds out who is in which communicator, from the arguments of the calls that made them.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/mpi_calls/call.h"

namespace weft::goal {

// A communicator of the run.
struct SolvedCommunicator {
  std::vector<Rank> ranks;          // world ranks, in communicator order
  std::vector<std::uint32_t> dims;  // of a Cartesian grid
};

// First all calls are added, rank by rank in order; then solve(); then each rank's calls are gone through
// again, in the same order, with a View. Collective calls meet in their order on a communicator, as MPI
// demands: the k-th creation over one is the same on all of its ranks.
//
// Formats that give no handle of the communicator made, but the caller's rank and the size with each one used
// (liballprof): a handle that is new is the first one made, and not yet used, in which the rank has that
// place and that many are.
class CommunicatorSolver {
 private:
  using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;  // handle, rank and size (or 0, 0)
  struct Event {
    bool creates = false;  // else the first use of a handle
    Key key;               // what is used, or the parent
    std::uint64_t new_comm = kNoHandle;
    CommCreation creation;
    std::uint32_t result = 0;
  };
  struct History {
    std::vector<Event> events;
    // While solving: the event that is next, what is known of handles, and what was made but not used yet.
    std::size_t at = 0;
    std::map<Key, std::uint32_t> handles;
    std::vector<std::uint32_t> unused;
    bool world_used = false;
  };

 public:
  static constexpr std::uint32_t kWorldNumber = 0;
  static constexpr std::uint32_t kUnknown = 0xFFFFFFFFu;
  static constexpr std::uint32_t kAlone = 0xFFFFFFFEu;  // of the calling rank only

  explicit CommunicatorSolver(Rank ranks);

  // Throws InputError for ranks outside the world.
  void add(Rank rank, const MpiCall& call);
  void solve();

  Rank ranks() const { return static_cast<Rank>(ranks_.size()); }
  const SolvedCommunicator& communicator(std::uint32_t number) const { return communicators_[number]; }

  // One rank's handles, as they come up again. Good as long as the solver.
  class View {
   public:
    View(const CommunicatorSolver& solver, Rank rank) : history_(&solver.ranks_[rank]) {}
    // The communicator a call uses: a number of communicator(), kAlone or kUnknown.
    std::uint32_t used(const MpiCall& call);
    // The one it makes, to be asked after used(); kUnknown also where this rank isn't in it.
    std::uint32_t created(const MpiCall& call);

   private:
    const History* history_;
    std::size_t next_ = 0;
    std::map<Key, std::uint32_t> handles_;
  };

 private:
  static Key key_of(const MpiCall& call) { return {call.comm, call.comm_rank, call.comm_size}; }
  // Is it a handle of which the meaning is clear without any history?
  static bool is_fixed(const Key& key, std::uint32_t& number);

  void advance(Rank rank);
  void finish_event(History& history, std::uint32_t result);
  void resolve(std::uint32_t parent);
  std::vector<std::uint32_t> children(std::uint32_t parent);
  std::vector<std::uint32_t> split(std::uint32_t parent,
                                   const std::vector<std::pair<std::int64_t, std::int64_t>>& color_and_key);
  std::uint32_t add_communicator(SolvedCommunicator communicator);
  std::uint32_t associate(Rank rank, std::uint32_t comm_rank, std::uint32_t comm_size);

  std::vector<History> ranks_;
  std::vector<SolvedCommunicator> communicators_;
  std::vector<std::uint32_t> arrived_;  // ranks that wait to make a communicator over this one
  std::vector<Rank> ready_;
  Rank adding_ = 0;
  std::map<Key, bool> seen_;  // by rank adding_
};

}  // namespace weft::goal
