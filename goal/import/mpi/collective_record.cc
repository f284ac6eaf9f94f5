#include "goal/import/mpi/collective_record.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace weft::goal {
namespace {

using trace::Function;

// Every rank knows all counts of these, so equal ones can be said once.
void set_shared_counts(Collective& collective, const std::vector<std::uint64_t>& counts) {
  if (!counts.empty() &&
      std::count(counts.begin(), counts.end(), counts[0]) == static_cast<std::ptrdiff_t>(counts.size())) {
    collective.bytes = counts[0];
  } else {
    collective.counts = counts;
  }
}

// The number of a nonblocking form's blocking one.
Function blocking_form(Function function) {
  const auto number = static_cast<int>(function), first = static_cast<int>(Function::kIbarrier);
  if (number < first) return function;
  return static_cast<Function>(number - first + static_cast<int>(Function::kBarrier));
}
static_assert(static_cast<int>(Function::kIexscan) - static_cast<int>(Function::kIbarrier) ==
              static_cast<int>(Function::kExscan) - static_cast<int>(Function::kBarrier));

}  // namespace

Collective collective_of(const TraceRecord& record) {
  Collective collective;
  if (record.root > 0) collective.root = static_cast<std::uint32_t>(record.root);
  const auto vector_of = [&](CollectiveKind kind) {
    collective.kind = kind;
    collective.bytes = record.bytes();
  };
  const auto reduction_of = [&](CollectiveKind kind) {
    vector_of(kind);
    collective.element_bytes = static_cast<std::uint32_t>(std::max<std::uint64_t>(record.type_size, 1));
  };
  switch (blocking_form(record.function)) {
    case Function::kBarrier:
      collective.kind = CollectiveKind::kBarrier;
      break;
    case Function::kBcast:
      vector_of(CollectiveKind::kBcast);
      break;
    case Function::kReduce:
      reduction_of(CollectiveKind::kReduce);
      break;
    case Function::kAllreduce:
      reduction_of(CollectiveKind::kAllreduce);
      break;
    case Function::kScan:
      reduction_of(CollectiveKind::kScan);
      break;
    case Function::kExscan:
      reduction_of(CollectiveKind::kExscan);
      break;
    case Function::kReduce_scatter:
      reduction_of(CollectiveKind::kReduceScatter);
      collective.bytes = 0;
      collective.v_form = true;
      set_shared_counts(collective, record.recv_bytes);
      break;
    case Function::kReduce_scatter_block:
      reduction_of(CollectiveKind::kReduceScatter);
      collective.bytes = record.recv_posted_bytes();
      break;
    case Function::kAllgather:
      vector_of(CollectiveKind::kAllgather);
      break;
    case Function::kAllgatherv:
      collective.kind = CollectiveKind::kAllgather;
      collective.v_form = true;
      set_shared_counts(collective, record.recv_bytes);
      break;
    // Of a gather the root looks at the receive side only, the others at the send side only.
    case Function::kGather:
      vector_of(CollectiveKind::kGather);
      if (record.recv_posted_bytes() > 0) collective.bytes = record.recv_posted_bytes();
      break;
    case Function::kGatherv:
      collective.kind = CollectiveKind::kGather;
      collective.v_form = true;
      collective.counts = record.recv_bytes;
      if (collective.counts.empty()) collective.bytes = record.bytes();
      break;
    case Function::kScatter:
      vector_of(CollectiveKind::kScatter);
      if (record.recv_posted_bytes() > 0) collective.bytes = record.recv_posted_bytes();
      break;
    case Function::kScatterv:
      collective.kind = CollectiveKind::kScatter;
      collective.v_form = true;
      collective.counts = record.send_bytes;
      if (collective.counts.empty()) collective.bytes = record.recv_posted_bytes();
      break;
    case Function::kAlltoall:
      vector_of(CollectiveKind::kAlltoall);
      break;
    case Function::kAlltoallv:
    case Function::kAlltoallw:
      collective.kind = CollectiveKind::kAlltoall;
      collective.v_form = true;
      collective.counts = record.send_bytes;
      collective.receive_counts = record.recv_bytes;
      break;
    default:
      throw std::logic_error("collective_of: not a collective call");
  }
  return collective;
}

}  // namespace weft::goal
