#include "goal/import/mpi/communicators.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

std::vector<Rank> members_of(const TraceCommunicator& communicator, std::uint32_t world_size) {
  std::vector<Rank> ranks;
  const auto add = [&](std::int32_t rank) {
    if (rank >= static_cast<std::int64_t>(world_size)) {
      throw InputError("a communicator has rank " + std::to_string(rank) + ", but MPI_COMM_WORLD has only " +
                       std::to_string(world_size) + " ranks");
    }
    if (rank >= 0) ranks.push_back(static_cast<Rank>(rank));  // others belong to another MPI_COMM_WORLD
  };
  for (const std::int32_t rank : communicator.ranks) add(rank);
  if (communicator.inter) {
    for (const std::int32_t rank : communicator.remote_ranks) add(rank);
    std::sort(ranks.begin(), ranks.end());
  }
  bool all = ranks.size() == world_size;
  for (std::size_t i = 0; all && i < ranks.size(); ++i) all = ranks[i] == i;
  if (all) ranks.clear();  // the graph's short form
  return ranks;
}

}  // namespace

std::uint32_t CommunicatorTable::graph_number(const std::vector<TraceCommunicator>& communicators,
                                              std::uint32_t id) {
  if (id == trace::kCommWorld) return kWorld;
  if (id >= communicators.size()) {
    throw InputError("a call uses communicator " + std::to_string(id) + ", which is not defined");
  }
  if (of_file_.size() <= id) of_file_.resize(id + 1, kAny);
  if (of_file_[id] != kAny) return of_file_[id];
  const auto [found, added] = of_key_.try_emplace(communicators[id].key, 0);
  if (added) {
    // The name also keeps apart communicators with the same members.
    Communicator communicator{"comm" + std::to_string(of_key_.size()),
                              members_of(communicators[id], world_size_)};
    found->second = builder_.add_communicator(std::move(communicator));
  }
  return of_file_[id] = found->second;
}

// One of its own for what meets nothing of the communicator itself.
std::uint32_t CommunicatorTable::own_number(OfKey& numbers, const char* name, std::uint64_t key,
                                            const TraceCommunicator& communicator) {
  const auto [found, added] = numbers.try_emplace(key, 0);
  if (added) {
    found->second = builder_.add_communicator(
        {name + std::to_string(numbers.size()), members_of(communicator, world_size_)});
  }
  return found->second;
}

std::uint32_t CommunicatorTable::window_number(const std::vector<TraceCommunicator>& communicators,
                                               std::uint32_t id, std::uint64_t key) {
  return own_number(of_window_, "window", key, communicators[id]);
}

std::uint32_t CommunicatorTable::partitioned_number(const std::vector<TraceCommunicator>& communicators,
                                                    std::uint32_t id) {
  return own_number(of_partitioned_, "partitioned", communicators[id].key, communicators[id]);
}

std::uint32_t CommunicatorTable::between_number(const std::vector<TraceCommunicator>& communicators,
                                                std::uint32_t id) {
  return own_number(of_between_, "between", communicators[id].key, communicators[id]);
}

std::uint32_t CommunicatorTable::group_number(const std::vector<TraceCommunicator>& communicators,
                                              std::uint32_t id) {
  TraceCommunicator group = communicators[id];
  const auto [found, added] = of_group_.try_emplace({group.key, group.ranks.at(0)}, 0);
  if (added) {
    group.inter = false;
    found->second = builder_.add_communicator(
        {"group" + std::to_string(of_group_.size()), members_of(group, world_size_)});
  }
  return found->second;
}

std::uint32_t CommunicatorTable::persistent_number(const std::vector<TraceCommunicator>& communicators,
                                                   std::uint32_t id, std::uint32_t made) {
  const auto [found, added] = of_persistent_.try_emplace({communicators[id].key, made}, 0);
  if (added) {
    found->second = builder_.add_communicator(
        {"persistent" + std::to_string(of_persistent_.size()), members_of(communicators[id], world_size_)});
  }
  return found->second;
}

}  // namespace weft::goal
