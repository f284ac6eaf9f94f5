#include "tracer/mpi/completion.h"

#include "tracer/mpi/wrap_point_to_point.h"

namespace weft::trace {

namespace {

// As many handles as there are to look at.
struct Handles {
  int size;
  const MPI_Request* data;
  MPI_Request operator[](int i) const { return data[i]; }
};

// The handles as they were before the call, which sets those of finished requests to null.
class Before {
 public:
  Before(const Call& call, int n, const MPI_Request* requests)
      : size_(call.traced() ? readable(n, requests) : 0), handles_(size_) {
    for (int i = 0; i < size_; ++i) handles_[i] = requests[i];
  }
  // What record_all and the like are given.
  Handles handles() { return {size_, handles_.data()}; }

 private:
  int size_;
  Scratch<MPI_Request> handles_;
};

// Untimed polls look at so many requests at most.
constexpr unsigned kFew = 32;

// The statuses of an array of requests, whether or not the program wants them.
class Statuses {
 public:
  Statuses(const Call& call, int n, MPI_Status* wanted)
      : own_(call.traced() && wanted == MPI_STATUSES_IGNORE ? n : 0),
        used_(call.traced() && wanted == MPI_STATUSES_IGNORE ? own_.data() : wanted) {}
  MPI_Status* get() { return used_; }

 private:
  Scratch<MPI_Status> own_;
  MPI_Status* used_;
};

// The list of a completion record. Requests leave the table as they are added, since equal handles may
// stand for several of them.
class Completed {
 public:
  explicit Completed(Record& record, int most) : record_(record), entries_(most) {}

  // `status` is the one MPI gave for this request.
  void add(MPI_Request before, const MPI_Request* place, const MPI_Status& status) {
    if (before == request_null()) return;
    Request* request = record_.requests().find(bits(before), place);
    if (request == nullptr) {
      // Made by a call that is not decoded; an inactive persistent one of those is still there afterwards.
      if (*place == request_null()) entries_[n_++] = {kUnknownRequest, false, false, nullptr, &status, {}};
      return;
    }
    if (!request->active) return;
    if (record_.failed() && (request->persistent ? !record_.is_complete(status) : *place != request_null()))
      return;
    const bool receive = request->kind == Request::Kind::kReceive;
    entries_[n_++] = {request->number,
                      receive && request->status_tells,
                      request->cancel_asked,
                      receive ? request->comm : nullptr,
                      &status,
                      request->posted};
    request->cancel_asked = false;
    if (request->persistent) {
      request->active = false;
      if (entries_[n_ - 1].comm != nullptr) ++entries_[n_ - 1].comm->references;
      return;
    }
    if (request->kind == Request::Kind::kDuplicate && request->comm != nullptr) {
      if (!record_.failed()) record_.communicators().set_handle(request->comm, *request->new_comm);
      Communicators::release(request->comm);
    }
    record_.requests().remove(request);
  }

  void write(bool flag, int given) {
    if (!flag && !record_.failed()) return record_.poll(nullptr, 0, 0, given);
    if (record_.begin(static_cast<std::size_t>(n_) * kEntryBytes)) {
      const std::uint8_t found = !flag         ? kNothingFound
                                 : n_ != given ? kFoundSome
                                 : n_ == 1     ? kFoundOne
                                               : kFoundAll;
      record_.out().byte(found);
      if (found != kFoundOne) record_.out().number(static_cast<std::uint64_t>(given));
      if (!flag) return record_.one_poll();
      if (found == kFoundSome) record_.out().number(static_cast<std::uint64_t>(n_));
      for (int i = 0; i < n_; ++i) {
        record_.reference(entries_[i].number);
        write(entries_[i]);
      }
    }
    for (int i = 0; i < n_; ++i) {
      if (entries_[i].comm != nullptr) Communicators::release(entries_[i].comm);
    }
  }

 private:
  static constexpr std::size_t kEntryBytes = 4 * kMaxVarintBytes + 1;
  struct Entry {
    std::uint64_t number;
    bool receive, may_be_cancelled;
    Comm* comm;  // holds a reference
    const MPI_Status* status;
    Posted posted;
  };
  void write(const Entry& entry) {
    if (entry.receive && entry.may_be_cancelled) {
      record_.message_or_cancelled(entry.comm, *entry.status, entry.posted);
    } else if (entry.receive) {
      record_.message(entry.comm, *entry.status, entry.posted);
    } else {
      const bool cancelled = entry.may_be_cancelled && !record_.failed() && status_cancelled(*entry.status);
      record_.out().byte(cancelled ? kCancelled : 0);
    }
  }

  Record& record_;
  Scratch<Entry> entries_;
  int n_ = 0;
};

void record_one(const Call& call, MPI_Request before, const MPI_Request* place, bool flag,
                const MPI_Status& status) {
  Record record(call);
  Completed completed(record, 1);
  if (flag) completed.add(before, place, status);
  completed.write(flag, 1);
}

void record_all(const Call& call, const Handles& before, const MPI_Request* requests, bool flag,
                const MPI_Status* statuses) {
  const int n = before.size;
  Record record(call);
  Completed completed(record, n);
  for (int i = 0; flag && i < n; ++i) completed.add(before[i], &requests[i], statuses[i]);
  completed.write(flag, n);
}

// `index` is MPI_UNDEFINED where no request was active.
void record_any(const Call& call, const Handles& before, const MPI_Request* requests, bool flag, int index,
                const MPI_Status& status) {
  const int n = before.size;
  Record record(call);
  Completed completed(record, 1);
  if (flag && index >= 0 && index < n) completed.add(before[index], &requests[index], status);
  completed.write(flag, n);
}

void record_some(const Call& call, const Handles& before, const MPI_Request* requests, int done,
                 const int* indices, const MPI_Status* statuses) {
  const int n = before.size;
  Record record(call);
  Completed completed(record, n);
  if (done > n || (record.failed() && call.error() != MPI_ERR_IN_STATUS)) done = 0;  // not set by the call
  for (int i = 0; i < done; ++i) completed.add(before[indices[i]], &requests[indices[i]], statuses[i]);
  // MPI_UNDEFINED (no active request) is below zero, and counts as done.
  completed.write(done != 0, n);
}

void record_status(const Call& call, MPI_Request request, bool flag) {
  Record record(call);
  if (!record.failed() && !flag) return record.poll(nullptr, 0, 0, 1);
  const Request* entry = record.requests().find(bits(request), nullptr);
  if (!record.begin()) return;
  record.out().byte(1);
  record.out().number(1);
  record.reference(entry == nullptr || !entry->active ? kUnknownRequest : entry->number);
}

// The ends of untimed polls that found something, or failed.

[[gnu::noinline, gnu::cold]] int found_one(Function function, int error, MPI_Request before,
                                           const MPI_Request* place, const int* flag,
                                           const MPI_Status& status) {
  const Call call(function, kPollsOfRequests, error);
  record_one(call, before, place, behind(flag) != 0, status);
  return error;
}

[[gnu::noinline, gnu::cold]] int found_any(int error, const Handles& before, const MPI_Request* requests,
                                           const int* flag, const int* index, const MPI_Status& status) {
  const Call call(Function::kTestany, kPollsOfRequests, error);
  record_any(call, before, requests, behind(flag) != 0, behind(index), status);
  return error;
}

[[gnu::noinline, gnu::cold]] int found_all(int error, const Handles& before, const MPI_Request* requests,
                                           const int* flag, const MPI_Status* statuses) {
  const Call call(Function::kTestall, kPollsOfRequests, error);
  record_all(call, before, requests, behind(flag) != 0, statuses);
  return error;
}

[[gnu::noinline, gnu::cold]] int found_some(int error, const Handles& before, const MPI_Request* requests,
                                            const int* done, const int* indices, const MPI_Status* statuses) {
  const Call call(Function::kTestsome, kPollsOfRequests, error);
  record_some(call, before, requests, behind(done), indices, statuses);
  return error;
}

[[gnu::noinline, gnu::cold]] int found_status(int error, MPI_Request request, const int* flag) {
  const Call call(Function::kRequest_get_status, kPollsOfRequests, error);
  record_status(call, request, behind(flag) != 0);
  return error;
}

// The handles before an untimed poll of a few requests.
class FewBefore {
 public:
  FewBefore(int n, const MPI_Request* requests) : size_(n) {
    for (int i = 0; i < n; ++i) handles_[i] = requests[i];
  }
  Handles handles() const { return {size_, handles_}; }

 private:
  int size_;
  MPI_Request handles_[kFew];
};
inline bool are_few(int n, const MPI_Request* requests) {
  return static_cast<unsigned>(n) <= kFew && requests != nullptr;
}

// With one request, as programs mostly have it, nothing but its handle is to be remembered.
struct OneBefore {
  MPI_Request handle;
  MPI_Request* place;
  int *flag, *index;
  MPI_Status* status;
};

[[gnu::always_inline]] inline int untimed_testany(MPI_Request* request, int* index, int* flag,
                                                  MPI_Status* wanted) {
  MPI_Status own, *status = wanted == MPI_STATUS_IGNORE ? &own : wanted;
  OneBefore before{*request, request, flag, index, status};
  keep_in_memory(before);
  const int error = real.PMPI_Testany(1, request, index, flag, status);
  if (in_vain(error, before.flag)) return MPI_SUCCESS;
  return found_any(error, {1, &before.handle}, before.place, before.flag, before.index, *before.status);
}

[[gnu::noinline]] int untimed_testany(int n, MPI_Request* requests, int* index, int* flag,
                                      MPI_Status* wanted) {
  const FewBefore before(n, requests);
  Status status(wanted);
  const int error = real.PMPI_Testany(n, requests, index, flag, status.get());
  if (in_vain(error, flag)) return MPI_SUCCESS;
  return found_any(error, before.handles(), requests, flag, index, *status);
}

[[gnu::noinline]] int untimed_testall(int n, MPI_Request* requests, int* flag, MPI_Status* wanted) {
  const FewBefore before(n, requests);
  MPI_Status own[kFew];
  MPI_Status* statuses = wanted == MPI_STATUSES_IGNORE ? own : wanted;
  const int error = real.PMPI_Testall(n, requests, flag, statuses);
  if (in_vain(error, flag)) return MPI_SUCCESS;
  return found_all(error, before.handles(), requests, flag, statuses);
}

[[gnu::noinline]] int untimed_testsome(int n, MPI_Request* requests, int* done, int* indices,
                                       MPI_Status* wanted) {
  const FewBefore before(n, requests);
  MPI_Status own[kFew];
  MPI_Status* statuses = wanted == MPI_STATUSES_IGNORE ? own : wanted;
  const int error = real.PMPI_Testsome(n, requests, done, indices, statuses);
  if (in_vain(error, done)) return MPI_SUCCESS;
  return found_some(error, before.handles(), requests, done, indices, statuses);
}

// The others. `caller` is whom the wrapper returns to.

[[gnu::noinline]] int timed_test(MPI_Request* request, int* flag, MPI_Status* wanted, const void* caller) {
  Call call(Function::kTest, about_requests(1), kPollsOfRequests, caller);
  if (!call.traced()) return real.PMPI_Test(request, flag, wanted);
  const MPI_Request before = behind(request, request_null());
  Status status(wanted);
  call.left(real.PMPI_Test(request, flag, status.get()));
  if (call.counts_only(behind(flag))) return MPI_SUCCESS;
  record_one(call, before, request, behind(flag) != 0, *status);
  return call.error();
}

[[gnu::noinline]] int timed_testall(int n, MPI_Request requests[], int* flag, MPI_Status wanted[],
                                    const void* caller) {
  Call call(Function::kTestall, about_requests(n), kPollsOfRequests, caller);
  Before before(call, n, requests);
  Statuses statuses(call, n, wanted);
  const int error = real.PMPI_Testall(n, requests, flag, statuses.get());
  if (!call.traced()) return error;
  call.left(error);
  if (call.counts_only(behind(flag))) return MPI_SUCCESS;
  record_all(call, before.handles(), requests, behind(flag) != 0, statuses.get());
  return error;
}

[[gnu::noinline]] int timed_testany(int n, MPI_Request requests[], int* index, int* flag, MPI_Status* wanted,
                                    const void* caller) {
  Call call(Function::kTestany, about_requests(n), kPollsOfRequests, caller);
  if (!call.traced()) return real.PMPI_Testany(n, requests, index, flag, wanted);
  Before before(call, n, requests);
  Status status(wanted);
  call.left(real.PMPI_Testany(n, requests, index, flag, status.get()));
  if (call.counts_only(behind(flag))) return MPI_SUCCESS;
  record_any(call, before.handles(), requests, behind(flag) != 0, behind(index), *status);
  return call.error();
}

[[gnu::noinline]] int timed_testsome(int n, MPI_Request requests[], int* done, int indices[],
                                     MPI_Status wanted[], const void* caller) {
  Call call(Function::kTestsome, about_requests(n), kPollsOfRequests, caller);
  Before before(call, n, requests);
  Statuses statuses(call, n, wanted);
  const int error = real.PMPI_Testsome(n, requests, done, indices, statuses.get());
  if (!call.traced()) return error;
  call.left(error);
  if (call.counts_only(behind(done))) return MPI_SUCCESS;
  record_some(call, before.handles(), requests, behind(done), indices, statuses.get());
  return error;
}

[[gnu::noinline]] int timed_request_get_status(MPI_Request request, int* flag, MPI_Status* wanted,
                                               const void* caller) {
  Call call(Function::kRequest_get_status, about_requests(1), kPollsOfRequests, caller);
  const int error = real.PMPI_Request_get_status(request, flag, wanted);
  if (!call.traced()) return error;
  call.left(error);
  if (call.counts_only(behind(flag))) return MPI_SUCCESS;
  record_status(call, request, behind(flag) != 0);
  return error;
}
}  // namespace

int wait(MPI_Request* request, MPI_Status* wanted) {
  Call call(Function::kWait, about_requests(1));
  if (!call.traced()) return real.PMPI_Wait(request, wanted);
  const MPI_Request before = behind(request, request_null());
  Status status(wanted);
  call.left(real.PMPI_Wait(request, status.get()));
  record_one(call, before, request, true, *status);
  return call.error();
}

int test(MPI_Request* request, int* flag, MPI_Status* wanted) {
  if (request == nullptr || !begin_untimed(kPollsOfRequests))
    return timed_test(request, flag, wanted, __builtin_return_address(0));
  MPI_Status own, *status = wanted == MPI_STATUS_IGNORE ? &own : wanted;
  OneBefore before{*request, request, flag, nullptr, status};
  keep_in_memory(before);
  const int error = real.PMPI_Test(request, flag, status);
  if (in_vain(error, before.flag)) return MPI_SUCCESS;
  return found_one(Function::kTest, error, before.handle, before.place, before.flag, *before.status);
}

int waitall(int n, MPI_Request requests[], MPI_Status wanted[]) {
  Call call(Function::kWaitall, about_requests(n));
  Before before(call, n, requests);
  Statuses statuses(call, n, wanted);
  const int error = real.PMPI_Waitall(n, requests, statuses.get());
  if (!call.traced()) return error;
  call.left(error);
  record_all(call, before.handles(), requests, true, statuses.get());
  return error;
}

int testall(int n, MPI_Request requests[], int* flag, MPI_Status wanted[]) {
  if (are_few(n, requests) && begin_untimed(kPollsOfRequests))
    return untimed_testall(n, requests, flag, wanted);
  return timed_testall(n, requests, flag, wanted, __builtin_return_address(0));
}

int waitany(int n, MPI_Request requests[], int* index, MPI_Status* wanted) {
  Call call(Function::kWaitany, about_requests(n));
  if (!call.traced()) return real.PMPI_Waitany(n, requests, index, wanted);
  Before before(call, n, requests);
  Status status(wanted);
  call.left(real.PMPI_Waitany(n, requests, index, status.get()));
  record_any(call, before.handles(), requests, true, behind(index), *status);
  return call.error();
}

int testany(int n, MPI_Request requests[], int* index, int* flag, MPI_Status* wanted) {
  if (are_few(n, requests) && begin_untimed(kPollsOfRequests)) {
    if (n == 1) return untimed_testany(requests, index, flag, wanted);
    return untimed_testany(n, requests, index, flag, wanted);
  }
  return timed_testany(n, requests, index, flag, wanted, __builtin_return_address(0));
}

int waitsome(int n, MPI_Request requests[], int* done, int indices[], MPI_Status wanted[]) {
  Call call(Function::kWaitsome, about_requests(n));
  Before before(call, n, requests);
  Statuses statuses(call, n, wanted);
  const int error = real.PMPI_Waitsome(n, requests, done, indices, statuses.get());
  if (!call.traced()) return error;
  call.left(error);
  record_some(call, before.handles(), requests, behind(done), indices, statuses.get());
  return error;
}

int testsome(int n, MPI_Request requests[], int* done, int indices[], MPI_Status wanted[]) {
  if (are_few(n, requests) && begin_untimed(kPollsOfRequests))
    return untimed_testsome(n, requests, done, indices, wanted);
  return timed_testsome(n, requests, done, indices, wanted, __builtin_return_address(0));
}

namespace {

void record_starts(const Call& call, int n, const MPI_Request* requests) {
  n = readable(n, requests);
  Record record(call);
  if (!record.begin(static_cast<std::size_t>(n) * kMaxVarintBytes)) return;
  record.out().number(static_cast<std::uint64_t>(n));
  for (int i = 0; i < n; ++i) {
    Request* request = record.requests().find(bits(requests[i]), &requests[i]);
    if (request != nullptr) request->active = true;
    record.reference(request == nullptr ? kUnknownRequest : request->number);
  }
}

}  // namespace

int start_request(MPI_Request* request) {
  Call call(Function::kStart);
  const int error = real.PMPI_Start(request);
  if (!call.traced()) return error;
  call.left(error);
  record_starts(call, 1, request);
  return error;
}

int startall(int n, MPI_Request requests[]) {
  Call call(Function::kStartall);
  const int error = real.PMPI_Startall(n, requests);
  if (!call.traced()) return error;
  call.left(error);
  record_starts(call, n, requests);
  return error;
}

int request_free(MPI_Request* request) {
  Call call(Function::kRequest_free);
  if (!call.traced()) return real.PMPI_Request_free(request);
  const MPI_Request before = behind(request, request_null());
  call.left(real.PMPI_Request_free(request));
  Record record(call);
  Request* entry = record.requests().find(bits(before), request);
  if (record.begin()) record.reference(entry == nullptr ? kUnknownRequest : entry->number);
  if (entry != nullptr && !record.failed()) {
    if (entry->comm != nullptr) Communicators::release(entry->comm);
    record.requests().remove(entry);
  }
  return call.error();
}

int cancel(MPI_Request* request) {
  Call call(Function::kCancel);
  const int error = real.PMPI_Cancel(request);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  Request* entry = record.requests().find(bits(behind(request, request_null())), request);
  if (entry != nullptr) entry->cancel_asked = true;
  if (record.begin()) record.reference(entry == nullptr ? kUnknownRequest : entry->number);
  return error;
}

int request_get_status(MPI_Request request, int* flag, MPI_Status* wanted) {
  if (!begin_untimed(kPollsOfRequests))
    return timed_request_get_status(request, flag, wanted, __builtin_return_address(0));
  OneBefore before{.handle = request, .flag = flag};
  keep_in_memory(before);
  const int error = real.PMPI_Request_get_status(request, flag, wanted);
  if (in_vain(error, before.flag)) return MPI_SUCCESS;
  return found_status(error, before.handle, before.flag);
}

}  // namespace weft::trace
