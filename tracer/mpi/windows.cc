#include "tracer/mpi/windows.h"

#include <stdlib.h>

#include "tracer/mpi/hash.h"

namespace weft::trace {

Window** Windows::bucket(std::uint64_t handle) { return &buckets_[mix(handle) % kBuckets]; }

Window* Windows::add(std::uint64_t handle, Comm* comm) {
  auto* window = static_cast<Window*>(calloc(1, sizeof(Window)));
  if (window == nullptr) return nullptr;
  window->handle = handle;
  window->number = next_number_++;
  window->comm = comm;
  if (comm != nullptr) ++comm->references;
  Window** first = bucket(handle);
  window->next = *first;
  *first = window;
  return window;
}

Window* Windows::find(std::uint64_t handle) {
  Window* window = *bucket(handle);
  while (window != nullptr && window->handle != handle) window = window->next;
  return window;
}

void Windows::remove(Window* window) {
  Window** at = bucket(window->handle);
  while (*at != window) at = &(*at)->next;
  *at = window->next;
  if (window->comm != nullptr) Communicators::release(window->comm);
  free(window);
}

}  // namespace weft::trace
