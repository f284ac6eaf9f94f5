#include "tracer/mpi/scratch.h"

#include <stdlib.h>

#include "tracer/mpi/say.h"

namespace weft::trace {

void* allocate_bytes(std::size_t bytes) {
  void* data = malloc(bytes);
  if (data == nullptr) out_of_memory();
  return data;
}

void free_bytes(void* data) { free(data); }

void out_of_memory() {
  say("weft: out of memory in the tracer\n");
  abort();
}

}  // namespace weft::trace
