// Runs a collective on data instead of on a network: every rank's groups, by the rules alone.
//
// A rank begins a group when it has finished the one before in that lane; all steps of a group begin at once;
// a message is found by its source and tag. A send reads its rank's buffer when it is executed, a receive
// that stores writes when it is executed, and one that combines takes effect when its group has finished (a
// real implementation receives into a buffer of its own and combines afterwards). Of alltoall, whose slots
// may be sent and received in the same group, sends carry what was there when the group began.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "goal/collectives/steps.h"

namespace weft::goal {

// In which of the permitted orders steps are executed.
enum class Order {
  kSendsEarly,  // a send as soon as its group begins
  kSendsLate,   // a send only when its receive waits for it: finds out who needs buffers to go on
  kShuffled,    // any order, drawn from a fixed stream
};

struct Outcome {
  // What went wrong first, or "": a wrong result at some rank, a deadlock, a message without its receive,
  // two that can't be told apart, different sizes on both sides, a split element, a data race within a
  // group, other steps when a group is asked for again …
  std::string fault;
  std::uint64_t messages = 0, bytes = 0, combined = 0;  // of all ranks; combined: bytes of reductions
  // Messages on the longest path, where those of one group take one unit of time side by side.
  std::uint32_t rounds = 0;
  std::vector<std::uint64_t> messages_sent, bytes_sent, bytes_received, bytes_combined;  // per rank
};

// `calls[r]` is what rank r of the communicator sees.
Outcome run(const ChosenAlgorithm& chosen, std::span<const Collective> calls, Order order = Order::kShuffled);
// Every rank makes the same call.
Outcome run(const ChosenAlgorithm& chosen, const Collective& call, std::uint32_t ranks,
            Order order = Order::kShuffled);

}  // namespace weft::goal
