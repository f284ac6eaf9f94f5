#include "goal/import/kineto/partners.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

// Bytes that must be the same on all ranks. Shares of an all-to-all or allgather may differ: see
// find_counts().
std::uint64_t common_bytes(const CommCall& call) {
  switch (call.collective) {
    case CollectiveKind::kAllreduce:
    case CollectiveKind::kBcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kReduceScatter:
      return call.in_bytes;
    default:
      return 0;
  }
}

bool alike(const CommCall& a, const CommCall& b) {
  return a.collective == b.collective && common_bytes(a) == common_bytes(b);
}

// Does each member have a share of the whole, of which the graph has one size or a list of all?
bool has_shares(CollectiveKind kind) { return has_counts(kind) && kind != CollectiveKind::kAlltoall; }

bool tells_root(const CommCall& call, std::uint32_t size) { return call.root >= 0 && call.root < size; }

std::uint32_t root_of(const CommCall& call, std::uint32_t size) {
  return tells_root(call, size) ? static_cast<std::uint32_t>(call.root) : 0;
}

// Bytes of the member's share. Gloo's annotation and older profiles tell the input only.
std::uint64_t share_of(const CommCall& call, std::uint32_t size, std::uint32_t place) {
  switch (call.collective) {
    case CollectiveKind::kReduceScatter:
      return call.out_bytes < call.in_bytes || size == 1 ? call.out_bytes : call.in_bytes / size;
    case CollectiveKind::kScatter:
      return place == root_of(call, size) && call.out_bytes >= call.in_bytes && call.in_bytes >= size
                 ? call.in_bytes / size
                 : call.out_bytes;
    default:
      return call.in_bytes;
  }
}

// Bytes of all shares together, if the member tells them.
std::optional<std::uint64_t> whole_of(const CommCall& call) {
  const bool is_input =
      call.collective == CollectiveKind::kReduceScatter || call.collective == CollectiveKind::kScatter;
  const std::uint64_t whole = is_input ? call.in_bytes : call.out_bytes;
  return whole > (is_input ? call.out_bytes : call.in_bytes) ? std::optional(whole) : std::nullopt;
}

// Profiles tell a receive's bytes as what comes out, or as what goes in.
std::uint64_t received(const CommCall& call) { return std::max(call.out_bytes, call.in_bytes); }

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
    for (auto& [pair, both] : messages_) {
      const bool lost = ranks_[std::get<1>(pair)].lost_front || ranks_[std::get<2>(pair)].lost_front;
      hold_messages(both.first, both.second, lost);
    }
  }

 private:
  // NCCL matches messages between two ranks in order. Where one side has more, the other lacks the last, or,
  // `at_front` or if only so their sizes fit, the first.
  void hold_messages(const std::vector<CommOp*>& sends, const std::vector<CommOp*>& receives, bool at_front) {
    const std::size_t common = std::min(sends.size(), receives.size());
    const auto skipped = [&](const std::vector<CommOp*>& side, bool front) {
      return front ? side.size() - common : 0;
    };
    const auto misfit = [&](bool front) -> std::optional<std::size_t> {
      for (std::size_t i = 0; i < common; ++i) {
        const CommOp& send = *sends[skipped(sends, front) + i];
        if (send.call->in_bytes != received(*receives[skipped(receives, front) + i]->call)) return i;
      }
      return std::nullopt;
    };
    if (misfit(at_front) && !misfit(!at_front)) at_front = !at_front;
    if (const auto at = misfit(at_front)) {
      const CommOp& receive = *receives[skipped(receives, at_front) + *at];
      notes_.add(KinetoNote::kUnfitMessages);
      notes_.name(KinetoNote::kUnfitMessages,
                  fmt::format("{} of {} bytes, {} of {}", sends[skipped(sends, at_front) + *at]->call->name,
                              sends[skipped(sends, at_front) + *at]->call->in_bytes, receive.call->name,
                              received(*receive.call)));
    }
    for (const std::vector<CommOp*>* side : {&sends, &receives}) {
      const std::size_t first = skipped(*side, at_front);
      for (std::size_t i = 0; i < side->size(); ++i) {
        if (i < first || i >= first + common) cut(*(*side)[i]);
      }
    }
  }

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
    find_counts(group, members, fewest);
  }

  // Where the shares of a collective's members differ, each of them has the list of all.
  void find_counts(std::uint32_t group, const std::vector<Rank>& members, std::size_t collectives) {
    const auto size = static_cast<std::uint32_t>(members.size());
    std::vector<std::size_t> next(size);  // of each member's calls
    for (std::size_t k = 0; k < collectives; ++k) {
      std::vector<CommOp*> ops;
      for (std::uint32_t place = 0; place < size; ++place) {
        const std::vector<CommOp*>& calls = calls_[{group, members[place]}];
        while (calls[next[place]]->cut_off) ++next[place];
        ops.push_back(calls[next[place]++]);
      }
      const CommCall& first = *ops[0]->call;
      if (!has_shares(first.collective)) continue;
      const auto counts = std::make_shared<std::vector<std::uint64_t>>();
      for (std::uint32_t i = 0; i < size; ++i) counts->push_back(share_of(*ops[i]->call, size, i));
      if (std::ranges::all_of(*counts, [&](std::uint64_t share) { return share == counts->front(); })) {
        count_unfit(ops, counts->front() * size);
        continue;
      }
      hold_against_whole(members, k, ops, *counts);
      for (CommOp* op : ops) op->counts = counts;
    }
  }

  void count_unfit(const std::vector<CommOp*>& ops, std::uint64_t sum) const {
    for (const CommOp* op : ops) {
      const auto whole = whole_of(*op->call);
      if (!whole || *whole == sum) continue;
      notes_.add(KinetoNote::kUnfitSizes);
      notes_.name(KinetoNote::kUnfitSizes, fmt::format("{}: {} bytes in, {} out on {} ranks", op->call->name,
                                                       op->call->in_bytes, op->call->out_bytes, ops.size()));
    }
  }

  void hold_against_whole(const std::vector<Rank>& members, std::size_t k, const std::vector<CommOp*>& ops,
                          const std::vector<std::uint64_t>& counts) const {
    const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    for (std::uint32_t i = 0; i < members.size(); ++i) {
      const CommCall& call = *ops[i]->call;
      const auto whole = whole_of(call);
      if (!whole || *whole == sum) continue;
      throw InputError(
          {ranks_[members[i]].path},
          fmt::format("rank {}'s collective {} on a process group is '{}' of {} bytes in all, but "
                      "the shares of its {} ranks, {} bytes here, have {}; these profiles are not "
                      "of the same steps of one run",
                      members[i], k, call.name, *whole, members.size(), counts[i], sum));
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
  const auto share = [&](std::uint64_t row) {  // 0 of 0 rows
    return sum == 0 ? 0 : static_cast<std::uint64_t>(static_cast<unsigned __int128>(bytes) * row / sum);
  };
  for (const std::uint64_t row : rows) counts.push_back(share(row));
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
  for (const auto& [counts, bytes] :
       {std::pair(&made.counts, call.in_bytes), std::pair(&made.receive_counts, call.out_bytes)}) {
    if (std::accumulate(counts->begin(), counts->end(), std::uint64_t{0}) == bytes) continue;
    notes.add(KinetoNote::kUnfitSizes);
    notes.name(KinetoNote::kUnfitSizes,
               fmt::format("{}: {} bytes, splits of {} ranks", call.name, bytes, size));
  }
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
    if (!tells_root(call, size)) notes.add(KinetoNote::kAssumedRoots);
    made.root = root_of(call, size);
  }
  switch (call.collective) {
    case CollectiveKind::kBarrier:
      made.element_bytes = 1;
      break;
    case CollectiveKind::kAlltoall:
      set_alltoall(call, size, notes, made);
      break;
    default:
      made.bytes = share_of(call, size, place);
  }
  return made;
}

}  // namespace weft::goal
