// Random programs in which ties decide nothing, for tests that compare runs of two graphs.
#pragma once

#include <cstdint>

#include "tests/sim/replay/random_program.h"

namespace weft::goal {

// A rank has a chain of operations on each cpu, messages stay between chains of one number, and of the
// collectives, which are on cpu 0, there is the barrier, for which all wait in every algorithm.
inline sim::Program random_chains(std::uint64_t seed) {
  sim::Program program = sim::random_program(seed, {});
  for (Collective& collective : program.collectives) {
    collective = {.kind = CollectiveKind::kBarrier, .comm = collective.comm};
  }
  for (std::vector<sim::ProgramOp>& ops : program.ranks) {
    std::size_t last[3] = {~0UL, ~0UL, ~0UL};
    for (std::size_t i = 0; i < ops.size(); ++i) {
      Op& op = ops[i].op;
      if (op.kind == OpKind::kSend || op.kind == OpKind::kRecv) op.cpu = static_cast<std::uint16_t>(op.tag);
      if (op.kind == OpKind::kCollective) op.cpu = 0;
      ops[i].after.clear();
      if (last[op.cpu] != ~0UL) ops[i].after.emplace_back(last[op.cpu], false);
      last[op.cpu] = i;
    }
  }
  return program;
}

// Replaces collectives of random_chains() by calcs, so that messages alone are left.
inline sim::Program random_chains_of_messages(std::uint64_t seed) {
  sim::Program program = random_chains(seed);
  for (std::vector<sim::ProgramOp>& ops : program.ranks) {
    for (sim::ProgramOp& op : ops) {
      if (op.collective < 0) continue;
      op.collective = -1;
      op.op = {.kind = OpKind::kCalc, .cpu = op.op.cpu, .value = 100};
    }
  }
  return program;
}

}  // namespace weft::goal
