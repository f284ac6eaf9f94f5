#include "goal/graph/graph.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/units/grouped.h"
#include "sim/units/input_error.h"
#include "sim/units/memory.h"

namespace weft::goal {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2);
  return hash * 0xBF58476D1CE4E5B9ULL;
}

std::uint64_t hash_of(const Collective& collective) {
  std::uint64_t hash = mix(static_cast<std::uint64_t>(collective.kind), collective.comm);
  hash = mix(mix(mix(hash, collective.root), collective.bytes), collective.element_bytes);
  for (const std::uint64_t count : collective.counts) hash = mix(hash, count);
  for (const std::uint64_t count : collective.receive_counts) hash = mix(hash, count);
  for (const std::uint32_t rank : collective.destinations) hash = mix(hash, rank);
  for (const std::uint32_t rank : collective.sources) hash = mix(hash, rank);
  for (const char c : collective.algorithm) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

template <typename Vector>
std::uint64_t bytes_of(const Vector& values) {
  return values.size() * sizeof(values[0]);
}

}  // namespace

std::string_view name(CollectiveKind kind) {
  static constexpr std::string_view kNames[kCollectiveKinds] = {
      "barrier", "bcast",    "reduce", "allreduce", "reduce_scatter",     "allgather",        "gather",
      "scatter", "alltoall", "scan",   "exscan",    "neighbor_allgather", "neighbor_alltoall"};
  return kNames[static_cast<int>(kind)];
}

std::uint32_t Graph::rank_in(std::uint32_t comm, Rank r) const {
  const std::vector<Rank>& members = communicators_[comm].ranks;
  if (members.empty()) return r < ranks() ? r : kAny;
  const auto found = std::find(members.begin(), members.end(), r);
  return found == members.end() ? kAny : static_cast<std::uint32_t>(found - members.begin());
}

std::uint64_t Graph::memory_bytes() const {
  return bytes_of(ops_) + bytes_of(edges_) + bytes_of(rank_op_begin_) + bytes_of(rank_edge_begin_);
}

bool Graph::operator==(const Graph& other) const {
  return ops_ == other.ops_ && edges_ == other.edges_ && rank_op_begin_ == other.rank_op_begin_ &&
         rank_edge_begin_ == other.rank_edge_begin_ && collectives_ == other.collectives_ &&
         communicators_ == other.communicators_;
}

std::vector<std::uint32_t> RankView::dependency_counts() const {
  std::vector<std::uint32_t> counts(ops(), 0);
  for (const Edge edge : std::span(edges_, edges())) ++counts[edge.dependent()];
  return counts;
}

std::uint32_t GraphBuilder::add_communicator(Communicator communicator) {
  auto& known = graph_.communicators_;
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    if (known[i] == communicator) return i;
  }
  known.push_back(std::move(communicator));
  return static_cast<std::uint32_t>(known.size() - 1);
}

void GraphBuilder::reserve(std::uint64_t ops, std::uint64_t edges) {
  expect_graph(ops, edges);
  graph_.ops_.reserve(ops);
  graph_.edges_.reserve(edges);
}

void GraphBuilder::expect_graph(std::uint64_t ops, std::uint64_t edges) {
  expect_memory(static_cast<double>(ops) * sizeof(OpRecord) + static_cast<double>(edges) * sizeof(Edge),
                fmt::format("a graph of {} operations and {} dependencies", grouped(ops), grouped(edges)));
}

OpIndex GraphBuilder::add(const Op& op, std::string_view label) {
  if (ops_in_rank_ >= 0x7FFFFFFFu) throw InputError("a rank has more than 2^31 - 1 operations");
  graph_.ops_.push_back({.op = op});
  graph_.max_cpu_ = std::max(graph_.max_cpu_, op.cpu);
  graph_.max_nic_ = std::max(graph_.max_nic_, op.nic);
  if (op.kind == OpKind::kSend || op.kind == OpKind::kRecv) {
    graph_.has_wildcards_ |= op.peer == kAny || op.tag == kAny;
  }
  if (!label.empty() || !graph_.labels_.empty()) {
    graph_.labels_.resize(graph_.ops_.size());
    graph_.labels_.back() = label;
  }
  return ops_in_rank_++;
}

OpIndex GraphBuilder::add_calc(std::uint64_t ns, std::uint16_t cpu) {
  return add({.kind = OpKind::kCalc, .cpu = cpu, .value = ns});
}

OpIndex GraphBuilder::add_send(std::uint64_t bytes, Rank to, std::uint32_t tag, std::uint16_t cpu,
                               std::uint8_t nic, std::uint32_t comm) {
  return add({OpKind::kSend, nic, cpu, to, tag, comm, bytes});
}

OpIndex GraphBuilder::add_recv(std::uint64_t bytes, std::uint32_t from, std::uint32_t tag, std::uint16_t cpu,
                               std::uint8_t nic, std::uint32_t comm) {
  return add({OpKind::kRecv, nic, cpu, from, tag, comm, bytes});
}

OpIndex GraphBuilder::add_collective(const Collective& collective, std::uint16_t cpu, std::uint8_t nic,
                                     std::string_view label) {
  if (collective_buckets_.empty()) collective_buckets_.resize(4096);
  auto& bucket = collective_buckets_[hash_of(collective) % collective_buckets_.size()];
  auto& known = graph_.collectives_;
  auto found =
      std::find_if(bucket.begin(), bucket.end(), [&](std::uint32_t i) { return known[i] == collective; });
  if (found == bucket.end()) {
    bucket.push_back(static_cast<std::uint32_t>(known.size()));
    known.push_back(collective);
    found = bucket.end() - 1;
  }
  if (collectives_in_rank_.size() <= collective.comm) collectives_in_rank_.resize(collective.comm + 1, 0);
  const std::uint32_t position = collectives_in_rank_[collective.comm]++;
  return add({OpKind::kCollective, nic, cpu, *found, position, collective.comm, 0}, label);
}

void GraphBuilder::add_edge(OpIndex first, OpIndex dependent, bool on_start) {
  pending_.push_back({first, Edge(dependent, on_start)});
}

void GraphBuilder::end_rank() {
  // A stable counting sort by the first operation: CSR form that keeps the order of addition.
  const std::size_t edge_base = graph_.edges_.size();
  if (pending_.size() > 0x7FFFFFFFu) throw InputError("a rank has more than 2^31 - 1 dependencies");
  const std::span<OpRecord> ops(graph_.ops_.end() - ops_in_rank_, graph_.ops_.end());
  for (const PendingEdge& edge : pending_) {
    OpRecord& first = ops[edge.first];
    if (first.edge_count == OpRecord::kMaxEdges) {
      throw InputError("more than 2^30 - 1 operations wait for one");
    }
    ++first.edge_count;
    first.has_start_edges |= edge.edge.on_start();
  }
  std::uint32_t next = 0;
  for (OpRecord& op : ops) {
    op.edge_begin = next;
    next += op.edge_count;
    op.edge_count = 0;
  }
  graph_.edges_.resize(edge_base + pending_.size(), Edge(0, false));
  for (const PendingEdge& edge : pending_) {
    OpRecord& first = ops[edge.first];
    graph_.edges_[edge_base + first.edge_begin + first.edge_count++] = edge.edge;
  }
  pending_.clear();
  ops_in_rank_ = 0;
  collectives_in_rank_.clear();
  graph_.rank_op_begin_.push_back(graph_.ops_.size());
  graph_.rank_edge_begin_.push_back(graph_.edges_.size());
}

Graph GraphBuilder::finish() {
  Graph result = std::move(graph_);
  if (!result.labels_.empty()) result.labels_.resize(result.ops_.size());
  graph_ = Graph();
  pending_.clear();
  collective_buckets_.clear();
  ops_in_rank_ = 0;
  collectives_in_rank_.clear();
  return result;
}

}  // namespace weft::goal
