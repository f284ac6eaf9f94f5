#include "goal/import/mpi/trace_communicators.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace weft::goal {

std::int32_t TraceCommunicators::world_rank(std::uint32_t comm, std::int32_t rank) const {
  if (rank < 0 || comm >= communicators_.size()) return rank < 0 ? rank : trace::kUndefined;
  const TraceCommunicator& c = communicators_[comm];
  const std::vector<std::int32_t>& ranks = c.inter ? c.remote_ranks : c.ranks;
  return static_cast<std::size_t>(rank) < ranks.size() ? ranks[static_cast<std::size_t>(rank)]
                                                       : trace::kUndefined;
}

void TraceCommunicators::read_members(std::vector<std::int32_t>& ranks) {
  const auto n = values_.varint_at_most(trace::kMaxMembers, "members of a communicator");
  ranks.reserve(std::min<std::uint64_t>(n, 1 << 16));
  while (ranks.size() < n) {
    const std::uint64_t run = values_.varint_at_most(n - ranks.size(), "run of members");
    if (run == 0) values_.fail("an empty run of members");
    const std::int64_t start = values_.small_signed("world rank"),
                       stride = values_.small_signed("stride of world ranks");
    for (std::uint64_t i = 0; i < run; ++i) {
      const std::int64_t r = start + static_cast<std::int64_t>(i) * stride;
      if (r < trace::kOutsideWorld || r >= values_.header().size)
        values_.fail(fmt::format("a communicator with world rank {}", r));
      ranks.push_back(static_cast<std::int32_t>(r));
    }
  }
}

void TraceCommunicators::define() {
  TraceCommunicator comm;
  comm.id = static_cast<std::uint32_t>(values_.varint_at_most(UINT32_MAX - 1, "communicator"));
  if (comm.id != communicators_.size()) {
    values_.fail(fmt::format("communicator {} defined where {} comes next", comm.id, communicators_.size()));
  }
  comm.key = values_.varint();
  comm.parent = read_id();
  comm.inter = values_.varint_at_most(1, "intercommunicator mark") != 0;
  read_members(comm.ranks);
  comm.outside = std::any_of(comm.ranks.begin(), comm.ranks.end(), [](std::int32_t r) { return r < 0; });
  if (comm.inter) read_members(comm.remote_ranks);
  communicators_.push_back(std::move(comm));
}

std::uint32_t TraceCommunicators::read_id() {
  const std::uint64_t id = values_.varint_at_most(communicators_.size(), "communicator (counted from 1)");
  return id == 0 ? trace::kNoComm : static_cast<std::uint32_t>(id - 1);
}

void TraceCommunicators::define_handle() {
  const std::uint64_t id = values_.varint();
  if (id >= communicators_.size()) values_.fail(fmt::format("a handle of communicator {}, not defined", id));
  handles_[values_.varint()] = static_cast<std::uint32_t>(id);
}

std::uint32_t TraceCommunicators::of_handle(std::uint64_t handle) const {
  const auto found = handles_.find(handle);
  return found == handles_.end() || handle == 0 ? trace::kNoComm : found->second;
}

}  // namespace weft::goal
