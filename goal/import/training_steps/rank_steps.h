// Writes one rank of a training: computations one after the other, and communication beside them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"
#include "goal/import/training_steps/groups.h"

namespace weft::goal {

// Cpu 0 computes. Each axis has a cpu of its own, in the order in which they come, whose operations follow
// each other, as those of a communicator of NCCL do.
class RankSteps {
 public:
  // The end of an operation of the rank, or of nothing.
  using Event = OpIndex;
  static constexpr Event kNothing = 0xFFFFFFFFu;

  explicit RankSteps(GraphBuilder& builder) : builder_(builder) { last_.fill(kNothing); }

  // More of the computation under way.
  void compute(std::uint64_t ns) { pending_ns_ += ns; }
  // What is computed from here on waits for the event.
  void wait(Event event);
  // They begin where all computed so far ends, and behind what their axis had.
  Event collective(TrainingAxis axis, const Collective& collective);
  // Sends and receives are in order among those with the same peer, and don't wait for each other's peers.
  Event message(OpKind kind, std::uint64_t bytes, Rank peer, std::uint32_t tag);
  // So many nanoseconds after the event, beside the computation.
  Event after(Event event, std::uint64_t ns);
  // How many operations there are so far.
  OpIndex ops() const { return builder_.ops_in_rank(); }
  // Ends the rank in the builder; how many operations it has.
  OpIndex end();

 private:
  struct Peer {
    Rank rank;
    OpKind kind;
    std::uint16_t cpu;
    Event last;
  };
  Event computed();
  Event chained(OpIndex op, Event& last);
  std::uint16_t new_cpu() { return ++last_cpu_; }

  GraphBuilder& builder_;
  std::array<Event, kTrainingAxes> last_;
  std::array<std::uint16_t, kTrainingAxes> cpus_{};
  std::uint16_t last_cpu_ = 0, delay_cpu_ = 0;
  std::vector<Peer> peers_;
  Event last_computed_ = kNothing;
  std::uint64_t pending_ns_ = 0;
  std::vector<Event> waits_;
};

}  // namespace weft::goal
