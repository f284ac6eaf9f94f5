#pragma once

#include "sim/packet/queues/queues.h"

namespace weft::sim::packet {

// Credit-based flow control with virtual channels. At the end of each cable the switch has a buffer for each
// virtual channel; whoever sends knows how many bytes of it are free. A packet is sent only if it fits, and
// its bytes come back, each by a frame, when its last bit has left the switch. Nothing is ever lost for want
// of room. Of the channels whose first packet fits, the one goes next whose packet was there first: so a
// packet that will have its credits in time knows its departure on arrival, and a hop costs one event. Hosts
// take in what comes. Data is marked by what is not on the wire yet, as FIFO queues do.
//
// With `by_hop` packets are in channel 0 up to and on the first link between switches, and one higher on each
// further one (no higher than the last). With as many channels as the longest path has such links, no packets
// wait for each other in a circle, whatever the topology (K. D. Günther, IEEE Trans. Comm. 29(4), 1981). With
// `by_flow` a packet stays in the channel that its flow's number gives.
//
// A link is never kept waiting by its own buffer if that holds what it sends from a packet's first bit until
// its credit is back, and one packet more:
//   buffer = rate · (2 · latency + pipeline + 2 packets' time + a frame's time) + 1 packet.
Discipline credit();

}  // namespace weft::sim::packet
