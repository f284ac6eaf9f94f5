#include "tools/bench/goal_formats/workloads.h"

#include <algorithm>
#include <array>
#include <random>

namespace weft::goal::bench {
namespace {

// Bytes of a message: different for each, and the same at both ends.
std::uint64_t message_bytes(Rank sender, std::uint64_t step, std::uint32_t side) {
  std::uint64_t mixed = ((std::uint64_t{sender} * 4 + side) << 40 | step) * 0x9E3779B97F4A7C15ULL;
  mixed = (mixed ^ (mixed >> 32)) * 0xBF58476D1CE4E5B9ULL;
  return 8 * (1000 + (mixed >> 40) % 200);
}

// 64 ranks, each a chain of steps as a traced stencil code has them: a calc of random length, sends and
// receives of random size to and from four neighbours, and a calc that waits for all of them.
Graph random_stencil(std::uint64_t ops) {
  constexpr Rank kSide = 8, kRanks = kSide * kSide;
  constexpr std::uint64_t kOpsPerStep = 10;
  GraphBuilder builder;
  std::mt19937_64 random(1);
  for (Rank rank = 0; rank < kRanks; ++rank) {
    const Rank x = rank % kSide, y = rank / kSide;
    const Rank neighbours[4] = {y * kSide + (x + 1) % kSide, y * kSide + (x + kSide - 1) % kSide,
                                (y + 1) % kSide * kSide + x, (y + kSide - 1) % kSide * kSide + x};
    OpIndex before = 0;
    for (std::uint64_t step = 0; step < ops / kRanks / kOpsPerStep; ++step) {
      const OpIndex begin = builder.add_calc(100'000 + random() % 20'000);
      if (step > 0) builder.add_edge(before, begin);
      before = begin + kOpsPerStep - 1;
      for (std::uint32_t side = 0; side < 4; ++side) {
        const Rank from = neighbours[side ^ 1];
        builder.add_edge(begin, builder.add_recv(message_bytes(from, step, side), from, side));
        builder.add_edge(begin, builder.add_send(message_bytes(rank, step, side), neighbours[side], side));
      }
      builder.add_calc(500 + random() % 1000);
      for (OpIndex i = begin + 1; i < before; ++i) builder.add_edge(i, before);
    }
    builder.end_rank();
  }
  return builder.finish();
}

// 512 ranks in a cube that closes round: a halo of six faces, constant times, an allreduce every ten steps.
Graph halo(std::uint64_t ops) {
  constexpr Rank kSide = 8, kRanks = kSide * kSide * kSide;
  constexpr std::uint64_t kOpsPerStep = 14;
  const Collective allreduce{.kind = CollectiveKind::kAllreduce, .bytes = 8, .element_bytes = 8};
  GraphBuilder builder;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    const std::array<Rank, 3> at = {rank % kSide, rank / kSide % kSide, rank / kSide / kSide};
    const auto neighbour = [&](std::uint32_t side) {
      std::array<Rank, 3> to = at;
      to[side / 2] = (to[side / 2] + (side % 2 == 0 ? 1 : kSide - 1)) % kSide;
      return to[0] + kSide * (to[1] + kSide * to[2]);
    };
    OpIndex before = kAny;
    for (std::uint64_t step = 0; step < ops / kRanks / kOpsPerStep; ++step) {
      const OpIndex begin = builder.add_calc(250'000);
      if (before != kAny) builder.add_edge(before, begin);
      for (std::uint32_t side = 0; side < 6; ++side) {
        builder.add_edge(begin, builder.add_recv(32'768, neighbour(side ^ 1), side));
        builder.add_edge(begin, builder.add_send(32'768, neighbour(side), side));
      }
      const OpIndex end = builder.add_calc(1'000);
      for (OpIndex i = begin + 1; i < end; ++i) builder.add_edge(i, end);
      before = end;
      if (step % 10 != 9) continue;
      before = builder.add_collective(allreduce);
      builder.add_edge(end, before);
    }
    builder.end_rank();
  }
  return builder.finish();
}

// One allreduce of 64 MB over a ring, spelled out: reduce-scatter and allgather, 2 (p - 1) steps of a send, a
// receive and the sum, again and again. Tags count the steps.
Graph ring(std::uint64_t ops) {
  constexpr Rank kRanks = 256;
  constexpr std::uint64_t kRounds = 2 * (kRanks - 1);
  GraphBuilder builder;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    OpIndex before = builder.add_calc(1'000'000);
    for (std::uint64_t i = 0; i < std::max<std::uint64_t>(ops / kRanks / kRounds / 3, 1); ++i) {
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        const OpIndex send = builder.add_send(250'000, (rank + 1) % kRanks, round);
        const OpIndex receive = builder.add_recv(250'000, (rank + kRanks - 1) % kRanks, round);
        const OpIndex sum = builder.add_calc(round < kRounds / 2 ? 20'000 : 0);
        builder.add_edge(before, send);
        builder.add_edge(before, receive);
        builder.add_edge(send, sum);
        builder.add_edge(receive, sum);
        before = sum;
      }
    }
    builder.end_rank();
  }
  return builder.finish();
}

// Data-parallel training on 128 ranks: a step is 32 layers forward, then backward with an allreduce of each
// layer's gradients beside the computation, then the optimizer.
Graph training(std::uint64_t ops) {
  constexpr Rank kRanks = 128;
  constexpr std::uint64_t kLayers = 32, kOpsPerStep = 3 * kLayers + 1;
  GraphBuilder builder;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    OpIndex before = kAny;
    for (std::uint64_t step = 0; step < std::max<std::uint64_t>(ops / kRanks / kOpsPerStep, 1); ++step) {
      std::vector<OpIndex> sums;
      for (std::uint64_t layer = 0; layer < 2 * kLayers; ++layer) {
        const bool forward = layer < kLayers;
        const std::uint64_t width = forward ? layer : 2 * kLayers - 1 - layer;
        const OpIndex calc = builder.add_calc((forward ? 300'000 : 600'000) + 1'000 * (width % 4));
        if (before != kAny) builder.add_edge(before, calc);
        before = calc;
        if (forward) continue;
        sums.push_back(builder.add_collective({.kind = CollectiveKind::kAllreduce,
                                               .bytes = 25'000'000 + 4'096 * (width % 4),
                                               .element_bytes = 4},
                                              1));
        builder.add_edge(calc, sums.back());
      }
      const OpIndex optimizer = builder.add_calc(2'000'000);
      builder.add_edge(before, optimizer);
      for (const OpIndex sum : sums) builder.add_edge(sum, optimizer);
      before = optimizer;
    }
    builder.end_rank();
  }
  return builder.finish();
}

// Recursive doubling spelled out on 1,024 ranks: peers by xor, no two ranks have the same.
Graph recursive_doubling(std::uint64_t ops) {
  constexpr Rank kRanks = 1024;
  constexpr std::uint64_t kOpsPerStep = 31;
  GraphBuilder builder;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    OpIndex before = kAny;
    for (std::uint64_t step = 0; step < std::max<std::uint64_t>(ops / kRanks / kOpsPerStep, 1); ++step) {
      const OpIndex begin = builder.add_calc(50'000);
      if (before != kAny) builder.add_edge(before, begin);
      before = begin;
      for (Rank bit = 1; bit < kRanks; bit *= 2) {
        const OpIndex send = builder.add_send(8, rank ^ bit), receive = builder.add_recv(8, rank ^ bit);
        const OpIndex sum = builder.add_calc(5);
        builder.add_edge(before, send);
        builder.add_edge(before, receive);
        builder.add_edge(send, sum);
        builder.add_edge(receive, sum);
        before = sum;
      }
    }
    builder.end_rank();
  }
  return builder.finish();
}

}  // namespace

std::span<const Workload> workloads() {
  static constexpr Workload kAll[] = {
      {"random_stencil", "64 ranks, 2-D halo, every time and size random", random_stencil},
      {"halo", "512 ranks, 3-D halo and allreduces, constant times", halo},
      {"ring", "256 ranks, ring allreduces spelled out", ring},
      {"training", "128 ranks, allreduces beside the computation of 32 layers", training},
      {"recursive_doubling", "1,024 ranks, allreduces spelled out, peers by xor", recursive_doubling},
  };
  return kAll;
}

}  // namespace weft::goal::bench
