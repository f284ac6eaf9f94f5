#include "goal/workload/llm/zero_bubble.h"

#include <algorithm>
#include <array>

namespace weft::goal::llm {
namespace {

// A stage's actions; of each kind of work a chunk's micro-batches come in order.
class Order {
 public:
  void forward(std::uint32_t chunk) { add(Work::kForward, chunk, forward_[chunk]++); }
  void inputs(std::uint32_t chunk) {
    owed_.push_back({Work::kWeights, chunk, backward_[chunk]});
    add(Work::kInputs, chunk, backward_[chunk]++);
  }
  void backward(std::uint32_t chunk) { add(Work::kBackward, chunk, backward_[chunk]++); }
  void together(std::uint32_t forward_chunk, std::uint32_t backward_chunk) {
    forward(forward_chunk);
    actions_.back().with_next = true;
    backward(backward_chunk);
  }
  // The weights that have been owed longest, of a chunk or of any.
  void weights() { pay(owed_.begin()); }
  void weights(std::uint32_t chunk) {
    pay(std::find_if(owed_.begin(), owed_.end(), [&](const Action& a) { return a.chunk == chunk; }));
  }
  void both(std::uint32_t chunk) {
    inputs(chunk);
    weights(chunk);
  }

  std::uint32_t forward_done(std::uint32_t chunk) const { return forward_[chunk]; }
  std::size_t owed() const { return owed_.size(); }
  std::vector<Action> take() { return std::move(actions_); }

 private:
  void add(Work work, std::uint32_t chunk, std::uint32_t micro_batch) {
    actions_.push_back({work, chunk, micro_batch});
  }
  void pay(std::vector<Action>::iterator debt) {
    actions_.push_back(*debt);
    owed_.erase(debt);
  }

  std::vector<Action> actions_, owed_;
  std::array<std::uint32_t, 2> forward_{}, backward_{};
};

template <typename Body>
void times(std::uint32_t n, const Body& body) {
  for (std::uint32_t i = 0; i < n; ++i) body();
}

}  // namespace

// What runs forward before the first backward fills the time until that comes, and the weights that a stage
// owes are what it does while the stages before end their backward.
std::vector<Action> zero_bubble(const Schedule& schedule, std::uint32_t stage) {
  const bool twice = schedule.kind == ScheduleKind::kZb2p;
  const std::uint32_t behind = schedule.stages - stage, owed = twice ? 2 * stage : stage;
  const std::uint32_t ahead = std::min(twice ? 2 * behind - 1 : behind, schedule.micro_batches);
  Order order;
  times(ahead, [&] { order.forward(0); });
  times(schedule.micro_batches, [&] {
    order.inputs(0);
    if (order.owed() > owed) order.weights();
    if (order.forward_done(0) < schedule.micro_batches) order.forward(0);
  });
  while (order.owed() > 0) order.weights();
  return order.take();
}

std::vector<Action> zero_bubble_v(const Schedule& schedule, std::uint32_t stage) {
  const std::uint32_t stages = schedule.stages, behind = stages - stage;
  // The order is made for enough micro-batches to fill the pipeline; those that aren't there are left out in
  // the end.
  const std::uint32_t micro_batches = std::max(2 * stages - 1, schedule.micro_batches);
  Order order;
  times(2 * behind - 1, [&] { order.forward(0); });
  times(stage, [&] { order.forward(1), order.forward(0); });
  times(behind, [&] { order.forward(1), order.both(1); });
  while (order.forward_done(1) < micro_batches) {
    if (order.forward_done(0) < micro_batches) order.forward(0);
    order.both(0);
    order.forward(1);
    order.both(1);
  }
  times(stage, [&] { order.inputs(0), order.inputs(1); });
  times(behind, [&] { order.inputs(0), order.weights(0); });
  times(stage, [&] { order.weights(1); });
  while (order.owed() > 0) order.weights();
  std::vector<Action> actions = order.take();
  std::erase_if(actions, [&](const Action& action) { return action.micro_batch >= schedule.micro_batches; });
  return actions;
}

// The second half of the phases' lengths mirrors the first: `inner` stages are between this one and the
// middle.
std::vector<Action> dual_pipe(const Schedule& schedule, std::uint32_t stage) {
  const std::uint32_t outer = std::min(stage, schedule.stages - 1 - stage) + 1;
  const std::uint32_t inner = schedule.stages / 2 - outer;
  Order order;
  times(2 * inner, [&] { order.forward(0); });
  times(outer, [&] { order.forward(0), order.forward(1); });
  times(inner, [&] { order.both(1), order.forward(1); });
  for (std::uint32_t i = 0; i < schedule.micro_batches / 2 + outer - schedule.stages; ++i) {
    // The two in the middle wait for each other here: apart, the bubble is shorter.
    if (i == 0 && inner == 0) {
      order.forward(0), order.backward(1);
    } else {
      order.together(0, 1);
    }
    order.together(1, 0);
  }
  times(inner, [&] { order.backward(1), order.together(1, 0); });
  // From the middle of this phase on weights are owed.
  for (std::uint32_t i = 0; i < 2 * outer; ++i)
    i < outer ? order.backward(1 - i % 2) : order.inputs(1 - i % 2);
  times(inner, [&] { order.weights(), order.inputs(0); });
  while (order.owed() > 0) order.weights();
  return order.take();
}

}  // namespace weft::goal::llm
