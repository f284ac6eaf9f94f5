#include "goal/workload/llm/layer.h"

#include <algorithm>
#include <cmath>

#include "goal/workload/llm/step.h"

namespace weft::goal::llm {
namespace {

constexpr std::uint32_t kKeyValueTag = 0, kGradientTag = 1;

Rank in_ring(const Layout& layout, Place place, std::uint32_t by) {
  place.context = (place.context + by) % layout.context;
  return layout.rank(place);
}

// A token's activation on its way to experts: in 8-bit training with a scale of 4 bytes for each 128 values.
std::uint64_t dispatched_bytes(const Training& training) {
  const std::uint64_t hidden = training.model.hidden;
  return training.precision == Precision::kFp8 ? hidden + (hidden + 127) / 128 * 4
                                               : training.value_bytes() * hidden;
}

// Tokens that a rank has for each of `ranks` with experts: `top_k` copies of each of its own, spread evenly.
std::uint64_t block(const Training& training, std::uint64_t bytes, std::uint32_t ranks) {
  const std::uint64_t copies = training.own_tokens() * training.model.top_k;
  return (copies * bytes + ranks - 1) / ranks;
}

// Returns the bytes for the rank in the same place of each node: a copy of each token that goes there.
std::uint64_t node_block(const Training& training, std::uint64_t bytes) {
  const double copies = static_cast<double>(training.own_tokens()) * training.token_nodes;
  return static_cast<std::uint64_t>(
      std::ceil(copies * static_cast<double>(bytes) / training.layout.expert_nodes()));
}

std::uint64_t piece_of(std::uint64_t all, std::uint64_t i, std::uint64_t pieces) {
  return all * (i + 1) / pieces - all * i / pieces;
}

std::uint64_t combined_bytes(const Training& training) {
  return std::uint64_t{training.value_bytes()} * training.model.hidden;
}

// To the experts: to each rank what its experts get, from each as much as any other has for this one's.
Collective uneven(const ExpertLoad& load, std::uint32_t position, std::uint64_t bytes) {
  Collective collective;
  for (const std::uint64_t copies : load.copies) collective.counts.push_back(copies * bytes);
  collective.receive_counts.assign(load.copies.size(), load.copies[position] * bytes);
  return collective;
}

}  // namespace

std::uint64_t key_value_bytes(const Training& training) {
  const ModelShape& model = training.model;
  const std::uint32_t all = training.repeats_keys() ? model.heads : model.kv_heads;
  const std::uint64_t heads = std::max(all / training.layout.tensor, 1u);
  return training.value_bytes() * training.tokens() * heads *
         (std::uint64_t{model.head_dim} + model.value_dims());
}

std::uint64_t dispatch_bytes(const Training& training) {
  return block(training, dispatched_bytes(training), training.layout.expert);
}

std::uint64_t combine_bytes(const Training& training) {
  return block(training, combined_bytes(training), training.layout.expert);
}

LayerProgram::LayerProgram(const Training& training, const Times& times, const std::vector<ExpertLoad>& loads,
                           const Groups& groups, const Place& place, Emitter& emitter)
    : training_(training),
      times_(times),
      loads_(loads),
      emitter_(emitter),
      tensor_comm_(groups.communicator(Axis::kTensor, place)),
      context_comm_(groups.communicator(Axis::kContext, place)),
      expert_comm_(groups.communicator(Axis::kExpert, place)),
      internode_comm_(groups.communicator(Axis::kExpertInternode, place)),
      intranode_comm_(groups.communicator(Axis::kExpertIntranode, place)),
      expert_position_(training.layout.expert_position(place)),
      next_(in_ring(training.layout, place, 1)),
      previous_(in_ring(training.layout, place, training.layout.context - 1)) {}

Event LayerProgram::tensor(CollectiveKind kind, Event after) {
  if (training_.layout.tensor == 1) return kNothing;
  const std::uint64_t all = training_.value_bytes() * training_.tokens() * training_.model.hidden;
  const bool whole = kind == CollectiveKind::kAllreduce;
  return emitter_.collective(Chain::kTensor,
                             {.kind = kind,
                              .comm = tensor_comm_,
                              .bytes = whole ? all : all / training_.layout.tensor,
                              .element_bytes = training_.value_bytes()},
                             after);
}

void LayerProgram::enter() {
  if (training_.sequence_parallel) tensor_now(CollectiveKind::kAllgather);
}

Event LayerProgram::gather_input() {
  if (!training_.sequence_parallel) return kNothing;
  return tensor(CollectiveKind::kAllgather, emitter_.computed());
}

void LayerProgram::leave() {
  tensor_now(training_.sequence_parallel ? CollectiveKind::kReduceScatter : CollectiveKind::kAllreduce);
}

// The rank's own piece is there already; all of the others' have arrived before the last one is used.
void LayerProgram::enter(double product_ns) {
  if (!training_.tensor_overlap) {
    enter();
    return emitter_.compute(product_ns);
  }
  const Event gathered = tensor(CollectiveKind::kAllgather, emitter_.computed());
  emitter_.compute(product_ns - piece(product_ns));
  emitter_.wait(gathered);
  emitter_.compute(piece(product_ns));
}

// Sums begin with the first piece that is ready.
void LayerProgram::leave(double product_ns) {
  if (!training_.tensor_overlap) {
    emitter_.compute(product_ns);
    return leave();
  }
  emitter_.compute(piece(product_ns));
  const Event reduced = tensor(CollectiveKind::kReduceScatter, emitter_.computed());
  emitter_.compute(product_ns - piece(product_ns));
  emitter_.wait(reduced);
}

// The gradient of a block's input is summed up over ranks while those of its weights are computed, if these
// are not put off; they need the input, gathered once more while the former is computed.
void LayerProgram::column_backward(const BlockTimes& times, Work work) {
  const bool weights = work == Work::kBackward, parts = training_.sequence_parallel;
  const Event input = weights ? gather_input() : kNothing;
  emitter_.compute(times.in_by_inputs);
  Event sum = kNothing;
  if (training_.layout.tensor > 1) {
    sum = tensor(parts ? CollectiveKind::kReduceScatter : CollectiveKind::kAllreduce, emitter_.computed());
  }
  if (weights) {
    emitter_.wait(input);
    emitter_.compute(times.in_by_weights);
  }
  emitter_.wait(sum);
  emitter_.compute(times.before_backward);
}

void LayerProgram::row_backward(const BlockTimes& times, Work work) {
  enter(times.out_by_inputs);
  if (work == Work::kBackward) emitter_.compute(times.out_by_weights);
}

// Gradients of a block's weights that were put off. The output's gradient is still there as it was gathered;
// the input arrives while it is used.
void LayerProgram::block_weights(const BlockTimes& times) {
  const Event input = gather_input();
  emitter_.compute(times.out_by_weights);
  emitter_.wait(input);
  emitter_.compute(times.in_by_weights);
}

void LayerProgram::embedding_forward() {
  if (training_.model.vocab == 0) return;
  emitter_.compute(times_.embedding);
  leave();
}

// Nothing is sent on from here: all that there is are gradients of weights.
void LayerProgram::embedding_backward(Work work) {
  if (training_.model.vocab == 0 || work == Work::kInputs) return;
  enter();
  emitter_.compute(times_.embedding);
}

void LayerProgram::attention_forward() {
  emitter_.compute(times_.attention.before);
  enter(times_.attention.in);
  core_forward();
  leave(times_.attention.out);
}

void LayerProgram::attention_backward(Work work) {
  if (work == Work::kWeights) return block_weights(times_.attention);
  emitter_.compute(times_.attention.again);
  row_backward(times_.attention, work);
  if (training_.recompute == Recompute::kSelective && !training_.pytorch()) core_forward();
  core_backward();
  column_backward(times_.attention, work);
}

void LayerProgram::mlp_block_forward(const BlockTimes& times) {
  enter(times.in);
  emitter_.compute(times.core);
  leave(times.out);
}

void LayerProgram::mlp_block_backward(const BlockTimes& times, Work work) {
  if (work == Work::kWeights) return block_weights(times);
  emitter_.compute(times.again);
  row_backward(times, work);
  emitter_.compute(times.core_backward);
  column_backward(times, work);
}

void LayerProgram::mlp_forward(std::uint32_t layer) {
  if (training_.model.has_experts(layer)) return experts_forward(layer);
  emitter_.compute(times_.mlp.before);
  mlp_block_forward(times_.mlp);
}

void LayerProgram::mlp_backward(std::uint32_t layer, Work work) {
  training_.model.has_experts(layer) ? experts_backward(layer, work) : mlp_block_backward(times_.mlp, work);
}

void LayerProgram::head_forward() {
  if (training_.model.vocab == 0) return;
  emitter_.compute(times_.head.before);
  enter();
  emitter_.compute(times_.head.in);
  // Ranks find together each token's largest logit, that of the right word, and the sum of all.
  for (int i = 0; i < 3 && training_.layout.tensor > 1; ++i) {
    emitter_.wait(emitter_.collective(Chain::kTensor,
                                      {.kind = CollectiveKind::kAllreduce,
                                       .comm = tensor_comm_,
                                       .bytes = 4 * training_.tokens(),
                                       .element_bytes = 4},
                                      emitter_.computed()));
  }
  emitter_.compute(times_.loss);
}

void LayerProgram::head_backward(Work work) {
  if (training_.model.vocab == 0) return;
  work == Work::kWeights ? block_weights(times_.head) : column_backward(times_.head, work);
}

// -- Context parallelism

void LayerProgram::context_now(CollectiveKind kind) {
  emitter_.wait(emitter_.collective(Chain::kContextSend,
                                    {.kind = kind,
                                     .comm = context_comm_,
                                     .bytes = key_value_bytes(training_),
                                     .element_bytes = training_.value_bytes()},
                                    emitter_.computed()));
}

void LayerProgram::core_forward() {
  const bool alone = training_.layout.context == 1;
  if (!alone && training_.context_exchange == ContextExchange::kRing) return ring_forward();
  if (!alone) context_now(CollectiveKind::kAllgather);
  emitter_.compute(times_.attention.core);
}

void LayerProgram::core_backward() {
  const bool alone = training_.layout.context == 1;
  if (!alone && training_.context_exchange == ContextExchange::kRing) return ring_backward();
  if (!alone) context_now(CollectiveKind::kAllgather);
  emitter_.compute(times_.attention.core_backward);
  if (!alone) context_now(CollectiveKind::kReduceScatter);
}

// To the next rank, once `data` is there, and from the one before. Gives the end of the receive.
Event LayerProgram::pass_on(std::uint32_t tag, Event data, Event begin) {
  const std::uint64_t bytes = key_value_bytes(training_);
  emitter_.send(Chain::kContextSend, bytes, next_, tag, context_comm_, data);
  return emitter_.receive(Chain::kContextReceive, bytes, previous_, tag, context_comm_, begin);
}

// While a rank computes with some keys and values, it passes them on.
void LayerProgram::ring_forward() {
  Event data = emitter_.computed();
  for (std::uint32_t i = 1; i < training_.layout.context; ++i) {
    data = pass_on(kKeyValueTag, data, emitter_.computed());
    emitter_.compute(times_.attention.core);
    emitter_.wait(data);
  }
  emitter_.compute(times_.attention.core);
}

// Their gradients follow, each rank adding its part.
void LayerProgram::ring_backward() {
  Event data = emitter_.computed(), gradient = kNothing;
  for (std::uint32_t i = 1; i < training_.layout.context; ++i) {
    data = pass_on(kKeyValueTag, data, emitter_.computed());
    emitter_.compute(times_.attention.core_backward);
    emitter_.wait(gradient);
    const Event sum = emitter_.computed();
    gradient = pass_on(kGradientTag, sum, sum);
    emitter_.wait(data);
  }
  emitter_.compute(times_.attention.core_backward);
  emitter_.wait(gradient);
}

// -- Experts

void LayerProgram::all_to_all(Collective collective) {
  if (training_.layout.expert == 1) return;
  collective.kind = CollectiveKind::kAlltoall;
  collective.comm = expert_comm_;
  emitter_.wait(emitter_.collective(Chain::kExpert, collective, emitter_.computed()));
}

// To the rank in the same place of each node, and from there to those with the experts; back the other way
// round, with what comes from a node added up there. A piece is passed on while the next one follows. A rank
// forwards tokens of others: as many as it has itself, as all have as many.
void LayerProgram::by_nodes(std::uint64_t token_bytes, bool back) {
  const Event begin = emitter_.computed();
  const std::uint64_t across = node_block(training_, token_bytes);
  const std::uint64_t within = block(training_, token_bytes, training_.layout.expert_node);
  const std::uint64_t pieces = training_.expert_pieces;
  Event arrived = kNothing;
  for (std::uint64_t i = 0; i < pieces; ++i) {
    arrived = begin;
    for (const bool internode : {!back, back}) {
      if (!internode && training_.layout.expert_node == 1) continue;
      const std::uint64_t bytes = piece_of(internode ? across : within, i, pieces);
      arrived = emitter_.collective(internode ? Chain::kExpert : Chain::kExpertIntranode,
                                    {.kind = CollectiveKind::kAlltoall,
                                     .comm = internode ? internode_comm_ : intranode_comm_,
                                     .bytes = bytes},
                                    arrived);
    }
  }
  emitter_.wait(arrived);
}

void LayerProgram::dispatch(std::uint32_t layer) {
  if (training_.layout.expert_node != 0) return by_nodes(dispatched_bytes(training_), false);
  loads_.empty() ? all_to_all({.bytes = dispatch_bytes(training_)})
                 : all_to_all(uneven(loads_[layer], expert_position_, dispatched_bytes(training_)));
}

void LayerProgram::combine(std::uint32_t layer) {
  if (training_.layout.expert_node != 0) return by_nodes(combined_bytes(training_), true);
  if (loads_.empty()) return all_to_all({.bytes = combine_bytes(training_)});
  // What went to the experts comes back.
  Collective back = uneven(loads_[layer], expert_position_, combined_bytes(training_));
  std::swap(back.counts, back.receive_counts);
  all_to_all(back);
}

void LayerProgram::experts_forward(std::uint32_t layer) {
  emitter_.compute(times_.router);
  if (training_.model.shared_experts != 0) mlp_block_forward(times_.shared);
  dispatch(layer);
  emitter_.compute(expert_times(layer).forward);
  combine(layer);
}

// The gradients go the same way, the other way round.
void LayerProgram::experts_backward(std::uint32_t layer, Work work) {
  if (work == Work::kWeights) return experts_weights(layer);
  const bool weights = work == Work::kBackward;
  const ExpertTimes& times = expert_times(layer);
  dispatch(layer);
  emitter_.compute(times.by_inputs + (weights ? times.by_weights : 0));
  combine(layer);
  if (training_.model.shared_experts != 0) mlp_block_backward(times_.shared, work);
  emitter_.compute(times_.router_by_inputs + (weights ? times_.router_by_weights : 0));
}

// Tokens and their gradients are where they were sent before.
void LayerProgram::experts_weights(std::uint32_t layer) {
  emitter_.compute(expert_times(layer).by_weights);
  if (training_.model.shared_experts != 0) block_weights(times_.shared);
  emitter_.compute(times_.router_by_weights);
}

}  // namespace weft::goal::llm
