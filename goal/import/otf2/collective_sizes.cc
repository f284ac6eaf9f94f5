#include "goal/import/otf2/collective_sizes.h"

#include <otf2/otf2.h>

#include <algorithm>

namespace weft::goal {
namespace {

using trace::Function;

struct Operation {
  Function blocking, nonblocking;
};

// By OTF2_CollectiveOp.
constexpr Operation kOperations[] = {
    {Function::kBarrier, Function::kIbarrier},
    {Function::kBcast, Function::kIbcast},
    {Function::kGather, Function::kIgather},
    {Function::kGatherv, Function::kIgatherv},
    {Function::kScatter, Function::kIscatter},
    {Function::kScatterv, Function::kIscatterv},
    {Function::kAllgather, Function::kIallgather},
    {Function::kAllgatherv, Function::kIallgatherv},
    {Function::kAlltoall, Function::kIalltoall},
    {Function::kAlltoallv, Function::kIalltoallv},
    {Function::kAlltoallw, Function::kIalltoallw},
    {Function::kAllreduce, Function::kIallreduce},
    {Function::kReduce, Function::kIreduce},
    {Function::kReduce_scatter, Function::kIreduce_scatter},
    {Function::kScan, Function::kIscan},
    {Function::kExscan, Function::kIexscan},
    {Function::kReduce_scatter_block, Function::kIreduce_scatter_block},
};
static_assert(std::size(kOperations) == OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK + 1);

// So many of equal parts, the first ones a byte more.
std::uint64_t part(std::uint64_t bytes, std::uint32_t i, std::uint32_t size) {
  return bytes / size + (i < bytes % size ? 1 : 0);
}

std::vector<std::uint64_t> parts(std::uint64_t bytes, std::uint32_t size) {
  std::vector<std::uint64_t> all(size);
  for (std::uint32_t i = 0; i < size; ++i) all[i] = part(bytes, i, size);
  return all;
}

// What one rank has in a v form, from its sums.
std::uint64_t share_of(const Otf2Event& event, std::uint32_t size) {
  switch (event.op) {
    case OTF2_COLLECTIVE_OP_SCATTERV:
      return event.received;
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
      return event.bytes / size;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
      return event.received / size;
    default:  // Gatherv; the Alltoalls: to all ranks together
      return event.bytes;
  }
}

// The root's own sums hold those of all in Gatherv and Scatterv.
std::uint64_t root_share(const Otf2Event& event) {
  return event.op == OTF2_COLLECTIVE_OP_GATHERV ? event.bytes : event.received;
}

void set_equal_sizes(TraceRecord& record, const Otf2Event& event, std::uint32_t rank_in, std::uint32_t size) {
  const std::uint64_t sent = event.bytes, received = event.received, others = std::max(1u, size - 1);
  std::uint64_t bytes = 0;
  switch (event.op) {
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
      bytes = received > 0 ? received : sent / others;  // a root in place keeps nothing
      break;
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_REDUCE:
      bytes = sent > 0 ? sent : received / others;
      break;
    case OTF2_COLLECTIVE_OP_SCAN:
      bytes = sent / std::max(1u, size - rank_in);
      break;
    case OTF2_COLLECTIVE_OP_EXSCAN:
      bytes = (sent + received) / others;
      break;
    default:  // to all ranks, oneself too
      bytes = sent / size;
  }
  const bool block = event.op == OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK;
  (block ? record.recv_count : record.count) = bytes;
}

}  // namespace

trace::Function otf2_collective(std::uint8_t op, bool nonblocking) {
  if (op >= std::size(kOperations)) return Function::kUndecoded;
  return nonblocking ? kOperations[op].nonblocking : kOperations[op].blocking;
}

bool otf2_of_v_form(std::uint8_t op) {
  return op == OTF2_COLLECTIVE_OP_GATHERV || op == OTF2_COLLECTIVE_OP_SCATTERV ||
         op == OTF2_COLLECTIVE_OP_ALLGATHERV || op == OTF2_COLLECTIVE_OP_ALLTOALLV ||
         op == OTF2_COLLECTIVE_OP_ALLTOALLW || op == OTF2_COLLECTIVE_OP_REDUCE_SCATTER;
}

void Otf2Shares::add(const Otf2Event& event, std::uint32_t rank_in, std::uint32_t size) {
  constexpr std::uint64_t kMissing = UINT64_MAX;
  auto& all = shares_[event.comm];
  const std::size_t k = at_[{event.comm, rank_in}]++;
  if (all.size() <= k) all.resize(k + 1, std::vector<std::uint64_t>(size, kMissing));
  all[k][rank_in] = share_of(event, size);
}

const std::vector<std::uint64_t>* Otf2Shares::next(std::uint32_t comm, std::uint32_t rank_in) {
  const std::size_t k = at_[{comm, rank_in}]++;
  const auto found = shares_.find(comm);
  if (found == shares_.end() || found->second.size() <= k) return nullptr;
  const std::vector<std::uint64_t>& shares = found->second[k];
  const bool whole = std::find(shares.begin(), shares.end(), UINT64_MAX) == shares.end();
  return whole ? &shares : nullptr;
}

void set_otf2_sizes(TraceRecord& record, const Otf2Event& event, std::uint32_t rank_in, std::uint32_t size,
                    const std::vector<std::uint64_t>* shares) {
  record.type_size = record.recv_type_size = 1;
  if (!otf2_of_v_form(event.op)) return set_equal_sizes(record, event, rank_in, size);
  const bool at_root = event.peer == rank_in;
  const std::uint64_t own = share_of(event, size);
  std::vector<std::uint64_t> all = shares != nullptr ? *shares : std::vector<std::uint64_t>(size, own);
  switch (event.op) {
    case OTF2_COLLECTIVE_OP_GATHERV:
      if (at_root) all[rank_in] = root_share(event);
      if (at_root)
        record.recv_bytes = all;
      else
        record.count = own;
      break;
    case OTF2_COLLECTIVE_OP_SCATTERV:
      if (at_root) all[rank_in] = root_share(event);
      if (at_root)
        record.send_bytes = all;
      else
        record.recv_count = own;
      break;
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
      record.recv_bytes = all;
      break;
    default:
      record.send_bytes = parts(own, size);
      record.recv_bytes.resize(size);
      for (std::uint32_t i = 0; i < size; ++i) record.recv_bytes[i] = part(all[i], rank_in, size);
  }
}

}  // namespace weft::goal
