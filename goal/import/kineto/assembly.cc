#include "goal/import/kineto/assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "goal/import/kineto/partners.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::goal {
namespace {

// Ranks start, start + stride … if that is what they are.
std::optional<GroupName> as_progression(const std::vector<Rank>& ranks) {
  const std::int64_t stride = ranks.size() > 1 ? std::int64_t{ranks[1]} - ranks[0] : 1;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (std::int64_t{ranks[i]} - ranks[i - 1] != stride || stride <= 0) return std::nullopt;
  }
  return GroupName{.size = static_cast<std::int64_t>(ranks.size()), .start = ranks[0], .stride = stride};
}

class Assembly {
 public:
  Assembly(std::map<Rank, PlannedRank>& ranks, Rank world, KinetoNotes& notes)
      : ranks_(ranks), world_(world), notes_(notes) {}

  Graph assemble() {
    expect_all();
    std::vector<RankOps> all(world_);
    for (Rank rank = 0; rank < world_; ++rank) all[rank] = ops_of(rank);
    hold_against(all, groups_, notes_);
    GraphBuilder builder;
    for (const std::vector<Rank>& group : groups_) {
      communicators_.push_back(group.empty() ? kWorld : builder.add_communicator({"", group}));
    }
    for (Rank rank = 0; rank < world_; ++rank) build(builder, rank, all[rank]);
    return builder.finish();
  }

 private:
  // A profile of a few bytes may claim to be of millions of ranks.
  void expect_all() const {
    double ops = 0, edges = 0, comms = 0;
    for (Rank rank = 0; rank < world_; ++rank) {
      const RankPlan& plan = ranks_.at(donor_of(rank)).plan;
      ops += static_cast<double>(plan.ops.size());
      edges += static_cast<double>(plan.edges.size());
      comms += static_cast<double>(plan.calls.size());
    }
    expect_memory(200.0 * world_ + 150 * comms + 40 * ops + 8 * edges,
                  fmt::format("a graph of {} ranks and {:.0f} operations", world_, ops));
  }

  // The profile that a rank's operations are from.
  Rank donor_of(Rank rank) const {
    auto at = ranks_.upper_bound(rank);
    if (at != ranks_.begin()) --at;
    return at->first;
  }

  RankOps ops_of(Rank rank) {
    const Rank donor = donor_of(rank);
    if (donor != rank) notes_.add(KinetoNote::kCopiedRanks);
    const PlannedRank& from = ranks_.at(donor);
    RankOps made{.path = from.path};
    std::vector<std::uint32_t> group_of_call(from.plan.calls.size(), kUnknownGroup);
    for (std::uint32_t i = 0; i < from.plan.ops.size(); ++i) {
      const PlannedOp& op = from.plan.ops[i];
      if (op.call == kNoCall) continue;
      const CommCall& call = from.plan.calls[op.call];
      std::uint32_t& group = group_of_call[op.call];
      if (group == kUnknownGroup) group = number_of(group_for(from, call, donor, rank));
      CommOp comm{.op = i, .group = group, .call = &call};
      if (call.kind != CommKind::kCollective && !set_peer(call, donor, rank, comm)) {
        notes_.add(KinetoNote::kMessagesWithoutPeer);
        continue;
      }
      made.comms.push_back(comm);
    }
    made.donor = donor;
    made.lost_front = from.lost_front;
    return made;
  }

  bool set_peer(const CommCall& call, Rank donor, Rank rank, CommOp& comm) const {
    if (call.peer < 0 || call.peer >= world_) return false;
    if (donor != rank) {
      throw InputError({ranks_.at(donor).path},
                       fmt::format("rank {} sends messages to single ranks ('{}'), so rank {}, which has no "
                                   "profile, can't be taken to do the same; give the profiles of all ranks",
                                   donor, call.name, rank));
    }
    comm.peer = static_cast<Rank>(call.peer);
    return true;
  }

  // The world ranks that take part; empty: all.
  std::vector<Rank> group_for(const PlannedRank& from, const CommCall& call, Rank donor, Rank rank) {
    std::vector<Rank> members = members_of(from, call.group);
    if (members.empty()) return members;
    const auto there = [&](Rank r) { return std::find(members.begin(), members.end(), r) != members.end(); };
    if (!there(donor)) {
      throw InputError({from.path},
                       fmt::format("rank {} calls '{}' on process group '{}', which it is not in", donor,
                                   call.name, call.group.name));
    }
    if (members.back() >= world_ || *std::max_element(members.begin(), members.end()) >= world_) {
      throw InputError({from.path},
                       fmt::format("process group '{}' has rank {}, but there are {} ranks", call.group.name,
                                   *std::max_element(members.begin(), members.end()), world_));
    }
    if (rank == donor || there(rank)) return members;
    return moved(members, from, call, donor, rank);
  }

  // The group of `rank` that is what `members` is for the donor, where groups of that form part the world.
  std::vector<Rank> moved(const std::vector<Rank>& members, const PlannedRank& from, const CommCall& call,
                          Rank donor, Rank rank) const {
    const auto form = as_progression(members);
    if (form) {
      const std::int64_t stride = form->stride, block = stride * form->size;
      const auto start_of = [&](std::int64_t r) { return r / block * block + r % stride; };
      if (world_ % block == 0 && start_of(donor) == form->start) {
        std::vector<Rank> ranks;
        for (std::int64_t i = 0; i < form->size; ++i) {
          ranks.push_back(static_cast<Rank>(start_of(rank) + i * stride));
        }
        return ranks;
      }
    }
    throw InputError({from.path},
                     fmt::format("process group '{}' of rank {} ({} ranks) does not say what the "
                                 "group of rank {}, which has no profile, is; give its profile",
                                 call.group.name, donor, members.size(), rank));
  }

  std::vector<Rank> members_of(const PlannedRank& from, const GroupName& group) {
    const bool whole = group.size == world_ || (group.size < 0 && group.ranks.empty());
    if (!group.ranks.empty()) return normal(group.ranks);
    for (const GroupName& listed : from.groups) {
      if (!group.name.empty() && listed.name == group.name && !listed.ranks.empty()) {
        return normal(listed.ranks);
      }
    }
    if (whole) {
      if (group.size < 0 && world_ > 1) notes_.add(KinetoNote::kAssumedGroups);
      return {};
    }
    if (group.start >= 0 && group.stride > 0 && group.size > 0 && group.stride < world_ &&
        group.size < world_ && group.start < world_ &&
        group.start + (group.size - 1) * group.stride < world_) {
      std::vector<Rank> ranks;
      for (std::int64_t i = 0; i < group.size; ++i) {
        ranks.push_back(static_cast<Rank>(group.start + i * group.stride));
      }
      return normal(ranks);
    }
    throw InputError({from.path}, fmt::format("the ranks of process group '{}' ({} of {}) are nowhere in the "
                                              "profile: not in its call, not in distributedInfo",
                                              group.name, group.size, world_));
  }

  // Empty for all ranks in order.
  std::vector<Rank> normal(const std::vector<Rank>& ranks) const {
    bool all = ranks.size() == world_;
    for (std::size_t i = 0; all && i < ranks.size(); ++i) all = ranks[i] == i;
    return all ? std::vector<Rank>() : ranks;
  }

  std::uint32_t number_of(const std::vector<Rank>& ranks) {
    const auto [at, is_new] = group_numbers_.emplace(ranks, static_cast<std::uint32_t>(groups_.size()));
    if (is_new) groups_.push_back(ranks);
    return at->second;
  }

  void build(GraphBuilder& builder, Rank rank, const RankOps& ops) {
    const RankPlan& plan = ranks_.at(ops.donor).plan;
    auto comm = ops.comms.begin();
    for (std::uint32_t i = 0; i < plan.ops.size(); ++i) {
      const PlannedOp& op = plan.ops[i];
      if (comm == ops.comms.end() || comm->op != i) {
        builder.add_calc(op.ns, op.cpu);
        continue;
      }
      add(builder, rank, op, *comm);
      ++comm;
    }
    for (const auto& [first, second] : plan.edges) builder.add_edge(first, second);
    builder.end_rank();
  }

  void add(GraphBuilder& builder, Rank rank, const PlannedOp& op, const CommOp& comm) {
    const std::uint32_t communicator = communicators_[comm.group];
    if (comm.cut_off) {
      builder.add_calc(op.ns, op.cpu);
    } else if (comm.call->kind == CommKind::kSend) {
      builder.add_send(comm.call->in_bytes, comm.peer, 0, op.cpu, 0, communicator);
    } else if (comm.call->kind == CommKind::kRecv) {
      builder.add_recv(std::max(comm.call->out_bytes, comm.call->in_bytes), comm.peer, 0, op.cpu, 0,
                       communicator);
    } else {
      const std::uint32_t size =
          groups_[comm.group].empty() ? world_ : static_cast<std::uint32_t>(groups_[comm.group].size());
      const std::vector<Rank>& members = groups_[comm.group];
      const auto at = std::find(members.begin(), members.end(), rank);
      const auto place = members.empty() ? rank : static_cast<std::uint32_t>(at - members.begin());
      Collective made = collective_of(*comm.call, communicator, size, place, notes_);
      if (comm.counts) {
        made.counts = *comm.counts;
        made.bytes = 0;
        made.v_form = true;
      }
      builder.add_collective(made, op.cpu);
    }
  }

  std::map<Rank, PlannedRank>& ranks_;
  Rank world_;
  KinetoNotes& notes_;
  std::map<std::vector<Rank>, std::uint32_t> group_numbers_;
  std::vector<std::vector<Rank>> groups_;  // empty: the world
  std::vector<std::uint32_t> communicators_;
};

}  // namespace

Graph assemble(std::map<Rank, PlannedRank>& ranks, Rank world, KinetoNotes& notes) {
  return Assembly(ranks, world, notes).assemble();
}

}  // namespace weft::goal
