// Wrappers of partitioned communication (MPI 4.0, section 4.2): messages whose sender gives them part by
// part.
#pragma once

#include "tracer/mpi/tracer.h"

namespace weft::trace {

// MPI_Psend_init and MPI_Precv_init
template <Function f, auto real_function, Request::Kind kind, class Buffer>
int start_partitioned(Buffer* buffer, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag,
                      MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Call call(f, about(comm, peer, tag));
  const int error = (real.*real_function)(buffer, partitions, count, type, peer, tag, comm, info, request);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  Comm* c = record.find(comm);
  if (record.begin()) {
    record.posted(c, peer, tag);
    record.out().number(partitions < 0 ? 0 : static_cast<std::uint64_t>(partitions));
    record.size(static_cast<std::uint64_t>(count), type);
    record.made(request, kind, true, c);
  }
  return error;
}
template <Function f, auto real_function>
constexpr auto psend_init = &start_partitioned<f, real_function, Request::Kind::kSend, const void>;
template <Function f, auto real_function>
constexpr auto precv_init = &start_partitioned<f, real_function, Request::Kind::kReceive, void>;

// `partition(i)` is the i-th of n.
template <class Partition>
void record_ready(const Call& call, MPI_Request request, int n, Partition partition) {
  Record record(call);
  const Request* entry = record.requests().find(bits(request), nullptr);
  if (record.failed() || n < 0) n = 0;
  if (!record.begin(static_cast<std::size_t>(n) * kMaxVarintBytes)) return;
  record.reference(entry == nullptr ? kUnknownRequest : entry->number);
  record.out().number(static_cast<std::uint64_t>(n));
  for (int i = 0; i < n; ++i) record.out().signed_number(partition(i) - (i == 0 ? 0 : partition(i - 1)));
}

inline int pready(int partition, MPI_Request request) {
  Call call(Function::kPready);
  const int error = real.PMPI_Pready(partition, request);
  if (!call.traced()) return error;
  call.left(error);
  record_ready(call, request, 1, [&](int) { return partition; });
  return error;
}

inline int pready_range(int low, int high, MPI_Request request) {
  Call call(Function::kPready_range);
  const int error = real.PMPI_Pready_range(low, high, request);
  if (!call.traced()) return error;
  call.left(error);
  record_ready(call, request, high - low + 1, [&](int i) { return low + i; });
  return error;
}

inline int pready_list(int n, int partitions[], MPI_Request request) {
  Call call(Function::kPready_list);
  const int error = real.PMPI_Pready_list(n, partitions, request);
  if (!call.traced()) return error;
  call.left(error);
  record_ready(call, request, n, [&](int i) { return partitions[i]; });
  return error;
}

inline int parrived(MPI_Request request, int partition, int* flag) {
  Call call(Function::kParrived, about_requests(1));
  const int error = real.PMPI_Parrived(request, partition, flag);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  if (!record.failed() && behind(flag) == 0) {
    record.poll(nullptr, 0, 0, 1);
    return error;
  }
  const Request* entry = record.requests().find(bits(request), nullptr);
  if (!record.begin()) return error;
  record.out().byte(1);
  record.out().number(1);
  record.reference(entry == nullptr ? kUnknownRequest : entry->number);
  record.out().number(partition < 0 ? 0 : static_cast<std::uint64_t>(partition));
  return error;
}

}  // namespace weft::trace
