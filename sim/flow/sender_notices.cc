#include "sim/flow/sender_notices.h"

#include <algorithm>

namespace weft::sim::flow {

bool SenderNotices::wait(Connection& connection, std::uint32_t slot) {
  if (!is_taken(flows_[slot].message) || connection.untold != Connection::kNone) return false;
  connection.untold = slot;
  return true;
}

void SenderNotices::aim(Connection& connection, std::uint32_t fluid, Time now) {
  Flow& head = flows_[connection.head];
  const bool flows = head.state == Flow::State::kFlowing;
  if (buffer_bytes_ > 0) {
    if (flows) fluids_.settle(head, fluid, now);
    head.target = 0;
    while (connection.untold != Connection::kNone) {
      const std::uint64_t end = flows_[connection.untold].end, at = end - std::min(end, buffer_bytes_);
      if (at >= head.end) break;
      const std::uint64_t rest = head.end - at;  // of the head's payload when it has room
      if (rest < head.message.bytes) {
        const Amount target = kBytePs * static_cast<std::uint64_t>(static_cast<Amount>(head.wire_bytes) *
                                                                   rest / head.message.bytes);
        if (head.left > target) {
          head.target = target;
          break;
        }
      }
      tell(connection, now);
    }
  }
  if (flows) fluids_.aim(head, fluid, now);
}

void SenderNotices::leave(Connection& connection, Time now) {
  const Flow& left = flows_[connection.head];
  while (connection.untold != Connection::kNone) {
    const std::uint64_t end = flows_[connection.untold].end;
    if (end > left.end && end - left.end > buffer_bytes_) break;
    tell(connection, now);
  }
}

// The sender of the first that waits.
void SenderNotices::tell(Connection& connection, Time now) {
  const std::uint32_t slot = connection.untold;
  if (gathering_) {
    gather(slot);
  } else {
    engine_.schedule(now, first_host_ + flows_[slot].message.source, kind_, slot);
  }
  std::uint32_t next = flows_[slot].next;
  while (next != Connection::kNone && !is_taken(flows_[next].message)) next = flows_[next].next;
  connection.untold = next;
}

}  // namespace weft::sim::flow
