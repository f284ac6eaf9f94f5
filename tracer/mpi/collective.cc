#include "tracer/mpi/collective.h"

namespace weft::trace {

namespace {
void put_vector(Writer& out, const Counts& counts, int ranks) {
  out.number(static_cast<std::uint64_t>(ranks));
  for (int i = 0; i < ranks; ++i) out.number(counts.bytes(i));
}
}  // namespace

void Collective::write_record(const MPI_Request* request, bool persistent) {
  const auto numbers = static_cast<std::size_t>(send_ranks_) + static_cast<std::size_t>(receive_ranks_);
  if (!record_.begin(numbers * kMaxVarintBytes)) return;
  Writer& out = record_.out();
  out.numbers(Record::comm_number(comm_), std::uint64_t{flags_});  // less than 128: a byte
  if ((flags_ & kHasRoot) != 0) out.signed_number(root_);
  out.numbers(send_.count, send_.element_bytes);
  if ((flags_ & kHasReceiveCount) != 0) out.numbers(receive_.count, receive_.element_bytes);
  if ((flags_ & kHasSendVector) != 0) put_vector(out, send_counts_, send_ranks_);
  if ((flags_ & kHasReceiveVector) != 0) put_vector(out, receive_counts_, receive_ranks_);
  if (request != nullptr) record_.made(request, Request::Kind::kOther, persistent, nullptr);
}

}  // namespace weft::trace
