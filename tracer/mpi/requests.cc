#include "tracer/mpi/requests.h"

#include <stdlib.h>

#include "tracer/mpi/hash.h"

namespace weft::trace {

namespace {
// How far down a list of equal handles the same variable is looked for; requests mostly complete in order.
constexpr int kSearch = 64;
// Requests are taken from the system this many at a time, and kept.
constexpr std::size_t kBlock = 256;
}  // namespace

Request* Requests::add(std::uint64_t handle, const void* place) {
  if (used_ >= size_) grow();
  if (size_ == 0) return nullptr;
  if (free_ == nullptr) {
    auto* block = static_cast<Request*>(calloc(kBlock, sizeof(Request)));
    if (block == nullptr) return nullptr;
    for (std::size_t i = 0; i < kBlock; ++i) {
      block[i].next = free_;
      free_ = &block[i];
    }
  }
  Request* request = free_;
  free_ = request->next;
  *request = Request{};
  request->handle = handle;
  request->place = place;
  List& list = lists_[mix(handle) & (size_ - 1)];
  (list.first == nullptr ? list.first : list.last->next) = request;
  list.last = request;
  ++used_;
  return request;
}

Request* Requests::find(std::uint64_t handle, const void* place) {
  if (size_ == 0) return nullptr;
  Request* oldest = nullptr;
  int seen = 0;
  for (Request* r = lists_[mix(handle) & (size_ - 1)].first; r != nullptr && seen < kSearch; r = r->next) {
    if (r->handle != handle) continue;
    if (r->place == place) return r;
    if (oldest == nullptr) oldest = r;
    ++seen;
  }
  return oldest;
}

void Requests::remove(Request* request) {
  List& list = lists_[mix(request->handle) & (size_ - 1)];
  Request* before = nullptr;
  for (Request* r = list.first; r != request; r = r->next) before = r;
  (before == nullptr ? list.first : before->next) = request->next;
  if (list.last == request) list.last = before;
  request->next = free_;
  free_ = request;
  --used_;
}

void Requests::grow() {
  const std::size_t size = size_ == 0 ? 1024 : 2 * size_;
  auto* lists = static_cast<List*>(calloc(size, sizeof(List)));
  if (lists == nullptr) return;
  for (std::size_t i = 0; i < size_; ++i) {
    for (Request* r = lists_[i].first; r != nullptr;) {
      Request* next = r->next;
      r->next = nullptr;
      List& list = lists[mix(r->handle) & (size - 1)];
      (list.first == nullptr ? list.first : list.last->next) = r;
      list.last = r;
      r = next;
    }
  }
  free(lists_);
  lists_ = lists;
  size_ = size;
}

}  // namespace weft::trace
