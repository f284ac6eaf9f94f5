// The functions that the tracer stands before: found in whatever library of the process has them.
#pragma once

namespace weft::trace::nccl {

// The next definition of the symbol behind this library's own; null if no loaded library has one. Finds those
// in libraries that were loaded without RTLD_GLOBAL too, as Python loads its own.
void* find_real(const char* name);

// A function's address, looked up at its first use. Not found: looked for again at the next, as the library
// may be loaded only later.
template <typename Type>
class Real {
 public:
  explicit constexpr Real(const char* name) : name_(name) {}
  // Null if absent.
  Type* get() {
    void* found = __atomic_load_n(&function_, __ATOMIC_ACQUIRE);
    if (found == nullptr) {
      found = find_real(name_);
      __atomic_store_n(&function_, found, __ATOMIC_RELEASE);
    }
    return reinterpret_cast<Type*>(found);
  }
  const char* name() const { return name_; }

 private:
  const char* name_;
  void* function_ = nullptr;
};

}  // namespace weft::trace::nccl
