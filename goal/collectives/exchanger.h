// For algorithms made of rounds, in which a rank begins a round when it has finished the one before.
#pragma once

#include <cstdint>

#include "goal/collectives/schedule.h"

namespace weft::goal {

// Appends exchanges to a schedule, each of which waits for all of the one before: what an implementation
// that calls a blocking send-receive in a loop does. The order matters for correctness: a rank may get the
// message of a later round first, and must not pass on what it has not combined yet.
class Exchanger {
 public:
  explicit Exchanger(Schedule& schedule) : schedule_(schedule) {}

  void send(std::uint32_t peer, std::uint64_t bytes, std::uint32_t round) {
    add(schedule_.send(peer, bytes, round));
  }
  void recv(std::uint32_t peer, std::uint64_t bytes, std::uint32_t round) {
    const std::uint32_t step = schedule_.recv(peer, bytes, round);
    add(step);
    last_recv_ = step;
  }
  // Combines what this exchange has received. REQUIRES: recv() was called since the last next().
  void reduce(std::uint64_t bytes) {
    const std::uint32_t step = schedule_.reduce(bytes);
    schedule_.depend(step, last_recv_);
    // Who waits for the reduction need not wait for its receive as well.
    std::uint32_t place = 0;
    while (place < now_count_ && now_[place] != last_recv_) ++place;
    now_[place] = step;
    if (place == now_count_) ++now_count_;
  }
  // What is added from here on waits for what was added since the last call; no effect if that is nothing.
  void next() {
    if (now_count_ == 0) return;
    for (std::uint32_t i = 0; i < now_count_; ++i) before_[i] = now_[i];
    before_count_ = now_count_;
    now_count_ = 0;
  }

 private:
  static constexpr std::uint32_t kMost = 3;  // a send, and a receive or two reductions
  void add(std::uint32_t step) {
    for (std::uint32_t i = 0; i < before_count_; ++i) schedule_.depend(step, before_[i]);
    now_[now_count_++] = step;
  }

  Schedule& schedule_;
  std::uint32_t now_[kMost] = {}, before_[kMost] = {};
  std::uint32_t now_count_ = 0, before_count_ = 0, last_recv_ = 0;
};

}  // namespace weft::goal
