// Wrappers of sends, receives and probes. N is the type of counts: int, or MPI_Count in the _c forms.
#pragma once

#include "tracer/mpi/tracer.h"

namespace weft::trace {

// A place for the status, whether or not the program wants one.
class Status {
 public:
  explicit Status(MPI_Status* wanted) : used_(wanted == MPI_STATUS_IGNORE ? &own_ : wanted) {}
  MPI_Status* get() { return used_; }
  const MPI_Status& operator*() const { return *used_; }

 private:
  MPI_Status own_;
  MPI_Status* used_;
};

// MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend
template <Function f, auto real_function, class N>
int send(const void* buffer, N count, MPI_Datatype type, int peer, int tag, MPI_Comm comm) {
  Call call(f, about(comm, peer, tag));
  const int error = (real.*real_function)(buffer, count, type, peer, tag, comm);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  const Comm* c = record.find(comm);
  if (record.begin()) {
    record.posted(c, peer, tag);
    record.size(static_cast<std::uint64_t>(count), type);
  }
  return error;
}

// Isend and Irecv in their forms, and the calls that make persistent requests.
template <Function f, auto real_function, class N, Request::Kind kind, bool persistent, class Buffer>
int start_message(Buffer* buffer, N count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  Call call(f, about(comm, peer, tag));
  const int error = (real.*real_function)(buffer, count, type, peer, tag, comm, request);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  Comm* c = record.find(comm);
  if (record.begin()) {
    record.posted(c, peer, tag);
    const std::uint64_t bytes = record.size(static_cast<std::uint64_t>(count), type);
    Request* made = record.made(request, kind, persistent, c);
    if (made != nullptr) made->posted = {peer, tag, bytes};
  }
  return error;
}
template <Function f, auto real_function, class N>
constexpr auto isend = &start_message<f, real_function, N, Request::Kind::kSend, false, const void>;
template <Function f, auto real_function, class N>
constexpr auto send_init = &start_message<f, real_function, N, Request::Kind::kSend, true, const void>;
template <Function f, auto real_function, class N>
constexpr auto irecv = &start_message<f, real_function, N, Request::Kind::kReceive, false, void>;
template <Function f, auto real_function, class N>
constexpr auto recv_init = &start_message<f, real_function, N, Request::Kind::kReceive, true, void>;

template <Function f, auto real_function, class N>
int recv(void* buffer, N count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status* wanted) {
  Call call(f, about(comm, peer, tag));
  if (!call.traced()) return (real.*real_function)(buffer, count, type, peer, tag, comm, wanted);
  Status status(wanted);
  const int error = (real.*real_function)(buffer, count, type, peer, tag, comm, status.get());
  call.left(error);
  Record record(call);
  const Comm* c = record.find(comm);
  if (record.begin()) {
    record.posted(c, peer, tag);
    const std::uint64_t bytes = record.size(static_cast<std::uint64_t>(count), type);
    record.message(c, *status, {peer, tag, bytes});
  }
  return error;
}

// An exchange waits for two messages: this names the one it is to get, and in `count` whom it sends to.
inline About about_exchange(MPI_Comm comm, int to, int from, int in_tag) {
  About it = about(comm, from, in_tag);
  it.count = static_cast<std::uint32_t>(peer_number(to));
  return it;
}

template <Function f, auto real_function, class N>
int sendrecv(const void* out, N out_count, MPI_Datatype out_type, int to, int out_tag, void* in, N in_count,
             MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* wanted) {
  Call call(f, about_exchange(comm, to, from, in_tag));
  Status status(wanted);
  const int error = (real.*real_function)(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                                          in_tag, comm, call.traced() ? status.get() : wanted);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  const Comm* c = record.find(comm);
  if (record.begin()) {
    record.posted(c, to, out_tag);
    record.size(static_cast<std::uint64_t>(out_count), out_type);
    record.peer_and_tag(c, from, in_tag);
    const std::uint64_t bytes = record.size(static_cast<std::uint64_t>(in_count), in_type);
    record.message(c, *status, {from, in_tag, bytes});
  }
  return error;
}

template <Function f, auto real_function, class N>
int sendrecv_replace(void* buffer, N count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                     MPI_Comm comm, MPI_Status* wanted) {
  Call call(f, about_exchange(comm, to, from, in_tag));
  Status status(wanted);
  const int error = (real.*real_function)(buffer, count, type, to, out_tag, from, in_tag, comm,
                                          call.traced() ? status.get() : wanted);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  const Comm* c = record.find(comm);
  if (record.begin()) {
    record.posted(c, to, out_tag);
    record.size(static_cast<std::uint64_t>(count), type);
    record.peer_and_tag(c, from, in_tag);
    const std::uint64_t bytes = record.size(static_cast<std::uint64_t>(count), type);
    record.message(c, *status, {from, in_tag, bytes});
  }
  return error;
}

#if defined(MPICH)
// What goes out, and what is to come in; with one request for both.
struct HalfOfExchange {
  std::uint64_t count;
  MPI_Datatype type;
  int peer, tag;
};
inline void record_isendrecv(const Call& call, const HalfOfExchange& out, const HalfOfExchange& in,
                             MPI_Comm comm, const MPI_Request* request) {
  Record record(call);
  Comm* c = record.find(comm);
  if (!record.begin()) return;
  record.posted(c, out.peer, out.tag);
  record.size(out.count, out.type);
  record.peer_and_tag(c, in.peer, in.tag);
  const std::uint64_t bytes = record.size(in.count, in.type);
  Request* made = record.made(request, Request::Kind::kReceive, false, c);
  if (made == nullptr) return;
  made->posted = {in.peer, in.tag, bytes};
  made->status_tells = false;
}

template <Function f, auto real_function, class N>
int isendrecv(const void* out, N out_count, MPI_Datatype out_type, int to, int out_tag, void* in, N in_count,
              MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Request* request) {
  Call call(f, about_exchange(comm, to, from, in_tag));
  const int error = (real.*real_function)(out, out_count, out_type, to, out_tag, in, in_count, in_type, from,
                                          in_tag, comm, request);
  if (!call.traced()) return error;
  call.left(error);
  record_isendrecv(call, {static_cast<std::uint64_t>(out_count), out_type, to, out_tag},
                   {static_cast<std::uint64_t>(in_count), in_type, from, in_tag}, comm, request);
  return error;
}

template <Function f, auto real_function, class N>
int isendrecv_replace(void* buffer, N count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                      MPI_Comm comm, MPI_Request* request) {
  Call call(f, about_exchange(comm, to, from, in_tag));
  const int error = (real.*real_function)(buffer, count, type, to, out_tag, from, in_tag, comm, request);
  if (!call.traced()) return error;
  call.left(error);
  const auto elements = static_cast<std::uint64_t>(count);
  record_isendrecv(call, {elements, type, to, out_tag}, {elements, type, from, in_tag}, comm, request);
  return error;
}
#endif

// The end of a probe: `message` is null where the call does not take the message out of matching.
inline void record_probe(const Call& call, int peer, int tag, MPI_Comm comm, bool found,
                         const MPI_Status& status, const MPI_Message* message) {
  Record record(call);
  Comm* c = record.find(comm);
  found = found && !record.failed();
  if (!found && !record.failed()) return record.poll(c, peer, tag, 0);
  if (!record.begin()) return;
  record.posted(c, peer, tag);
  if (!found) {
    record.out().byte(0);
    return record.one_poll();
  }
  record.message(c, status, {}, kFound);
  if (message == nullptr) return;
  if (*message == message_no_proc()) return record.out().number(kUnknownRequest);
  Request* entry = record.messages().add(bits(*message), message);
  if (entry == nullptr) out_of_memory();
  entry->number = record.next_message_number();
  entry->comm = c;
  if (c != nullptr) ++c->references;
  record.out().number(entry->number);
}

inline int probe(int peer, int tag, MPI_Comm comm, MPI_Status* wanted) {
  Call call(Function::kProbe, about(comm, peer, tag));
  Status status(wanted);
  const int error = real.PMPI_Probe(peer, tag, comm, call.traced() ? status.get() : wanted);
  if (!call.traced()) return error;
  call.left(error);
  record_probe(call, peer, tag, comm, true, *status, nullptr);
  return error;
}

// What an untimed probe that found something needs (tracer.h).
struct ProbeBefore {
  MPI_Comm comm;
  int peer, tag;
  int* flag;
  MPI_Message* message;
  MPI_Status* status;
};
[[gnu::noinline, gnu::cold]] inline int probe_found(Function function, int error, const ProbeBefore& before) {
  const Call call(function, poll_kind(bits(before.comm), before.peer, before.tag), error);
  record_probe(call, before.peer, before.tag, before.comm, behind(before.flag) != 0, *before.status,
               before.message);
  return error;
}

[[gnu::noinline]] inline int timed_iprobe(int peer, int tag, MPI_Comm comm, int* flag, MPI_Status* wanted,
                                          const void* caller) {
  Call call(Function::kIprobe, about(comm, peer, tag), poll_kind(bits(comm), peer, tag), caller);
  Status status(wanted);
  const int error = real.PMPI_Iprobe(peer, tag, comm, flag, call.traced() ? status.get() : wanted);
  if (!call.traced()) return error;
  call.left(error);
  if (call.counts_only(behind(flag))) return MPI_SUCCESS;
  record_probe(call, peer, tag, comm, behind(flag) != 0, *status, nullptr);
  return error;
}

inline int iprobe(int peer, int tag, MPI_Comm comm, int* flag, MPI_Status* wanted) {
  if (!begin_untimed(poll_kind(bits(comm), peer, tag)))
    return timed_iprobe(peer, tag, comm, flag, wanted, __builtin_return_address(0));
  MPI_Status own, *status = wanted == MPI_STATUS_IGNORE ? &own : wanted;
  ProbeBefore before{comm, peer, tag, flag, nullptr, status};
  keep_in_memory(before);
  const int error = real.PMPI_Iprobe(peer, tag, comm, flag, status);
  if (in_vain(error, before.flag)) return MPI_SUCCESS;
  return probe_found(Function::kIprobe, error, before);
}

inline int mprobe(int peer, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* wanted) {
  Call call(Function::kMprobe, about(comm, peer, tag));
  Status status(wanted);
  const int error = real.PMPI_Mprobe(peer, tag, comm, message, call.traced() ? status.get() : wanted);
  if (!call.traced()) return error;
  call.left(error);
  record_probe(call, peer, tag, comm, true, *status, message);
  return error;
}

[[gnu::noinline]] inline int timed_improbe(int peer, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                                           MPI_Status* wanted, const void* caller) {
  Call call(Function::kImprobe, about(comm, peer, tag), poll_kind(bits(comm), peer, tag), caller);
  Status status(wanted);
  const int error = real.PMPI_Improbe(peer, tag, comm, flag, message, call.traced() ? status.get() : wanted);
  if (!call.traced()) return error;
  call.left(error);
  if (call.counts_only(behind(flag))) return MPI_SUCCESS;
  record_probe(call, peer, tag, comm, behind(flag) != 0, *status, message);
  return error;
}

inline int improbe(int peer, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* wanted) {
  if (!begin_untimed(poll_kind(bits(comm), peer, tag)))
    return timed_improbe(peer, tag, comm, flag, message, wanted, __builtin_return_address(0));
  MPI_Status own, *status = wanted == MPI_STATUS_IGNORE ? &own : wanted;
  ProbeBefore before{comm, peer, tag, flag, message, status};
  keep_in_memory(before);
  const int error = real.PMPI_Improbe(peer, tag, comm, flag, message, status);
  if (in_vain(error, before.flag)) return MPI_SUCCESS;
  return probe_found(Function::kImprobe, error, before);
}

// A probed message by its handle before the call. Its number is 0 where no traced probe found it.
struct Probed {
  std::uint64_t number = kUnknownRequest;
  Comm* comm = nullptr;
};
inline Probed take_message(Record& record, std::uint64_t handle, const MPI_Message* place) {
  Request* entry = record.failed() ? nullptr : record.messages().find(handle, place);
  if (entry == nullptr) return {};
  const Probed probed{entry->number, entry->comm};
  record.messages().remove(entry);
  return probed;
}

template <Function f, auto real_function, class N>
int mrecv(void* buffer, N count, MPI_Datatype type, MPI_Message* message, MPI_Status* wanted) {
  Call call(f);
  const std::uint64_t handle = bits(behind(message, message_no_proc()));
  Status status(wanted);
  const int error =
      (real.*real_function)(buffer, count, type, message, call.traced() ? status.get() : wanted);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  const Probed probed = take_message(record, handle, message);
  if (record.begin()) {
    record.comm(probed.comm);
    record.out().number(probed.number);
    record.size(static_cast<std::uint64_t>(count), type);
    record.message(probed.comm, *status, {});
  }
  if (probed.comm != nullptr) Communicators::release(probed.comm);
  return error;
}

template <Function f, auto real_function, class N>
int imrecv(void* buffer, N count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  Call call(f);
  const std::uint64_t handle = bits(behind(message, message_no_proc()));
  const int error = (real.*real_function)(buffer, count, type, message, request);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  const Probed probed = take_message(record, handle, message);
  if (record.begin()) {
    record.comm(probed.comm);
    record.out().number(probed.number);
    record.size(static_cast<std::uint64_t>(count), type);
    record.made(request, Request::Kind::kReceive, false, probed.comm);
  }
  if (probed.comm != nullptr) Communicators::release(probed.comm);
  return error;
}

}  // namespace weft::trace
