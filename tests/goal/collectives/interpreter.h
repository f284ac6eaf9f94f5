// Runs the schedules of all ranks of a collective by their dependencies alone, and says what each step can
// know at the least: its own rank's data and what came in through steps it waits for. A message carries what
// its send knows. A schedule that is right only by luck of timing fails here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "goal/collectives/schedule.h"

namespace weft::goal {

struct Run {
  std::vector<Schedule> schedules;                          // per rank
  std::vector<std::vector<std::set<std::uint32_t>>> known;  // per rank and step: ranks whose data it has
  std::vector<std::set<std::uint32_t>> result;              // per rank: over all its steps
  bool double_counted = false;                              // a reduction of overlapping contributions
  std::uint64_t messages = 0, bytes = 0;
  std::vector<std::uint64_t> messages_sent, bytes_sent, bytes_received, bytes_reduced;  // per rank
};

// `calls[r]` is what rank r sees. Throws std::runtime_error if a send has no receive of the same round and
// size (or the reverse), or if some step can never run.
inline Run run(const CollectiveAlgorithm& algorithm, const std::vector<Collective>& calls) {
  const auto p = static_cast<std::uint32_t>(calls.size());
  Run run;
  run.schedules.resize(p);
  run.known.resize(p);
  run.result.resize(p);
  run.messages_sent.assign(p, 0);
  run.bytes_sent = run.bytes_received = run.bytes_reduced = run.messages_sent;
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, round
  struct Place {
    std::uint32_t rank, step;
  };
  std::map<Key, Place> sends, receives;
  std::vector<std::vector<std::uint32_t>> waiting(p);
  std::vector<Place> ready;
  for (std::uint32_t r = 0; r < p; ++r) {
    Schedule& schedule = run.schedules[r];
    algorithm.expand({&calls[r], p, r}, schedule);
    schedule.finish();
    run.known[r].assign(schedule.size(), {r});
    run.result[r] = {r};
    for (std::uint32_t i = 0; i < schedule.size(); ++i) {
      const Step& step = schedule.step(i);
      std::uint32_t waits = schedule.dependencies(i);
      if (step.kind == StepKind::kSend) {
        if (step.peer >= p || step.peer == r) throw std::runtime_error("a send to a wrong rank");
        if (!sends.try_emplace({r, step.peer, step.round}, Place{r, i}).second) {
          throw std::runtime_error("two sends that a receive can't tell apart");
        }
        ++run.messages_sent[r];
        run.bytes_sent[r] += step.bytes;
      } else if (step.kind == StepKind::kRecv) {
        if (!receives.try_emplace({step.peer, r, step.round}, Place{r, i}).second) {
          throw std::runtime_error("two receives of one message");
        }
        ++waits;  // for its message
        run.bytes_received[r] += step.bytes;
      } else {
        run.bytes_reduced[r] += step.bytes;
      }
      waiting[r].push_back(waits);
      if (waits == 0) ready.push_back({r, i});
    }
  }
  if (sends.size() != receives.size()) throw std::runtime_error("sends and receives differ in number");
  for (const auto& [key, send] : sends) {
    const auto found = receives.find(key);
    if (found == receives.end()) throw std::runtime_error("a send has no receive");
    const Place& recv = found->second;
    const std::uint64_t bytes = run.schedules[send.rank].step(send.step).bytes;
    if (bytes != run.schedules[recv.rank].step(recv.step).bytes) throw std::runtime_error("sizes differ");
    ++run.messages;
    run.bytes += bytes;
  }
  // Of receives: what their rank knew without the message, and the message. Of reductions: the union of what
  // their operands hold.
  std::vector<std::vector<std::set<std::uint32_t>>> local = run.known, incoming(p);
  for (std::uint32_t r = 0; r < p; ++r) incoming[r].resize(run.known[r].size());
  std::uint64_t executed = 0, steps = 0;
  for (const Schedule& schedule : run.schedules) steps += schedule.size();
  while (!ready.empty()) {
    const auto [r, i] = ready.back();
    ready.pop_back();
    ++executed;
    const Step& step = run.schedules[r].step(i);
    const std::set<std::uint32_t> known = run.known[r][i];
    run.result[r].insert(known.begin(), known.end());
    if (step.kind == StepKind::kReduce) {
      for (const std::uint32_t k : incoming[r][i]) run.double_counted |= local[r][i].contains(k);
    }
    const auto pass_on = [&](std::uint32_t rank, std::uint32_t next) {
      run.known[rank][next].insert(known.begin(), known.end());
      if (--waiting[rank][next] == 0) ready.push_back({rank, next});
    };
    for (const std::uint32_t next : run.schedules[r].dependents(i)) {
      const bool received = step.kind == StepKind::kRecv;
      const auto& held = received ? local[r][i] : known;
      local[r][next].insert(held.begin(), held.end());
      if (received && run.schedules[r].step(next).kind == StepKind::kReduce) {
        incoming[r][next].insert(incoming[r][i].begin(), incoming[r][i].end());
      }
      pass_on(r, next);
    }
    if (step.kind == StepKind::kSend) {
      const Place& recv = receives.at({r, step.peer, step.round});
      incoming[recv.rank][recv.step] = known;
      pass_on(recv.rank, recv.step);
    }
  }
  if (executed != steps) throw std::runtime_error("some steps can never run");
  return run;
}

// Every rank makes the same call.
inline Run run(const CollectiveAlgorithm& algorithm, const Collective& call, std::uint32_t p) {
  return run(algorithm, std::vector<Collective>(p, call));
}

}  // namespace weft::goal
