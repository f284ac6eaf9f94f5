#include <cstdint>

#include "goal/collectives/algorithms.h"
#include "goal/collectives/exchanger.h"

namespace weft::goal {
namespace {

// The bytes of each rank's block of a vector.
class Blocks {
 public:
  // The blocks the call names: one size for all, or its v form.
  static Blocks of_call(const CollectiveCall& call) { return Blocks(call, false); }
  // The call's vector in p parts that differ by at most one element; bytes that make no whole element go
  // last.
  static Blocks of_vector(const CollectiveCall& call) { return Blocks(call, true); }

  std::uint64_t bytes(std::uint32_t block) const {
    const Collective& collective = *call_.collective;
    if (!collective.counts.empty()) return collective.counts[block];
    if (!split_) return collective.bytes;
    const std::uint64_t element = collective.element_bytes == 0 ? 1 : collective.element_bytes;
    const std::uint64_t elements = collective.bytes / element;
    const std::uint64_t mine = elements / call_.size + (block < elements % call_.size ? 1 : 0);
    return mine * element + (block + 1 == call_.size ? collective.bytes % element : 0);
  }

 private:
  Blocks(const CollectiveCall& call, bool split) : call_(call), split_(split) {}
  const CollectiveCall& call_;
  bool split_;
};

// p - 1 rounds: each block goes once around, from the rank that is `lead` places after its number to the one
// before that, in step with the others. An empty block is not sent; both sides know that.
void pass_around(const CollectiveCall& call, const Blocks& blocks, std::uint32_t lead, bool reducing,
                 std::uint32_t first_round, Exchanger& exchange) {
  const std::uint64_t p = call.size, me = call.me;
  for (std::uint64_t k = 0; k + 1 < p; ++k) {
    const auto round = static_cast<std::uint32_t>(first_round + k);
    const std::uint64_t outgoing = blocks.bytes(static_cast<std::uint32_t>((me + 2 * p - lead - k) % p));
    const std::uint64_t incoming = blocks.bytes(static_cast<std::uint32_t>((me + 2 * p - lead - k - 1) % p));
    if (outgoing > 0) exchange.send(static_cast<std::uint32_t>((me + 1) % p), outgoing, round);
    if (incoming > 0) {
      exchange.recv(static_cast<std::uint32_t>((me + p - 1) % p), incoming, round);
      if (reducing) exchange.reduce(incoming);
    }
    exchange.next();
  }
}

}  // namespace

void reduce_scatter_ring(const CollectiveCall& call, Schedule& schedule) {
  Exchanger exchange(schedule);
  // Block b starts at rank b + 1 and so ends, complete, at rank b.
  pass_around(call, Blocks::of_call(call), 1, true, 0, exchange);
}

void allgather_ring(const CollectiveCall& call, Schedule& schedule) {
  Exchanger exchange(schedule);
  pass_around(call, Blocks::of_call(call), 0, false, 0, exchange);
}

void allreduce_ring(const CollectiveCall& call, Schedule& schedule) {
  if (call.size < 2) return;
  const Blocks blocks = Blocks::of_vector(call);
  Exchanger exchange(schedule);
  pass_around(call, blocks, 1, true, 0, exchange);
  pass_around(call, blocks, 0, false, call.size - 1, exchange);
}

}  // namespace weft::goal
