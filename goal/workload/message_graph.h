// What generators of traffic share: from a list of messages to a graph.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "goal/graph/graph.h"
#include "sim/units/module.h"

namespace weft::goal {

struct Message {
  Rank from = 0, to = 0;
  std::uint64_t bytes = 0;
  std::uint64_t start_ns = 0;  // not sent before this time
};

// Message `then` waits until message `first` has been sent or, when_received, received. Both indices are
// positions in the list of messages. REQUIRES: the end of `first` that is waited for is at the sender of
// `then`: a graph has no dependencies between ranks.
struct Release {
  std::uint32_t first = 0, then = 0;
  bool when_received = false;
};

// The receives of messages begin … begin + count − 1, all to one rank, take them in the order they arrive:
// the i-th receive of these is the i-th to come, whichever message that is. A Release that waits for message
// begin + i to be received so waits for the i-th.
struct Race {
  std::uint32_t begin = 0, count = 0;
};

// A graph of independent messages. Every rank posts all its receives at time 0, in the order of the list, and
// sends its messages in the order of their start times, then of the list. Messages don't wait for each other
// but for `releases`. A message's tag is its position among its sender's, in the order of the list, so that
// no two between the same ranks are taken for each other and none is held back for another's sake.
// Start times are calcs on cpu 1, which nothing else uses: they hold whatever sending and receiving, on cpu
// 0, cost.
// REQUIRES: ranks in range; fewer than 2^32 messages and races in all; from != to but in races.
Graph message_graph(std::uint32_t ranks, std::span<const Message> messages,
                    std::span<const Release> releases = {}, std::span<const Race> races = {});

// Repeats the messages in each of the `iterations`, with `compute` before (phases.h): at every rank all
// receives, then all sends, in the order of the list, tagged as above; the next iteration waits for all of
// them. REQUIRES: as above, and all start at 0.
Graph repeated_messages(const Parameters& parameters, std::uint32_t ranks, std::span<const Message> messages);

// Rank r sends one message to to[r], or nothing if that is r itself.
std::vector<Message> messages_to(std::span<const Rank> to, std::uint64_t bytes);

// Throws InputError that names the parameter `ranks` if there are fewer than `least`.
void require_ranks(const Parameters& parameters, std::uint32_t ranks, std::uint32_t least);

// A whole-number parameter whose limits follow from others' values. Throws InputError unless it is from
// `least` to `most`.
std::uint32_t integer_in(const Parameters& parameters, std::string_view name, std::uint32_t least,
                         std::uint32_t most);

}  // namespace weft::goal
