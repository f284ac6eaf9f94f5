// Memory for the tracer inside of somebody's call.
#pragma once

#include <cstddef>

namespace weft::trace {

// An array for the time of one call, without malloc for few elements.
template <typename T>
class Scratch {
 public:
  explicit Scratch(int n) : data_(n <= kInline ? inline_ : static_cast<T*>(allocate(n, sizeof(T)))) {}
  ~Scratch() {
    if (data_ != inline_) release(data_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() { return data_; }
  T& operator[](int i) { return data_[i]; }

 private:
  static constexpr int kInline = 32;
  T inline_[kInline];
  T* data_;
  static void* allocate(int n, std::size_t bytes);
  static void release(void* data);
};

// Ends the program with a message: there is no going on without memory inside somebody's MPI call.
[[noreturn]] void out_of_memory();
void* allocate_bytes(std::size_t bytes);
void free_bytes(void* data);
template <typename T>
void* Scratch<T>::allocate(int n, std::size_t bytes) {
  return allocate_bytes(static_cast<std::size_t>(n) * bytes);
}
template <typename T>
void Scratch<T>::release(void* data) {
  free_bytes(data);
}

}  // namespace weft::trace
