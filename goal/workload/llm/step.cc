#include "goal/workload/llm/step.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "goal/workload/llm/buckets.h"
#include "goal/workload/llm/emitter.h"
#include "goal/workload/llm/experts.h"
#include "goal/workload/llm/layer.h"
#include "goal/workload/llm/times.h"

namespace weft::goal::llm {
namespace {

// What all ranks of a stage have in common.
struct StagePlan {
  std::vector<Chunk> chunks;
  std::vector<std::vector<RankWeights>> parts, buckets;  // of each chunk
  std::vector<Action> actions;
  std::uint64_t whole_weights = 0;  // that every rank of tensor parallelism has
  std::uint64_t table_weights = 0;  // of the embedding that the first and the last stage share
  double optimizer_ns = 0;
  std::vector<RankWeights> fragments;  // that are synchronized at different times
  std::vector<double> outer_ns;        // what that takes each to take over
};

// Differences, weights and momentum read, the last two written, and the difference made before: all fp32.
constexpr double kOuterBytes = 28;

void add_fragments(const Training& training, std::uint32_t stage, StagePlan& plan) {
  const RankWeights all = stage_weights(training, stage);
  const std::uint64_t n = training.outer.fragments;
  for (std::uint64_t f = 0; f < n; ++f) {
    const RankWeights part{all.dense * (f + 1) / n - all.dense * f / n,
                           all.experts * (f + 1) / n - all.experts * f / n};
    const auto weights = static_cast<double>(part.dense + part.experts);
    plan.fragments.push_back(part);
    plan.outer_ns.push_back(training.device->memory_ns(kOuterBytes * weights) / training.efficiency);
  }
}

std::uint64_t whole_weights(const Training& training, const Chunk& chunk) {
  const ModelShape& model = training.model;
  std::uint64_t sum = chunk.embedding ? embedding_parameters(model).whole : 0;
  if (chunk.head) sum += head_parameters(model).whole;
  for (std::uint32_t i = 0; i < chunk.layers; ++i) {
    sum +=
        attention_parameters(model).whole + mlp_parameters(model, model.has_experts(chunk.first + i)).whole;
  }
  return sum;
}

StagePlan plan_of(const Training& training, std::uint32_t stage) {
  StagePlan plan;
  for (std::uint32_t v = 0; v < training.schedule.chunks; ++v) {
    plan.chunks.push_back(stage_chunk(training, stage, v));
    plan.parts.push_back(parts_of(training, plan.chunks.back()));
    plan.buckets.push_back(buckets_of(training, plan.parts.back()));
    plan.whole_weights += whole_weights(training, plan.chunks.back());
  }
  plan.actions = actions_of(training.schedule, stage);
  const bool at_an_end = stage == 0 || stage + 1 == training.schedule.stages;
  if (training.model.tied && training.schedule.ends_apart() && at_an_end) {
    plan.table_weights = embedding_parameters(training.model).split / training.layout.tensor;
  }
  plan.optimizer_ns = optimizer_ns(training, stage);
  if (training.outer.inner_steps > 0) add_fragments(training, stage, plan);
  return plan;
}

class StepProgram {
 public:
  StepProgram(const Training& training, const Times& times, const std::vector<ExpertLoad>& loads,
              const StagePlan& plan, const Groups& groups, const Place& place, Emitter& emitter)
      : training_(training),
        plan_(plan),
        groups_(groups),
        place_(place),
        emitter_(emitter),
        layers_(training, times, loads, groups, place, emitter) {}

  void step() {
    if (training_.gathers_whole()) gather_all();
    for (std::size_t i = 0; i < plan_.actions.size(); ++i) {
      if (plan_.actions[i].with_next) {
        together(plan_.actions[i], plan_.actions[i + 1]);
        ++i;
      } else {
        alone(plan_.actions[i]);
      }
    }
    finish();
    ++steps_;
    if (apart()) synchronize();
  }

 private:
  // Are replicas synchronized now and then only?
  bool apart() const { return training_.outer.inner_steps > 0; }
  bool fsdp() const { return training_.sharding == Sharding::kFsdp; }
  std::uint64_t activation_bytes() const {
    return training_.value_bytes() * training_.own_tokens() * training_.model.hidden;
  }
  Rank stage_rank(std::uint32_t stage) const {
    Place other = place_;
    other.stage = stage;
    return training_.layout.rank(other);
  }

  // Where an action's input comes from, and where its output goes.
  struct Neighbor {
    std::uint32_t part = 0, stage = 0;
    bool there = false;  // an end of the model has none
  };
  Neighbor neighbor(const Action& action, bool next) const {
    const Schedule& schedule = training_.schedule;
    const std::uint32_t part = schedule.number(place_.stage, action.chunk);
    if (action.work == Work::kWeights || (next ? part + 1 == schedule.parts() : part == 0)) return {};
    const std::uint32_t other = next ? part + 1 : part - 1;
    return {other, schedule.stage_of(other, place_.stage, action.chunk), true};
  }
  // Messages of chunks with other neighbors don't wait for each other.
  Chain chain(const Action& action, Chain forward, Chain forward2) const {
    const bool other = action.chunk == 1 && (training_.schedule.kind == ScheduleKind::kZbV ||
                                             training_.schedule.kind == ScheduleKind::kDualPipe);
    const Chain first = other ? forward2 : forward;
    return action.work == Work::kForward ? first : static_cast<Chain>(static_cast<std::size_t>(first) + 1);
  }
  // Tags tell the sending part and the direction.
  void receive(const Action& action) {
    const bool backward = action.work != Work::kForward;
    const Neighbor from = neighbor(action, backward);
    if (!from.there || from.stage == place_.stage) return;
    emitter_.wait(emitter_.receive(chain(action, Chain::kReceiveForward, Chain::kReceiveForward2),
                                   activation_bytes(), stage_rank(from.stage), 2 * from.part + backward,
                                   groups_.communicator(Axis::kPipeline, place_), kNothing));
  }
  void send(const Action& action) {
    const bool backward = action.work != Work::kForward;
    const Neighbor to = neighbor(action, !backward);
    if (!to.there || to.stage == place_.stage) return;
    emitter_.send(chain(action, Chain::kSendForward, Chain::kSendForward2), activation_bytes(),
                  stage_rank(to.stage), 2 * training_.schedule.number(place_.stage, action.chunk) + backward,
                  groups_.communicator(Axis::kPipeline, place_), emitter_.computed());
  }

  // The parts of a chunk in the order of an action, with what comes before and behind each of them.
  class Walk {
   public:
    Walk(StepProgram& program, const Action& action)
        : program_(program),
          action_(action),
          chunk_(program.plan_.chunks[action.chunk]),
          at_(action.work == Work::kForward ? 0 : parts()) {}

    // The next part; false if there was none.
    bool part() { return action_.work == Work::kForward ? forward() : backward(); }

   private:
    enum class Part : std::uint8_t { kEmbedding, kAttention, kMlp, kHead };

    std::size_t parts() const { return program_.plan_.parts[action_.chunk].size(); }
    // Counted from the first layer's attention.
    std::size_t in_layers() const { return at_ - (chunk_.embedding ? 1 : 0); }
    Part what() const {
      if (chunk_.embedding && at_ == 0) return Part::kEmbedding;
      if (in_layers() >= 2 * std::size_t{chunk_.layers}) return Part::kHead;
      return in_layers() % 2 == 0 ? Part::kAttention : Part::kMlp;
    }
    std::uint32_t layer() const { return chunk_.first + static_cast<std::uint32_t>(in_layers() / 2); }

    bool forward() {
      if (at_ == parts()) return false;
      before();
      run_forward(what());
      ++at_;
      return true;
    }
    bool backward() {
      if (at_ == 0) return false;
      --at_;
      before();
      if (what() == Part::kMlp && program_.training_.recompute == Recompute::kFull) {
        run_forward(Part::kAttention);
        run_forward(Part::kMlp);
      }
      run_backward(what());
      if (action_.work != Work::kInputs) program_.reduce_behind(action_, at_);
      return true;
    }
    void run_forward(Part part) {
      LayerProgram& layers = program_.layers_;
      if (part == Part::kEmbedding) layers.embedding_forward();
      if (part == Part::kAttention) layers.attention_forward();
      if (part == Part::kMlp) layers.mlp_forward(layer());
      if (part == Part::kHead) layers.head_forward();
    }
    void run_backward(Part part) {
      LayerProgram& layers = program_.layers_;
      if (part == Part::kEmbedding) layers.embedding_backward(action_.work);
      if (part == Part::kAttention) layers.attention_backward(action_.work);
      if (part == Part::kMlp) layers.mlp_backward(layer(), action_.work);
      if (part == Part::kHead) layers.head_backward(action_.work);
    }
    // Gradients of weights take no weights.
    void before() {
      const bool forward = action_.work == Work::kForward;
      if (program_.fsdp()) {
        const bool first = forward && action_.micro_batch == 0;
        if (program_.training_.keeps_weights() ? first : action_.work != Work::kWeights) {
          program_.gather_layer(action_, at_, !forward, gathered_, next_gather_);
        }
      } else if (forward && action_.micro_batch == 0) {
        program_.wait_for_weights(action_.chunk, at_);
      }
    }

    StepProgram& program_;
    const Action action_;
    const Chunk& chunk_;
    std::size_t at_;
    // FSDP has these: the unit whose weights are there, and the gathering of the one that is fetched ahead.
    std::size_t gathered_ = SIZE_MAX;
    Event next_gather_ = kNothing;
  };
  friend class Walk;

  void alone(const Action& action) {
    receive(action);
    Walk walk(*this, action);
    while (walk.part()) {
    }
    send(action);
  }
  // Part by part in turn. Results go on when both are through, as their kernels share the device.
  void together(const Action& first, const Action& second) {
    receive(first);
    receive(second);
    emitter_.fork();
    Walk walks[] = {{*this, first}, {*this, second}};
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < 2; ++i) {
        emitter_.stream(i);
        more = walks[i].part() || more;
      }
    }
    emitter_.join();
    send(first);
    send(second);
  }

  // -- Weights and gradients of data parallelism

  // A collective over the ranks that have the same weights; nothing if there are no others, or nothing to do.
  Event exchange(Chain chain, CollectiveKind kind, Axis axis, std::uint64_t weights, std::uint64_t each,
                 Event after) {
    const std::uint32_t ranks = training_.layout.size(axis);
    if (ranks == 1 || weights == 0) return kNothing;
    Collective collective{.kind = kind, .comm = groups_.communicator(axis, place_)};
    // Blocks of whole parameters: padded, as in the frameworks.
    const std::uint64_t block = (weights + ranks - 1) / ranks * each;
    collective.bytes = kind == CollectiveKind::kAllreduce ? weights * each : block;
    collective.element_bytes = static_cast<std::uint32_t>(each);
    return emitter_.collective(chain, collective, after);
  }
  // Exchanges dense weights and those of experts apart, as they have groups of their own.
  template <typename Use>
  void exchange_both(Chain chain, CollectiveKind kind, const RankWeights& weights, std::uint64_t each,
                     Event after, const Use& use) {
    use(exchange(chain, kind, Axis::kData, weights.dense, each, after));
    use(exchange(chain, kind, Axis::kExpertData, weights.experts, each, after));
  }

  // ZeRO-1: the step begins with the weights that the optimizer made, in the order of their use.
  void gather_all() {
    const Event after = emitter_.computed();
    gathers_.assign(plan_.chunks.size(), {});
    for (std::size_t v = 0; v < plan_.chunks.size(); ++v) {
      for (const RankWeights& bucket : plan_.buckets[v]) {
        std::vector<Event>& events = gathers_[v].emplace_back();
        exchange_both(Chain::kGather, CollectiveKind::kAllgather, bucket, training_.value_bytes(), after,
                      [&](Event event) { events.push_back(event); });
        if (!training_.weights_overlap) {
          for (const Event event : events) emitter_.wait(event);
        }
      }
    }
  }
  void wait_for_weights(std::uint32_t chunk, std::size_t part) {
    if (!training_.gathers_whole()) return;
    for (const Event event : gathers_[chunk][part]) emitter_.wait(event);
  }

  void reduce_behind(const Action& action, std::size_t part) {
    const bool last = action.micro_batch + 1 == training_.schedule.of_chunk();
    if (fsdp() && (last || !training_.keeps_weights())) return reduce_layer(action, part);
    if (fsdp() || apart() || !(last || training_.sharding == Sharding::kZero2)) return;
    if (training_.gradients_overlap) reduce_bucket(plan_.buckets[action.chunk][part]);
  }
  void reduce_bucket(const RankWeights& bucket) {
    reduce(
        training_.sharding == Sharding::kNone ? CollectiveKind::kAllreduce : CollectiveKind::kReduceScatter,
        bucket);
  }
  // Where nothing is computed meanwhile: the first parts' gradients are the last to be there.
  void reduce_all() {
    for (std::size_t v = plan_.buckets.size(); v-- > 0;) {
      for (std::size_t part = plan_.buckets[v].size(); part-- > 0;) reduce_bucket(plan_.buckets[v][part]);
    }
  }
  void reduce(CollectiveKind kind, const RankWeights& weights) {
    const bool alone = training_.layout.size(Axis::kData) == 1 &&
                       training_.layout.size(Axis::kExpertData) == 1 && training_.layout.replicas == 1;
    if (alone || (weights.dense == 0 && weights.experts == 0)) return;
    exchange_both(Chain::kReduce, kind, weights, training_.gradient_bytes, emitter_.computed(), [](Event) {});
    if (training_.layout.replicas > 1) replicate(weights);
  }
  // Shard groups add up what each has reduced, while the next gradients are.
  void replicate(const RankWeights& weights) {
    const Event reduced = emitter_.last(Chain::kReduce);
    const auto part = [&](std::uint64_t all, Axis axis) {
      const std::uint32_t ranks = training_.layout.size(axis);
      exchange(Chain::kReplicate, CollectiveKind::kAllreduce, Axis::kReplicas, (all + ranks - 1) / ranks,
               training_.gradient_bytes, ranks > 1 ? reduced : emitter_.computed());
    };
    part(weights.dense, Axis::kData);
    part(weights.experts, Axis::kExpertData);
  }

  // FSDP's units are layers; embedding and head are units of their own.
  std::size_t unit_of(std::uint32_t chunk, std::size_t part) const {
    const std::size_t before = plan_.chunks[chunk].embedding ? 1 : 0;
    return part < before ? 0 : before + (part - before) / 2;
  }
  RankWeights unit_weights(std::uint32_t chunk, std::size_t unit) const {
    RankWeights sum;
    for (std::size_t part = 0; part < plan_.parts[chunk].size(); ++part) {
      if (unit_of(chunk, part) == unit) sum += plan_.parts[chunk][part];
    }
    return sum;
  }
  Event gather_unit(std::uint32_t chunk, std::size_t unit, Event after) {
    Event last = kNothing;
    exchange_both(Chain::kGather, CollectiveKind::kAllgather, unit_weights(chunk, unit),
                  training_.value_bytes(), after,
                  [&](Event event) { last = event == kNothing ? last : event; });
    return last;
  }
  // Before the first part of a unit: its weights must be there, and those of the next are asked for.
  void gather_layer(const Action& action, std::size_t part, bool backward, std::size_t& gathered,
                    Event& ahead) {
    const std::size_t unit = unit_of(action.chunk, part);
    if (unit == gathered) return;
    const Event begin = emitter_.computed();
    const Event now = gathered == SIZE_MAX ? gather_unit(action.chunk, unit, begin) : ahead;
    gathered = unit;
    const std::size_t units = unit_of(action.chunk, plan_.parts[action.chunk].size() - 1) + 1;
    const std::size_t next = backward ? unit - 1 : unit + 1;
    ahead = next < units ? gather_unit(action.chunk, next, begin) : kNothing;
    emitter_.wait(now);
  }
  void reduce_layer(const Action& action, std::size_t part) {
    const std::size_t unit = unit_of(action.chunk, part);
    if (part > 0 && unit_of(action.chunk, part - 1) == unit) return;
    reduce(CollectiveKind::kReduceScatter, unit_weights(action.chunk, unit));
  }

  // -- The end of a step

  void all_reduce(Axis axis, std::uint64_t bytes, std::uint32_t element) {
    if (bytes == 0 || training_.layout.size(axis) == 1) return;
    const Collective collective{.kind = CollectiveKind::kAllreduce,
                                .comm = groups_.communicator(axis, place_),
                                .bytes = bytes,
                                .element_bytes = element};
    emitter_.wait(emitter_.collective(Chain::kStep, collective, emitter_.computed()));
  }
  void finish() {
    if (!apart() && !fsdp() && !training_.gradients_overlap) reduce_all();
    if (!apart()) {
      emitter_.wait(emitter_.last(Chain::kReduce));
      emitter_.wait(emitter_.last(Chain::kReplicate));
    }
    // Each rank of sequence parallelism has seen a part of the tokens only. What Megatron-LM reduces is
    // main_grad, in the format of all gradients.
    if (training_.sequence_parallel) {
      all_reduce(Axis::kTensor, plan_.whole_weights * training_.gradient_bytes, training_.gradient_bytes);
    }
    all_reduce(Axis::kEmbedding, plan_.table_weights * training_.gradient_bytes, training_.gradient_bytes);
    training_.schedule.staggered() ? norm_along_stages() : norm_together();
    emitter_.compute(plan_.optimizer_ns);
    emitter_.computed();
    if (training_.schedule.staggered()) norm_of_all();
  }
  // The norm of all gradients.
  void norm_together() {
    for (const Axis axis :
         apart() ? std::vector{Axis::kTensor, Axis::kPipeline} : std::vector{Axis::kWorld}) {
      all_reduce(axis, 8, 8);
    }
  }
  // The norm of all gradients would have every stage wait for the last one. Instead each has the sum of those
  // before and goes on with it; that of all comes back, while the next step runs, to confirm it
  // ("post-validation", Qi 2024, section 4).
  void norm_along_stages() {
    all_reduce(Axis::kTensor, 8, 8);
    if (!apart()) all_reduce(Axis::kData, 8, 8);
    all_reduce(Axis::kReplicas, 8, 8);
    if (place_.stage > 0) emitter_.wait(norm_from(place_.stage - 1, 0));
    if (place_.stage + 1 < training_.schedule.stages) {
      norm_to(place_.stage + 1, 0, Chain::kSendForward, emitter_.computed());
    }
  }
  Event norm_from(std::uint32_t stage, std::uint32_t back) {
    return emitter_.receive(Chain::kStep, 8, stage_rank(stage), 2 * training_.schedule.parts() + back,
                            groups_.communicator(Axis::kPipeline, place_), emitter_.computed());
  }
  void norm_to(std::uint32_t stage, std::uint32_t back, Chain chain, Event after) {
    emitter_.send(chain, 8, stage_rank(stage), 2 * training_.schedule.parts() + back,
                  groups_.communicator(Axis::kPipeline, place_), after);
  }
  void norm_of_all() {
    Event all = emitter_.computed();
    if (place_.stage + 1 < training_.schedule.stages) all = norm_from(place_.stage + 1, 1);
    if (place_.stage > 0) norm_to(place_.stage - 1, 1, Chain::kSendBackward, all);
  }

  // -- Replicas on their own

  struct Pending {
    std::uint32_t step = 0;  // at whose end it is waited for
    Event event = kNothing;
    double outer_ns = 0;
  };
  // Behind a step: what is due to begin, spread evenly, and what is due to be taken over.
  void synchronize() {
    const OuterSteps& outer = training_.outer;
    for (std::uint64_t f = 0; f < outer.fragments; ++f) {
      if ((f + 1) * outer.inner_steps / outer.fragments % outer.inner_steps == steps_ % outer.inner_steps) {
        begin(f);
      }
    }
    while (!pending_.empty() && pending_.front().step <= steps_) {
      emitter_.wait(pending_.front().event);
      emitter_.compute(pending_.front().outer_ns);
      pending_.pop_front();
    }
    emitter_.computed();
  }
  void begin(std::size_t fragment) {
    if (training_.layout.data == 1) return;
    Event last = kNothing;
    exchange_both(Chain::kReduce, CollectiveKind::kAllreduce, plan_.fragments[fragment],
                  training_.gradient_bytes, emitter_.computed(),
                  [&](Event event) { last = event == kNothing ? last : event; });
    pending_.push_back({steps_ + training_.outer.overlap, last, plan_.outer_ns[fragment]});
  }

  const Training& training_;
  const StagePlan& plan_;
  const Groups& groups_;
  const Place place_;
  Emitter& emitter_;
  LayerProgram layers_;
  std::uint32_t steps_ = 0;
  std::deque<Pending> pending_;
  std::vector<std::vector<std::vector<Event>>> gathers_;  // by chunk and part
};

// A cpu for each axis that is there.
std::array<std::uint16_t, kChains> cpus_of(const Training& training) {
  const Layout& layout = training.layout;
  std::array<std::uint16_t, kChains> cpus{};
  std::uint16_t next = 1;
  const auto set = [&](bool there, std::initializer_list<Chain> chains) {
    if (!there) return;
    for (const Chain chain : chains) cpus[static_cast<std::size_t>(chain)] = next;
    ++next;
  };
  set(layout.tensor > 1, {Chain::kTensor});
  set(layout.context > 1, {Chain::kContextSend, Chain::kContextReceive});
  set(layout.expert > 1, {Chain::kExpert});
  set(layout.expert_node > 1, {Chain::kExpertIntranode});
  set(layout.pipeline > 1,
      {Chain::kSendForward, Chain::kSendBackward, Chain::kReceiveForward, Chain::kReceiveBackward,
       Chain::kSendForward2, Chain::kSendBackward2, Chain::kReceiveForward2, Chain::kReceiveBackward2});
  set(layout.size(Axis::kData) > 1, {Chain::kGather, Chain::kReduce});
  set(layout.replicas > 1, {Chain::kReplicate});
  set(layout.ranks() > 1, {Chain::kStep});
  return cpus;
}

}  // namespace

Graph training_graph(const Training& training) { return training_graph(training, times_of(training)); }

Graph training_graph(const Training& training, const Times& times) {
  GraphBuilder builder;
  const Groups groups(training.layout, training.model.tied && training.schedule.ends_apart(), builder);
  const auto cpus = cpus_of(training);
  const std::vector<ExpertLoad> loads = expert_loads(training);
  std::vector<StagePlan> plans;
  for (std::uint32_t stage = 0; stage < training.layout.pipeline; ++stage)
    plans.push_back(plan_of(training, stage));

  const auto write = [&](const Place& place, Emitter& emitter) {
    StepProgram program(training, times, loads, plans[place.stage], groups, place, emitter);
    for (std::uint32_t i = 0; i < training.iterations; ++i) program.step();
    emitter.end_rank();
  };
  // All ranks of a stage have as many operations.
  Emitter counted(nullptr, cpus);
  for (std::uint32_t stage = 0; stage < training.layout.pipeline; ++stage) write({.stage = stage}, counted);
  builder.reserve(counted.ops() * training.layout.stage_ranks(),
                  counted.edges() * training.layout.stage_ranks());

  Emitter emitter(&builder, cpus);
  for (Rank rank = 0; rank < training.layout.ranks(); ++rank) write(training.layout.place(rank), emitter);
  return builder.finish();
}

}  // namespace weft::goal::llm
