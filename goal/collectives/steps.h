// One rank's part of a collective operation, as groups of steps that are worked out one after the other, when
// they are needed. So a collective under way takes the memory of one group, however many ranks take part.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "goal/collectives/node_ranks.h"
#include "goal/graph/graph.h"
#include "sim/units/module.h"
#include "sim/units/quantity.h"

namespace weft::goal {

// Which data a message holds: a range of the collective's vector, which may pass its end and go on at its
// start. The vector is
//   bcast, reduce, allreduce, scan, exscan: the call's buffer, in bytes;
//   gather, scatter, allgather, reduce_scatter: the blocks of all ranks, one after the other, in bytes;
//   neighbor kinds: the block of one message;
//   alltoall: p slots. Slot j of a rank holds at first what it has for the rank j places on; in the end what
//   it got from the rank j places before. (So a block that moves j places on stays in its slot.)
struct Part {
  std::uint64_t begin = 0;
  std::uint64_t count = 0;  // bytes; alltoall: slots
  bool operator==(const Part&) const = default;
};

// A copy is a rank's own work on its memory: bytes that it moves from one buffer to another, no message.
enum class StepKind : std::uint8_t { kSend, kRecv, kCopy };

// How data are written on the wire: as they are, or as one of NCCL's protocols that send a flag along.
// Nothing of no bytes becomes more.
enum class WireFormat : std::uint8_t {
  kPlain,
  kFlagPerWord,  // NCCL's LL: 16 bytes for each 8 of data, the last of them filled up
  kFlagPerLine,  // NCCL's LL128: 128 bytes for each 120 of data
  kInSwitch,     // NCCL's NVLS: a node's switch adds up and multicasts; see CollectiveCall::in_switch_bytes()
};
constexpr std::uint64_t wire_bytes(WireFormat format, std::uint64_t data) {
  if (format == WireFormat::kFlagPerWord) return (data / 8 + (data % 8 != 0 ? 1 : 0)) * 16;
  if (format == WireFormat::kFlagPerLine) return (data / 120 + (data % 120 != 0 ? 1 : 0)) * 128;
  return data;
}
// How much data so many bytes on the wire can hold.
constexpr std::uint64_t data_bytes(WireFormat format, std::uint64_t wire) {
  if (format == WireFormat::kFlagPerWord) return wire / 2;
  if (format == WireFormat::kFlagPerLine) return wire / 128 * 120;
  return wire;
}

// A message to or from one peer; in linear algorithms one each to or from `count` peers that follow upon
// each other. 24 bytes.
struct Step {
  std::uint64_t bytes = 0;  // of data in each message; not used where by_peer
  std::uint32_t peer = 0;   // rank within the communicator; of several: the first
  std::uint32_t count = 1;  // peers: peer, peer + 1, … or, if `down`, peer, peer - 1, … (modulo the ranks)
  std::uint32_t tag = 0;    // a send meets the peer's receive of the same tag
  StepKind kind = StepKind::kSend;
  std::uint8_t combine = 0;  // receive: how many times the bytes are combined with local data (0: stored)
  bool down : 1 = false;
  bool by_peer : 1 = false;  // bytes: the peer's block, see CollectiveCall::block_bytes()
  bool signal : 1 = false;   // a message without data, sent all the same; others without bytes are left out
  bool goes_on : 1 =
      false;  // with the chunk of the message before, whose step and proxy of LaneCosts it shares
  bool in_turn : 1 = false;  // a send: begins when the group's one before that is in turn has finished
  WireFormat format = WireFormat::kPlain;

  std::uint32_t peer_at(std::uint32_t i, std::uint32_t ranks) const {
    const std::uint32_t place = down ? peer + ranks - i : peer + i;
    return place >= ranks ? place - ranks : place;
  }
};
static_assert(sizeof(Step) == 24);

// What lanes cost on processors of their own, as the channels of NCCL do: each is a part of a GPU, which
// copies and adds up its chunks without the host's cpu. A lane works on its groups one after the other; what
// it sends has room at the receiver from the start, so no message asks for it first.
struct LaneCosts {
  // A step with no message longer than this takes short_step: with LL, which writes 8 bytes of data for each
  // thread, one warp has it all.
  static constexpr std::uint64_t kShortBytes = 256;

  bool given = false;     // else lanes cost nothing, and the cpu all
  Time launch;            // before the first message of a rank
  Time step, short_step;  // before the messages of each group
  TimePerByte copy;       // for each byte of data of the longest message that is sent or has come …
  TimePerByte combine;    // … or, if it was combined with local data, instead
  std::uint64_t copied_bytes = UINT64_MAX;  // of these no more: what follows is copied while it goes
  // A message to another node takes a thread of the rank (NCCL's proxy) so long, one after the other; the
  // lane goes on meanwhile …
  Time proxy;
  Time between_nodes;  // … and then so long to the NIC
  // A message stands for so many, one of each channel of a bundle: the first of them has gone to the NIC
  // after one turn of that thread, which is busy for all of them.
  std::uint32_t bundle = 1;
  // A message with data stands for so many of a ring's rounds, one after the other, each with a step, a turn
  // of that thread and its time to the NIC. The network's way between nodes, which the message has once, they
  // have each.
  double rounds = 1;
  Time way;
  // So long for a message of the step, if one takes so long.
  Time of_rounds(Time one, const Step& step) const {
    if (rounds == 1 || step.signal) return one;
    return Time::ps(static_cast<std::int64_t>(static_cast<double>(one.ps()) * rounds + 0.5));
  }
  bool operator==(const LaneCosts&) const = default;
};

// Values of an algorithm's parameters; which of them one has, its ModuleInfo says.
struct CollectiveOptions {
  std::uint64_t segment_bytes = 0;         // `segment`: longest message of a pipeline; 0: whole vector
  std::uint32_t radix = 2;                 // `radix`: of a k-nomial tree, or of Bruck's algorithm
  std::uint32_t parallel = 0;              // `parallel`: messages under way from a rank; 0: all
  std::uint32_t ranks_per_node = 1;        // `ranks_per_node`: consecutive ranks that share a node
  std::uint32_t first_node = 0;            // `first_node`: of NCCL, ranks of the first node; 0: as many
  std::shared_ptr<const RankOrder> order;  // of NCCL, by node; null: ranks are their own places
  std::vector<std::uint32_t> dims;         // `dims`: of a torus
  WireFormat format = WireFormat::kPlain;  // `protocol`: of NCCL
  std::uint32_t channels = 1;              // `channels`: of NCCL
  std::uint32_t rings = 0;                 // `rings`: of NCCL, see nccl::different_rings()
  bool in_pairs = false;                   // `in_pairs`: of NCCL, see nccl::NodeOrder
  std::uint64_t chunk_bytes = 0;           // `chunk`: of NCCL; 0: by its rule
  std::uint64_t least_chunk_bytes = 0;     // `least_chunk`: of NCCL's rings before 2.20; 0: none
  std::uint64_t chunk_grain_bytes = 0;     // `chunk_grain`: of NCCL's rings in 2.20 and 2.21; 0: 16 bytes
  std::uint32_t efficiency = 100;          // `efficiency`: percent of the links that NCCL's NVLS reaches
  std::uint32_t bundle = 1;                // NCCL's channels that go as one; `channels` counts bundles
  std::uint32_t coarse_rounds = 0;  // NCCL's rings: so many rounds stand for all, see nccl/coarse.h; 0: all
  LaneCosts lane_costs;             // of NCCL on a kind of GPU, see goal/collectives/nccl/gpu.h

  NodeRanks on_nodes() const { return {ranks_per_node, first_node}; }
  bool operator==(const CollectiveOptions&) const = default;
};

// What an algorithm is asked to spell out: a Collective as rank `me` of a communicator of `size` sees it.
struct CollectiveCall {
  const Collective* collective = nullptr;
  std::uint32_t size = 0;
  std::uint32_t me = 0;
  const CollectiveOptions* options = nullptr;  // never null when an algorithm is called

  // Bytes of the message of a by_peer step: alltoall: what goes to (send) or comes from (receive) the peer;
  // gather, scatter, allgather: the peer's block.
  std::uint64_t block_bytes(StepKind kind, std::uint32_t peer) const {
    const bool receives = kind == StepKind::kRecv && collective->kind == CollectiveKind::kAlltoall;
    const std::vector<std::uint64_t>& counts = receives ? collective->receive_counts : collective->counts;
    return counts.empty() ? collective->bytes : counts[peer];
  }
  std::uint64_t bytes(const Step& step, std::uint32_t peer) const {
    return step.by_peer ? block_bytes(step.kind, peer) : step.bytes;
  }
  // Where a rank stands in the order by node, in which those of a node follow each other.
  std::uint32_t place_of(std::uint32_t rank) const {
    return options->order == nullptr ? rank : options->order->places[rank];
  }
  std::uint32_t place() const { return place_of(me); }
  std::uint32_t rank_at(std::uint32_t place) const {
    return options->order == nullptr ? place : options->order->ranks[place];
  }
  NodePlaces nodes() const { return {options->on_nodes(), size, options->order.get()}; }
  // The places that share a node with this rank's.
  struct NodeGpus {
    std::uint32_t first, gpus;
  };
  NodeGpus node() const;
  // What crosses the network.
  std::uint64_t wire_bytes(const Step& step, std::uint32_t peer) const {
    if (step.format == WireFormat::kInSwitch) return in_switch_bytes(bytes(step, peer));
    return goal::wire_bytes(step.format, bytes(step, peer));
  }

 private:
  // Counts a message between GPUs of a node (`ranks_per_node` consecutive places) so that all together make
  // as many bytes on a GPU's links in either direction as with a switch that reduces and multicasts. With k
  // GPUs a GPU sends and gets, of a vector of n bytes, n + n/k instead of 2 (k-1) n/k in an allreduce, and n
  // instead of (k-1) n/k in an allgather or reduce_scatter (the direction that has more); and more by what
  // NVLS leaves unused of the links.
  std::uint64_t in_switch_bytes(std::uint64_t data) const;
};

// Steps that a rank may begin at the same time; it begins them in their order. A message of no bytes is
// left out, unless it is a signal: both sides know the sizes.
class Group {
 public:
  // `keep_parts`: remember which data each step moves, for tests.
  explicit Group(bool keep_parts = false) : keep_parts_(keep_parts) {}
  void clear() {
    steps_.clear();
    parts_.clear();
    parts_begin_.clear();
  }

  // A message of bytes (any kind but alltoall; there the bytes are given and the part is in slots).
  void send(std::uint32_t peer, std::uint32_t tag, Part part) {
    add({.bytes = part.count, .peer = peer, .tag = tag, .kind = StepKind::kSend}, part);
  }
  void recv(std::uint32_t peer, std::uint32_t tag, Part part) {
    add({.bytes = part.count, .peer = peer, .tag = tag, .kind = StepKind::kRecv}, part);
  }
  // What is received is combined with local data `times` times: once, but in scans.
  void recv_combine(std::uint32_t peer, std::uint32_t tag, Part part, std::uint8_t times = 1) {
    add({.bytes = part.count, .peer = peer, .tag = tag, .kind = StepKind::kRecv, .combine = times}, part);
  }
  void send_slots(std::uint32_t peer, std::uint32_t tag, std::uint64_t bytes, Part slots) {
    add({.bytes = bytes, .peer = peer, .tag = tag, .kind = StepKind::kSend}, slots);
  }
  void recv_slots(std::uint32_t peer, std::uint32_t tag, std::uint64_t bytes, Part slots) {
    add({.bytes = bytes, .peer = peer, .tag = tag, .kind = StepKind::kRecv}, slots);
  }
  // The message of the last step holds this part too (not for slots: their bytes were given in full).
  void also(Part part) {
    if (steps_.empty()) return;
    steps_.back().bytes += part.count;
    if (keep_parts_) parts_.push_back(part);
  }
  void also_slots(Part slots) {
    if (keep_parts_) parts_.push_back(slots);
  }
  // The cpu copies so many bytes between buffers before it turns to the steps behind.
  void copy(std::uint64_t bytes) {
    if (bytes > 0) add({.bytes = bytes, .kind = StepKind::kCopy}, {}, true);
  }
  // A message without data, which is sent all the same.
  void signal(std::uint32_t peer, std::uint32_t tag) {
    add({.peer = peer, .tag = tag, .kind = StepKind::kSend, .signal = true}, {}, true);
  }
  void await(std::uint32_t peer, std::uint32_t tag) {
    add({.peer = peer, .tag = tag, .kind = StepKind::kRecv, .signal = true}, {}, true);
  }
  // These signal and await `count` peers from `first` up.
  void signal_each(std::uint32_t first, std::uint32_t count, std::uint32_t tag) {
    add_several({.peer = first, .count = count, .tag = tag, .kind = StepKind::kSend, .signal = true});
  }
  void await_each(std::uint32_t first, std::uint32_t count, std::uint32_t tag) {
    add_several({.peer = first, .count = count, .tag = tag, .kind = StepKind::kRecv, .signal = true});
  }
  // `count` messages, from peer `first` up (down: down), each with that peer's block (block_bytes()), or
  // each with the same part.
  void send_blocks(std::uint32_t first, std::uint32_t count, std::uint32_t tag, bool down = false) {
    add_several(
        {.peer = first, .count = count, .tag = tag, .kind = StepKind::kSend, .down = down, .by_peer = true});
  }
  void recv_blocks(std::uint32_t first, std::uint32_t count, std::uint32_t tag, bool down = false) {
    add_several(
        {.peer = first, .count = count, .tag = tag, .kind = StepKind::kRecv, .down = down, .by_peer = true});
  }
  void send_each(std::uint32_t first, std::uint32_t count, std::uint32_t tag, Part part) {
    if (count > 0)
      add({.bytes = part.count, .peer = first, .count = count, .tag = tag, .kind = StepKind::kSend}, part);
  }
  void recv_combine_each(std::uint32_t first, std::uint32_t count, std::uint32_t tag, Part part) {
    if (count > 0) {
      add({.bytes = part.count,
           .peer = first,
           .count = count,
           .tag = tag,
           .kind = StepKind::kRecv,
           .combine = 1},
          part);
    }
  }

  // All messages are written so.
  void in_format(WireFormat format) {
    for (Step& step : steps_) step.format = format;
  }
  // What is sent, or is received, belongs to the chunk before it.
  void goes_on(StepKind kind) {
    for (Step& step : steps_) step.goes_on = step.goes_on || step.kind == kind;
  }
  // What is sent goes to one peer after the other, the most urgent first, by blocking sends: the next begins
  // when the one before has finished. REQUIRES: the sends follow each other in the group, and have one peer
  // each.
  void in_turn() {
    for (Step& step : steps_) step.in_turn = step.kind == StepKind::kSend;
  }
  // The peers were counted among ranks first, first + stride, …: from now on they are ranks of the
  // communicator. REQUIRES: steps with one peer each.
  void on_ranks(std::uint32_t first, std::uint32_t stride) {
    for (Step& step : steps_) step.peer = first + step.peer * stride;
  }
  // They were counted as places, of which these are the ranks.
  void on_ranks(std::span<const std::uint32_t> ranks) {
    for (Step& step : steps_) step.peer = ranks[step.peer];
  }

  bool empty() const { return steps_.empty(); }
  std::span<const Step> steps() const { return steps_; }
  // REQUIRES: keep_parts. Of a by_peer step: none.
  std::span<const Part> parts(std::size_t step) const {
    const std::size_t end = step + 1 < parts_begin_.size() ? parts_begin_[step + 1] : parts_.size();
    return {parts_.data() + parts_begin_[step], parts_.data() + end};
  }
  // For algorithms that list many parts: is it worth the while?
  bool keeps_parts() const { return keep_parts_; }

 private:
  void add(const Step& step, Part part, bool without_data = false);
  void add_several(const Step& step);

  bool keep_parts_;
  std::vector<Step> steps_;
  std::vector<Part> parts_;
  std::vector<std::size_t> parts_begin_;
};

// An algorithm for one kind of collective; its name is unique within the kind. It keeps no state: asked for
// the same group again, it gives the same steps.
// What of an algorithm runs on GPUs: kernels that copy and add up, as NCCL's; or such that have the switches
// of a node add up and multicast (NVLS).
enum class GpuKernels : std::uint8_t { kNone, kCopies, kSwitches };

struct CollectiveAlgorithm {
  ModuleInfo info;  // parameters: those of CollectiveOptions that it uses
  CollectiveKind kind = CollectiveKind::kBarrier;
  // Appends the steps of group `index` of lane `lane` to the empty `out`. Groups of a lane follow each other:
  // a rank begins one when it has finished the one before. False, and nothing appended, if the lane has no
  // group of that number; a group may be empty all the same. Called for size >= 2 only.
  bool (*expand)(const CollectiveCall& call, std::uint32_t lane, std::uint32_t index, Group& out) = nullptr;
  // How many lanes go on side by side, each through its own groups; the collective has finished on a rank
  // when all have. Null: one.
  std::uint32_t (*lanes)(const CollectiveCall& call) = nullptr;
  // Why so many ranks can't use it with these options, as a clause: "dims must multiply to 12"; "" if they
  // can. Null: any number can.
  std::string (*objection)(const CollectiveOptions& options, std::uint32_t ranks) = nullptr;
  GpuKernels kernels = GpuKernels::kNone;
};

// All algorithms; the first of each kind is its default.
std::span<const CollectiveAlgorithm> collective_algorithms();

// An algorithm with the values of its parameters.
struct ChosenAlgorithm {
  const CollectiveAlgorithm* algorithm = nullptr;
  CollectiveOptions options;
  std::uint32_t lanes(const CollectiveCall& call) const {
    return algorithm->lanes == nullptr ? 1 : algorithm->lanes(call);
  }
};
// "ring" or "pipelined_chain:segment=64KiB"; an empty text asks for the default of the kind. Throws
// InputError, at `location`.
ChosenAlgorithm choose_collective_algorithm(CollectiveKind kind, std::string_view text,
                                            const SourceLocation& location = {});

}  // namespace weft::goal
