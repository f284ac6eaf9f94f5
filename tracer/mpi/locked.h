// A lock that is held for as long as this lives.
#pragma once

#include <pthread.h>

namespace weft::trace {

class Locked {
 public:
  // Unless it is `wanted` there is nobody to lock out.
  Locked(bool wanted, pthread_mutex_t& mutex) : held_(wanted ? &mutex : nullptr) {
    if (held_ != nullptr) pthread_mutex_lock(held_);
  }
  ~Locked() {
    if (held_ != nullptr) pthread_mutex_unlock(held_);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t* const held_;
};

}  // namespace weft::trace
