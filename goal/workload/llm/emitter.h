// Writes the operations of one rank: computations one after the other, and communication beside them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "goal/graph/graph.h"

namespace weft::goal::llm {

// What happens one after the other, as on a stream of a device. Messages of a pipeline don't wait for those
// in the other direction, nor gathering of weights for the reduction of gradients.
enum class Chain : std::uint8_t {
  kCompute,
  kTensor,
  kContextSend,
  kContextReceive,
  kExpert,
  kExpertIntranode,
  kSendForward,
  kSendBackward,
  kReceiveForward,
  kReceiveBackward,
  // A stage's second chunk has these where its neighbors are others than the first one's.
  kSendForward2,
  kSendBackward2,
  kReceiveForward2,
  kReceiveBackward2,
  kGather,
  kReduce,
  kReplicate,  // what was reduced, from shard group to shard group
  kStep,       // what ends a step
};
inline constexpr std::size_t kChains = 18;

// The end of an operation of the rank, or of nothing.
using Event = OpIndex;
inline constexpr Event kNothing = 0xFFFFFFFFu;

class Emitter {
 public:
  // Without a builder operations and dependencies are only counted. `cpus`: of each chain.
  Emitter(GraphBuilder* builder, const std::array<std::uint16_t, kChains>& cpus)
      : builder_(builder), cpus_(cpus) {
    last_.fill(kNothing);
  }

  // More of the computation under way; whole nanoseconds come out where something waits for it.
  void compute(double ns) { pending_ns_[stream_] += ns; }
  // What is computed from here on waits for the event.
  void wait(Event event);
  // The end of all that was computed so far.
  Event computed();
  // Two computations that share the device begin where all computed so far ends. Each is held up only by its
  // own waits, and has its own chains of what it computes and of what a layer sends. `stream`, 0 or 1: which
  // of them goes on. What comes behind their join waits for both.
  void fork();
  void stream(std::size_t stream) { stream_ = stream; }
  void join();
  Event last(Chain chain) const { return last_[slot(chain)]; }

  // They begin behind what their chain had, and behind `after`.
  Event collective(Chain chain, const Collective& collective, Event after);
  Event send(Chain chain, std::uint64_t bytes, Rank to, std::uint32_t tag, std::uint32_t comm, Event after);
  Event receive(Chain chain, std::uint64_t bytes, Rank from, std::uint32_t tag, std::uint32_t comm,
                Event after);

  void end_rank();
  std::uint64_t ops() const { return ops_; }
  std::uint64_t edges() const { return edges_; }

 private:
  Event message(Chain chain, OpKind kind, std::uint64_t bytes, Rank peer, std::uint32_t tag,
                std::uint32_t comm, Event after);
  Event chained(Chain chain, OpIndex op, Event after);
  void edge(Event first, OpIndex dependent);
  // The second stream has slots of its own behind those of the first, but only for what it computes and what
  // a layer sends.
  std::size_t slot(Chain chain) const {
    return static_cast<std::size_t>(chain) + (chain <= Chain::kExpertIntranode ? stream_ * kChains : 0);
  }
  std::uint16_t cpu(Chain chain) const { return cpus_[static_cast<std::size_t>(chain)]; }

  GraphBuilder* builder_;
  const std::array<std::uint16_t, kChains> cpus_;
  std::array<Event, 2 * kChains> last_;
  std::size_t stream_ = 0;
  std::array<double, 2> pending_ns_{};
  std::array<std::vector<Event>, 2> waits_;
  OpIndex ops_in_rank_ = 0;
  std::uint64_t ops_ = 0, edges_ = 0;
};

}  // namespace weft::goal::llm
