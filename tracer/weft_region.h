/* Names a part of a program, for `weft trace` and `weft import mpi --region NAME`:
 *
 *     #include "weft_region.h"
 *     weft_region_begin("solver");
 *     ...
 *     weft_region_end("solver");
 *
 * To be copied into any C or C++ program. Nothing is linked: without the tracer the two functions do nothing.
 * Regions may nest and overlap; each
 * rank has its own. A thread may call them where it could call MPI: under MPI_THREAD_MULTIPLE any
 * thread, else one at a time. Not kept are regions before MPI_Init and after MPI_Finalize; of a name
 * the first 255 bytes are. */
#ifndef WEFT_REGION_H_
#define WEFT_REGION_H_

#include <dlfcn.h>

/* Not a weak symbol: linkers settle those for good in programs that are not position-independent. */
static inline void* weft_region_function(const char* name) {
  return dlsym((void*)0 /* RTLD_DEFAULT, by its value in glibc */, name);
}
static inline void weft_region_begin(const char* name) {
  static void* begin = 0;
  if (begin == 0) begin = weft_region_function("weft_trace_region_begin");
  if (begin != 0) ((void (*)(const char*))begin)(name);
}
static inline void weft_region_end(const char* name) {
  static void* end = 0;
  if (end == 0) end = weft_region_function("weft_trace_region_end");
  if (end != 0) ((void (*)(const char*))end)(name);
}

#endif
