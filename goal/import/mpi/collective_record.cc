#include "goal/import/mpi/collective_record.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/units/input_error.h"

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

constexpr int number(Function function) { return static_cast<int>(function); }

// The blocking form of a nonblocking or persistent one.
Function blocking_form(Function function) {
  for (const Function first : {Function::kBarrier_init, Function::kIbarrier}) {
    if (number(function) >= number(first)) {
      return static_cast<Function>(number(function) - number(first) + number(Function::kBarrier));
    }
  }
  return function;
}
static_assert(number(Function::kIexscan) - number(Function::kIbarrier) ==
              number(Function::kExscan) - number(Function::kBarrier));
static_assert(number(Function::kExscan_init) - number(Function::kBarrier_init) ==
              number(Function::kExscan) - number(Function::kBarrier));

bool is_reduction(CollectiveKind kind) {
  return kind == CollectiveKind::kReduce || kind == CollectiveKind::kAllreduce ||
         kind == CollectiveKind::kScan || kind == CollectiveKind::kExscan ||
         kind == CollectiveKind::kReduceScatter;
}

}  // namespace

CollectiveKind kind_of_collective(Function function) {
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
      throw std::logic_error("kind_of_collective: not a collective call");
  }
}

bool is_by_counts(Function function) {
  switch (blocking_form(function)) {
    case Function::kGatherv:
    case Function::kScatterv:
    case Function::kAllgatherv:
    case Function::kAlltoallv:
    case Function::kAlltoallw:
      return true;
    default:
      return false;
  }
}

Collective collective_of(const TraceRecord& record) {
  Collective collective;
  collective.kind = kind_of_collective(record.function);
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
    // A rank without a receive side, as all but the root of a gather, sends a block of the same size.
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

namespace {

// Which of the five forms: the numbers are those of allgather, allgatherv, alltoall, alltoallv, alltoallw.
int neighbor_form(Function function) {
  return (number(function) - number(Function::kNeighbor_allgather)) % 5;
}
static_assert(number(Function::kIneighbor_allgather) - number(Function::kNeighbor_allgather) == 5);
static_assert(number(Function::kNeighbor_allgather_init) - number(Function::kNeighbor_allgather) == 10);

// Without MPI_PROC_NULL, which grids have at their edges, and its bytes.
void add_neighbors(const std::vector<std::int32_t>& ranks, const std::vector<std::uint64_t>& bytes,
                   std::vector<std::uint32_t>& out, std::vector<std::uint64_t>* out_bytes) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < 0) continue;
    out.push_back(static_cast<std::uint32_t>(ranks[i]));
    if (out_bytes != nullptr && !bytes.empty()) out_bytes->push_back(bytes[i]);
  }
}

}  // namespace

Collective neighbor_collective_of(const TraceRecord& record) {
  const int form = neighbor_form(record.function);
  Collective collective;
  collective.kind = form < 2 ? CollectiveKind::kNeighborAllgather : CollectiveKind::kNeighborAlltoall;
  collective.v_form = form != 0 && form != 2;
  if (form < 3) collective.bytes = record.bytes();
  add_neighbors(record.destinations, record.send_bytes, collective.destinations, &collective.counts);
  add_neighbors(record.sources, record.recv_bytes, collective.sources, &collective.receive_counts);
  return collective;
}

void check_fits(const Collective& collective, const TraceCommunicator& communicator) {
  const std::size_t ranks = communicator.ranks.size();
  if (collective.root >= ranks) {
    throw InputError(fmt::format("root {} in a communicator of {} ranks", collective.root, ranks));
  }
  for (const auto* list : {&collective.destinations, &collective.sources}) {
    for (const std::uint32_t rank : *list) {
      if (rank < ranks) continue;
      throw InputError(fmt::format("neighbor {} in a communicator of {} ranks", rank, ranks));
    }
  }
  if (is_of_neighbors(collective.kind)) return;  // counts come with the neighbors
  for (const auto* counts : {&collective.counts, &collective.receive_counts}) {
    if (counts->empty() || counts->size() == ranks) continue;
    throw InputError(fmt::format("{} counts in a communicator of {} ranks", counts->size(), ranks));
  }
  const bool two_lists = collective.kind == CollectiveKind::kAlltoall;
  if (two_lists && collective.counts.empty() != collective.receive_counts.empty()) {
    throw InputError("counts of what is sent or of what is received, but not of both");
  }
}

}  // namespace weft::goal
