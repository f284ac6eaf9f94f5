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

CollectiveKind kind_of(Function function) {
  switch (blocking_form(function)) {
    case Function::kBarrier:
      return CollectiveKind::kBarrier;
    case Function::kBcast:
      return CollectiveKind::kBcast;
    case Function::kReduce:
      return CollectiveKind::kReduce;
    case Function::kAllreduce:
      return CollectiveKind::kAllreduce;
    case Function::kScan:
      return CollectiveKind::kScan;
    case Function::kExscan:
      return CollectiveKind::kExscan;
    case Function::kReduce_scatter:
    case Function::kReduce_scatter_block:
      return CollectiveKind::kReduceScatter;
    case Function::kAllgather:
    case Function::kAllgatherv:
      return CollectiveKind::kAllgather;
    case Function::kGather:
    case Function::kGatherv:
      return CollectiveKind::kGather;
    case Function::kScatter:
    case Function::kScatterv:
      return CollectiveKind::kScatter;
    case Function::kAlltoall:
    case Function::kAlltoallv:
    case Function::kAlltoallw:
      return CollectiveKind::kAlltoall;
    default:
      throw std::logic_error("collective_of: not a collective call");
  }
}

bool is_reduction(CollectiveKind kind) {
  return kind == CollectiveKind::kReduce || kind == CollectiveKind::kAllreduce ||
         kind == CollectiveKind::kScan || kind == CollectiveKind::kExscan ||
         kind == CollectiveKind::kReduceScatter;
}

}  // namespace

Collective collective_of(const TraceRecord& record) {
  Collective collective;
  collective.kind = kind_of(record.function);
  if (record.root > 0 && has_root(collective.kind)) {
    collective.root = static_cast<std::uint32_t>(record.root);
  }
  if (is_reduction(collective.kind)) {
    collective.element_bytes =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(record.type_size, 1, UINT32_MAX));
  }
  switch (blocking_form(record.function)) {
    case Function::kBarrier:
      break;
    case Function::kReduce_scatter:
    case Function::kAllgatherv:
      collective.v_form = true;
      set_shared_counts(collective, record.recv_bytes);
      break;
    case Function::kReduce_scatter_block:
      collective.bytes = record.recv_posted_bytes();
      break;
    // Of a gather the root looks at the receive side only, the others at the send side only.
    case Function::kGather:
    case Function::kScatter:
      collective.bytes = record.recv_posted_bytes() > 0 ? record.recv_posted_bytes() : record.bytes();
      break;
    case Function::kGatherv:
      collective.v_form = true;
      collective.counts = record.recv_bytes;
      if (collective.counts.empty()) collective.bytes = record.bytes();
      break;
    case Function::kScatterv:
      collective.v_form = true;
      collective.counts = record.send_bytes;
      if (collective.counts.empty()) collective.bytes = record.recv_posted_bytes();
      break;
    case Function::kAlltoallv:
    case Function::kAlltoallw:
      collective.v_form = true;
      collective.counts = record.send_bytes;
      collective.receive_counts = record.recv_bytes;
      break;
    default:
      collective.bytes = record.bytes();
  }
  return collective;
}

}  // namespace weft::goal
