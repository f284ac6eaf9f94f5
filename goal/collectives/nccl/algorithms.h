// NCCL's algorithms as entries of the list of collective algorithms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "goal/collectives/steps.h"

namespace weft::goal::nccl {

// What NVLS reaches of the links of a Hopper, in percent (src/graph/tuning.cc, nvlsEfficiency).
inline constexpr std::uint32_t kNvlsPercent = 85;

std::vector<CollectiveAlgorithm> algorithms();

// Says, as a sentence, why an algorithm of NCCL's has no entry; "" for other names.
std::string why_no_entry(std::string_view name);

// "simple", "ll" or "ll128", as the option `protocol`; nothing for other words.
std::optional<WireFormat> parse_protocol(std::string_view text);

// ring.cc
bool allreduce_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool reduce_scatter_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool allgather_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
std::uint32_t ring_lanes(const CollectiveCall& call);

// chain.cc
bool bcast_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool reduce_ring(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
std::uint32_t channel_lanes(const CollectiveCall& call);

// tree.cc
bool allreduce_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
std::uint32_t tree_lanes(const CollectiveCall& call);

// nvls.cc
bool allreduce_nvls(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool allreduce_nvls_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool allgather_nvls(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool reduce_scatter_nvls(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
std::uint32_t nvls_lanes(const CollectiveCall& call);
std::uint32_t nvls_block_lanes(const CollectiveCall& call);
std::string nvls_objection(const CollectiveOptions& options, std::uint32_t ranks);
std::string nvls_allreduce_objection(const CollectiveOptions& options, std::uint32_t ranks);
std::string nvls_tree_objection(const CollectiveOptions& options, std::uint32_t ranks);

// pat.cc
bool allgather_pat(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
bool reduce_scatter_pat(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);

// p2p.cc
bool alltoall_p2p(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out);
std::uint32_t p2p_lanes(const CollectiveCall& call);
// The place that `call.me` sends to in round `round` of 0 … size - 1 of NCCL's schedule, counted on from its
// own; it receives from the one as far before, node by node.
struct P2pRound {
  std::uint32_t to = 0, from = 0;
};
P2pRound p2p_round(const CollectiveCall& call, std::uint32_t round);

}  // namespace weft::goal::nccl
