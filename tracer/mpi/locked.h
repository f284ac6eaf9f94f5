// A lock that is held for as long as this lives, while the thread is at the tracer's own work.
#pragma once

#include <pthread.h>

namespace weft::trace {

// Is this thread at work on the trace? What a signal handler that interrupts it calls is passed on untraced:
// the lock would never be free, and a record inside of another would spoil both.
extern constinit thread_local bool at_work __attribute__((tls_model("initial-exec")));

class Locked {
 public:
  // Unless it is `wanted` there is nobody to lock out.
  Locked(bool wanted, pthread_mutex_t& mutex) : held_(wanted ? &mutex : nullptr), before_(at_work) {
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
    at_work = value;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }

  pthread_mutex_t* const held_;
  const bool before_;
};

}  // namespace weft::trace
