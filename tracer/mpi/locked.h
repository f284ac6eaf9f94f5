// A lock that is held for as long as this lives, while the thread is at the tracer's own work.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace weft::trace {

// What this thread is inside of.
struct alignas(8) Here {
  // MPI calls the library makes while it serves one are not the program's. What the program calls from
  // functions that the library calls back is.
  int call_depth = 0;
  // At work on the trace? What a signal handler that interrupts it calls is passed on untraced: the lock
  // would never be free, and a record inside of another would spoil both.
  std::uint32_t at_work = 0;  // of a size that leaves no gap, for the comparison

  // Neither in a call nor at work, in one comparison.
  [[gnu::always_inline]] bool nowhere() const { return __builtin_bit_cast(std::uint64_t, *this) == 0; }
  // Stores of that size, as a load of more than was stored last has to wait.
  [[gnu::always_inline]] void enter_first_call() { *this = __builtin_bit_cast(Here, std::uint64_t{1}); }
  [[gnu::always_inline]] void leave_first_call() { *this = __builtin_bit_cast(Here, std::uint64_t{0}); }
};
static_assert(sizeof(Here) == sizeof(std::uint64_t));
extern constinit thread_local Here here __attribute__((tls_model("initial-exec"), visibility("hidden")));

class Locked {
 public:
  // Unless it is `wanted` there is nobody to lock out.
  Locked(bool wanted, pthread_mutex_t& mutex) : held_(wanted ? &mutex : nullptr), before_(here.at_work) {
    set_at_work(true);
    if (held_ != nullptr) pthread_mutex_lock(held_);
  }
  ~Locked() {
    if (held_ != nullptr) pthread_mutex_unlock(held_);
    set_at_work(before_);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  // Before and after all of the work, for the thread itself: no other looks at it.
  static void set_at_work(bool value) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    here.at_work = value;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }

  pthread_mutex_t* const held_;
  const bool before_;
};

}  // namespace weft::trace
