// A collective operation spelled out for one rank: a small dependency graph of sends, receives and local
// work.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/units/module.h"

namespace weft::goal {

enum class StepKind : std::uint8_t {
  kSend,
  kRecv,
  kReduce,  // combine `bytes` of received data with local data
  kCopy,    // move `bytes` within the rank's memory
};

struct Step {
  StepKind kind = StepKind::kSend;
  std::uint32_t peer = 0;   // rank within the communicator; unused by kReduce and kCopy
  std::uint32_t round = 0;  // sub-tag: a send meets the peer's receive of the same round
  std::uint64_t bytes = 0;
};

// One rank's part of a collective. Steps without dependencies start at once; the collective is complete on
// this rank when all steps are. Dependencies are always "requires" and point forwards (acyclic by
// construction).
class Schedule {
 public:
  std::uint32_t send(std::uint32_t peer, std::uint64_t bytes, std::uint32_t round);
  std::uint32_t recv(std::uint32_t peer, std::uint64_t bytes, std::uint32_t round);
  std::uint32_t reduce(std::uint64_t bytes);
  std::uint32_t copy(std::uint64_t bytes);
  // `dependent` waits for `first`. REQUIRES: first < dependent, both added before.
  void depend(std::uint32_t dependent, std::uint32_t first);
  // Sorts the dependencies by their first step; called once, after the last step.
  void finish();
  void clear();

  std::uint32_t size() const { return static_cast<std::uint32_t>(steps_.size()); }
  const Step& step(std::uint32_t i) const { return steps_[i]; }
  std::uint32_t dependencies(std::uint32_t i) const { return dependency_counts_[i]; }
  // The steps that wait for i. REQUIRES: finish() was called.
  std::span<const std::uint32_t> dependents(std::uint32_t i) const {
    return {dependents_.data() + begin_[i], dependents_.data() + begin_[i + 1]};
  }

 private:
  struct Pair {
    std::uint32_t first, dependent;
  };
  std::uint32_t add(const Step& step);
  std::vector<Step> steps_;
  std::vector<std::uint32_t> dependency_counts_;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> begin_, dependents_;
};

// What an algorithm is asked to spell out: a Collective as rank `me` of a communicator of `size` sees it.
struct CollectiveCall {
  const Collective* collective = nullptr;
  std::uint32_t size = 0;
  std::uint32_t me = 0;
};

// An algorithm for one kind of collective; its name is unique within the kind.
struct CollectiveAlgorithm {
  ModuleInfo info;
  CollectiveKind kind = CollectiveKind::kBarrier;
  // Appends this rank's steps to an empty schedule (without finish()).
  void (*expand)(const CollectiveCall& call, Schedule& schedule) = nullptr;
};

// All algorithms; the first of each kind is its default.
std::span<const CollectiveAlgorithm> collective_algorithms();
// The algorithm of that kind with that name; an empty name asks for the default. Throws InputError.
const CollectiveAlgorithm& find_collective_algorithm(CollectiveKind kind, std::string_view name);

}  // namespace weft::goal
