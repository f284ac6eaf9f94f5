// What is fetched into the cache before it is needed: of very many messages under way most are out of it.
#include <algorithm>

#include "sim/flow/flow_network.h"

namespace weft::sim::flow {

// As the client's expect(), which follows one look behind for messages.
void FlowNetwork::expect(const Event& event, int look) const {
  if (event.kind >= kClientKinds) return client_.expect(event, look);
  if (event.kind != kDelivered) return;
  if (look == 0) return flows_.fetch(event.payload);
  const Message& message = flows_[event.payload].message;
  if (look == 1) return client_.expect(message, 0);
  client_.expect(message, 1);
  client_.expect(message, 2);
}

// Slots are of no meaning. What comes next in connections is fetched, too.
void FlowNetwork::sort_drained() {
  if (connected_) {
    for (const std::uint32_t fluid : due_) __builtin_prefetch(&connections_[fluid], 1);
  }
  for (const std::uint32_t fluid : due_) flows_.fetch(head_of(fluid));
  drained_.clear();
  for (const std::uint32_t fluid : due_) {
    const Flow& flow = flows_[head_of(fluid)];
    if (flow.next != Connection::kNone) flows_.fetch(flow.next);
    drained_.push_back({flow.message.source, flow.number, fluid});
  }
  std::ranges::sort(drained_);
}

}  // namespace weft::sim::flow
