#include "goal/import/kineto/partners.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// Bytes that must be the same on all ranks; the sizes of an all-to-all and its kin may differ.
std::uint64_t common_bytes(const CommCall& call) {
  switch (call.collective) {
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kBcast:
    case CollectiveKind::kReduce:
      return call.in_bytes;
    default:
      return 0;
  }
}

bool alike(const CommCall& a, const CommCall& b) {
  return a.collective == b.collective && common_bytes(a) == common_bytes(b);
}

class Partners {
 public:
  Partners(std::vector<RankOps>& ranks, const std::vector<std::vector<Rank>>& groups, KinetoNotes& notes)
      : ranks_(ranks), groups_(groups), notes_(notes) {
    for (Rank rank = 0; rank < ranks.size(); ++rank) {
      for (CommOp& comm : ranks[rank].comms) {
        if (comm.call->kind == CommKind::kCollective) {
          calls_[{comm.group, rank}].push_back(&comm);
        } else {
          const bool send = comm.call->kind == CommKind::kSend;
          const Rank from = send ? rank : comm.peer, to = send ? comm.peer : rank;
          auto& [sends, receives] = messages_[{comm.group, from, to}];
          (send ? sends : receives).push_back(&comm);
        }
      }
    }
  }

  void hold_against() {
    for (std::uint32_t group = 0; group < groups_.size(); ++group) hold_group(group);
    // NCCL matches messages between two ranks in order.
    for (auto& [pair, both] : messages_) {
      auto& [sends, receives] = both;
      const std::size_t common = std::min(sends.size(), receives.size());
      for (std::vector<CommOp*>* side : {&sends, &receives}) {
        for (std::size_t i = common; i < side->size(); ++i) cut(*(*side)[i]);
      }
    }
  }

 private:
  void cut(CommOp& comm) {
    comm.cut_off = true;
    notes_.add(KinetoNote::kCutOff);
  }

  void hold_group(std::uint32_t group) {
    std::vector<Rank> members = groups_[group];
    if (members.empty()) {
      members.resize(ranks_.size());
      std::iota(members.begin(), members.end(), Rank{0});
    }
    const auto calls = [&](Rank rank) -> const std::vector<CommOp*>& { return calls_[{group, rank}]; };
    std::size_t fewest = std::numeric_limits<std::size_t>::max();
    Rank shortest = members[0];
    for (const Rank rank : members) {
      if (calls(rank).size() < fewest) shortest = rank;
      fewest = std::min(fewest, calls(rank).size());
    }
    for (const Rank rank : members) {
      const std::vector<CommOp*>& mine = calls(rank);
      const std::size_t more = mine.size() - fewest;
      const auto fits = [&](std::size_t skip) {
        return std::equal(calls(shortest).begin(), calls(shortest).end(),
                          mine.begin() + static_cast<std::ptrdiff_t>(skip),
                          [](const CommOp* a, const CommOp* b) { return alike(*a->call, *b->call); });
      };
      if (fits(0)) {
        for (std::size_t i = fewest; i < mine.size(); ++i) cut(*mine[i]);
      } else if (fits(more)) {
        for (std::size_t i = 0; i < more; ++i) cut(*mine[i]);
      } else {
        fail(shortest, rank, calls(shortest), mine);
      }
    }
  }

  [[noreturn]] void fail(Rank a, Rank b, const std::vector<CommOp*>& of_a, const std::vector<CommOp*>& of_b) {
    std::size_t at = 0;
    while (at + 1 < of_a.size() && alike(*of_a[at]->call, *of_b[at]->call)) ++at;
    throw InputError({ranks_[b].path},
                     fmt::format("rank {}'s collective {} on a process group is '{}' of {} bytes, but rank "
                                 "{}'s is '{}' of {}; these profiles are not of the same steps of one run",
                                 b, at, of_b[at]->call->name, of_b[at]->call->in_bytes, a,
                                 of_a[at]->call->name, of_a[at]->call->in_bytes));
  }

  std::vector<RankOps>& ranks_;
  const std::vector<std::vector<Rank>>& groups_;
  KinetoNotes& notes_;
  std::map<std::pair<std::uint32_t, Rank>, std::vector<CommOp*>> calls_;  // by group and rank
  std::map<std::tuple<std::uint32_t, Rank, Rank>, std::pair<std::vector<CommOp*>, std::vector<CommOp*>>>
      messages_;
};

// Bytes of each share; shares are in rows, of which all together have `bytes`.
std::vector<std::uint64_t> shares(const std::vector<std::uint64_t>& rows, std::uint64_t bytes) {
  const std::uint64_t sum = std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
  std::vector<std::uint64_t> counts;
  for (const std::uint64_t row : rows) counts.push_back(sum == 0 ? 0 : bytes / sum * row);
  return counts;
}

void set_alltoall(const CommCall& call, std::uint32_t size, KinetoNotes& notes, Collective& made) {
  const bool split = call.in_split.size() == size || call.out_split.size() == size;
  if (!split || call.cut_split) {
    if (call.cut_split) notes.add(KinetoNote::kCutSplits);
    if (!call.tells_splits && size > 1) notes.add(KinetoNote::kAssumedSplits);
    made.bytes = call.in_bytes / size;
    return;
  }
  const std::vector<std::uint64_t> equal(size, 1);
  made.counts = shares(call.in_split.size() == size ? call.in_split : equal, call.in_bytes);
  made.receive_counts = shares(call.out_split.size() == size ? call.out_split : equal, call.out_bytes);
  made.v_form = true;
}

}  // namespace

void hold_against(std::vector<RankOps>& ranks, const std::vector<std::vector<Rank>>& groups,
                  KinetoNotes& notes) {
  Partners(ranks, groups, notes).hold_against();
}

Collective collective_of(const CommCall& call, std::uint32_t communicator, std::uint32_t size,
                         std::uint32_t place, KinetoNotes& notes) {
  Collective made{.kind = call.collective, .comm = communicator};
  if (!call.known_type) {
    notes.add(KinetoNote::kUnknownTypes);
    notes.name(KinetoNote::kUnknownTypes, call.type.empty() ? "none is named" : call.type);
  }
  made.element_bytes = std::max<std::uint32_t>(1, call.element_bytes);
  if (has_root(call.collective)) {
    const bool known = call.root >= 0 && call.root < size;
    if (!known) notes.add(KinetoNote::kAssumedRoots);
    made.root = known ? static_cast<std::uint32_t>(call.root) : 0;
  }
  switch (call.collective) {
    case CollectiveKind::kBarrier:
      made.element_bytes = 1;
      break;
    case CollectiveKind::kReduceScatter:
      // Gloo's annotation and older profiles tell the input only.
      made.bytes = call.out_bytes < call.in_bytes || size == 1 ? call.out_bytes : call.in_bytes / size;
      break;
    case CollectiveKind::kScatter:
      made.bytes = place == made.root && call.out_bytes >= call.in_bytes && call.in_bytes >= size
                       ? call.in_bytes / size
                       : call.out_bytes;
      break;
    case CollectiveKind::kAlltoall:
      set_alltoall(call, size, notes, made);
      break;
    default:
      made.bytes = call.in_bytes;
  }
  return made;
}

}  // namespace weft::goal
