#include "goal/import/mpi/trace_records.h"

#include <numeric>

namespace weft::goal {

using trace::Function;
using trace::Shape;

namespace {

std::uint64_t bytes_to_neighbors(const TraceRecord& record) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < record.destinations.size(); ++i) {
    if (record.destinations[i] == trace::kProcNull) continue;
    bytes += record.send_bytes.empty() ? record.bytes() : record.send_bytes[i];
  }
  return bytes;
}

}  // namespace

std::uint64_t moved_bytes(const TraceRecord& record) {
  switch (trace::function_info(record.function).shape) {
    case Shape::kSend:
    case Shape::kSendRequest:
    case Shape::kSendrecv:
    case Shape::kSendrecvRequest:
      return record.peer == trace::kProcNull ? 0 : record.bytes();
    case Shape::kPartitionedInit:
      if (record.function == Function::kPrecv_init || record.peer == trace::kProcNull) return 0;
      return record.partitions * record.bytes();
    case Shape::kFile:
    case Shape::kFileRequest:
      return record.bytes();
    case Shape::kOneSided:
    case Shape::kOneSidedRequest:
      return record.peer == trace::kProcNull ? 0 : record.bytes_out + record.bytes_in;
    case Shape::kCollective:
    case Shape::kCollectiveRequest:
    case Shape::kCollectiveInit:
      return std::accumulate(record.send_bytes.begin(), record.send_bytes.end(), record.bytes());
    case Shape::kNeighbor:
    case Shape::kNeighborRequest:
    case Shape::kNeighborInit:
      return bytes_to_neighbors(record);
    default:
      return 0;
  }
}

bool begins_mpi(Function function) {
  return function == Function::kInit || function == Function::kInit_thread ||
         function == Function::kSession_init;
}

bool ends_mpi(Function function) {
  return function == Function::kFinalize || function == Function::kSession_finalize;
}

bool makes_persistent(Function function) {
  const Shape shape = trace::function_info(function).shape;
  return shape == Shape::kCollectiveInit || shape == Shape::kNeighborInit ||
         shape == Shape::kPartitionedInit ||
         (function >= Function::kSend_init && function <= Function::kRecv_init);
}

}  // namespace weft::goal
