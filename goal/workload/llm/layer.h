// What a rank does for the parts of a model: embedding, attention, MLP or experts, and head, forward and
// backward. `work` is kBackward, or one of the two that it consists of.
#pragma once

#include "goal/workload/llm/emitter.h"
#include "goal/workload/llm/experts.h"
#include "goal/workload/llm/times.h"

namespace weft::goal::llm {

class LayerProgram {
 public:
  // All arguments must outlive it. `loads`: of each layer's experts; none if all get as many tokens.
  LayerProgram(const Training& training, const Times& times, const std::vector<ExpertLoad>& loads,
               const Groups& groups, const Place& place, Emitter& emitter);

  void embedding_forward();
  void embedding_backward(Work work);
  void attention_forward();
  void attention_backward(Work work);
  void mlp_forward(std::uint32_t layer);
  void mlp_backward(std::uint32_t layer, Work work);
  // With the loss.
  void head_forward();
  void head_backward(Work work);

 private:
  // Tensor parallelism. With sequence parallelism a rank has its part of the tokens outside of a block,
  // gathers all of them to enter it and reduces to leave it; else it has all, and only reduces.
  Event tensor(CollectiveKind kind, Event after);
  void tensor_now(CollectiveKind kind) {
    if (training_.layout.tensor > 1) emitter_.wait(tensor(kind, emitter_.computed()));
  }
  void enter();
  void leave();
  // These include the product that takes what was gathered, or makes what is reduced: with `tp_overlap` it
  // goes piece by piece while the others move.
  void enter(double product_ns);
  void leave(double product_ns);
  double piece(double product_ns) const { return product_ns / training_.layout.tensor; }
  // With sequence parallelism: a block's input of all tokens, for the gradients of its weights.
  Event gather_input();
  void column_backward(const BlockTimes& times, Work work);
  void row_backward(const BlockTimes& times, Work work);
  void block_weights(const BlockTimes& times);
  void mlp_block_forward(const BlockTimes& times);
  void mlp_block_backward(const BlockTimes& times, Work work);

  // Context parallelism: attention with the keys and values of all ranks.
  void core_forward();
  void core_backward();
  void ring_forward();
  void ring_backward();
  Event pass_on(std::uint32_t tag, Event data, Event begin);
  void context_now(CollectiveKind kind);

  // Experts.
  void experts_forward(std::uint32_t layer);
  void experts_backward(std::uint32_t layer, Work work);
  void experts_weights(std::uint32_t layer);
  const ExpertTimes& expert_times(std::uint32_t layer) const {
    return loads_.empty() ? times_.experts : loads_[layer].times[expert_position_];
  }
  void dispatch(std::uint32_t layer);
  void combine(std::uint32_t layer);
  void all_to_all(Collective collective);
  void by_nodes(std::uint64_t token_bytes, bool back);

  const Training& training_;
  const Times& times_;
  const std::vector<ExpertLoad>& loads_;
  Emitter& emitter_;
  const std::uint32_t tensor_comm_, context_comm_, expert_comm_, internode_comm_, intranode_comm_,
      expert_position_;
  Rank next_ = 0, previous_ = 0;  // in the ring
};

}  // namespace weft::goal::llm
