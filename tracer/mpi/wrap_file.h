// Wrappers of the calls that read and write MPI files, as far as they say how many bytes.
#pragma once

#include "tracer/mpi/tracer.h"

namespace weft::trace {

// Every call of the form f(file, [offset,] buffer, count, datatype[, status or request]).
template <Function f, auto real_function, class Signature>
struct FileAccess;
template <Function f, auto real_function, class... Arguments>
struct FileAccess<f, real_function, int (*)(MPI_File, Arguments...)> {
  static int call(MPI_File file, Arguments... arguments) {
    Call call(f);
    const int error = (real.*real_function)(file, arguments...);
    if (!call.traced()) return error;
    call.left(error);
    Record record(call);
    if (record.begin()) {
      size(record, arguments...);
      made(record, arguments...);
    }
    return error;
  }

 private:
  template <class Buffer, class N, class... Rest>
  static void size(Record& record, Buffer*, N count, MPI_Datatype type, Rest...) {
    record.size(count < 0 ? 0 : static_cast<std::uint64_t>(count), type);
  }
  template <class Buffer, class N, class... Rest>
  static void size(Record& record, MPI_Offset, Buffer* buffer, N count, MPI_Datatype type, Rest...) {
    size(record, buffer, count, type);
  }
  // The last argument is a request in the nonblocking forms.
  static void made(Record& record, MPI_Request* request) {
    record.made(request, Request::Kind::kOther, false, nullptr);
  }
  template <class Other>
  static void made(Record&, Other) {}
  template <class First, class Second, class... Rest>
  static void made(Record& record, First, Second second, Rest... rest) {
    made(record, second, rest...);
  }
};

}  // namespace weft::trace
