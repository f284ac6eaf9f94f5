// Reductions and multicasts in the NVSwitches of a node (NVLink SHARP), and between nodes a tree for each
// place in a node. Every GPU is the head of a part of each chunk: the switch adds up what all GPUs have of it
// on the way to the head, and hands what the head sends to all of them. Here these are messages to and from
// the head, written WireFormat::kInSwitch: as many bytes on a GPU's links as with the switch. Source:
// NCCL 2.30, src/device/all_reduce.h, all_gather.h and reduce_scatter.h, src/graph/connect.cc.
#include <algorithm>
#include <numeric>

#include "goal/collectives/blocks.h"
#include "goal/collectives/nccl/algorithms.h"
#include "goal/collectives/nccl/places.h"
#include "goal/collectives/nccl/work.h"

namespace weft::goal::nccl {
namespace {

// What a message is for; each has tags of its own.
enum class Role : std::uint8_t { kToHead, kFromHead, kUp, kDown };
constexpr std::uint32_t kRoles = 4;

std::uint32_t tag(const CollectiveCall& call, std::uint32_t channel, std::uint32_t turn, Role role) {
  return (turn * call.options->channels + channel) * kRoles + static_cast<std::uint32_t>(role);
}

// A channel's share of an allreduce: in each turn a chunk for each head; in the last shorter ones.
class HeadChunks {
 public:
  HeadChunks(const CollectiveCall& call, std::uint32_t channel, Shape shape)
      : heads_(call.node().gpus),
        share_(ChannelShares({0, call.collective->bytes}, call, 2).part(channel)),
        chunk_(chunk_bytes(shape, call)),
        unit_(std::lcm(std::min(kLeastHeadChunk * call.options->bundle, chunk_),
                       std::uint64_t{std::max<std::uint32_t>(call.collective->element_bytes, 1)})) {}
  std::uint32_t turns() const {
    const std::uint64_t each_turn = chunk_ * heads_;
    return static_cast<std::uint32_t>((share_.count + each_turn - 1) / each_turn);
  }
  Part part(std::uint32_t turn, std::uint32_t head) const {
    const std::uint64_t done = turn * chunk_ * heads_, left = share_.count - done;
    const std::uint64_t even = ((left + heads_ - 1) / heads_ + unit_ - 1) / unit_ * unit_;
    const std::uint64_t chunk = std::min(chunk_, even), from = std::min(chunk * head, left);
    return {share_.begin + done + from, std::min(chunk, left - from)};
  }

 private:
  std::uint64_t heads_;
  Part share_;
  std::uint64_t chunk_, unit_;
};

template <typename Visit>
void each_other_gpu(const CollectiveCall& call, Visit visit) {
  const CollectiveCall::NodeGpus node = call.node();
  for (std::uint32_t place = 0; place < node.gpus; ++place) {
    if (node.first + place != call.place()) visit(node.first + place, place);
  }
}

enum Lane : std::uint32_t { kScatter, kGather, kReduce, kBroadcast };
constexpr std::uint32_t kLanes = 4;

// What a head does with its part: adds up its node's and the subtrees', sends that up, and what comes down to
// its node and subtrees. The head at the root of the tree turns around.
void head(const CollectiveCall& call, const HeadChunks& chunks, const TreePlace& at, std::uint32_t lane,
          std::uint32_t index, Group& out) {
  const std::uint32_t channel = lane / kLanes, turns = chunks.turns();
  const std::uint32_t mine = call.place() - call.node().first;
  const bool is_root = at.up == kNoRank, down = lane % kLanes == kBroadcast;
  const bool sends_up = !down && !is_root, sends = index > 0, receives = index < turns;
  const auto tag_of = [&](std::uint32_t turn, Role role) { return tag(call, channel, turn, role); };
  // A part is sent on in the group after the one it came in.
  each_other_gpu(call, [&](std::uint32_t rank, std::uint32_t) {
    if (sends && !sends_up) out.send(rank, tag_of(index - 1, Role::kFromHead), chunks.part(index - 1, mine));
    if (receives && !down) out.recv_combine(rank, tag_of(index, Role::kToHead), chunks.part(index, mine));
  });
  out.in_format(WireFormat::kInSwitch);
  if (sends && sends_up) out.send(at.up, tag_of(index - 1, Role::kUp), chunks.part(index - 1, mine));
  if (receives && down) out.recv(at.up, tag_of(index, Role::kDown), chunks.part(index, mine));
  for (std::uint32_t i = 0; i < at.children; ++i) {
    if (sends && !sends_up)
      out.send(at.down[i], tag_of(index - 1, Role::kDown), chunks.part(index - 1, mine));
    if (receives && !down) out.recv_combine(at.down[i], tag_of(index, Role::kUp), chunks.part(index, mine));
  }
}

bool allreduce(const CollectiveCall& call, Shape shape, std::uint32_t lane, std::uint32_t index, Group& out) {
  const std::uint32_t channel = lane / kLanes, what = lane % kLanes;
  const HeadChunks chunks(call, channel, shape);
  const TreePlace at = rail_tree_place(call, channel);
  const bool is_head_lane = what == kReduce || what == kBroadcast;
  const std::uint32_t turns = chunks.turns();
  if (turns == 0 || index >= turns + (is_head_lane ? 1 : 0)) return false;
  if (what == kBroadcast && at.up == kNoRank) return false;
  if (is_head_lane) {
    head(call, chunks, at, lane, index, out);
    return true;
  }
  each_other_gpu(call, [&](std::uint32_t rank, std::uint32_t place) {
    if (what == kScatter) {
      out.send(rank, tag(call, channel, index, Role::kToHead), chunks.part(index, place));
    } else {
      out.recv(rank, tag(call, channel, index, Role::kFromHead), chunks.part(index, place));
    }
  });
  out.in_format(WireFormat::kInSwitch);
  return true;
}

// The turns of an allgather or reduce_scatter: what a channel has of each rank's block, in chunks.
class BlockChunks {
 public:
  BlockChunks(const CollectiveCall& call, std::uint32_t channel)
      : call_(call), channel_(channel), chunk_(chunk_bytes(Shape::kNvls, call)) {
    const auto& counts = call.collective->counts;
    const std::uint64_t most =
        counts.empty() ? call.collective->bytes : *std::max_element(counts.begin(), counts.end());
    turns_ = (ChannelShares({0, most}, call, call.size).most_bytes() + chunk_ - 1) / chunk_;
  }
  std::uint64_t turns() const { return turns_; }
  Part part(std::uint32_t turn, std::uint32_t place, const Group& out) const {
    const Part share =
        ChannelShares(rank_block(call_, call_.rank_at(place), out), call_, call_.size).part(channel_);
    const std::uint64_t done = std::min(turn * chunk_, share.count);
    return {share.begin + done, std::min(chunk_, share.count - done)};
  }

 private:
  const CollectiveCall& call_;
  std::uint32_t channel_;
  std::uint64_t chunk_, turns_ = 0;
};

}  // namespace

std::string nvls_objection(const CollectiveOptions& options, std::uint32_t ranks) {
  if (options.on_nodes().nodes_of(ranks) == 1) return "";
  return "between nodes it needs switches that reduce (SHARP), which networks here don't; ranks_per_node "
         "must be as many, or the algorithm nccl_ring";
}

std::string nvls_allreduce_objection(const CollectiveOptions& options, std::uint32_t ranks) {
  const std::string objection = nvls_objection(options, ranks);
  return objection.empty() ? "" : objection + " or nccl_nvls_tree";
}

std::string nvls_tree_objection(const CollectiveOptions& options, std::uint32_t ranks) {
  if (options.on_nodes().nodes_of(ranks) == 1) return "";
  if (options.first_node == 0 && ranks % options.ranks_per_node == 0) return "";
  return "every node must have ranks_per_node of them";
}

std::uint32_t nvls_lanes(const CollectiveCall& call) { return kLanes * call.options->channels; }
std::uint32_t nvls_block_lanes(const CollectiveCall& call) { return 2 * call.options->channels; }

bool allreduce_nvls(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  return allreduce(call, Shape::kNvls, lane, index, out);
}

bool allreduce_nvls_tree(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  return allreduce(call, Shape::kNvlsTree, lane, index, out);
}

bool allgather_nvls(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const BlockChunks chunks(call, lane / 2);
  if (index >= chunks.turns()) return false;
  const std::uint32_t its_tag = tag(call, lane / 2, index, Role::kFromHead);
  each_other_gpu(call, [&](std::uint32_t rank, std::uint32_t) {
    if (lane % 2 == 0) {
      out.send(rank, its_tag, chunks.part(index, call.place(), out));
    } else {
      out.recv(rank, its_tag, chunks.part(index, rank, out));
    }
  });
  out.in_format(WireFormat::kInSwitch);
  return true;
}

bool reduce_scatter_nvls(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) {
  const BlockChunks chunks(call, lane / 2);
  if (index >= chunks.turns()) return false;
  const std::uint32_t its_tag = tag(call, lane / 2, index, Role::kToHead);
  each_other_gpu(call, [&](std::uint32_t rank, std::uint32_t) {
    if (lane % 2 == 0) {
      out.send(rank, its_tag, chunks.part(index, rank, out));
    } else {
      out.recv_combine(rank, its_tag, chunks.part(index, call.place(), out));
    }
  });
  out.in_format(WireFormat::kInSwitch);
  return true;
}

}  // namespace weft::goal::nccl
