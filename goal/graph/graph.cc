#include "goal/graph/graph.h"

#include <algorithm>

#include "sim/units/input_error.h"

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
  return hash;
}

template <typename T>
std::uint64_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

}  // namespace

std::string_view name(CollectiveKind kind) {
  static constexpr std::string_view kNames[kCollectiveKinds] = {
      "barrier", "bcast",   "reduce",   "allreduce", "reduce_scatter", "allgather",
      "gather",  "scatter", "alltoall", "scan",      "exscan"};
  return kNames[static_cast<int>(kind)];
}

std::uint32_t Graph::communicator_size(std::uint32_t comm) const {
  const std::vector<Rank>& members = communicators_[comm].ranks;
  return members.empty() ? ranks() : static_cast<std::uint32_t>(members.size());
}

Rank Graph::world_rank(std::uint32_t comm, std::uint32_t rank_in_comm) const {
  const std::vector<Rank>& members = communicators_[comm].ranks;
  return members.empty() ? rank_in_comm : members[rank_in_comm];
}

std::uint32_t Graph::rank_in(std::uint32_t comm, Rank r) const {
  const std::vector<Rank>& members = communicators_[comm].ranks;
  if (members.empty()) return r < ranks() ? r : kAny;
  const auto found = std::find(members.begin(), members.end(), r);
  return found == members.end() ? kAny : static_cast<std::uint32_t>(found - members.begin());
}

std::uint64_t Graph::memory_bytes() const {
  return bytes_of(kind_) + bytes_of(nic_) + bytes_of(cpu_) + bytes_of(peer_) + bytes_of(tag_) +
         bytes_of(comm_) + bytes_of(value_) + bytes_of(edge_begin_) + bytes_of(edges_) +
         bytes_of(rank_op_begin_) + bytes_of(rank_edge_begin_);
}

bool Graph::operator==(const Graph& other) const {
  return kind_ == other.kind_ && nic_ == other.nic_ && cpu_ == other.cpu_ && peer_ == other.peer_ &&
         tag_ == other.tag_ && comm_ == other.comm_ && value_ == other.value_ &&
         edge_begin_ == other.edge_begin_ && edges_ == other.edges_ &&
         rank_op_begin_ == other.rank_op_begin_ && rank_edge_begin_ == other.rank_edge_begin_ &&
         collectives_ == other.collectives_ && communicators_ == other.communicators_;
}

std::vector<std::uint32_t> RankView::dependency_counts() const {
  std::vector<std::uint32_t> counts(ops(), 0);
  for (std::uint64_t e = edge_begin_; e < edge_end_; ++e) ++counts[graph_->edges_[e].dependent()];
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
  graph_.kind_.reserve(ops);
  graph_.nic_.reserve(ops);
  graph_.cpu_.reserve(ops);
  graph_.peer_.reserve(ops);
  graph_.tag_.reserve(ops);
  graph_.comm_.reserve(ops);
  graph_.value_.reserve(ops);
  graph_.edge_begin_.reserve(ops);
  graph_.edges_.reserve(edges);
}

OpIndex GraphBuilder::add(const Op& op, std::string_view label) {
  if (ops_in_rank_ >= 0x7FFFFFFFu) throw InputError("a rank has more than 2^31 - 1 operations");
  graph_.kind_.push_back(op.kind);
  graph_.nic_.push_back(op.nic);
  graph_.cpu_.push_back(op.cpu);
  graph_.peer_.push_back(op.peer);
  graph_.tag_.push_back(op.tag);
  graph_.comm_.push_back(op.comm);
  graph_.value_.push_back(op.value);
  graph_.max_cpu_ = std::max(graph_.max_cpu_, op.cpu);
  graph_.max_nic_ = std::max(graph_.max_nic_, op.nic);
  if (!label.empty() || !graph_.labels_.empty()) {
    graph_.labels_.resize(graph_.kind_.size());
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
  const std::size_t op_base = graph_.kind_.size() - ops_in_rank_, edge_base = graph_.edges_.size();
  if (pending_.size() > 0xFFFFFFFFu) throw InputError("a rank has more than 2^32 - 1 dependencies");
  graph_.edge_begin_.resize(graph_.kind_.size(), 0);
  std::uint32_t* begin = graph_.edge_begin_.data() + op_base;
  for (const PendingEdge& edge : pending_) {
    if (edge.first + 1 < ops_in_rank_) ++begin[edge.first + 1];
  }
  for (OpIndex i = 1; i < ops_in_rank_; ++i) begin[i] += begin[i - 1];
  graph_.edges_.resize(edge_base + pending_.size(), Edge(0, false));
  std::vector<std::uint32_t> next(begin, begin + ops_in_rank_);
  for (const PendingEdge& edge : pending_) graph_.edges_[edge_base + next[edge.first]++] = edge.edge;
  pending_.clear();
  ops_in_rank_ = 0;
  collectives_in_rank_.clear();
  graph_.rank_op_begin_.push_back(graph_.kind_.size());
  graph_.rank_edge_begin_.push_back(graph_.edges_.size());
}

Graph GraphBuilder::finish() {
  Graph result = std::move(graph_);
  if (!result.labels_.empty()) result.labels_.resize(result.kind_.size());
  graph_ = Graph();
  pending_.clear();
  collective_buckets_.clear();
  ops_in_rank_ = 0;
  collectives_in_rank_.clear();
  return result;
}

}  // namespace weft::goal
