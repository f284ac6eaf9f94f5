// How messages fall into blocks of data packets with redundant ones behind them, and what rebuilds a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace weft::congestion {

// A message's packets are blocks one behind the other, each of up to `data` packets and `redundant` ones, or
// as many as it has data packets if these are fewer.
struct ErasureCode {
  enum class Scheme : std::uint8_t {
    kMds,  // any so many packets as there are data packets give the block
    kXor,  // redundant packet j is the sum of the data packets i with i mod redundant = j
  };
  std::uint32_t data = 8, redundant = 2;
  Scheme scheme = Scheme::kMds;

  // One block, by packet numbers.
  struct Block {
    std::uint32_t first = 0, data = 0, redundant = 0;
    std::uint32_t end() const { return first + data + redundant; }
  };

  std::uint64_t packets_for(std::uint64_t data_packets) const {
    const std::uint64_t full = data_packets / data, rest = data_packets % data;
    return full * (data + redundant) + rest + std::min<std::uint64_t>(redundant, rest);
  }
  // Which of a message's blocks a packet is in. `first`: of the message, of so many packets in all.
  Block block_of(std::uint32_t first, std::uint32_t packets, std::uint32_t number) const {
    const std::uint32_t whole = data + redundant;
    const std::uint32_t offset = (number - first) / whole * whole;
    const std::uint32_t length = std::min(whole, packets - offset);
    const std::uint32_t behind = length > 2 * redundant ? redundant : length / 2;
    return {first + offset, length - behind, behind};
  }
  // Do the packets for which has(number) give the whole block?
  template <typename Has>
  bool rebuilds(const Block& block, Has&& has) const {
    if (scheme == Scheme::kMds) {
      std::uint32_t there = 0;
      for (std::uint32_t n = block.first; n != block.end(); ++n) there += has(n) ? 1 : 0;
      return there >= block.data;
    }
    for (std::uint32_t group = 0; group < block.redundant; ++group) {
      if (missing_in(block, group, has) > 1) return false;
    }
    return true;
  }
  // XOR: of the data packets of a group and its redundant one.
  template <typename Has>
  static std::uint32_t missing_in(const Block& block, std::uint32_t group, Has&& has) {
    std::uint32_t missing = has(block.first + block.data + group) ? 0 : 1;
    for (std::uint32_t i = group; i < block.data; i += block.redundant)
      missing += has(block.first + i) ? 0 : 1;
    return missing;
  }
};

// The messages of a connection that are not complete.
class ErasureMessages {
 public:
  struct Message {
    std::uint32_t first = 0, packets = 0;
  };
  void append(std::uint32_t packets) {
    messages_.push_back({end_, packets});
    end_ += packets;
  }
  // Those that end at or below are asked for no more.
  void forget_below(std::uint32_t number) {
    while (!messages_.empty() && messages_.front().first + messages_.front().packets <= number)
      messages_.pop_front();
  }
  // REQUIRES: its message was appended, and isn't forgotten.
  Message of(std::uint32_t number) const {
    const auto behind = std::upper_bound(messages_.begin(), messages_.end(), number,
                                         [](std::uint32_t n, const Message& each) { return n < each.first; });
    return *(behind - 1);
  }

 private:
  std::deque<Message> messages_;
  std::uint32_t end_ = 0;
};

}  // namespace weft::congestion
