// Random message-passing programs that can be taken apart again, to find the smallest one that fails.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::sim {

struct ProgramOp {
  goal::Op op;          // of a collective: cpu and nic only
  int collective = -1;  // index in Program::collectives, or -1
  std::vector<std::pair<std::size_t, bool>>
      after;  // earlier or later operations of the rank; true: irequires
};

struct Program {
  std::vector<goal::Communicator> communicators;  // beside the world; none equal to another
  std::vector<goal::Collective> collectives;
  std::vector<std::vector<ProgramOp>> ranks;

  goal::Graph graph() const {
    goal::GraphBuilder builder;
    for (const goal::Communicator& communicator : communicators) builder.add_communicator(communicator);
    for (const std::vector<ProgramOp>& ops : ranks) {
      for (const ProgramOp& entry : ops) {
        if (entry.collective < 0) {
          builder.add(entry.op);
        } else {
          builder.add_collective(collectives[static_cast<std::size_t>(entry.collective)], entry.op.cpu,
                                 entry.op.nic);
        }
      }
      for (std::size_t i = 0; i < ops.size(); ++i) {
        for (const auto& [first, on_start] : ops[i].after) {
          builder.add_edge(static_cast<goal::OpIndex>(first), static_cast<goal::OpIndex>(i), on_start);
        }
      }
      builder.end_rank();
    }
    return builder.finish();
  }

  // Without one operation; who waited for it no longer does.
  void remove(std::size_t rank, std::size_t index) {
    std::vector<ProgramOp>& ops = ranks[rank];
    ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(index));
    for (ProgramOp& op : ops) {
      std::erase_if(op.after, [&](const auto& edge) { return edge.first == index; });
      for (auto& [first, on_start] : op.after) first -= first > index;
    }
  }
};

struct ProgramOptions {
  bool broken = false;     // lost operations and circular dependencies
  bool wildcards = false;  // any source, any tag; in sends too
  bool nics = false;       // several NICs for each rank
  bool sparse_cpus = false;
  std::uint64_t most_bytes = 5000, most_ns = 5000;
};

// Fewer messages than `bound`, from any rank to any; in the v form each of its own size.
template <typename Size>
void add_neighbors(std::vector<goal::Collective>& calls, std::uint64_t bound, bool v_form,
                   std::mt19937_64& random, const Size& size) {
  const bool one_block = calls[0].kind == goal::CollectiveKind::kNeighborAllgather;  // the same to all
  for (goal::Collective& call : calls) {
    call.v_form = v_form;
    if (v_form) call.bytes = one_block ? size() : 0;
  }
  for (std::uint64_t m = random() % bound; m > 0; --m) {
    const std::uint64_t from = random() % calls.size(), to = random() % calls.size();
    calls[from].destinations.push_back(static_cast<std::uint32_t>(to));
    calls[to].sources.push_back(static_cast<std::uint32_t>(from));
    if (!v_form) continue;
    const std::uint64_t bytes = one_block ? calls[from].bytes : size();
    if (!one_block) calls[from].counts.push_back(bytes);
    calls[to].receive_counts.push_back(bytes);
  }
}

// Makes the calls those of the v form, where there is one: the blocks of different ranks differ in size. With
// `root_only` the other ranks of a gather or scatter know their own size alone.
template <typename Size>
void add_counts(std::vector<goal::Collective>& calls, bool root_only, const Size& size) {
  const auto sizes = [&] {
    std::vector<std::uint64_t> counts(calls.size());
    for (std::uint64_t& count : counts) count = size();
    return counts;
  };
  switch (calls[0].kind) {
    case goal::CollectiveKind::kReduceScatter:
    case goal::CollectiveKind::kAllgather:
    case goal::CollectiveKind::kGather:
    case goal::CollectiveKind::kScatter: {
      const bool has_root =
          calls[0].kind == goal::CollectiveKind::kGather || calls[0].kind == goal::CollectiveKind::kScatter;
      const std::vector<std::uint64_t> counts = sizes();
      for (std::size_t i = 0; i < calls.size(); ++i) {
        calls[i].v_form = true;
        const bool knows_all = !has_root || !root_only || i == calls[i].root;
        calls[i].bytes = knows_all ? 0 : counts[i];
        if (knows_all) calls[i].counts = counts;
      }
      break;
    }
    case goal::CollectiveKind::kAlltoall:
      for (std::size_t i = 0; i < calls.size(); ++i) {
        calls[i].v_form = true;
        calls[i].bytes = 0;
        calls[i].counts = sizes();
        for (std::size_t j = 0; j < calls.size(); ++j) calls[j].receive_counts.push_back(calls[i].counts[j]);
      }
      break;
    default:
      break;
  }
}

// Every send has its receive (unless broken), and dependencies point backwards in a common order of all
// operations. So most programs run to their end; a rendezvous with oneself, or receives that are posted in
// another order than their messages are sent, can still block some.
inline Program random_program(std::uint64_t seed, const ProgramOptions& options) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const auto chance = [&](std::uint64_t of) { return below(of) == 0; };
  Program program;
  const auto ranks = static_cast<goal::Rank>(1 + below(6));
  program.ranks.resize(ranks);
  std::vector<std::vector<goal::Rank>> members(1);
  for (goal::Rank r = 0; r < ranks; ++r) members[0].push_back(r);
  for (std::uint64_t n = below(3); n > 0; --n) {
    std::vector<goal::Rank> some;
    for (goal::Rank r = 0; r < ranks; ++r) {
      if (chance(2)) some.push_back(r);
    }
    std::shuffle(some.begin(), some.end(), random);
    if (some.empty() || std::find(members.begin(), members.end(), some) != members.end()) continue;
    members.push_back(some);
    program.communicators.push_back({"", some});
  }
  const auto add = [&](goal::Rank rank, goal::Op op, int collective = -1) {
    std::vector<ProgramOp>& ops = program.ranks[rank];
    static constexpr std::uint16_t kSparse[] = {0, 7, 65535};
    if (chance(3)) op.cpu = options.sparse_cpus ? kSparse[below(3)] : static_cast<std::uint16_t>(below(3));
    if (options.nics && op.kind != goal::OpKind::kCalc) op.nic = static_cast<std::uint8_t>(below(2));
    ProgramOp entry{op, collective, {}};
    for (std::uint64_t n = ops.empty() ? 0 : below(3); n > 0; --n) {
      entry.after.emplace_back(ops.size() - 1 - below(std::min<std::size_t>(ops.size(), 4)), chance(3));
    }
    ops.push_back(entry);
  };
  const auto size = [&] { return chance(5) ? below(3) : below(options.most_bytes); };
  for (std::uint64_t n = 1 + below(25); n > 0; --n) {
    const auto comm = static_cast<std::uint32_t>(below(members.size()));
    const std::vector<goal::Rank>& group = members[comm];
    switch (below(6)) {
      case 0:
      case 1:
        add(static_cast<goal::Rank>(below(ranks)),
            {.kind = goal::OpKind::kCalc, .value = chance(4) ? 0 : below(options.most_ns)});
        break;
      case 2: {
        goal::Collective collective{.kind = static_cast<goal::CollectiveKind>(below(goal::kCollectiveKinds)),
                                    .comm = comm};
        if (collective.kind != goal::CollectiveKind::kBarrier) collective.bytes = size();
        if (collective.kind == goal::CollectiveKind::kBcast ||
            collective.kind == goal::CollectiveKind::kReduce ||
            collective.kind == goal::CollectiveKind::kGather ||
            collective.kind == goal::CollectiveKind::kScatter) {
          collective.root = static_cast<std::uint32_t>(below(group.size()));
        }
        std::vector<goal::Collective> calls(group.size(), collective);
        const bool v_form = chance(2);
        if (goal::is_of_neighbors(collective.kind)) {
          add_neighbors(calls, 2 * group.size() + 1, v_form, random, size);
        } else if (v_form) {
          add_counts(calls, chance(2), size);
        }
        for (std::size_t i = 0; i < group.size(); ++i) {
          if (i == 0 || calls[i] != calls[i - 1]) program.collectives.push_back(calls[i]);
          add(group[i], {.kind = goal::OpKind::kCollective},
              static_cast<int>(program.collectives.size()) - 1);
        }
        break;
      }
      default: {
        const goal::Rank source = group[below(group.size())], destination = group[below(group.size())];
        goal::Op send{.kind = goal::OpKind::kSend, .peer = destination, .comm = comm, .value = size()};
        send.tag = static_cast<std::uint32_t>(below(3));
        goal::Op recv = send;
        recv.kind = goal::OpKind::kRecv;
        recv.peer = source;
        if (options.wildcards && chance(4)) recv.peer = goal::kAny;
        if (options.wildcards && chance(4)) recv.tag = goal::kAny;
        if (options.wildcards && chance(10)) send.tag = goal::kAny;
        if (!options.broken || !chance(12)) add(source, send);
        if (!options.broken || !chance(12)) add(destination, recv);
      }
    }
  }
  for (std::vector<ProgramOp>& ops : program.ranks) {
    if (options.broken && !ops.empty() && chance(6)) {
      ops[below(ops.size())].after.emplace_back(below(ops.size()), chance(2));
    }
  }
  return program;
}

}  // namespace weft::sim
