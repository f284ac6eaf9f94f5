#include "goal/import/mpi/two_groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "goal/import/mpi/collective_record.h"
#include "sim/units/input_error.h"

namespace weft::goal {
namespace {

using trace::Function;
using trace::Shape;

// What a barrier's leaders tell each other and their groups (MPICH sends a byte).
constexpr std::uint64_t kBarrierBytes = 1;

std::uint64_t sum(const std::vector<std::uint64_t>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::uint32_t element_bytes(const TraceRecord& record) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(record.type_size, 1, UINT32_MAX));
}

}  // namespace

bool TwoGroups::has(Function function) {
  const Shape shape = trace::function_info(function).shape;
  if (shape != Shape::kCollective && shape != Shape::kCollectiveRequest) return false;
  const CollectiveKind kind = kind_of_collective(function);
  return kind != CollectiveKind::kScan && kind != CollectiveKind::kExscan;
}

OpIndex TwoGroups::replay(RankProgram::Thread& thread, const TraceRecord& record,
                          const std::vector<TraceCommunicator>& known) {
  const std::uint32_t id = record.comm;
  groups_ = &known[id];
  if (groups_->ranks.empty() || groups_->remote_ranks.empty()) throw InputError("a group without ranks");
  if (made_.size() <= id) made_.resize(id + 1);
  tag_ = made_[id]++;
  local_ = communicators_.group_number(known, id);
  between_ = communicators_.between_number(known, id);
  thread_ = record.thread;
  stages_.clear();
  plan(record);
  return run(thread);
}

OpIndex TwoGroups::agree(RankProgram::Thread& thread, const TraceRecord& record, std::uint32_t id,
                         const std::vector<TraceCommunicator>& known) {
  constexpr std::uint64_t kAgreementBytes = 8;
  TraceRecord agreement;
  agreement.function = Function::kAllreduce;
  agreement.thread = record.thread;
  agreement.comm = id;
  agreement.count = 1;
  agreement.type_size = kAgreementBytes;
  return replay(thread, agreement, known);
}

void TwoGroups::plan(const TraceRecord& record) {
  if (record.root == trace::kProcNull) return;  // beside the root: has no part
  record.root == trace::kUndefined ? by_all(record) : by_root(record);
}

void TwoGroups::by_root(const TraceRecord& record) {
  switch (const CollectiveKind kind = kind_of_collective(record.function)) {
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
      return to_root(record, kind);
    default:
      return from_root(record, kind);
  }
}

void TwoGroups::by_all(const TraceRecord& record) {
  switch (kind_of_collective(record.function)) {
    case CollectiveKind::kBarrier:
      local(CollectiveKind::kBarrier, 0);
      exchange(kBarrierBytes, kBarrierBytes);
      return local(CollectiveKind::kBcast, kBarrierBytes);
    case CollectiveKind::kAllreduce:
      return reduce_exchange_share(record, CollectiveKind::kBcast);
    case CollectiveKind::kReduceScatter:
      return reduce_exchange_share(record, CollectiveKind::kScatter);
    case CollectiveKind::kAllgather:
      return is_by_counts(record.function) ? allgatherv(record) : allgather(record);
    default:
      return alltoall(record);
  }
}

std::int32_t TwoGroups::remote_root(const TraceRecord& record) const {
  const auto& remote = groups_->remote_ranks;
  if (record.root < 0 || static_cast<std::size_t>(record.root) >= remote.size()) {
    throw InputError(fmt::format("root {} in a group of {} ranks", record.root, remote.size()));
  }
  return remote[static_cast<std::size_t>(record.root)];
}

// Gather, Gatherv and Reduce. Of a v form only the root knows all sizes, so each rank sends its part itself,
// as in both libraries; else the leader has it all.
void TwoGroups::to_root(const TraceRecord& record, CollectiveKind kind) {
  const auto& remote = groups_->remote_ranks;
  const bool reduces = kind == CollectiveKind::kReduce, by_leader = !is_by_counts(record.function);
  if (record.root != trace::kRootHere) {
    const std::int32_t root = remote_root(record);
    if (by_leader) local(kind, record.bytes(), reduces ? element_bytes(record) : 1);
    stage();
    if (!by_leader) return send(root, record.bytes());
    if (leads()) send(root, record.bytes() * (reduces ? 1 : groups_->ranks.size()));
    return;
  }
  stage();
  if (reduces) return recv(remote[0], record.bytes());
  if (by_leader) return recv(remote[0], record.recv_posted_bytes() * remote.size());
  check_counts(record.recv_bytes, remote.size());
  for (std::size_t i = 0; i < remote.size(); ++i) recv(remote[i], record.recv_bytes[i]);
}

// Bcast, Scatter and Scatterv, the same the other way round.
void TwoGroups::from_root(const TraceRecord& record, CollectiveKind kind) {
  const auto& remote = groups_->remote_ranks;
  const bool scatters = kind == CollectiveKind::kScatter, by_leader = !is_by_counts(record.function);
  stage();
  if (record.root != trace::kRootHere) {
    const std::uint64_t own = scatters ? record.recv_posted_bytes() : record.bytes();
    const std::int32_t root = remote_root(record);
    if (!by_leader) return recv(root, own);
    if (leads()) recv(root, own * (scatters ? groups_->ranks.size() : 1));
    return local(kind, own);
  }
  if (by_leader) return send(remote[0], record.bytes() * (scatters ? remote.size() : 1));
  check_counts(record.send_bytes, remote.size());
  for (std::size_t i = 0; i < remote.size(); ++i) send(remote[i], record.send_bytes[i]);
}

// Each group gets what the other has reduced: all of it, or each rank its share.
void TwoGroups::reduce_exchange_share(const TraceRecord& record, CollectiveKind share) {
  local(CollectiveKind::kReduce, record.bytes(), element_bytes(record));
  exchange(record.bytes(), record.bytes());
  if (share == CollectiveKind::kBcast) return local(share, record.bytes());
  Collective scatter{.kind = share, .bytes = record.recv_posted_bytes()};
  if (!record.recv_bytes.empty()) {
    check_counts(record.recv_bytes, groups_->ranks.size());
    scatter.v_form = true;
    scatter.counts = record.recv_bytes;
  }
  local(std::move(scatter));
}

void TwoGroups::allgather(const TraceRecord& record) {
  const std::uint64_t arrives = record.recv_posted_bytes() * groups_->remote_ranks.size();
  local(CollectiveKind::kGather, record.bytes());
  exchange(record.bytes() * groups_->ranks.size(), arrives);
  local(CollectiveKind::kBcast, arrives);
}

// A leader knows what each rank of the other group has, not of its own, so each sends its part there (as in
// MPICH).
void TwoGroups::allgatherv(const TraceRecord& record) {
  const auto& remote = groups_->remote_ranks;
  check_counts(record.recv_bytes, remote.size());
  stage();
  if (leads()) {
    for (std::size_t i = 0; i < remote.size(); ++i) recv(remote[i], record.recv_bytes[i]);
  }
  send(remote[0], record.bytes());
  local(CollectiveKind::kBcast, sum(record.recv_bytes));
}

// Each rank with all of the other group: an exchange with those as neighbors.
void TwoGroups::alltoall(const TraceRecord& record) {
  const std::size_t others = groups_->remote_ranks.size();
  Collective collective{.kind = CollectiveKind::kNeighborAlltoall, .comm = between_, .v_form = true};
  collective.counts = record.send_bytes;
  collective.receive_counts = record.recv_bytes;
  if (!is_by_counts(record.function)) {
    collective.counts.assign(others, record.bytes());
    collective.receive_counts.assign(others, record.recv_posted_bytes());
  }
  check_counts(collective.counts, others);
  check_counts(collective.receive_counts, others);
  for (const std::int32_t rank : groups_->remote_ranks) collective.destinations.push_back(in_union(rank));
  collective.sources = collective.destinations;
  stage();
  stages_.back().push_back(program_.collective(thread_, collective));
}

// The rank's number in the communicator of both groups, which has them in ascending order.
std::uint32_t TwoGroups::in_union(std::int32_t world_rank) const {
  const auto below = [&](std::int32_t rank) { return rank < world_rank; };
  return static_cast<std::uint32_t>(
      std::count_if(groups_->ranks.begin(), groups_->ranks.end(), below) +
      std::count_if(groups_->remote_ranks.begin(), groups_->remote_ranks.end(), below));
}

void TwoGroups::check_counts(const std::vector<std::uint64_t>& counts, std::size_t ranks) const {
  if (counts.size() == ranks) return;
  throw InputError(fmt::format("{} counts for a group of {} ranks", counts.size(), ranks));
}

// One within this rank's group, whose root is its leader.
void TwoGroups::local(CollectiveKind kind, std::uint64_t bytes, std::uint32_t element_bytes) {
  local(Collective{.kind = kind, .bytes = bytes, .element_bytes = element_bytes});
}

void TwoGroups::local(Collective collective) {
  if (groups_->ranks.size() < 2) return;
  collective.comm = local_;
  stage();
  stages_.back().push_back(program_.collective(thread_, collective));
}

Op TwoGroups::message(OpKind kind, std::int32_t peer, std::uint64_t bytes) const {
  return {.kind = kind,
          .cpu = static_cast<std::uint16_t>(thread_),
          .peer = static_cast<std::uint32_t>(peer),
          .tag = tag_,
          .comm = between_,
          .value = bytes};
}

void TwoGroups::send(std::int32_t to, std::uint64_t bytes) {
  stages_.back().push_back(message(OpKind::kSend, to, bytes));
}

void TwoGroups::recv(std::int32_t from, std::uint64_t bytes) {
  stages_.back().push_back(message(OpKind::kRecv, from, bytes));
}

void TwoGroups::exchange(std::uint64_t sent, std::uint64_t received) {
  if (!leads()) return;
  stage();
  recv(groups_->remote_ranks[0], received);
  send(groups_->remote_ranks[0], sent);
}

OpIndex TwoGroups::run(RankProgram::Thread& thread) {
  std::erase_if(stages_, [](const auto& stage) { return stage.empty(); });
  if (stages_.empty() || !program_.is_inside()) return RankProgram::kNone;
  // What the request of a nonblocking call, or the call, waits for is one operation.
  if (stages_.back().size() > 1) {
    stages_.push_back({{.kind = OpKind::kCalc, .cpu = static_cast<std::uint16_t>(thread_)}});
  }
  std::vector<OpIndex> before, now;
  for (const std::vector<Op>& stage : stages_) {
    now.clear();
    for (const Op& op : stage) {
      now.push_back(before.empty() ? program_.nonblocking(thread, op) : program_.append_beside(op, {}));
      for (const OpIndex first : before) program_.add_edge(first, now.back());
    }
    before.swap(now);
  }
  return before.back();
}

}  // namespace weft::goal
