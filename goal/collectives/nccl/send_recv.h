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

// How a rank exchanges with all others of a communicator, in which it has `channels` for all that.
struct Exchange {
  Protocol protocol = Protocol::kSimple;
  std::uint32_t channels = 0;     // of the transfer to a peer
  std::uint64_t chunk_bytes = 0;  // of a channel
};
// `bytes`: for each peer. Source: NCCL 2.30, src/graph/paths.cc (ncclTopoComputeP2pChannels), src/enqueue.cc
// (p2p tasks).
Exchange exchange(const Node& node, std::uint32_t channels, std::uint64_t bytes, std::uint32_t ranks);

}  // namespace weft::goal::nccl
