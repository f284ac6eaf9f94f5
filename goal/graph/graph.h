// The GOAL graph: what every rank of a parallel program does, and in what order it must do it.
//
// Source: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language – A Flexible Way to
// Express Collective Communication", ICPP 2009; collectives as first-class operations are our addition.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/large_pages.h"

namespace weft::goal {

using Rank = std::uint32_t;
// Index of an operation within its rank, in program order (the order of the lines of a text file).
using OpIndex = std::uint32_t;

// "Any source" of a recv, and "any tag" of a send or recv (the -1 of the text form).
inline constexpr std::uint32_t kAny = 0xFFFFFFFFu;
// The communicator of operations that name none: all ranks, in rank order.
inline constexpr std::uint32_t kWorld = 0;

enum class OpKind : std::uint8_t { kSend = 1, kRecv = 2, kCalc = 3, kCollective = 4 };

// The order is part of the packed file format: append only.
enum class CollectiveKind : std::uint8_t {
  kBarrier = 0,
  kBcast = 1,
  kReduce = 2,
  kAllreduce = 3,
  kReduceScatter = 4,  // counts: elements' bytes each rank ends up with
  kAllgather = 5,      // counts (v form): bytes each rank contributes
  kGather = 6,         // counts (v form): bytes each rank contributes
  kScatter = 7,        // counts (v form): bytes each rank receives
  kAlltoall = 8,       // counts (v form): bytes this rank sends to each
  kScan = 9,
  kExscan = 10,
  kNeighborAllgather = 11,  // bytes: what this rank sends to each; receive_counts (v form): by source
  kNeighborAlltoall = 12,   // counts, receive_counts (v form): by destination and by source
};
inline constexpr int kCollectiveKinds = 13;
// Is there a root (Collective::root)?
constexpr bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::kBcast || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter;
}
// May there be bytes for each rank (Collective::counts)?
constexpr bool has_counts(CollectiveKind kind) {
  return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllgather ||
         kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter ||
         kind == CollectiveKind::kAlltoall || kind == CollectiveKind::kNeighborAlltoall;
}
// May they be others for what is received (Collective::receive_counts)?
constexpr bool has_receive_counts(CollectiveKind kind) {
  return kind == CollectiveKind::kAlltoall || kind == CollectiveKind::kNeighborAllgather ||
         kind == CollectiveKind::kNeighborAlltoall;
}
// Does each rank say whom it exchanges with (Collective::destinations, sources)?
constexpr bool is_of_neighbors(CollectiveKind kind) {
  return kind == CollectiveKind::kNeighborAllgather || kind == CollectiveKind::kNeighborAlltoall;
}
// "allreduce"; the names are also the words of the text form.
std::string_view name(CollectiveKind kind);

// One edge of the dependency graph, stored at the operation that must come first.
// requires: the dependent may start when this operation has finished.
// irequires: the dependent may start when this operation has started.
class Edge {
 public:
  Edge(OpIndex dependent, bool on_start) : bits_(dependent | (on_start ? kOnStart : 0)) {}
  OpIndex dependent() const { return bits_ & ~kOnStart; }
  bool on_start() const { return (bits_ & kOnStart) != 0; }
  bool operator==(const Edge&) const = default;

 private:
  static constexpr std::uint32_t kOnStart = 0x80000000u;
  std::uint32_t bits_;
};
static_assert(sizeof(Edge) == 4);

// What an operation is: its kind, and of a send whether it is synchronous, in one byte. A synchronous send
// does not finish before a receive has its message (MPI_Ssend), so it shakes hands whatever its size.
// Compared with a kind it is that kind, synchronous or not.
class KindOfOp {
 public:
  constexpr KindOfOp(OpKind kind)  // NOLINT(google-explicit-constructor): an operation is given a kind
      : bits_(static_cast<std::uint8_t>(kind)) {}
  // REQUIRES: `synchronous` is false for what is no send.
  constexpr KindOfOp(OpKind kind, bool synchronous)
      : bits_(static_cast<std::uint8_t>(static_cast<unsigned>(kind) | (synchronous ? kSynchronous : 0))) {}
  constexpr operator OpKind() const {  // NOLINT(google-explicit-constructor): and has one
    return static_cast<OpKind>(bits_ & ~kSynchronous);
  }
  constexpr bool synchronous() const { return (bits_ & kSynchronous) != 0; }
  constexpr bool operator==(OpKind kind) const { return OpKind(*this) == kind; }
  constexpr bool operator==(const KindOfOp&) const = default;

 private:
  static constexpr unsigned kSynchronous = 0x80;
  std::uint8_t bits_;
};
static_assert(sizeof(KindOfOp) == 1);

// One operation, 24 bytes.
struct Op {
  KindOfOp kind = OpKind::kCalc;
  std::uint8_t nic = 0;   // network interface of the rank; 0 for calc
  std::uint16_t cpu = 0;  // compute stream of the rank
  std::uint32_t peer =
      0;  // world rank sent to or received from (kAny: any); collective: index of its Collective
  std::uint32_t tag = 0;        // kAny: any
  std::uint32_t comm = kWorld;  // index of the communicator: messages match only within one
  std::uint64_t value = 0;      // bytes sent or received; calc: nanoseconds; collective: 0
  bool operator==(const Op&) const = default;
};

// What a collective operation does, seen from one rank; equal ones are stored once.
// Ranks of one communicator meet in their k-th collective operation on it, k counted in program order.
struct Collective {
  CollectiveKind kind = CollectiveKind::kBarrier;
  std::uint32_t comm = kWorld;
  std::uint32_t root = 0;  // rank within the communicator, where the kind has one
  // Bytes of the buffer the kind is named after: bcast, reduce, allreduce, scan: the whole vector;
  // the others: one rank's block; 0 in the v form, but at a rank of a gather or scatter that does not know
  // the counts (in MPI all but the root): its own block.
  std::uint64_t bytes = 0;
  std::uint32_t element_bytes = 1;  // size of a datatype element: algorithms never split one
  // v form: per rank of the communicator (see CollectiveKind); empty otherwise. Alltoall(v) also needs what
  // this rank receives from each: receive_counts.
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> receive_counts;
  // Neighbor kinds: the ranks within the communicator that this rank sends to and receives from. One may
  // stand in a list several times; its messages are then told apart by their order.
  std::vector<std::uint32_t> destinations, sources;
  // The call was of a v form (MPI_Gatherv, MPI_Reduce_scatter …), even if this rank has no counts: its ranks
  // may differ in size. Calls with counts are of the v form in any case.
  bool v_form = false;
  bool of_v_form() const { return v_form || !counts.empty(); }
  // The algorithm that the program itself asks for ("windowed:parallel=4"), the same on all ranks; empty: it
  // leaves the choice to the scenario, which may also overrule it.
  std::string algorithm;
  bool operator==(const Collective&) const = default;
};

// An operation with its edges, as the graph stores it: two to a cache line.
struct OpRecord {
  static constexpr std::uint32_t kMaxEdges = (1u << 30) - 1;
  Op op;
  std::uint32_t edge_begin = 0;           // the first of its edges, counted from those of the view
  std::uint32_t edge_count : 30 = 0;      // operations that wait for this one
  std::uint32_t has_start_edges : 1 = 0;  // do any wait for its start?
  // Was any of them left out where this one was read? Only where a part of a rank is held (sim/replay's
  // ProgramWindow); never in a Graph.
  std::uint32_t has_far_edges : 1 = 0;
  bool operator==(const OpRecord&) const = default;
};
static_assert(sizeof(OpRecord) == 32);

// A communicator: the world ranks of its members, in communicator order.
struct Communicator {
  std::string name;         // for people; may be empty
  std::vector<Rank> ranks;  // empty means: all ranks in order (kWorld)
  bool operator==(const Communicator&) const = default;
};

// What holds for a program as a whole, whoever has its operations. A view: good as long as what gave it.
struct ProgramFacts {
  Rank ranks = 0;
  std::uint64_t ops = 0;
  std::span<const Communicator> communicators;  // number 0 is the world
  std::span<const Collective> collectives;
  std::uint8_t max_nic = 0;    // highest NIC that any operation uses
  bool has_wildcards = false;  // as Graph::has_wildcards

  std::uint32_t communicator_size(std::uint32_t comm) const {
    const std::vector<Rank>& members = communicators[comm].ranks;
    return members.empty() ? ranks : static_cast<std::uint32_t>(members.size());
  }
  Rank world_rank(std::uint32_t comm, std::uint32_t rank_in_comm) const {
    const std::vector<Rank>& members = communicators[comm].ranks;
    return members.empty() ? rank_in_comm : members[rank_in_comm];
  }
};

// A read-only view of one rank's operations and edges.
class RankView;

// All ranks of a program: 32 bytes an operation and 4 an edge. Built rank by rank,
// in rank order, with GraphBuilder; immutable afterwards, and then safe to read from any number of threads.
class Graph {
 public:
  Rank ranks() const { return static_cast<Rank>(rank_op_begin_.size() - 1); }
  std::uint64_t ops() const { return rank_op_begin_.back(); }
  std::uint64_t edges() const { return edges_.size(); }
  RankView rank(Rank r) const;

  const std::vector<Collective>& collectives() const { return collectives_; }
  // Communicator 0 is always the world.
  const std::vector<Communicator>& communicators() const { return communicators_; }
  ProgramFacts facts() const {
    return {ranks(), ops(), communicators_, collectives_, max_nic_, has_wildcards_};
  }
  std::uint32_t communicator_size(std::uint32_t comm) const { return facts().communicator_size(comm); }
  Rank world_rank(std::uint32_t comm, std::uint32_t rank_in_comm) const {
    return facts().world_rank(comm, rank_in_comm);
  }
  // Position of world rank r in the communicator; kAny if it is no member. Linear time for sub-communicators.
  std::uint32_t rank_in(std::uint32_t comm, Rank r) const;

  // Highest cpu and nic index used by any operation.
  std::uint16_t max_cpu() const { return max_cpu_; }
  std::uint8_t max_nic() const { return max_nic_; }
  // Is there a receive from any source or with any tag, or a send with any tag?
  bool has_wildcards() const { return has_wildcards_; }
  // Heap bytes of the arrays (labels not counted).
  std::uint64_t memory_bytes() const;
  // Same operations, edges (in order), communicators and collectives; labels are not compared.
  bool operator==(const Graph& other) const;

 private:
  friend class GraphBuilder;
  friend class RankView;
  LargeVector<OpRecord> ops_;  // of all ranks
  LargeVector<Edge> edges_;
  // Per rank, with one more at the end.
  std::vector<std::uint64_t> rank_op_begin_{0}, rank_edge_begin_{0};
  std::vector<Collective> collectives_;
  std::vector<Communicator> communicators_{Communicator{"world", {}}};
  // Labels as in the text file, per operation; empty if none were kept.
  std::vector<std::string> labels_;
  std::uint16_t max_cpu_ = 0;
  std::uint8_t max_nic_ = 0;
  bool has_wildcards_ = false;
};

// Operations of one rank, with their edges, by their index in the rank. 24 bytes; good as long as those
// arrays.
class OpView {
 public:
  OpView() = default;
  // `ops` is where operation 0 is, or would be: any range of the rank's operations may be there. `count`: all
  // of the rank.
  OpView(Rank rank, OpIndex count, const OpRecord* ops, const Edge* edges)
      : ops_(ops), edges_(edges), count_(count), rank_(rank) {}

  Rank rank() const { return rank_; }
  OpIndex ops() const { return count_; }
  OpKind kind(OpIndex i) const { return ops_[i].op.kind; }
  std::uint8_t nic(OpIndex i) const { return ops_[i].op.nic; }
  std::uint16_t cpu(OpIndex i) const { return ops_[i].op.cpu; }
  std::uint32_t peer(OpIndex i) const { return ops_[i].op.peer; }
  std::uint32_t tag(OpIndex i) const { return ops_[i].op.tag; }
  std::uint32_t comm(OpIndex i) const { return ops_[i].op.comm; }
  std::uint64_t value(OpIndex i) const { return ops_[i].op.value; }
  const Op& op(OpIndex i) const { return ops_[i].op; }
  // The operations that wait for i, in the order their dependencies were added.
  std::span<const Edge> dependents(OpIndex i) const {
    return {edges_ + ops_[i].edge_begin, std::size_t{ops_[i].edge_count}};
  }
  // Does any of them wait for its start?
  bool has_start_edges(OpIndex i) const { return ops_[i].has_start_edges; }
  // See OpRecord.
  bool has_far_edges(OpIndex i) const { return ops_[i].has_far_edges; }
  // Where an operation and its edges are stored, to fetch them into the cache beforehand.
  const OpRecord* record(OpIndex i) const { return ops_ + i; }

 protected:
  const OpRecord* ops_ = nullptr;
  const Edge* edges_ = nullptr;
  OpIndex count_ = 0;
  Rank rank_ = 0;
};

// A rank of a graph. 32 bytes; good as long as the graph.
class RankView : public OpView {
 public:
  RankView(const Graph& graph, Rank r)
      : OpView(r, static_cast<OpIndex>(graph.rank_op_begin_[r + 1] - graph.rank_op_begin_[r]),
               graph.ops_.data() + graph.rank_op_begin_[r], graph.edges_.data() + graph.rank_edge_begin_[r]),
        graph_(&graph) {}

  // REQUIRES: kind(i) == kCollective.
  const Collective& collective(OpIndex i) const { return graph_->collectives_[peer(i)]; }
  std::uint64_t edges() const {
    return graph_->rank_edge_begin_[rank_ + 1] - graph_->rank_edge_begin_[rank_];
  }
  // How many edges each operation waits for (duplicates counted): one entry per operation.
  std::vector<std::uint32_t> dependency_counts() const;
  // The label of the text file, or "" if none was given or kept.
  std::string_view label(OpIndex i) const {
    return graph_->labels_.empty() ? std::string_view() : std::string_view(graph_->labels_[first_op() + i]);
  }
  // Index of this rank's first operation over all ranks.
  std::uint64_t first_op() const { return graph_->rank_op_begin_[rank_]; }

 private:
  const Graph* graph_;
};

inline RankView Graph::rank(Rank r) const { return RankView(*this, r); }

// Builds a Graph. Ranks come in order: all calls for rank 0, end_rank(), all for rank 1, …
class GraphBuilder {
 public:
  // Returns the index of the communicator; an equal one is stored once. Needed before operations use it.
  std::uint32_t add_communicator(Communicator communicator);
  // Makes room for the whole graph, where its size is known beforehand. Only a matter of memory and speed.
  // Throws NotEnoughMemory as expect_graph.
  void reserve(std::uint64_t ops, std::uint64_t edges);
  // Such a graph is about to be built. Throws NotEnoughMemory if there is no room for one
  // (sim/units/memory.h).
  static void expect_graph(std::uint64_t ops, std::uint64_t edges);
  // Appends an operation to the current rank. Throws InputError past 2^31 - 1 operations in a rank.
  OpIndex add(const Op& op, std::string_view label = {});
  OpIndex add_calc(std::uint64_t ns, std::uint16_t cpu = 0);
  OpIndex add_send(std::uint64_t bytes, Rank to, std::uint32_t tag = 0, std::uint16_t cpu = 0,
                   std::uint8_t nic = 0, std::uint32_t comm = kWorld);
  OpIndex add_recv(std::uint64_t bytes, std::uint32_t from, std::uint32_t tag = 0, std::uint16_t cpu = 0,
                   std::uint8_t nic = 0, std::uint32_t comm = kWorld);
  // Sets the operation's tag to its position among the rank's collective operations on that communicator.
  OpIndex add_collective(const Collective& collective, std::uint16_t cpu = 0, std::uint8_t nic = 0,
                         std::string_view label = {});
  // `dependent` waits for `first` to finish (or, on_start, to start). Either order of indices is allowed
  // (check() finds cycles). REQUIRES: both are added to the current rank, before or after.
  void add_edge(OpIndex first, OpIndex dependent, bool on_start = false);
  OpIndex ops_in_rank() const { return ops_in_rank_; }
  void end_rank();
  // REQUIRES: the last rank was ended. The builder is empty afterwards.
  Graph finish();

 private:
  struct PendingEdge {
    OpIndex first;
    Edge edge;
  };
  Graph graph_;
  std::vector<PendingEdge> pending_;
  OpIndex ops_in_rank_ = 0;
  std::vector<std::uint32_t> collectives_in_rank_;              // per communicator
  std::vector<std::vector<std::uint32_t>> collective_buckets_;  // by hash, to store equal ones once
};

}  // namespace weft::goal
