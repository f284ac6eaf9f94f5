// Wrappers of one-sided communication. N is the type of counts, int or in the _c forms MPI_Count; Request is
// MPI_Request* in the forms that make one, and absent else.
#pragma once

#include "tracer/mpi/tracer.h"

namespace weft::trace {

// What most of these calls have in common: a window, and its number in the record.
class WindowRecord {
 public:
  WindowRecord(const Call& call, MPI_Win handle)
      : record_(call), window_(record_.windows().find(bits(handle))) {}

  Record& record() { return record_; }
  Window* window() { return window_; }
  // Begins the record and writes the window. False if no more may be put.
  bool begin(std::size_t bytes = 0) {
    if (!record_.begin(bytes)) return false;
    record_.out().number(window_ == nullptr ? 0 : window_->number);
    return true;
  }
  void peer(int rank) {
    const Comm* comm = window_ == nullptr ? nullptr : window_->comm;
    record_.out().signed_number(comm == nullptr ? kUndefined : comm->world_rank(rank));
  }

 private:
  Record record_;
  Window* window_;
};

// A communicator's members make a window; `bytes`: how large this rank's part is.
inline void record_window(const Call& call, MPI_Comm comm, MPI_Aint bytes, const MPI_Win* created) {
  Record record(call);
  Comm* c = record.find(comm);
  const Window* window = nullptr;
  if (!record.failed()) {
    window = record.windows().add(bits(*created), c);
    if (window == nullptr) out_of_memory();
  }
  if (!record.begin()) return;
  record.comm(c);
  record.out().number(window == nullptr ? 0 : window->number);
  record.out().number(bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes));
}

template <Function f, auto real_function, class Unit>
int win_create(void* base, MPI_Aint bytes, Unit unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  Call call(f);
  const int error = (real.*real_function)(base, bytes, unit, info, comm, window);
  if (!call.traced()) return error;
  call.left(error);
  record_window(call, comm, bytes, window);
  return error;
}

// MPI_Win_allocate and MPI_Win_allocate_shared
template <Function f, auto real_function, class Unit>
int win_allocate(MPI_Aint bytes, Unit unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  Call call(f);
  const int error = (real.*real_function)(bytes, unit, info, comm, base, window);
  if (!call.traced()) return error;
  call.left(error);
  record_window(call, comm, bytes, window);
  return error;
}

inline int win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  Call call(Function::kWin_create_dynamic);
  const int error = real.PMPI_Win_create_dynamic(info, comm, window);
  if (!call.traced()) return error;
  call.left(error);
  record_window(call, comm, 0, window);
  return error;
}

inline int win_free(MPI_Win* window) {
  Call call(Function::kWin_free);
  if (!call.traced()) return real.PMPI_Win_free(window);
  const MPI_Win before = behind(window, MPI_Win{});
  call.left(real.PMPI_Win_free(window));
  WindowRecord it(call, before);
  it.begin();
  if (it.window() != nullptr && !it.record().failed()) it.record().windows().remove(it.window());
  return call.error();
}

// Synchronization of the form f(…, window), where nothing but the window matters.
template <Function f, auto real_function, class... Arguments>
int win_sync(Arguments... arguments, MPI_Win window) {
  Call call(f);
  const int error = (real.*real_function)(arguments..., window);
  if (!call.traced()) return error;
  call.left(error);
  WindowRecord(call, window).begin();
  return error;
}

// MPI_Win_flush, MPI_Win_flush_local, MPI_Win_unlock
template <Function f, auto real_function>
int win_target(int rank, MPI_Win window) {
  Call call(f);
  const int error = (real.*real_function)(rank, window);
  if (!call.traced()) return error;
  call.left(error);
  WindowRecord it(call, window);
  if (it.begin()) it.peer(rank);
  return error;
}

inline int win_lock(int type, int rank, int assertion, MPI_Win window) {
  Call call(Function::kWin_lock);
  const int error = real.PMPI_Win_lock(type, rank, assertion, window);
  if (!call.traced()) return error;
  call.left(error);
  WindowRecord it(call, window);
  if (it.begin()) it.peer(rank);
  return error;
}

// MPI_Win_post and MPI_Win_start
template <Function f, auto real_function>
int win_group(MPI_Group group, int assertion, MPI_Win window) {
  Call call(f);
  const int error = (real.*real_function)(group, assertion, window);
  if (!call.traced()) return error;
  call.left(error);
  WindowRecord it(call, window);
  int size = 0;
  int* ranks = it.record().failed() ? nullptr : it.record().communicators().world_ranks(group, &size);
  if (ranks == nullptr) size = 0;
  if (it.begin((static_cast<std::size_t>(size) + 1) * kMaxVarintBytes)) {
    it.record().out().number(static_cast<std::uint64_t>(size));
    for (int i = 0; i < size; ++i) it.record().out().signed_number(ranks[i]);
  }
  free_bytes(ranks);
  return error;
}

inline int win_test(MPI_Win window, int* flag) {
  Call call(Function::kWin_test);
  const int error = real.PMPI_Win_test(window, flag);
  if (!call.traced()) return error;
  call.left(error);
  Record record(call);
  const Window* w = record.windows().find(bits(window));
  const std::uint64_t number = w == nullptr ? 0 : w->number;
  if (!record.failed() && behind(flag) == 0) {
    record.poll(nullptr, 0, 0, static_cast<int>(number));
  } else if (record.begin()) {
    record.out().byte(1);
    record.out().number(number);
  }
  return error;
}

// How many bytes go to the target, and how many come from it.
struct Moved {
  std::uint64_t out = 0, in = 0;
};
template <class N>
std::uint64_t moved_bytes(const Call& call, N count, MPI_Datatype type) {
  return call.error() != MPI_SUCCESS || count <= 0 ? 0 : static_cast<std::uint64_t>(count) * type_size(type);
}

template <class... Requests>
void record_moved(const Call& call, MPI_Win window, int target, Moved moved, Requests... request) {
  WindowRecord it(call, window);
  if (!it.begin()) return;
  it.peer(target);
  it.record().out().number(moved.out);
  it.record().out().number(moved.in);
  (it.record().made(request, Request::Kind::kOther, false, nullptr), ...);
}

template <Function f, auto real_function, class N, class... Request>
int put(const void* from, N count, MPI_Datatype type, int target, MPI_Aint place, N there,
        MPI_Datatype type_there, MPI_Win window, Request... request) {
  Call call(f);
  const int error =
      (real.*real_function)(from, count, type, target, place, there, type_there, window, request...);
  if (!call.traced()) return error;
  call.left(error);
  record_moved(call, window, target, {.out = moved_bytes(call, count, type)}, request...);
  return error;
}

template <Function f, auto real_function, class N, class... Request>
int get(void* to, N count, MPI_Datatype type, int target, MPI_Aint place, N there, MPI_Datatype type_there,
        MPI_Win window, Request... request) {
  Call call(f);
  const int error =
      (real.*real_function)(to, count, type, target, place, there, type_there, window, request...);
  if (!call.traced()) return error;
  call.left(error);
  record_moved(call, window, target, {.in = moved_bytes(call, count, type)}, request...);
  return error;
}

template <Function f, auto real_function, class N, class... Request>
int accumulate(const void* from, N count, MPI_Datatype type, int target, MPI_Aint place, N there,
               MPI_Datatype type_there, MPI_Op op, MPI_Win window, Request... request) {
  Call call(f);
  const int error =
      (real.*real_function)(from, count, type, target, place, there, type_there, op, window, request...);
  if (!call.traced()) return error;
  call.left(error);
  record_moved(call, window, target, {.out = moved_bytes(call, count, type)}, request...);
  return error;
}

// With MPI_NO_OP nothing goes to the target.
template <Function f, auto real_function, class N, class... Request>
int get_accumulate(const void* from, N count, MPI_Datatype type, void* result, N results,
                   MPI_Datatype type_result, int target, MPI_Aint place, N there, MPI_Datatype type_there,
                   MPI_Op op, MPI_Win window, Request... request) {
  Call call(f);
  const int error = (real.*real_function)(from, count, type, result, results, type_result, target, place,
                                          there, type_there, op, window, request...);
  if (!call.traced()) return error;
  call.left(error);
  record_moved(call, window, target,
               {.out = op == op_no_op() ? 0 : moved_bytes(call, count, type),
                .in = moved_bytes(call, results, type_result)},
               request...);
  return error;
}

inline int fetch_and_op(const void* from, void* result, MPI_Datatype type, int target, MPI_Aint place,
                        MPI_Op op, MPI_Win window) {
  Call call(Function::kFetch_and_op);
  const int error = real.PMPI_Fetch_and_op(from, result, type, target, place, op, window);
  if (!call.traced()) return error;
  call.left(error);
  const std::uint64_t bytes = moved_bytes(call, 1, type);
  record_moved(call, window, target, {.out = op == op_no_op() ? 0 : bytes, .in = bytes});
  return error;
}

inline int compare_and_swap(const void* from, const void* compare, void* result, MPI_Datatype type,
                            int target, MPI_Aint place, MPI_Win window) {
  Call call(Function::kCompare_and_swap);
  const int error = real.PMPI_Compare_and_swap(from, compare, result, type, target, place, window);
  if (!call.traced()) return error;
  call.left(error);
  const std::uint64_t bytes = moved_bytes(call, 1, type);
  record_moved(call, window, target, {.out = 2 * bytes, .in = bytes});
  return error;
}

}  // namespace weft::trace
