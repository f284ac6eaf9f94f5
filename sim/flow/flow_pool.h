// Messages under way, in slots that are used again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/network.h"
#include "sim/flow/connections.h"
#include "sim/flow/paths.h"
#include "sim/flow/progress.h"
#include "sim/units/quantity.h"

namespace weft::sim::flow {

struct Flow {
  // kWaiting: behind others of its connection.
  enum class State : std::uint8_t { kFree, kWaiting, kFlowing, kCutOff, kDrained };

  Message message;
  Amount left = 0;  // when so much of its fluid was `through`
  Amount through = 0;
  Amount target = 0;  // what is left when a sender is to be told; 0: at the end
  Time start;
  Time latency;  // from the last byte's leaving to its arrival
  Time answer;   // of an acknowledgement, from there back; only where the sender waits for it
  Time ideal;
  std::uint64_t wire_bytes = 0, carried = 0;  // carried: told to those who count what links carry
  // Bytes from which on it has the share of detours that it has; those by detours that carried is without.
  std::uint64_t shared = 0;
  double detoured = 0;
  std::uint32_t number = 0;  // among its source's
  Trip trip;
  std::uint32_t connection = Connection::kNone, next = Connection::kNone;  // next: in its connection
  std::uint64_t end = 0;      // of its payload, counted from the connection's first byte
  std::uint32_t packets = 0;  // 2^32 - 1 at most
  State state = State::kFree;

  // Does it divide by load? A single packet meets what it meets.
  bool is_offer() const { return packets > 1; }
};

// References last until the next take().
class FlowPool {
 public:
  // A slot that is not in use; what is in it is of no meaning.
  std::uint32_t take() {
    if (unused_.empty()) {
      flows_.emplace_back();
      return size() - 1;
    }
    const std::uint32_t slot = unused_.back();
    unused_.pop_back();
    if (!unused_.empty()) fetch(unused_.back());
    return slot;
  }
  void give_back(std::uint32_t slot) {
    flows_[slot].state = Flow::State::kFree;
    unused_.push_back(slot);
  }

  Flow& operator[](std::uint32_t slot) { return flows_[slot]; }
  const Flow& operator[](std::uint32_t slot) const { return flows_[slot]; }
  // All slots are below.
  std::uint32_t size() const { return static_cast<std::uint32_t>(flows_.size()); }

  // Into the cache: of very many messages under way most are out of it.
  void fetch(std::uint32_t slot) const {
    constexpr std::size_t kLine = 64;
    const char* const begin = reinterpret_cast<const char*>(&flows_[slot]);
    for (std::size_t at = 0; at < sizeof(Flow); at += kLine) __builtin_prefetch(begin + at, 1);
  }

 private:
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> unused_;
};

}  // namespace weft::sim::flow
