// How long a send takes whose receive is there: NCCL doesn't tune these. Its latencies of a ring's step and
// the rates of the links are taken, as of one transfer without others beside it.
#pragma once

#include <cstdint>

#include "goal/collectives/nccl/node.h"
#include "goal/collectives/nccl/settings.h"

namespace weft::goal::nccl {

struct SendRecv {
  Protocol protocol = Protocol::kSimple;
  std::uint32_t channels = 0;
  double latency_us = 0, gbs = 0;
  double time_us = 0;
};

// From a GPU to another of its node, or of another node. Throws InputError if there is no NIC to go through.
// Source: NCCL 2.30, src/graph/tuning.cc (latencies), src/graph/paths.cc (channels), src/enqueue.cc (LL).
SendRecv send_recv(const Node& node, Version version, std::uint64_t bytes, bool between_nodes);

}  // namespace weft::goal::nccl
