#include "goal/collectives/schedule.h"

namespace weft::goal {

std::uint32_t Schedule::add(const Step& step) {
  steps_.push_back(step);
  dependency_counts_.push_back(0);
  return size() - 1;
}

std::uint32_t Schedule::send(std::uint32_t peer, std::uint64_t bytes, std::uint32_t round) {
  return add({StepKind::kSend, peer, round, bytes});
}

std::uint32_t Schedule::recv(std::uint32_t peer, std::uint64_t bytes, std::uint32_t round) {
  return add({StepKind::kRecv, peer, round, bytes});
}

std::uint32_t Schedule::reduce(std::uint64_t bytes) { return add({StepKind::kReduce, 0, 0, bytes}); }

std::uint32_t Schedule::copy(std::uint64_t bytes) { return add({StepKind::kCopy, 0, 0, bytes}); }

void Schedule::depend(std::uint32_t dependent, std::uint32_t first) {
  pairs_.push_back({first, dependent});
  ++dependency_counts_[dependent];
}

void Schedule::finish() {
  // A stable counting sort: the dependents of a step keep the order of their depend() calls.
  begin_.assign(steps_.size() + 1, 0);
  for (const Pair& pair : pairs_) ++begin_[pair.first + 1];
  for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  dependents_.resize(pairs_.size());
  // begin_[i] serves as the write position of step i, and so ends as begin_[i + 1]; shift it back after.
  for (const Pair& pair : pairs_) dependents_[begin_[pair.first]++] = pair.dependent;
  for (std::size_t i = begin_.size() - 1; i > 0; --i) begin_[i] = begin_[i - 1];
  begin_[0] = 0;
}

void Schedule::clear() {
  steps_.clear();
  dependency_counts_.clear();
  pairs_.clear();
  begin_.clear();
  dependents_.clear();
}

}  // namespace weft::goal
