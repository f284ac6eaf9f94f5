#include "sim/replay/point_to_point.h"

namespace weft::sim {

// The handshake of a large message begins.
[[gnu::noinline]] void PointToPoint::request_to_send(RankState& rank, goal::OpIndex index) {
  const goal::Op& op = rank.view.op(index);
  rank.words[index] = 0;
  send_first(rank, index,
             handshakes_.begin_send(
                 {.bytes = op.value, .local = local_of(rank), .op = index, .peer = op.peer, .nic = op.nic}));
}

// The handshake of a large message goes on, or an eager one has another size than was asked for.
[[gnu::noinline]] std::uint32_t PointToPoint::matched_otherwise(RankState& rank, goal::OpIndex op,
                                                                const ArrivedMessage& message) {
  rank.words[op] = 0;
  const std::uint32_t task =
      handshakes_.begin_receive(message, {.local = local_of(rank), .op = op, .nic = rank.view.op(op).nic});
  return task == kNone ? kNone : task | RankWork::kTask;
}

void PointToPoint::expect(std::uint32_t local, const Message& message, int look) const {
  if (look == 0) return messages_.expect(local);
  if (wire::kind_of(message) != wire::Kind::kEager) return;
  const auto first = wire::FirstOfSend::decode(message);
  const UserMessages::Key key{first.ends.source, first.tag, first.communicator};
  const std::uint32_t receive = messages_.expect(local, key, look);
  if (receive == kNone) return;
  const RankState& rank = ranks_[local];
  __builtin_prefetch(rank.view.record(receive));
  __builtin_prefetch(rank.words + receive, 1);
}

}  // namespace weft::sim
