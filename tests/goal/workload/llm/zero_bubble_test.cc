// Schedules that divide backward: the papers' bubbles and activations, exactly, from the order of actions
// alone and from the graph; and that nothing is computed twice or left out.
#include <fmt/core.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <tuple>

#include "goal/check/check.h"
#include "goal/workload/llm/step.h"
#include "goal/workload/llm/times.h"
#include "tests/sim/replay/replay_fixture.h"

using namespace weft;
using namespace weft::goal;
using namespace weft::goal::llm;

namespace {

constexpr ScheduleKind kDivided[] = {ScheduleKind::kZb1p, ScheduleKind::kZb2p, ScheduleKind::kZbV,
                                     ScheduleKind::kDualPipe};
constexpr std::int64_t kMillisecond = 1'000'000;

Schedule schedule(ScheduleKind kind, std::uint32_t stages, std::uint32_t micro_batches) {
  const bool two = kind == ScheduleKind::kZbV || kind == ScheduleKind::kDualPipe;
  return {.kind = kind, .stages = stages, .chunks = two ? 2u : 1u, .micro_batches = micro_batches};
}

std::vector<Schedule> schedules() {
  std::vector<Schedule> all;
  for (const ScheduleKind kind : kDivided) {
    const bool dual = kind == ScheduleKind::kDualPipe;
    for (const std::uint32_t stages : {2u, 3u, 4u, 6u, 8u}) {
      if (dual && stages % 2 != 0) continue;
      for (const std::uint32_t m : {2 * stages, 2 * stages + 2, 5 * stages + 5 * stages % 2})
        all.push_back(schedule(kind, stages, m));
    }
  }
  return all;
}

std::string text(const Schedule& s) {
  constexpr const char* kNames[] = {"gpipe", "1f1b", "zb1p", "zb2p", "zbv", "dualpipe"};
  return fmt::format("{} of {} stages, {} micro-batches", kNames[static_cast<int>(s.kind)], s.stages,
                     s.micro_batches);
}

// What takes how long; both directions together as long as one after the other.
struct Durations {
  std::int64_t forward = 1, inputs = 1, weights = 1;
  std::int64_t of(Work work) const {
    if (work == Work::kForward) return forward;
    return (work != Work::kWeights ? inputs : 0) + (work != Work::kInputs ? weights : 0);
  }
  std::int64_t all() const { return forward + inputs + weights; }
};

// A naive run: whichever stage can go on does. Parts and directions are reckoned anew here.
class Run {
 public:
  Run(const Schedule& schedule, const Durations& durations)
      : schedule_(schedule), durations_(durations), stages_(schedule.stages) {
    for (std::uint32_t s = 0; s < schedule.stages; ++s) stages_[s].actions = actions_of(schedule, s);
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t s = 0; s < schedule.stages; ++s) {
        while (go_on(s)) more = true;
      }
    }
  }
  bool complete() const {
    return std::all_of(stages_.begin(), stages_.end(),
                       [](const Stage& s) { return s.at == s.actions.size(); });
  }
  // The longest that a stage is idle between its first action and its last.
  std::int64_t bubble() const {
    std::int64_t most = 0;
    for (const Stage& s : stages_) most = std::max(most, s.now - s.begin - s.busy);
    return most;
  }
  std::int64_t end() const {
    std::int64_t last = 0;
    for (const Stage& s : stages_) last = std::max(last, s.now);
    return last;
  }

 private:
  struct Stage {
    std::vector<Action> actions;
    std::size_t at = 0;
    std::int64_t now = 0, begin = -1, busy = 0;
  };
  // Forward or backward, part of the model, direction, micro-batch.
  using Done = std::tuple<bool, std::uint32_t, bool, std::uint32_t>;

  bool reversed(std::uint32_t stage, const Action& action) const {
    if (schedule_.kind != ScheduleKind::kDualPipe) return false;
    return stage < schedule_.stages / 2 ? action.chunk == 1 : action.chunk == 0;
  }
  std::uint32_t part(std::uint32_t stage, const Action& action) const {
    const std::uint32_t last = schedule_.stages - 1;
    if (reversed(stage, action)) return last - stage;
    return schedule_.kind == ScheduleKind::kZbV && action.chunk == 1 ? 2 * last + 1 - stage : stage;
  }
  // -1 if what it needs isn't there.
  std::int64_t ready(std::uint32_t stage, const Action& action) const {
    const std::uint32_t n = part(stage, action);
    const bool way = reversed(stage, action), forward = action.work == Work::kForward;
    const std::uint32_t parts =
        schedule_.kind == ScheduleKind::kZbV ? 2 * schedule_.stages : schedule_.stages;
    if (forward && n == 0) return 0;
    Done needed{false, n + 1, way, action.micro_batch};
    if (forward) needed = {true, n - 1, way, action.micro_batch};
    if (!forward && n + 1 == parts) needed = {true, n, way, action.micro_batch};
    if (action.work == Work::kWeights) needed = {false, n, way, action.micro_batch};
    const auto found = done_.find(needed);
    return found == done_.end() ? -1 : found->second;
  }
  bool go_on(std::uint32_t s) {
    Stage& stage = stages_[s];
    if (stage.at == stage.actions.size()) return false;
    const std::size_t count = stage.actions[stage.at].with_next ? 2 : 1;
    std::int64_t begin = stage.now, length = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Action& action = stage.actions[stage.at + i];
      const std::int64_t there = ready(s, action);
      if (there < 0) return false;
      begin = std::max(begin, there);
      length += durations_.of(action.work);
    }
    if (stage.begin < 0) stage.begin = begin;
    stage.now = begin + length;
    stage.busy += length;
    for (std::size_t i = 0; i < count; ++i) {
      const Action& action = stage.actions[stage.at++];
      if (action.work == Work::kWeights) continue;
      done_[{action.work == Work::kForward, part(s, action), reversed(s, action), action.micro_batch}] =
          stage.now;
    }
    return true;
  }

  const Schedule schedule_;
  const Durations durations_;
  std::vector<Stage> stages_;
  std::map<Done, std::int64_t> done_;
};

// The papers' formulas; F and B of a stage in ZB-V are those of both of its chunks.
std::int64_t papers_bubble(const Schedule& s, const Durations& d) {
  const std::int64_t p = s.stages;
  switch (s.kind) {
    case ScheduleKind::kZb1p:
      return (p - 1) * (d.forward + d.inputs - d.weights);
    case ScheduleKind::kZb2p:
      return (p - 1) * (d.forward + d.inputs - 2 * d.weights);
    case ScheduleKind::kDualPipe: {
      // There B is all of backward.
      const std::int64_t backward = d.inputs + d.weights;
      return (p / 2 - 1) * (d.forward + backward + backward - 3 * d.weights);
    }
    case ScheduleKind::kZbV:
      return 0;
    default:
      return (p - 1) * d.all();
  }
}

// A layer for each part of the model; each of F, B and W of a layer a millisecond.
Training training(const Schedule& schedule) {
  Training training;
  training.model = find_model("tiny");
  training.model.vocab = 0;
  training.model.layers = schedule.parts();
  training.layout.pipeline = schedule.stages;
  training.layout.mirrored = schedule.mirrored();
  training.schedule = schedule;
  training.sequence = 512;
  training.device = &find_device("h100");
  return training;
}
Graph equal_times(const Training& training) {
  Times times;
  times.attention.in = times.attention.in_by_inputs = times.attention.in_by_weights = kMillisecond;
  return training_graph(training, times);
}
std::int64_t end(const Graph& graph, double ns_per_byte = 0) {
  const sim::Times all = sim::LogGopsRun(graph, {.L = 0, .o = 0, .g = 0, .G = ns_per_byte}).finish();
  return *std::max_element(all.begin(), all.end());
}
std::uint64_t computed(const Graph& graph) {
  std::uint64_t sum = 0;
  for (Rank r = 0; r < graph.ranks(); ++r) {
    for (OpIndex i = 0; i < graph.rank(r).ops(); ++i) {
      if (graph.rank(r).kind(i) == OpKind::kCalc) sum += graph.rank(r).value(i);
    }
  }
  return sum;
}
std::uint64_t most_kept(const Schedule& schedule) {
  std::uint32_t most = 0;
  for (std::uint32_t s = 0; s < schedule.stages; ++s) most = std::max(most, most_in_flight(schedule, s));
  return most;
}

}  // namespace

TEST_CASE("each micro-batch goes forward and backward once through each part of the model") {
  for (const Schedule& s : schedules()) {
    INFO(text(s));
    std::map<std::uint32_t, std::uint32_t> seen;  // parts
    for (std::uint32_t stage = 0; stage < s.stages; ++stage) {
      std::map<std::tuple<Work, std::uint32_t>, std::uint32_t> next;
      for (const Action& action : actions_of(s, stage)) {
        // B and W in one count as one of each.
        const bool both = action.work == Work::kBackward;
        CHECK(action.micro_batch == next[{both ? Work::kInputs : action.work, action.chunk}]++);
        if (both) CHECK(action.micro_batch == next[{Work::kWeights, action.chunk}]++);
      }
      CHECK(next.size() == 3 * s.chunks);
      for (const auto& [what, count] : next) CHECK(count == s.of_chunk());
      for (std::uint32_t chunk = 0; chunk < s.chunks; ++chunk) ++seen[s.number(stage, chunk)];
    }
    CHECK(seen.size() == s.parts());
    for (const auto& [part, times] : seen) CHECK(times == (s.mirrored() ? 2 : 1));
  }
}

TEST_CASE("bubbles are the papers'") {
  for (const Schedule& s : schedules()) {
    INFO(text(s));
    const Run run(s, {});
    REQUIRE(run.complete());
    CHECK(run.bubble() == papers_bubble(s, {}));
    if (s.kind != ScheduleKind::kZb1p && s.kind != ScheduleKind::kZb2p) continue;
    const Durations unequal{10, 11, 8};
    CHECK(Run(s, unequal).bubble() == papers_bubble(s, unequal));
  }
}

TEST_CASE("few micro-batches: bubbles, but an end") {
  for (const ScheduleKind kind : {ScheduleKind::kZb1p, ScheduleKind::kZb2p, ScheduleKind::kZbV}) {
    for (std::uint32_t m = 1; m < 12; ++m) {
      const Schedule s = schedule(kind, 6, m);
      INFO(text(s));
      CHECK(Run(s, {}).complete());
      CHECK(Run(s, {}).end() >= std::int64_t{3} * m * s.chunks);
    }
  }
}

TEST_CASE("graphs take as long as the orders say, and steps follow without a bubble where there is none") {
  for (const Schedule& s : schedules()) {
    INFO(text(s));
    Training once = training(s);
    const Graph graph = equal_times(once);
    CHECK(check(graph).clean());
    const RankView rank = graph.rank(0);
    const std::int64_t optimizer = [&] {
      std::int64_t last = 0;
      for (OpIndex i = 0; i < rank.ops(); ++i) {
        if (rank.kind(i) == OpKind::kCalc && rank.value(i) > 0)
          last = static_cast<std::int64_t>(rank.value(i));
      }
      return last;
    }();
    const std::int64_t first = end(graph);
    CHECK(first == Run(s, {}).end() * kMillisecond + optimizer);
    once.iterations = 3;
    const std::int64_t work = std::int64_t{3} * s.of_chunk() * s.chunks;
    CHECK((end(equal_times(once)) - first) / 2 == (work + papers_bubble(s, {})) * kMillisecond + optimizer);
  }
}

TEST_CASE("activations and weights: as many as 1F1B keeps, twice, or one more with all weights twice") {
  for (const Schedule& s : schedules()) {
    INFO(text(s));
    const std::uint64_t p = s.stages;
    const std::uint64_t papers = s.kind == ScheduleKind::kZb2p       ? 2 * p - 1
                                 : s.kind == ScheduleKind::kZbV      ? 2 * p  // of half a stage each
                                 : s.kind == ScheduleKind::kDualPipe ? p + 1
                                                                     : p;
    CHECK(most_kept(s) == papers);
    Training divided = training(s),
             usual = training(schedule(ScheduleKind::kOneForwardOneBackward, s.stages, 64));
    usual.model.layers = divided.model.layers;
    const DeviceMemory memory = device_memory(divided, 0), before = device_memory(usual, 0);
    const double activations = s.kind == ScheduleKind::kZbV ? 1 : static_cast<double>(papers) / p;
    CHECK(memory.activations == Approx(before.activations * activations));
    CHECK(memory.weights == Approx(before.weights * (s.mirrored() ? 2 : 1)));
    CHECK(memory.optimizer == Approx(before.optimizer));
  }
}

TEST_CASE("as much is computed as with 1F1B, of dense models and of experts") {
  for (const char* name : {"llama3_8b", "mixtral_8x7b"}) {
    for (const ScheduleKind kind : kDivided) {
      const Schedule s = schedule(kind, 4, 8);
      INFO(name << ", " << text(s));
      Training divided = training(s);
      divided.model = find_model(name);
      divided.sequence = 1024;
      divided.layout.tensor = divided.layout.data = 2;
      divided.layout.expert = divided.model.experts == 0 ? 1 : 2;
      divided.sequence_parallel = true;
      Training usual = divided;
      usual.schedule = schedule(ScheduleKind::kOneForwardOneBackward, 4, 8);
      usual.layout.mirrored = false;
      CHECK(step_flops(divided) == step_flops(usual));
      // Gradients of twice the weights are set to 0 where these are there twice.
      const double ranks = usual.layout.ranks();
      double optimizers = 0;
      for (std::uint32_t stage = 0; stage < 4; ++stage)
        optimizers += (optimizer_ns(divided, stage) - optimizer_ns(usual, stage)) * ranks / 4;
      const auto sum = static_cast<double>(computed(training_graph(divided)));
      CHECK(sum - optimizers == Approx(static_cast<double>(computed(training_graph(usual)))).epsilon(1e-6));
    }
  }
}

TEST_CASE("DualPipe: what experts send in one direction is hidden behind computation of the other") {
  const auto takes = [](ScheduleKind kind, std::uint32_t micro_batches, double ns_per_byte) {
    Training experts = training(schedule(kind, 4, micro_batches));
    experts.model = find_model("mixtral_8x7b");
    experts.sequence = 4096;
    experts.layout.data = experts.layout.expert = 2;
    return static_cast<double>(end(training_graph(experts), ns_per_byte));
  };
  // Tells what the network adds to the time of 16 more micro-batches, which all run in pairs.
  const auto added = [&](ScheduleKind kind) {
    const auto more = [&](double ns_per_byte) {
      return takes(kind, 32, ns_per_byte) - takes(kind, 16, ns_per_byte);
    };
    return more(0.03) - more(0);
  };
  const double alone = added(ScheduleKind::kZb1p);
  CHECK(alone > 0.1 * 16e6);
  // All but what a pair begins and ends with: of eight layers about a fifth.
  CHECK(added(ScheduleKind::kDualPipe) < 0.25 * alone);
}
