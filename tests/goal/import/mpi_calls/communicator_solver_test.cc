// Who is in which communicator, from the arguments of the calls that made them.
#include "goal/import/mpi_calls/communicator_solver.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using How = CommCreation::How;
using Ranks = std::vector<Rank>;

// The calls of a format that names what is made.
MpiCall creation(std::uint64_t parent, std::uint64_t made, CommCreation how) {
  MpiCall call;
  call.record.function = trace::Function::kComm_split;
  call.comm = parent;
  call.new_comm = made;
  call.creation = std::move(how);
  return call;
}

MpiCall split(std::uint64_t parent, std::uint64_t made, std::int64_t color, std::int64_t key = 0) {
  return creation(parent, made, {.how = How::kSplit, .color = color, .key = key});
}

// A use in a format that gives place and size instead.
MpiCall use(std::uint64_t handle, std::uint32_t rank, std::uint32_t size) {
  MpiCall call;
  call.record.function = trace::Function::kBarrier;
  call.comm = handle;
  call.comm_rank = rank;
  call.comm_size = size;
  return call;
}

using Calls = std::vector<std::vector<MpiCall>>;

CommunicatorSolver solved(const Calls& calls) {
  CommunicatorSolver solver(static_cast<Rank>(calls.size()));
  for (Rank rank = 0; rank < calls.size(); ++rank) {
    for (const MpiCall& call : calls[rank]) solver.add(rank, call);
  }
  solver.solve();
  return solver;
}

// What each call of a rank makes (creations) or uses.
std::vector<std::uint32_t> numbers(const CommunicatorSolver& solver, const Calls& calls, Rank rank) {
  CommunicatorSolver::View view(solver, rank);
  std::vector<std::uint32_t> all;
  for (const MpiCall& call : calls[rank]) {
    const std::uint32_t used = view.used(call);
    const bool creates = call.record.function != trace::Function::kBarrier;
    all.push_back(creates ? view.created(call) : used);
  }
  return all;
}

constexpr std::uint32_t kUnknown = CommunicatorSolver::kUnknown, kAlone = CommunicatorSolver::kAlone;

}  // namespace

TEST_CASE("communicators: split by color, ordered by key and then by rank") {
  const Calls calls = {{split(kWorldHandle, 5, 1, 9)},
                       {split(kWorldHandle, 7, 0, 0)},
                       {split(kWorldHandle, 8, 1, 3)},
                       {split(kWorldHandle, 9, -32766)},
                       {split(kWorldHandle, 9, 1, 3)}};
  const CommunicatorSolver solver = solved(calls);
  const std::uint32_t number = numbers(solver, calls, 0)[0];
  CHECK(solver.communicator(number).ranks == Ranks{2, 4, 0});
  CHECK(numbers(solver, calls, 2)[0] == number);
  CHECK(numbers(solver, calls, 1)[0] == kAlone);
  CHECK(numbers(solver, calls, 3)[0] == kUnknown);
}

TEST_CASE("communicators: creations over different parents may be in different order on each rank's way") {
  // Halves of the world; then the lower half is split while the upper one duplicates itself; then the world
  // again.
  Calls calls;
  for (Rank rank = 0; rank < 4; ++rank) {
    const bool lower = rank < 2;
    calls.push_back({split(kWorldHandle, 10, lower ? 0 : 1)});
    if (lower) calls.back().push_back(split(10, 11, rank));
    if (!lower) calls.back().push_back(creation(10, 12, {.how = How::kSame}));
    calls.back().push_back(creation(kWorldHandle, 13, {.how = How::kSame}));
  }
  const CommunicatorSolver solver = solved(calls);
  CHECK(numbers(solver, calls, 1)[1] == kAlone);
  CHECK(solver.communicator(numbers(solver, calls, 3)[1]).ranks == Ranks{2, 3});
  CHECK(numbers(solver, calls, 2)[1] != numbers(solver, calls, 2)[0]);
  CHECK(solver.communicator(numbers(solver, calls, 0)[2]).ranks == Ranks{0, 1, 2, 3});
  CHECK(numbers(solver, calls, 0)[2] == numbers(solver, calls, 3)[2]);
}

TEST_CASE("communicators: a grid of 2 x 3, its rows and its columns") {
  Calls calls;
  for (Rank rank = 0; rank < 7; ++rank) {
    calls.push_back({creation(kWorldHandle, 4, {.how = How::kGrid, .dims = {2, 3}})});
    if (rank == 6) continue;  // has no place in the grid
    calls.back().push_back(creation(4, 5, {.how = How::kSubgrid, .keep = {0, 1}}));
    calls.back().push_back(creation(4, 6, {.how = How::kSubgrid, .keep = {1, 0}}));
  }
  const CommunicatorSolver solver = solved(calls);
  CHECK(solver.communicator(numbers(solver, calls, 4)[0]).ranks == Ranks{0, 1, 2, 3, 4, 5});
  CHECK(numbers(solver, calls, 6)[0] == kUnknown);
  CHECK(solver.communicator(numbers(solver, calls, 4)[1]).ranks == Ranks{3, 4, 5});
  CHECK(solver.communicator(numbers(solver, calls, 4)[2]).ranks == Ranks{1, 4});
  CHECK(solver.communicator(numbers(solver, calls, 4)[2]).dims == std::vector<std::uint32_t>{2});
}

TEST_CASE("communicators: handles by place and size are taken in the order in which they were made") {
  // Two duplicates of the world, whose handles differ between ranks, and nothing to tell them apart but
  // order.
  Calls calls;
  for (Rank rank = 0; rank < 2; ++rank) {
    MpiCall dup = use(100 + rank, rank, 2);
    dup.record.function = trace::Function::kComm_dup;
    dup.creation.how = How::kSame;
    calls.push_back({dup, dup, use(200 + rank, rank, 2), use(300 + rank, rank, 2), use(200 + rank, rank, 2),
                     use(400 + rank, 1 - rank, 2), use(500, 0, 1)});
  }
  const CommunicatorSolver solver = solved(calls);
  const auto first = numbers(solver, calls, 0), second = numbers(solver, calls, 1);
  CHECK(first == second);
  CHECK(first == std::vector<std::uint32_t>{1, 2, 1, 2, 1, kUnknown, kAlone});
}

TEST_CASE("communicators: what ranks do not make together stays unknown") {
  const Calls calls = {{split(kWorldHandle, 5, 0), use(kWorldHandle, 0, 0)}, {}};
  const CommunicatorSolver solver = solved(calls);
  CHECK(numbers(solver, calls, 0) == std::vector<std::uint32_t>{kUnknown, CommunicatorSolver::kWorldNumber});
  const Calls mixed = {{split(kWorldHandle, 5, 0)}, {creation(kWorldHandle, 5, {.how = How::kSame})}};
  const CommunicatorSolver other = solved(mixed);
  CHECK(numbers(other, mixed, 0)[0] == kUnknown);
  CHECK_THROWS_AS(solved({{creation(kWorldHandle, 5, {.how = How::kGroup, .members = {3}})}}), InputError);
}

}  // namespace weft::goal
