// What a record says of a message that came.
#include "tracer/mpi/tracer.h"

namespace weft::trace {

bool is_truncated(const Call& call) {
  if (call.error() == MPI_SUCCESS) return false;
  const Shape shape = function_info(call.function()).shape;
  const bool receives = shape == Shape::kRecv || shape == Shape::kSendrecv || shape == Shape::kMessageRecv ||
                        shape == Shape::kComplete;
  return receives && error_class(call.error()) == MPI_ERR_TRUNCATE;
}

bool Record::is_complete(const MPI_Status& status) const {
  if (!failed()) return true;
  return error_class(call_.error()) == MPI_ERR_IN_STATUS &&
         (status.MPI_ERROR == MPI_SUCCESS || error_class(status.MPI_ERROR) == MPI_ERR_TRUNCATE);
}

void Record::message(const Comm* c, const MPI_Status& status, const Posted& posted, std::uint8_t flags) {
  if (!is_complete(status) || status.MPI_SOURCE == MPI_PROC_NULL) return out().byte(flags);
  const bool fits = call_.error() == MPI_SUCCESS || (failed() && status.MPI_ERROR == MPI_SUCCESS);
  const std::uint64_t bytes = fits || kTellsTruncatedBytes ? status_bytes(status) : posted.bytes;
  if (bytes == UINT64_MAX) return out().byte(flags);  // those of its probe, then
  const bool as_posted = status.MPI_SOURCE == posted.peer && status.MPI_TAG == posted.tag;
  const bool whole = as_posted && bytes == posted.bytes;
  out().byte(static_cast<std::uint8_t>(flags | kHasMessage | (as_posted ? kAsPosted : 0) |
                                       (whole ? kAllAsPosted : 0)));
  if (!as_posted) {
    out().signed_number(c == nullptr ? kUndefined : c->world_rank(status.MPI_SOURCE));
    out().signed_number(status.MPI_TAG);
  }
  if (!whole) out().number(bytes);
}

void Record::message_or_cancelled(const Comm* c, const MPI_Status& status, const Posted& posted) {
  const bool there = !failed() && status.MPI_SOURCE != MPI_PROC_NULL;
  if (there && status_cancelled(status)) return out().byte(kCancelled);
  message(c, status, posted);
}

}  // namespace weft::trace
