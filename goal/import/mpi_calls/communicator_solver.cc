#include "goal/import/mpi_calls/communicator_solver.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using How = CommCreation::How;

// Points of a grid; 0 if it has none, or more than a communicator has ranks.
std::uint64_t points_of(const std::vector<std::uint32_t>& dims) {
  std::uint64_t points = 1;
  for (const std::uint32_t dim : dims) {
    points *= dim;
    if (points == 0 || points > UINT32_MAX) return 0;
  }
  return points;
}

// The point's number within those that share its coordinates in the dimensions kept, rows first.
std::int64_t number_without(std::uint64_t point, const std::vector<std::uint32_t>& dims,
                            const std::vector<std::uint32_t>& keep) {
  std::int64_t number = 0, stride = 1;
  for (std::size_t d = dims.size(); d-- > 0; point /= dims[d]) {
    if (keep[d] != 0) continue;
    number += static_cast<std::int64_t>(point % dims[d]) * stride;
    stride *= dims[d];
  }
  return number;
}

}  // namespace

CommunicatorSolver::CommunicatorSolver(Rank ranks) : ranks_(ranks) {
  SolvedCommunicator world;
  world.ranks.resize(ranks);
  std::iota(world.ranks.begin(), world.ranks.end(), 0u);
  add_communicator(std::move(world));
}

bool CommunicatorSolver::is_fixed(const Key& key, std::uint32_t& number) {
  const auto& [handle, rank, size] = key;
  if (handle == kWorldHandle)
    number = kWorldNumber;
  else if (handle == kSelfHandle || size == 1)
    number = kAlone;
  else if (handle == kNoHandle)
    number = kUnknown;
  else
    return false;
  return true;
}

void CommunicatorSolver::add(Rank rank, const MpiCall& call) {
  if (rank != adding_) seen_.clear();
  adding_ = rank;
  const Key key = key_of(call);
  std::uint32_t fixed = 0;
  if (call.comm_size > 0 && !is_fixed(key, fixed) && seen_.emplace(key, true).second) {
    ranks_[rank].events.push_back({.key = key});
  }
  const trace::Shape shape = trace::function_info(call.record.function).shape;
  if (shape != trace::Shape::kCommCreate && shape != trace::Shape::kCommCreateRequest) return;
  for (const Rank member : call.creation.members) {
    if (member < ranks()) continue;
    throw InputError("a group has rank " + std::to_string(member) + ", but MPI_COMM_WORLD has only " +
                     std::to_string(ranks()) + " ranks");
  }
  ranks_[rank].events.push_back(
      {.creates = true, .key = key, .new_comm = call.new_comm, .creation = call.creation});
}

void CommunicatorSolver::solve() {
  ready_.resize(ranks());
  std::iota(ready_.rbegin(), ready_.rend(), 0u);
  while (!ready_.empty()) {
    const Rank rank = ready_.back();
    ready_.pop_back();
    advance(rank);
  }
  // What waits for ranks that never came stays unknown.
  for (History& history : ranks_) {
    while (history.at < history.events.size()) finish_event(history, kUnknown);
    history.handles.clear();
  }
}

// Goes on until the rank has to wait for others.
void CommunicatorSolver::advance(Rank rank) {
  History& history = ranks_[rank];
  while (history.at < history.events.size()) {
    const Event& event = history.events[history.at];
    if (!event.creates) {
      finish_event(history, associate(rank, std::get<1>(event.key), std::get<2>(event.key)));
      continue;
    }
    std::uint32_t parent = kUnknown;
    if (!is_fixed(event.key, parent)) {
      const auto found = history.handles.find(event.key);
      if (found != history.handles.end()) parent = found->second;
    }
    if (parent == kAlone || parent == kUnknown || event.creation.how == How::kUnknown) {
      finish_event(history, parent == kAlone && event.creation.color >= 0 ? kAlone : kUnknown);
      continue;
    }
    if (++arrived_[parent] == communicators_[parent].ranks.size()) resolve(parent);
    return;
  }
}

void CommunicatorSolver::finish_event(History& history, std::uint32_t result) {
  Event& event = history.events[history.at++];
  event.result = result;
  if (!event.creates) {
    history.handles[event.key] = result;
  } else if (event.new_comm != kNoHandle) {
    history.handles[{event.new_comm, 0, 0}] = result;
  } else if (result < kAlone) {
    history.unused.push_back(result);
  }
}

// All ranks of `parent` are about to make a communicator over it.
void CommunicatorSolver::resolve(std::uint32_t parent) {
  arrived_[parent] = 0;
  const std::vector<std::uint32_t> made = children(parent);
  const std::vector<Rank> members = communicators_[parent].ranks;
  for (std::size_t i = 0; i < members.size(); ++i) {
    finish_event(ranks_[members[i]], made[i]);
    ready_.push_back(members[i]);
  }
}

// For each rank of `parent` the number of the communicator it gets.
std::vector<std::uint32_t> CommunicatorSolver::children(std::uint32_t parent) {
  const SolvedCommunicator of = communicators_[parent];
  const auto call = [&](std::size_t i) -> const CommCreation& {
    const History& history = ranks_[of.ranks[i]];
    return history.events[history.at].creation;
  };
  const std::size_t size = of.ranks.size();
  const How how = call(0).how;
  std::vector<std::pair<std::int64_t, std::int64_t>> groups(size);  // color and key
  for (std::size_t i = 0; i < size; ++i) {
    if (call(i).how != how) return std::vector<std::uint32_t>(size, kUnknown);
    auto& [color, key] = groups[i];
    key = static_cast<std::int64_t>(i);
    switch (how) {
      case How::kUnknown:
      case How::kSame:
        break;
      case How::kSplit:
        color = call(i).color;
        key = call(i).key;
        break;
      case How::kGrid:
        color = i < points_of(call(0).dims) ? 0 : -1;
        break;
      case How::kSubgrid:
        color = call(0).keep.size() == of.dims.size() ? number_without(i, of.dims, call(0).keep) : -1;
        break;
      case How::kGroup: {
        // Groups of one call don't overlap, so the first member names the group.
        const std::vector<Rank>& members = call(i).members;
        const auto place = std::find(members.begin(), members.end(), of.ranks[i]);
        color = place == members.end() ? -1 : members.front();
        key = place - members.begin();
        break;
      }
    }
  }
  const std::uint32_t first = static_cast<std::uint32_t>(communicators_.size());
  const std::vector<std::uint32_t> made = split(parent, groups);
  std::vector<std::uint32_t> dims;
  if (how == How::kGrid) dims = call(0).dims;
  if (how == How::kSubgrid) {
    for (std::size_t d = 0; d < std::min(of.dims.size(), call(0).keep.size()); ++d) {
      if (call(0).keep[d] != 0) dims.push_back(of.dims[d]);
    }
  }
  if (how == How::kSame) dims = of.dims;
  for (std::size_t i = first; i < communicators_.size(); ++i) communicators_[i].dims = dims;
  return made;
}

std::vector<std::uint32_t> CommunicatorSolver::split(
    std::uint32_t parent, const std::vector<std::pair<std::int64_t, std::int64_t>>& color_and_key) {
  std::vector<std::uint32_t> order(color_and_key.size()), made(color_and_key.size(), kUnknown);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return color_and_key[a] < color_and_key[b]; });
  for (auto begin = order.begin(); begin != order.end();) {
    const std::int64_t color = color_and_key[*begin].first;
    const auto end =
        std::find_if(begin, order.end(), [&](std::uint32_t i) { return color_and_key[i].first != color; });
    if (color >= 0) {
      SolvedCommunicator communicator;
      for (auto i = begin; i != end; ++i) communicator.ranks.push_back(communicators_[parent].ranks[*i]);
      const std::uint32_t number =
          communicator.ranks.size() == 1 ? kAlone : add_communicator(std::move(communicator));
      for (auto i = begin; i != end; ++i) made[*i] = number;
    }
    begin = end;
  }
  return made;
}

std::uint32_t CommunicatorSolver::add_communicator(SolvedCommunicator communicator) {
  communicators_.push_back(std::move(communicator));
  arrived_.push_back(0);
  return static_cast<std::uint32_t>(communicators_.size() - 1);
}

std::uint32_t CommunicatorSolver::associate(Rank rank, std::uint32_t comm_rank, std::uint32_t comm_size) {
  History& history = ranks_[rank];
  // Whatever is made, is made over what was used before: first of all the world.
  if (!history.world_used && comm_size == ranks() && comm_rank == rank) {
    history.world_used = true;
    return kWorldNumber;
  }
  const auto fits = [&](std::uint32_t number) {
    const std::vector<Rank>& members = communicators_[number].ranks;
    return members.size() == comm_size && comm_rank < comm_size && members[comm_rank] == rank;
  };
  const auto found = std::find_if(history.unused.begin(), history.unused.end(), fits);
  if (found == history.unused.end()) return kUnknown;
  const std::uint32_t number = *found;
  history.unused.erase(found);
  return number;
}

std::uint32_t CommunicatorSolver::View::used(const MpiCall& call) {
  const Key key = key_of(call);
  std::uint32_t number = kUnknown;
  if (is_fixed(key, number)) return number;
  const auto found = handles_.find(key);
  if (found != handles_.end()) return found->second;
  if (call.comm_size == 0) return kUnknown;
  return handles_[key] = history_->events[next_++].result;
}

std::uint32_t CommunicatorSolver::View::created(const MpiCall& call) {
  const std::uint32_t number = history_->events[next_++].result;
  if (call.new_comm != kNoHandle) handles_[{call.new_comm, 0, 0}] = number;
  return number;
}

}  // namespace weft::goal
